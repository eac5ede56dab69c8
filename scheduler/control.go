package scheduler

import (
	"coldwave/internal/clock"
	"coldwave/record"
)

// Control is what a policy sees of its core and how it acts. All reads and acts take constant time, unless one says
// otherwise.
//
// An act is checked and takes effect at once: the next read sees it. An illegal act panics with Illegal in the
// policy's own line. Acts are legal only inside Handle.
//
// Note: returning actions from Handle instead leaves what the policy reads out of date while it decides; each policy
// would need a shadow of these tables, and it measured slower. An interface in place of this type gained nothing.
type Control struct {
	now    clock.Instant
	cfg    Config
	seed   uint64
	events int64
	kind   Kind // of the event being handled
	inside bool // Handle is running

	acts      []Action
	requests  Table[request]
	instances Table[instance]
	queue     row
	alive     chain
	idle      chain
	starting  int
	draining  int
	running   int
	stale     int64
	deadlines deadlines
	ticks     ticks
	ended     []RequestID  // dropped at the next event
	gone      []InstanceID // dropped at the next event
}

// Now returns the instant of the event being handled.
func (c *Control) Now() clock.Instant { return c.now }

// Config returns the limits in force.
func (c *Control) Config() Config { return c.cfg }

// Waiting returns the number of queued requests.
func (c *Control) Waiting() int { return c.queue.size }

// Running returns the number of requests in flight, those of clients that have gone included: the slot is taken.
func (c *Control) Running() int { return c.running }

// Alive returns the number of instances that are starting, idle or busy. This is what Max limits.
func (c *Control) Alive() int { return c.alive.size }

// Starting returns the number of instances that are starting.
func (c *Control) Starting() int { return c.starting }

// Draining returns the number of instances that finish their requests before they stop.
func (c *Control) Draining() int { return c.draining }

// Idling returns the number of idle instances.
func (c *Control) Idling() int { return c.idle.size }

// Front returns the request that has waited longest, or 0.
func (c *Control) Front() RequestID { return c.queue.first }

// IdleNewest returns the instance that became idle last, or 0.
func (c *Control) IdleNewest() InstanceID { return c.idle.last }

// IdleOldest returns the instance that has been idle longest, or 0.
func (c *Control) IdleOldest() InstanceID { return c.idle.first }

// FirstAlive returns the alive instance that was started first, or 0.
func (c *Control) FirstAlive() InstanceID { return c.alive.first }

// LastAlive returns the alive instance that was started last, or 0.
func (c *Control) LastAlive() InstanceID { return c.alive.last }

// Next returns the alive instance that was started after the alive instance i, or 0.
func (c *Control) Next(i InstanceID) InstanceID {
	if in := c.instances.Get(int64(i)); in != nil {
		return in.links[inAlive].next
	}
	return 0
}

// State returns the state of i.
func (c *Control) State(i InstanceID) State {
	if in := c.instances.Get(int64(i)); in != nil {
		return in.state
	}
	return Gone
}

// Up reports whether i is ready and not on its way out.
func (c *Control) Up(i InstanceID) bool {
	in := c.instances.Get(int64(i))
	return in != nil && in.isUp()
}

// InFlight returns the number of requests on i.
func (c *Control) InFlight(i InstanceID) int {
	if in := c.instances.Get(int64(i)); in != nil {
		return in.on.size
	}
	return 0
}

// Limit returns how many requests i may have in flight.
func (c *Control) Limit(i InstanceID) int32 {
	if in := c.instances.Get(int64(i)); in != nil {
		return in.limit
	}
	return 0
}

// Began returns when the start of i was decided, or Never for an unknown i.
func (c *Control) Began(i InstanceID) clock.Instant {
	if in := c.instances.Get(int64(i)); in != nil {
		return in.began
	}
	return clock.Never
}

// ReadyAt returns when i became ready, or Never.
func (c *Control) ReadyAt(i InstanceID) clock.Instant {
	if in := c.instances.Get(int64(i)); in != nil {
		return in.ready
	}
	return clock.Never
}

