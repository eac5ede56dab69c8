package scheduler

import (
	"errors"

	"coldwave/internal/clock"
)

// Core is the scheduler of one revision: it owns the queue, the instances, the deadlines and the ticks, asks its
// policy at each event, and fires what falls due by itself. It owns no clock: the host says what time it is.
//
// A Core is for one goroutine. Once it has seen its peak it allocates nothing. Reads of the embedded Control are open
// to the host between calls; requests and instances that ended in a call stay readable until the next one.
type Core struct {
	Control
	policy Policy
	begun  bool
}

// New returns a core that obeys cfg; it panics if cfg.Validate fails. The seed only appears in the text of a panic: a
// core draws nothing. The first event must be Configure, which tells the policy that the core begins.
func New(p Policy, cfg Config, seed uint64) *Core { return NewOn(p, cfg, Nodes{}, seed) }

// NewOn is New of a core that places its instances on nodes, which stay the same whatever Configure changes. It panics
// too if nodes.Validate fails.
func NewOn(p Policy, cfg Config, on Nodes, seed uint64) *Core {
	if err := errors.Join(cfg.Validate(), on.Validate()); err != nil {
		panic(err)
	}
	c := &Core{policy: p}
	c.cfg, c.seed, c.now = cfg.withDefaults(), seed, -clock.Never
	c.latest = &request{state: ended}
	c.alive.open(inAlive)
	c.idle.open(inIdle)
	c.deadlines.soonest, c.ticks.soonest = clock.Never, clock.Never
	if on.On() {
		c.nodes = newNodes(on)
		c.obey(c.cfg)
	}
	return c
}

// Step first fires what fell due before ev, then handles ev, and appends the decisions to dst. Now must not lie before
// that of an earlier call. Events of one instant must come in order of (Kind, id) as far as the host knows them.
//
// Arrival must carry the next serial request id. Timer and Tick are the core's own and are refused. An event that lost
// a legal race (Done after Failed, Cancel after End, Ready after Stop) is counted by Stale and otherwise ignored.
func (c *Core) Step(dst []Action, now clock.Instant, ev Event) []Action { return c.Take(dst, now, &ev) }

// Take is Step of an event in place, into which it writes what the core fills in. It copies nothing: a simulator that
// makes two events for each request saves a tenth of its time.
func (c *Core) Take(dst []Action, now clock.Instant, ev *Event) []Action {
	c.enter(dst, now)
	if c.Next() <= now {
		c.fireBefore(ev.Kind, now)
	}
	c.now = now
	if ev.Kind == Timer || ev.Kind == Tick {
		c.illegal("event", ev.Req, ev.Inst, "timers and ticks are the core's own; the host calls Advance")
	}
	c.handle(ev)
	return c.acts
}

// Advance fires everything due up to and including now and appends the decisions to dst.
func (c *Core) Advance(dst []Action, now clock.Instant) []Action {
	c.enter(dst, now)
	c.fire(now+1, now+1)
	c.now = now
	return c.acts
}

// Next returns when the host should call Advance: never later than the first instant at which something falls due,
// possibly earlier, Never if nothing will.
func (c *Core) Next() clock.Instant { return min(c.deadlines.soonest, c.ticks.soonest) }

// Configure changes the limits: a Step of kind Configure. A limit below what is alive stops idle instances and lets
// busy ones drain; no running request is killed. It panics if cfg.Validate fails.
func (c *Core) Configure(dst []Action, now clock.Instant, cfg Config) []Action {
	if err := cfg.Validate(); err != nil {
		panic(err)
	}
	c.enter(dst, now)
	c.fire(now, now)
	c.now = now
	c.obey(cfg.withDefaults())
	c.handle(&Event{Kind: Configure})
	return c.acts
}

// obey takes new limits.
func (c *Core) obey(cfg Config) {
	if c.cfg = cfg; c.nodes != nil {
		c.nodes.given = cfg
		c.refit()
	}
}

// Stale returns how many events lost a legal race and were ignored.
func (c *Core) Stale() int64 { return c.stale }

// Events returns how many events were handled, timers and ticks included.
func (c *Core) Events() int64 { return c.events }

// enter opens a call of the host: what ended in the one before is forgotten.
func (c *Core) enter(dst []Action, now clock.Instant) {
	if now < c.now || now >= clock.Never/2 {
		c.badTime(now)
	}
	c.acts = dst
	for _, r := range c.ended {
		c.requests.Drop(int64(r))
	}
	c.ended = c.ended[:0]
	if len(c.gone) > 0 {
		c.forget()
	}
}

// badTime says why now cannot be the time.
func (c *Core) badTime(now clock.Instant) {
	if now < c.now {
		c.illegal("time", 0, 0, "time went back to "+now.String())
	}
	c.illegal("time", 0, 0, "the instant "+now.String()+" is no time: ticks would never end")
}

// forget drops the instances that ended in the last call.
func (c *Core) forget() {
	for _, i := range c.gone {
		c.instances.Drop(int64(i))
	}
	c.gone = c.gone[:0]
}

// fireBefore handles what fell due before an event of that kind.
func (c *Core) fireBefore(kind Kind, now clock.Instant) {
	timers := now
	if kind > Timer {
		timers++
	}
	c.fire(timers, now)
}

// fire handles the deadlines before timers and the ticks before ticks, in order of instant; at one instant deadlines
// come first.
func (c *Core) fire(timers, ticks clock.Instant) {
	for {
		d := c.deadlines.top()
		switch {
		case d.at < timers && d.at <= c.ticks.soonest:
			c.deadlines.pop()
			c.deadlines.settle()
			if c.holds(d) {
				c.now = d.at
				c.handle(&Event{Kind: Timer, Req: d.req})
			}
		case c.ticks.soonest < ticks && c.ticks.soonest < d.at:
			t := c.ticks.take()
			c.now = t.at
			c.handle(&Event{Kind: Tick, Code: t.name})
		default:
			return
		}
	}
}
