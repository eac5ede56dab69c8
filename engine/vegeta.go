package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"coldwave/internal/clock"
	"coldwave/internal/realclock"
	"coldwave/record"
	"coldwave/workload"
)

// Defaults of VegetaConfig.
const (
	DefaultTimeout = 70 * time.Second // above the 60 s for which the bundled gateway lets a request wait
	DefaultGrace   = 5 * time.Second
	DefaultMaxBody = 64 << 20 // bytes
)

// ErrConfig is wrapped by the errors of NewVegeta.
var ErrConfig = errors.New("bad sender configuration")

// VegetaConfig is all that the sender needs to know.
type VegetaConfig struct {
	Clock   *realclock.Clock // required; the schedule's instants are on it
	Run     string           // id of the run, 1–40 of A–Z a–z 0–9 . _ -; X-Request-Id is <run>-<seq>
	Request Request          // what is sent for each arrival
	// Each says what is sent for one arrival, if not Request; without a target it goes to Request's. It is called from
	// many goroutines. Connections are opened ahead for Request's target only.
	Each        func(workload.Arrival) Request
	Bundled     bool            // the target is the bundled stack: it is told the demand, and it tells its own refusals
	Timeout     time.Duration   // of one request, from its send to its last byte; 0: DefaultTimeout
	Grace       time.Duration   // for requests in flight when the run is stopped (R8); 0: DefaultGrace
	Abort       <-chan struct{} // closed: the run stops without a grace; nil: never
	MaxInFlight int             // 0: unlimited; an arrival above it is dropped, it never waits
	MaxBody     int64           // bytes of an answer's body, more is an error; 0: DefaultMaxBody
	// Dial opens connections instead of TCP under the target's guard; for tests on a network in memory.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Vegeta is the Sender on vegeta's attacker: vegeta owns the workers, which grow with the requests in flight, so there
// is no hidden limit; the waiting, the connections and the stamps are ours.
type Vegeta struct {
	cfg     VegetaConfig
	started atomic.Int64
	ahead   atomic.Int64
	atSend  atomic.Int64
}

var (
	_ Sender = (*Vegeta)(nil)
	_ Starts = (*Vegeta)(nil)
)

// NewVegeta checks the configuration. Errors wrap ErrConfig.
func NewVegeta(cfg VegetaConfig) (*Vegeta, error) {
	var problems []error
	if cfg.Clock == nil {
		problems = append(problems, errors.New("no clock was given"))
	}
	if !runNames.MatchString(cfg.Run) {
		problems = append(problems, fmt.Errorf("run id %q: use 1 to 40 of A-Z a-z 0-9 . _ -", cfg.Run))
	}
	if cfg.Timeout < 0 || cfg.Grace < 0 || cfg.MaxInFlight < 0 || cfg.MaxBody < 0 {
		problems = append(problems, fmt.Errorf("timeout %v, grace %v, in-flight limit %d and body limit %d must not be negative",
			cfg.Timeout, cfg.Grace, cfg.MaxInFlight, cfg.MaxBody))
	}
	problems = append(problems, cfg.Request.check())
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	cfg.Timeout, cfg.Grace, cfg.MaxBody = or(cfg.Timeout, DefaultTimeout), or(cfg.Grace, DefaultGrace), or(cfg.MaxBody, DefaultMaxBody)
	return &Vegeta{cfg: cfg}, nil
}

// Started returns how many arrivals were handed to the wire in the current or latest run.
func (v *Vegeta) Started() int64 { return v.started.Load() }

// Dials returns how many connections the latest run opened ahead of their use, and how many only when a request needed
// one. The second kind costs its request the time of a dial.
func (v *Vegeta) Dials() (ahead, atSend int64) { return v.ahead.Load(), v.atSend.Load() }

// Send implements Sender. One Vegeta sends one schedule at a time.
func (v *Vegeta) Send(ctx context.Context, s *workload.Schedule, done func(Exchange)) error {
	v.started.Store(0)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	hard, release := graceful(ctx, v.cfg.Clock, v.cfg.Grace, v.cfg.Abort)
	defer release()
	context.AfterFunc(hard, func() { stop(errCanceled) })
	p := newPool(v.cfg.Clock.Now, v.cfg.Dial)
	defer p.close()
	f := &flight{Vegeta: v, schedule: s, done: done, hard: hard, stop: stop, courier: courier{
		now: v.cfg.Clock.Now, pool: p, label: label{v.cfg.Run, v.cfg.Bundled}, timeout: v.cfg.Timeout, maxBody: v.cfg.MaxBody,
	}}
	sent := f.attack(ctx, p)
	stop(nil)
	v.ahead.Store(p.ahead.Load())
	v.atSend.Store(p.atSend.Load())
	f.skip(sent)
	return f.refused.err()
}

// flight is one Send.
type flight struct {
	*Vegeta
	courier  courier
	schedule *workload.Schedule
	done     func(Exchange)
	hard     context.Context // of the requests in flight
	stop     func(error)     // ends the scheduling
	inFlight atomic.Int64
	refused  refusals
}

// attack runs vegeta until the schedule or ctx ends and every request has its outcome. It returns how many arrivals
// were handed to vegeta.
func (f *flight) attack(ctx context.Context, p *pool) int {
	list := needs(f.schedule.Arrivals)
	if len(list) == 0 {
		return 0
	}
	warming, cool := context.WithCancel(ctx)
	var keeper sync.WaitGroup
	keeper.Go(func() { f.note(p.warm(warming, f.cfg.Clock, f.cfg.Request.Target, list)) })
	pace := &pacer{ctx: ctx, clock: f.cfg.Clock, arrivals: f.schedule.Arrivals}
	attacker := vegeta.NewAttacker(
		// A worker each for the largest wave: vegeta starts more one by one, when all are busy, without a limit.
		vegeta.Workers(uint64(list[0].count)),
		vegeta.Client(&http.Client{Transport: f}),
		vegeta.MaxBody(0),
	)
	target := vegeta.NewStaticTargeter(vegeta.Target{Method: http.MethodGet, URL: f.cfg.Request.Target.url.String()})
	for range attacker.Attack(target, pace, 0, "") {
		// vegeta's results must be taken, else its workers block. Ours went through done.
	}
	cool()
	keeper.Wait()
	return pace.sent
}

// note ends the scheduling when the guard has stopped a dial.
func (f *flight) note(err error) {
	if err != nil {
		f.refused.add(err)
		f.stop(err)
	}
}

// skip reports the arrivals that the end of the run left over.
func (f *flight) skip(sent int) {
	for i := sent; i < len(f.schedule.Arrivals); i++ {
		f.done(f.dropped(f.schedule.Arrivals[i].Seq, CauseStopped))
	}
}

func (f *flight) dropped(seq int64, cause string) Exchange {
	return Exchange{Seq: seq, Sent: clock.Never, FirstByte: clock.Never, Done: f.cfg.Clock.Now(), Outcome: record.Dropped, Cause: cause}
}

// RoundTrip is where vegeta's worker hands over: it carries the arrival to the end and reports it. vegeta gets an empty
// answer back, so neither it nor http.Client can follow, repeat or keep anything.
//
// vegeta numbers its hits in the order in which workers take them. That is not always the order of the ticks, but hit n
// is taken after n+1 ticks, so an arrival is never sent before its intended start.
func (f *flight) RoundTrip(q *http.Request) (*http.Response, error) {
	n, err := strconv.ParseUint(q.Header.Get("X-Vegeta-Seq"), 10, 63)
	if err != nil || n >= uint64(len(f.schedule.Arrivals)) {
		return nil, fmt.Errorf("hit %q of vegeta: not one of %d arrivals", q.Header.Get("X-Vegeta-Seq"), len(f.schedule.Arrivals))
	}
	f.send(&f.schedule.Arrivals[n])
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: http.NoBody, Request: q}, nil
}