// IdleSince returns since when i has been idle, or Never if it is not.
func (c *Control) IdleSince(i InstanceID) clock.Instant {
	if in := c.instances.Get(int64(i)); in != nil && in.state == Idle {
		return in.since
	}
	return clock.Never
}

// Cause returns the request whose arrival caused the start of i, or 0.
func (c *Control) Cause(i InstanceID) RequestID {
	if in := c.instances.Get(int64(i)); in != nil {
		return in.cause
	}
	return 0
}

// FirstOn returns the request that has been on i longest, or 0.
func (c *Control) FirstOn(i InstanceID) RequestID {
	if in := c.instances.Get(int64(i)); in != nil {
		return in.on.first
	}
	return 0
}

// NextOn returns the request behind r: in the queue if r waits, on its instance if it runs. 0: r is the last.
func (c *Control) NextOn(r RequestID) RequestID {
	if req := c.requests.Get(int64(r)); req != nil {
		return req.next
	}
	return 0
}

// Since returns when r arrived, or Never for an unknown r.
func (c *Control) Since(r RequestID) clock.Instant {
	if req := c.requests.Get(int64(r)); req != nil {
		return req.since
	}
	return clock.Never
}

// IsWaiting reports whether r is in the queue.
func (c *Control) IsWaiting(r RequestID) bool {
	req := c.requests.Get(int64(r))
	return req != nil && req.state == waiting
}

// Tag returns a byte of r that belongs to the policy, 0 at first. It is nil for an unknown r.
func (c *Control) Tag(r RequestID) *uint8 {
	if req := c.requests.Get(int64(r)); req != nil {
		return &req.tag
	}
	return nil
}

// Assign sends r, which has just arrived or waits, to the free slot of the ready instance i.
func (c *Control) Assign(r RequestID, i InstanceID) {
	req := c.open("assign", r, i)
	in := c.instances.Get(int64(i))
	switch {
	case in == nil || !in.isUp():
		c.illegal("assign", r, i, "the instance is "+c.State(i).String()+", not ready")
	case in.on.size >= int(in.limit):
		c.illegal("assign", r, i, "the instance has no free slot")
	}
	kind := c.startKind(req, in)
	if req.state == waiting {
		c.leave(req)
	}
	req.state, req.inst, req.at = running, i, c.now
	c.link(&in.on, r, req)
	c.running++
	if in.state == Idle {
		c.move(i, in, Busy)
	}
	c.act(Action{Do: Assign, Code: uint8(kind), Inst: i, Req: r})
}

// startKind says how a request comes to its instance. One that goes there at its own arrival is warm, even if the
// instance is a spare that nobody has used. One that goes to an instance at the instant at which it becomes ready has
// waited for that start.
func (c *Control) startKind(req *request, in *instance) record.StartKind {
	switch {
	case req.since == c.now:
		return record.Warm
	case in.served == 0 && in.on.size == 0:
		return record.Cold
	case in.ready == c.now:
		return record.ColdWait
	default:
		return record.Queued
	}
}

// Queue lets r, which has just arrived, wait. At until, which lies after now, the policy gets a Timer; Never: it gets
// none.
func (c *Control) Queue(r RequestID, until clock.Instant) {
	req := c.open("queue", r, 0)
	if req.state == waiting {
		c.illegal("queue", r, 0, "it waits already; use Wait to move its deadline")
	}
	c.later("queue", r, until)
	req.state = waiting
	c.link(&c.queue, r, req)
	c.expires(r, req, until)
	c.act(Action{Do: Queue, Req: r})
}

// Wait moves the deadline of the waiting request r to until, which lies after now, or takes it away (Never). It
// appends no action.
func (c *Control) Wait(r RequestID, until clock.Instant) {
	req := c.open("wait", r, 0)
	if req.state != waiting {
		c.illegal("wait", r, 0, "it does not wait; use Queue first")
	}
	c.later("wait", r, until)
	c.expires(r, req, until)
}

func (c *Control) later(do string, r RequestID, until clock.Instant) {
	if until <= c.now {
		c.illegal(do, r, 0, "its deadline must lie after now; use Reject to end it now")
	}
}

