package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// ErrLoop is wrapped by the error of a loop that its policy or its core ended. Where the core found an illegal decision,
// scheduler.Illegal is in the tree too.
var ErrLoop = errors.New("the scheduler loop stopped")

// Message is one event for a loop.
type Message struct {
	Event scheduler.Event
	// Admit, if set, runs on the loop's goroutine just before the event's step. It may complete the event, and refuses
	// it by returning false. At is the event's instant.
	Admit func(at clock.Instant, ev *scheduler.Event) bool
}

// Loop drives one core in real time: events are stamped as they come in, put in the order of simultaneous events, and
// given to the core one by one; one timer wakes it for what falls due in between.
//
// Everything that the loop calls, it calls on the goroutine of Run.
type Loop struct {
	// Settle, if set, runs at each wake-up before the inbox is taken. Tests in a bubble of testing/synctest set
	// synctest.Wait, so that all events of one instant come in one batch.
	Settle func()

	clock clock.Clock
	core  *scheduler.Core
	carry func(scheduler.Action) // carries out one decision; must not block
	after func()                 // runs after each batch
	inbox inbox
	ended chan struct{}
	acts  []scheduler.Action
	batch []letter
	last  clock.Instant // of the last step
}

// letter is a stamped message.
type letter struct {
	at clock.Instant
	Message
}

// inbox collects letters. Stamps are taken under its lock and never go back, so no letter can come with an instant that
// the core has left behind.
type inbox struct {
	mu      sync.Mutex
	letters []letter
	last    clock.Instant
	closed  bool
	bell    chan struct{} // one slot
}

// NewLoop returns a loop for a core that has seen no event. Carry carries out each decision, after runs when a batch of
// events is done; both must return quickly. After may be nil.
func NewLoop(c clock.Clock, core *scheduler.Core, carry func(scheduler.Action), after func()) *Loop {
	if after == nil {
		after = func() {}
	}
	l := &Loop{clock: c, core: core, carry: carry, after: after, ended: make(chan struct{}), last: -clock.Never}
	l.inbox.last = -clock.Never
	l.inbox.bell = make(chan struct{}, 1)
	l.Post(Message{Event: scheduler.Event{Kind: scheduler.Configure}}) // before anybody can post an arrival
	return l
}

// Post puts an event in the inbox. It returns false if the loop has ended.
func (l *Loop) Post(m Message) bool {
	in := &l.inbox
	in.mu.Lock()
	if in.closed {
		in.mu.Unlock()
		return false
	}
	in.last = max(in.last, l.clock.Now())
	in.letters = append(in.letters, letter{at: in.last, Message: m})
	in.mu.Unlock()
	select {
	case in.bell <- struct{}{}:
	default: // it rings already
	}
	return true
}

// Ended is closed when Run has returned.
func (l *Loop) Ended() <-chan struct{} { return l.ended }

// Run drives the core until ctx is done; then it returns nil. An illegal decision or any other panic of policy and core
// ends it with an error that wraps ErrLoop. Run is called once.
func (l *Loop) Run(ctx context.Context) (err error) {
	defer close(l.ended)
	defer l.close()
	defer func() {
		if p := recover(); p != nil {
			err = loopError(p)
		}
	}()
	timer := l.clock.NewTimer()
	defer timer.Reset(clock.Never)
	for {
		timer.Reset(l.core.Next())
		select {
		case <-ctx.Done():
			return nil
		case <-l.inbox.bell:
		case <-timer.C():
		}
		l.turn()
	}
}

func loopError(p any) error {
	if err, ok := p.(error); ok {
		var illegal scheduler.Illegal
		if errors.As(err, &illegal) {
			return fmt.Errorf("%w: %w", ErrLoop, err)
		}
	}
	return fmt.Errorf("%w: panic: %v\n%s", ErrLoop, p, debug.Stack())
}

// turn is one wake-up. Now is read before the inbox is taken: what is posted later has a stamp that is not earlier.
func (l *Loop) turn() {
	now := l.clock.Now()
	if l.Settle != nil {
		l.Settle()
	}
	l.batch = l.inbox.take(l.batch[:0])
	slices.SortStableFunc(l.batch, simultaneous)
	for i := range l.batch {
		l.step(&l.batch[i])
	}
	clear(l.batch)
	l.last = max(l.last, now)
	l.perform(l.core.Advance(l.acts[:0], l.last))
	l.after()
}

func (l *Loop) step(m *letter) {
	if m.Admit != nil && !m.Admit(m.at, &m.Event) {
		return
	}
	l.last = m.at
	l.perform(l.core.Step(l.acts[:0], m.at, m.Event))
}

func (l *Loop) perform(acts []scheduler.Action) {
	for _, a := range acts {
		l.carry(a)
	}
	l.acts = acts
}

// simultaneous orders events of one instant by kind and then by id. An arrival has no id yet and keeps its place, which
// is the order of the ids that it will get.
func simultaneous(a, b letter) int {
	return cmp.Or(
		cmp.Compare(a.at, b.at),
		cmp.Compare(a.Event.Kind, b.Event.Kind),
		cmp.Compare(a.Event.Req, b.Event.Req),
		cmp.Compare(a.Event.Inst, b.Event.Inst),
	)
}

func (in *inbox) take(dst []letter) []letter {
	in.mu.Lock()
	defer in.mu.Unlock()
	dst = append(dst, in.letters...)
	clear(in.letters) // the closures must not outlive their step
	in.letters = in.letters[:0]
	return dst
}

func (l *Loop) close() {
	l.inbox.mu.Lock()
	defer l.inbox.mu.Unlock()
	l.inbox.closed, l.inbox.letters = true, nil
}
