// Package engine puts a schedule on the wire, open loop: the system under test cannot slow the sender.
//
// A Guard makes Targets out of URLs and refuses those that nobody allowed; Limits refuse a schedule that is too fast or
// too long; a Sender waits for each intended instant and sends; the Engine turns what the sender saw into exactly one
// record per arrival and checks that they add up.
package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

// Sender puts a schedule on the wire: it waits for each intended instant, sends, and calls done exactly once per
// arrival, also for those that it never sent (outcome dropped, with the reason as cause). It never waits for a limit in
// silence. done may be called from many goroutines at once and not after Send has returned.
//
// A done context stops the scheduling at once; requests in flight may go on for the sender's grace and are canceled
// then (R8). That is no error of Send: an error says that the sender gave up by itself, and what it left out was
// never sent.
type Sender interface {
	Send(ctx context.Context, s *workload.Schedule, done func(Exchange)) error
}

// Exchange is what a sender saw of one arrival.
type Exchange struct {
	Seq       int64
	Sent      clock.Instant // just before the first byte was written; Never if nothing was
	FirstByte clock.Instant // Never if there was none
	Done      clock.Instant // last byte, or when the outcome was known
	Outcome   record.Outcome
	Cause     string // class of a transport error or reason of a drop
	Status    int    // 0: none
	BytesIn   int64  // of the answer's body
	BytesOut  int64  // of the request's body
	Attempts  int32  // writes of the request on the wire: 0 or 1, since nothing is ever re-sent (R4)
	Server    record.Server
}

// The reasons of drops.
const (
	CauseStopped  = "stopped"         // the run ended before its intended start
	CauseInFlight = "in_flight_limit" // MaxInFlight requests were in flight already
	CauseSender   = "sender"          // the sender gave up
)

// Errors of Run. With each of them all records are returned.
var (
	// ErrAccounting: the records do not account for every arrival exactly once (R3). The run is invalid.
	ErrAccounting = errors.New("accounting mismatch")
	// ErrStopped: the context ended, or the run was aborted, before every arrival was sent and answered.
	ErrStopped = errors.New("run stopped early")
)

// Engine runs schedules through a sender. Its fields must not change during a run; it runs one schedule at a time.
type Engine struct {
	Sender Sender
	Clock  clock.Clock

	counts counts
}

type counts struct{ scheduled, done, errors, dropped atomic.Int64 }

// Progress is a live look at a run.
type Progress struct {
	Scheduled int64 // arrivals in all
	Sent      int64 // handed to the wire
	InFlight  int64 // sent, without an outcome yet
	Done      int64 // sent, with an outcome
	Errors    int64 // done, with another outcome than ok
	Dropped   int64 // never sent
}

// Starts is what a sender offers beside Send so that requests in flight can be watched. Started returns how many
// arrivals were handed to the wire in the current run.
type Starts interface{ Started() int64 }

// Progress is cheap and may be called at any time from any goroutine. Its numbers are read one after another, so they
// may disagree by what happens meanwhile.
func (e *Engine) Progress() Progress {
	p := Progress{Dropped: e.counts.dropped.Load(), Errors: e.counts.errors.Load(), Done: e.counts.done.Load()}
	p.Scheduled, p.Sent = e.counts.scheduled.Load(), p.Done
	if s, ok := e.Sender.(Starts); ok {
		p.Sent = max(p.Sent, s.Started())
	}
	p.InFlight = p.Sent - p.Done
	return p
}

// Run sends the schedule and returns one record per arrival, in order of seq. onDone is called with each record as soon
// as it is complete, by one goroutine at a time; it may be nil and must be quick.
//
// The error wraps ErrStopped if the context ended the run, ErrAccounting if the records do not add up, or is the
// sender's.
func (e *Engine) Run(ctx context.Context, s *workload.Schedule, onDone func(record.Record)) ([]record.Record, error) {
	records := make([]record.Record, len(s.Arrivals))
	err := e.Stream(ctx, s, func(r record.Record) {
		records[r.Seq] = r
		if onDone != nil {
			onDone(r)
		}
	})
	return records, err
}

