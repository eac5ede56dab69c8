package scheduler

import "coldwave/internal/clock"

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
	latest    *request // the one that arrived last; it may have ended
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
	nodes     *nodes       // nil: instances are placed nowhere
	ended     []RequestID  // dropped at the next event
	gone      []InstanceID // dropped at the next event
}

// request returns the request r, nil if it is unknown. It is nearly always the one that has just arrived, and then found
// without the table.
func (c *Control) request(r RequestID) *request {
	if req := c.latest; req.id == r && req.state != ended {
		return req
	}
	return c.requests.Get(int64(r))
}

// instance returns the instance i, nil if it is unknown. It is nearly always the one that became idle last, and then
// found without the table.
func (c *Control) instance(i InstanceID) *instance {
	if in := c.idle.last(); in.id == i && i != 0 {
		return in
	}
	return c.instances.Get(int64(i))
}

// Now returns the instant of the event being handled.
func (c *Control) Now() clock.Instant { return c.now }

// Config returns the limits in force. With nodes Max is also what they have room for beside what is alive, and Min is not
// above it: whoever obeys Max finds a node (PL-7).
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
func (c *Control) Front() RequestID { return c.queue.first.number() }

// IdleNewest returns the instance that became idle last, or 0.
func (c *Control) IdleNewest() InstanceID { return c.idle.last().id }

// IdleOldest returns the instance that has been idle longest, or 0.
func (c *Control) IdleOldest() InstanceID { return c.idle.first().id }

// FirstAlive returns the alive instance that was started first, or 0.
func (c *Control) FirstAlive() InstanceID { return c.alive.first().id }

// LastAlive returns the alive instance that was started last, or 0.
func (c *Control) LastAlive() InstanceID { return c.alive.last().id }

// Next returns the alive instance that was started after the alive instance i, or 0.
func (c *Control) Next(i InstanceID) InstanceID {
	if in := c.instances.Get(int64(i)); in != nil && in.isAlive() {
		return in.links[inAlive].next.id
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
	in := c.instance(i)
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
		return in.on.first.number()
	}
	return 0
}

// NextOn returns the request behind r: in the queue if r waits, on its instance if it runs. 0: r is the last.
func (c *Control) NextOn(r RequestID) RequestID {
	if req := c.requests.Get(int64(r)); req != nil {
		return req.next.number()
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

// Dispatched returns when the running request r was assigned, or Never for any other.
func (c *Control) Dispatched(r RequestID) clock.Instant {
	if req := c.requests.Get(int64(r)); req != nil && (req.state == running || req.state == abandoned) {
		return req.at
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