func (f *flight) send(a *workload.Arrival) {
	flying := f.inFlight.Add(1)
	defer f.inFlight.Add(-1)
	if f.cfg.MaxInFlight > 0 && flying > int64(f.cfg.MaxInFlight) {
		f.done(f.dropped(a.Seq, CauseInFlight))
		return
	}
	f.started.Add(1)
	request := &f.cfg.Request
	if f.cfg.Each != nil {
		each := f.cfg.Each(*a)
		each.Target = cmp.Or(each.Target, request.Target)
		request = &each
	}
	x, err := f.courier.carry(f.hard, request, a)
	f.note(err)
	f.done(x)
}

// pacer tells vegeta when to hit. vegeta calls it from one goroutine of its own, which is locked to a thread here.
type pacer struct {
	ctx      context.Context
	clock    *realclock.Clock
	arrivals []workload.Arrival
	thread   *realclock.Thread
	sent     int
}

// behind is the lag from which on the pacer lets other goroutines run between two hits. It waits for none of them; but
// answers that have come free their workers and connections, so that a host that was stalled catches up without opening
// a connection for each request that it is late with.
const behind = time.Millisecond

// Pace waits for the intended start of the next arrival by itself: vegeta's own wait is a Go timer, from an instant
// that it takes before it asks. An arrival that is late is sent at once, and its record shows the lag.
func (p *pacer) Pace(_ time.Duration, hits uint64) (wait time.Duration, stop bool) {
	if p.thread == nil {
		p.thread = p.clock.NewThread()
	}
	if hits < uint64(len(p.arrivals)) {
		at := p.arrivals[hits].At
		if p.clock.Now().Sub(at) > behind {
			runtime.Gosched()
		}
		if p.thread.SleepUntil(p.ctx, at) == nil {
			return 0, false
		}
	}
	p.sent = int(hits)
	p.thread.Close()
	return 0, true
}

// Rate is for vegeta's own reports, which nobody reads here.
func (*pacer) Rate(time.Duration) float64 { return 0 }