// Stream is Run without the records: it holds a byte for each arrival.
func (e *Engine) Stream(ctx context.Context, s *workload.Schedule, onDone func(record.Record)) error {
	e.counts.reset(len(s.Arrivals))
	b := &book{counts: &e.counts, schedule: s, seen: make([]bool, len(s.Arrivals)), onDone: onDone}
	sendErr := e.Sender.Send(ctx, s, b.done)
	missing := b.close(e.Clock.Now())
	if err := b.check(missing, sendErr != nil); err != nil {
		return errors.Join(err, sendErr)
	}
	if sendErr != nil {
		return fmt.Errorf("send the schedule: %w", sendErr)
	}
	if b.stopped > 0 {
		return fmt.Errorf("%w: %d of %d arrivals without an answer", ErrStopped, b.stopped, len(s.Arrivals))
	}
	return nil
}

func (c *counts) reset(scheduled int) {
	c.done.Store(0)
	c.errors.Store(0)
	c.dropped.Store(0)
	c.scheduled.Store(int64(scheduled))
}

// book makes the records of one run and keeps none of them.
type book struct {
	counts   *counts
	schedule *workload.Schedule
	onDone   func(record.Record)

	mu      sync.Mutex
	seen    []bool
	stopped int // arrivals that the end of the run left without an answer
	closed  bool
	breach  error // the first breach of the sender's contract
}

func (b *book) done(x Exchange) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return // the run is over for the caller
	case x.Seq < 0 || x.Seq >= int64(len(b.seen)):
		b.blame("seq %d was reported, but only %d arrivals are scheduled", x.Seq, len(b.seen))
	case b.seen[x.Seq]:
		b.blame("seq %d was reported twice", x.Seq)
	default:
		b.enter(x)
	}
}

func (b *book) enter(x Exchange) {
	a := &b.schedule.Arrivals[x.Seq]
	r := record.Record{
		Seq: x.Seq, Wave: a.Wave, Intended: a.At, Sent: x.Sent, FirstByte: x.FirstByte, Done: x.Done,
		Outcome: x.Outcome, Cause: x.Cause, Status: x.Status, Attempt: x.Attempts,
		BytesIn: x.BytesIn, BytesOut: x.BytesOut, Server: x.Server,
	}
	if x.Sent < r.Intended {
		b.blame("seq %d was sent at %v, before its intended start %v", x.Seq, x.Sent, r.Intended)
	}
	if err := r.Check(); err != nil {
		b.blame("%w", err)
	}
	if x.Outcome == record.Canceled || x.Outcome == record.Dropped && x.Cause == CauseStopped {
		b.stopped++
	}
	b.seen[x.Seq] = true
	b.counts.add(x.Outcome)
	if b.onDone != nil {
		b.onDone(r)
	}
}

func (c *counts) add(o record.Outcome) {
	if o == record.Dropped {
		c.dropped.Add(1)
		return
	}
	if o != record.OK {
		c.errors.Add(1)
	}
	c.done.Add(1)
}

func (b *book) blame(format string, args ...any) {
	if b.breach == nil {
		b.breach = fmt.Errorf(format, args...)
	}
}

// close enters what the sender did not report as dropped, so that each arrival has its record, and returns how many
// those are.
func (b *book) close(now clock.Instant) (missing int) {
	for seq := range b.seen {
		b.mu.Lock()
		if !b.seen[seq] {
			missing++
			b.enter(Exchange{Seq: int64(seq), Sent: clock.Never, FirstByte: clock.Never, Done: now, Outcome: record.Dropped, Cause: CauseSender})
		}
		b.mu.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return missing
}

// check returns an error that wraps ErrAccounting if the books are wrong.
func (b *book) check(missing int, gaveUp bool) error {
	if missing > 0 && !gaveUp {
		b.blame("the sender reported nothing of %d arrivals", missing)
	}
	if b.breach != nil {
		return fmt.Errorf("%w: %w", ErrAccounting, b.breach)
	}
	return nil
}
