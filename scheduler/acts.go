package scheduler

import (
	"coldwave/internal/clock"
	"coldwave/record"
)

// Assign sends r, which has just arrived or waits, to the free slot of the ready instance i.
func (c *Control) Assign(r RequestID, i InstanceID) {
	req := c.open("assign", r, i)
	in := c.instance(i)
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
	req.state, req.on, req.at = running, in, c.now
	in.on.add(req)
	c.running++
	if in.state == Idle {
		c.move(in, Busy)
	}
	c.act(Assign, uint8(kind), 0, i, r)
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
	c.queue.add(req)
	c.expires(req, until)
	c.act(Queue, 0, 0, 0, r)
}

// Wait moves the deadline of the waiting request r to until, which lies after now, or takes it away (Never). It
// appends no action.
func (c *Control) Wait(r RequestID, until clock.Instant) {
	req := c.open("wait", r, 0)
	if req.state != waiting {
		c.illegal("wait", r, 0, "it does not wait; use Queue first")
	}
	c.later("wait", r, until)
	c.expires(req, until)
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
	c.finish(req)
	c.act(Reject, 0, status, 0, r)
}

// Start starts an instance and returns its id. Why is the policy's own code; r is the arrival that caused it, or 0. With
// nodes the rule of PlaceBy chooses one.
func (c *Control) Start(why uint8, r RequestID) InstanceID { return c.StartOn(0, why, r) }

// StartOn is Start on node n, which must have room; 0: the rule of PlaceBy chooses.
func (c *Control) StartOn(n NodeID, why uint8, r RequestID) InstanceID {
	c.acting("start", r, 0)
	if r < 0 || int64(r) > c.requests.Last() {
		c.illegal("start", r, 0, "its cause has not arrived")
	}
	c.mayStart(r)
	if c.nodes != nil || n != 0 {
		n = c.room(n, r)
	}
	i, in := c.instances.New()
	*in = instance{id: InstanceID(i), limit: c.cfg.Limit, cause: r, began: c.now, ready: clock.Never}
	c.move(in, Starting)
	if n != 0 {
		c.put(in.id, in, n)
	}
	c.act(Start, why, int16(n), in.id, r)
	return in.id
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
		c.move(in, Draining)
		return
	}
	c.move(in, Stopping)
	c.act(Stop, 0, 0, i, 0)
}

// Shrink obeys a lowered Max: idle instances stop, the longest idle first, then busy ones drain, the oldest first,
// until Alive ≤ Max or only starting ones are left. Those are the policy's to stop, since it knows who waits for them.
// The time is linear in the number of alive instances.
func (c *Control) Shrink() {
	for c.alive.size > c.cfg.Max && c.idle.size > 0 {
		c.Stop(c.idle.first().id)
	}
	for i := c.FirstAlive(); i != 0 && c.alive.size > c.cfg.Max; {
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
	c.act(Mark, m, 0, i, 0)
}

// act appends an action at the present instant. It is written where it will be read: a value of narrow fields that is made
// first and copied then has to wait for them.
func (c *Control) act(do Do, code uint8, status int16, i InstanceID, r RequestID) {
	n := len(c.acts)
	if n == cap(c.acts) {
		c.acts = append(c.acts, Action{})
	} else {
		c.acts = c.acts[:n+1]
	}
	a := &c.acts[n]
	a.Do, a.Code, a.Status, a.Inst, a.Req, a.At = do, code, status, i, r, c.now
}

// acting checks that the policy acts when it is its turn.
func (c *Control) acting(do string, r RequestID, i InstanceID) {
	if !c.inside {
		c.illegal(do, r, i, "acts are legal only inside Handle")
	}
}

// open returns the request r, about which nothing final is decided.
func (c *Control) open(do string, r RequestID, i InstanceID) *request {
	req := c.request(r)
	if !c.inside || req == nil || req.state > waiting {
		c.shut(do, r, i)
	}
	return req
}

// shut says why the request is not open.
func (c *Control) shut(do string, r RequestID, i InstanceID) {
	c.acting(do, r, i)
	c.illegal(do, r, i, "the request neither arrives nor waits")
}
