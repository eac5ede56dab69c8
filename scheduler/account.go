package scheduler

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// Dispatch says how a request came to its instance and how its wait was spent. Both drivers label with it, so that they
// label alike. Queue + Init is the whole wait.
type Dispatch struct {
	Inst    InstanceID
	Start   record.StartKind
	StartBy record.StartBy
	First   bool          // no request was on Inst before
	Cause   RequestID     // whose arrival caused the start of Inst; 0: none
	Since   clock.Instant // arrival
	At      clock.Instant // dispatch
	Init    time.Duration // the part of the wait in which Inst was starting
	Queue   time.Duration // the rest of the wait
}

// Account accounts for an Assign action of the host's last call: later the request or the instance may have ended. For
// any other action, or too late, it returns the zero Dispatch.
func (c *Control) Account(a Action) Dispatch {
	var d Dispatch
	c.AccountTo(&d, &a)
	return d
}

// AccountTo is Account into a zero Dispatch of the caller's. It copies nothing: a simulator asks for each request.
func (c *Control) AccountTo(d *Dispatch, a *Action) {
	req := c.request(a.Req)
	if a.Do != Assign || req == nil {
		return
	}
	in := req.on
	d.Inst, d.Cause, d.Since, d.At = a.Inst, in.cause, req.since, a.At
	d.Start, d.First = record.StartKind(a.Code), in.served == 0 && in.on.first == req
	if d.Start == record.Warm {
		d.StartBy = record.ByNone
		return // it has not waited
	}
	d.Init = overlap(req.since, a.At, in.began, in.ready)
	d.Queue = a.At.Sub(req.since) - d.Init
	d.StartBy = startBy(d.Start, a.Req, in.cause)
}

// overlap returns how much of [from, to) lies in [begin, end).
func overlap(from, to, begin, end clock.Instant) time.Duration {
	return max(0, min(to, end).Sub(max(from, begin)))
}

// startBy says whose start a request waited for. One that used no new instance waited for none.
func startBy(kind record.StartKind, r, cause RequestID) record.StartBy {
	switch {
	case kind != record.Cold && kind != record.ColdWait || cause == 0:
		return record.ByNone
	case cause == r:
		return record.ByOwn
	default:
		return record.ByOther
	}
}

// Instance returns a snapshot of i, and false if it is unknown. One that ended in the host's last call still is known.
func (c *Control) Instance(i InstanceID) (Instance, bool) {
	in := c.instances.Get(int64(i))
	if in == nil {
		return Instance{ID: i}, false
	}
	return c.snapshot(in), true
}

// Instances appends a snapshot of each instance that has not ended, in order of id, in time linear in the span of ids.
func (c *Control) Instances(dst []Instance) []Instance {
	for _, in := range c.instances.All() {
		if in.state != Gone {
			dst = append(dst, c.snapshot(in))
		}
	}
	return dst
}

// Load is the state of a core in numbers, for those who watch.
type Load struct {
	Waiting, Running               int // requests
	Starting, Idle, Busy, Draining int // instances
	Nodes                          int // in use
	Arrived                        int64
	Started                        int64
	Events, Stale                  int64
}

// Load returns the state of the core in numbers.
func (c *Control) Load() Load {
	return Load{
		Waiting: c.queue.size, Running: c.running,
		Starting: c.starting, Idle: c.idle.size, Busy: c.alive.size - c.starting - c.idle.size, Draining: c.draining,
		Nodes:   c.Taken(),
		Arrived: c.requests.Last(), Started: c.instances.Last(), Events: c.events, Stale: c.stale,
	}
}