// Reject turns away r, which has just arrived or waits, with an HTTP status of 400 or above.
func (c *Control) Reject(r RequestID, status int16) {
	req := c.open("reject", r, 0)
	if status < 400 || status > 599 {
		c.illegal("reject", r, 0, "the status must lie in 400 … 599")
	}
	if req.state == waiting {
		c.leave(req)
	}
	c.finish(r, req)
	c.act(Action{Do: Reject, Status: status, Req: r})
}

// Start starts an instance and returns its id. Why is the policy's own code; r is the arrival that caused it, or 0.
func (c *Control) Start(why uint8, r RequestID) InstanceID {
	c.acting("start", r, 0)
	if r < 0 || int64(r) > c.requests.Last() {
		c.illegal("start", r, 0, "its cause has not arrived")
	}
	c.mayStart(r)
	i := InstanceID(c.instances.Add(instance{limit: c.cfg.Limit, cause: r, began: c.now, ready: clock.Never}))
	c.move(i, c.instances.Get(int64(i)), Starting)
	c.act(Action{Do: Start, Code: why, Inst: i, Req: r})
	return i
}

func (c *Control) mayStart(r RequestID) {
	if c.alive.size < c.cfg.Max {
		return
	}
	if !c.cfg.Overshoot {
		c.illegal("start", r, 0, "max is reached")
	}
	if c.alive.size+c.draining >= 2*c.cfg.Max {
		c.illegal("start", r, 0, "twice max is reached")
	}
}

// Stop stops the alive instance i: at once if nothing is in flight on it, else after its last request (it drains).
func (c *Control) Stop(i InstanceID) {
	c.acting("stop", 0, i)
	in := c.instances.Get(int64(i))
	if in == nil || !in.isAlive() {
		c.illegal("stop", 0, i, "the instance is "+c.State(i).String())
	}
	c.quit(in)
	if in.state == Busy {
		c.move(i, in, Draining)
		return
	}
	c.move(i, in, Stopping)
	c.act(Action{Do: Stop, Inst: i})
}

// Shrink obeys a lowered Max: idle instances stop, the longest idle first, then busy ones drain, the oldest first,
// until Alive ≤ Max or only starting ones are left. Those are the policy's to stop, since it knows who waits for them.
// The time is linear in the number of alive instances.
func (c *Control) Shrink() {
	for c.alive.size > c.cfg.Max && c.idle.size > 0 {
		c.Stop(c.idle.first)
	}
	for i := c.alive.first; i != 0 && c.alive.size > c.cfg.Max; {
		next := c.Next(i)
		if c.State(i) == Busy {
			c.Stop(i)
		}
		i = next
	}
}

// SetLimit changes how many requests the alive instance i may have in flight, to n ≥ 1. It may fall below what is in
// flight now. It appends no action.
func (c *Control) SetLimit(i InstanceID, n int32) {
	c.acting("limit", 0, i)
	in := c.instances.Get(int64(i))
	if in == nil || !in.isAlive() {
		c.illegal("limit", 0, i, "the instance is "+c.State(i).String())
	}
	if n < 1 {
		c.illegal("limit", 0, i, "the limit must be ≥ 1")
	}
	in.limit = n
}

// Mark tells the watchers something about the alive instance i; m is the policy's own code.
func (c *Control) Mark(i InstanceID, m uint8) {
	c.acting("mark", 0, i)
	if in := c.instances.Get(int64(i)); in == nil || !in.isAlive() {
		c.illegal("mark", 0, i, "the instance is "+c.State(i).String())
	}
	c.act(Action{Do: Mark, Code: m, Inst: i})
}

// act appends an action at the present instant.
func (c *Control) act(a Action) {
	a.At = c.now
	c.acts = append(c.acts, a)
}

// acting checks that the policy acts when it is its turn.
func (c *Control) acting(do string, r RequestID, i InstanceID) {
	if !c.inside {
		c.illegal(do, r, i, "acts are legal only inside Handle")
	}
}

// open returns the request r, about which nothing final is decided.
func (c *Control) open(do string, r RequestID, i InstanceID) *request {
	c.acting(do, r, i)
	req := c.requests.Get(int64(r))
	if req == nil || req.state > waiting {
		c.illegal(do, r, i, "the request neither arrives nor waits")
	}
	return req
}
