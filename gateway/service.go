package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/scheduler"
)

// service is one function behind the gateway: its core, its loop, and what they decided about requests and instances.
// What is not marked otherwise belongs to the loop's goroutine.
type service struct {
	fn     Function // anybody may read it
	limits Limits
	clock  clock.Clock
	log    *slog.Logger
	core   *scheduler.Core
	loop   *Loop      // any goroutine
	lives  *lives     // any goroutine
	made   *decisions // any goroutine
	nodes  nodes      // any goroutine
	queue  int
	calls  map[scheduler.RequestID]*call
	last   scheduler.RequestID

	load    atomic.Pointer[scheduler.Load] // any goroutine
	full    atomic.Int64                   // requests turned away because the queue was full
	base    context.Context                // ends all starts and stops
	stopAll context.CancelFunc
	work    sync.WaitGroup // starts, stops, and the watch for lost instances
}

func newService(fn Function, cfg Config) *service {
	s := &service{
		fn: fn, limits: cfg.Limits, clock: cfg.Clock, log: cfg.Log.With("function", fn.Spec.Name),
		core:  scheduler.NewOn(fn.Policy, fn.Core, fn.Nodes, cfg.Seed),
		lives: newLives(cfg.Limits.Lives), made: newDecisions(cfg.Limits.Decisions), nodes: nodes{limit: cfg.Limits.Lives},
		queue: cfg.Limits.queueFor(fn.Core), calls: map[scheduler.RequestID]*call{},
	}
	s.base, s.stopAll = context.WithCancel(context.Background())
	s.loop = NewLoop(cfg.Clock, s.core, s.carry, s.publish)
	s.loop.Settle = cfg.Settle
	s.publish()
	return s
}

// publish shows the core's numbers to everybody.
func (s *service) publish() {
	load := s.core.Load()
	s.load.Store(&load)
}

// arrive posts a call's arrival. It returns false if the loop has ended.
func (s *service) arrive(c *call) bool {
	return s.loop.Post(Message{Event: scheduler.Event{Kind: scheduler.Arrival},
		Admit: func(_ clock.Instant, ev *scheduler.Event) bool { return s.admit(c, ev) }})
}

// admit gives an arrival its id, or turns it away if the queue is full (R16). It is decided here and not when the
// request comes in: only the loop knows whether the request would have to wait.
func (s *service) admit(c *call, ev *scheduler.Event) bool {
	if s.core.Waiting() >= s.queue && s.core.IdleNewest() == 0 {
		s.full.Add(1)
		c.decide(verdict{status: http.StatusServiceUnavailable, reason: ErrQueueFull})
		return false
	}
	s.last++
	ev.Req = s.last
	c.id.Store(int64(s.last))
	s.calls[s.last] = c
	return true
}

// cancel tells the core that a call's client has gone. A verdict follows if none was given.
func (s *service) cancel(c *call) {
	s.loop.Post(Message{Event: scheduler.Event{Kind: scheduler.Cancel, Req: c.request()},
		Admit: func(_ clock.Instant, ev *scheduler.Event) bool {
			ev.Req = c.request() // its arrival may have been admitted in this very batch
			return ev.Req != 0
		}})
}

// done tells the core that a call has left its instance.
func (s *service) done(c *call, how record.Outcome) {
	s.loop.Post(Message{Event: scheduler.Event{Kind: scheduler.Done, Code: uint8(how), Req: c.request()},
		Admit: func(at clock.Instant, _ *scheduler.Event) bool {
			s.lives.vacate(c.busy, at, how == record.OK || how == record.HTTPError)
			return true
		}})
}

// carry carries out one decision.
func (s *service) carry(a scheduler.Action) {
	c := s.calls[a.Req]
	d := decision{Action: a}
	if c != nil {
		d.Name = c.name
	}
	s.made.add(d)
	switch a.Do {
	case scheduler.Assign:
		s.assign(c, a)
	case scheduler.Start:
		s.start(c, a)
	case scheduler.Stop:
		s.stop(a)
	case scheduler.Reject:
		s.finish(c, a, ErrRejected)
	case scheduler.Lost:
		s.finish(c, a, ErrLost)
		c.abort(ErrLost)
	case scheduler.End:
		s.finish(c, a, errGone)
	case scheduler.Take:
		s.nodes.take(a.Status, a.At)
	case scheduler.Reclaim:
		s.nodes.reclaim(a.Status, a.At)
	case scheduler.Queue, scheduler.Mark:
	}
}

func (s *service) assign(c *call, a scheduler.Action) {
	acc := s.core.Account(a)
	c.busy = a.Inst
	c.decide(verdict{addr: s.lives.occupy(a.Inst, c.name, a.At), at: a.At, server: record.Server{
		Queue: acc.Queue, Init: acc.Init, Instance: instanceName(a.Inst),
		Start: acc.Start, StartBy: acc.StartBy, Source: record.FromPlatform,
	}})
}

// finish ends a call: each has exactly one Reject, Lost or End.
func (s *service) finish(c *call, a scheduler.Action, reason error) {
	delete(s.calls, a.Req)
	c.decide(verdict{status: int(a.Status), reason: reason, at: a.At})
}
