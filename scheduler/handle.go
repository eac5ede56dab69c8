package scheduler

import "coldwave/internal/clock"

// handle does the core's part of an event and then asks the policy.
func (c *Core) handle(ev *Event) {
	c.events++
	c.kind = ev.Kind
	if !c.begun && ev.Kind != Configure {
		c.illegal("event", ev.Req, ev.Inst, "the core has not begun: the first event must be Configure")
	}
	switch ev.Kind {
	case Configure:
		c.onConfigure(ev)
	case Done:
		c.onDone(ev)
	case Failed:
		c.onFailed(ev)
	case Stopped:
		c.onStopped(ev)
	case Ready:
		c.onReady(ev)
	case Timer:
		c.onTimer(ev)
	case Arrival:
		c.onArrival(ev)
	case Cancel:
		c.onCancel(ev)
	case Sample:
		c.onSample(ev)
	case Tick:
		c.onTick(ev)
	default:
		c.illegal("event", ev.Req, ev.Inst, "unknown kind")
	}
}

// tell asks the policy.
func (c *Core) tell(ev *Event) {
	c.inside = true
	c.policy.Handle(&c.Control, *ev)
	c.inside = false
}

func (c *Core) onConfigure(ev *Event) {
	c.begun = true
	c.tell(ev)
	if c.alive.size > c.cfg.Max && !c.cfg.Overshoot {
		c.illegal("event", 0, 0, "the policy left more instances alive than max")
	}
}

func (c *Core) onArrival(ev *Event) {
	if int64(ev.Req) != c.requests.Last()+1 {
		c.illegal("event", ev.Req, 0, "an arrival must carry the next serial id")
	}
	_, req := c.requests.New()
	*req = request{id: ev.Req, state: arrived, since: c.now}
	c.latest = req
	c.tell(ev)
	if req.state == arrived {
		c.illegal("event", ev.Req, 0, "the policy forgot the request: it must assign, queue or reject it")
	}
}

func (c *Core) onDone(ev *Event) {
	req := c.known(ev)
	if req == nil {
		return
	}
	if req.state < running {
		c.illegal("event", ev.Req, 0, "a request that waits cannot be done")
	}
	in := req.on
	ev.Inst, ev.Value = in.id, int64(c.now.Sub(req.at))
	gone := req.state == abandoned
	in.on.remove(req)
	c.running--
	in.served++
	c.finish(req)
	if !gone {
		c.act(End, ev.Code, statusOK, ev.Inst, ev.Req)
	}
	if in.on.size == 0 {
		c.emptied(in)
	}
	c.tell(ev)
}

// emptied follows the end of the last request of an instance.
func (c *Core) emptied(in *instance) {
	if in.state == Busy {
		c.move(in, Idle)
		return
	}
	c.move(in, Stopping)
	c.act(Stop, 0, 0, in.id, 0)
}

// onFailed ends the requests of the instance before the policy learns of it: one by one, the first would free a slot
// on an instance that is dead. A policy that has let the instance go is told only of the room on its node: for it the
// instance has stopped.
func (c *Core) onFailed(ev *Event) {
	in := c.met(ev)
	if in == nil {
		return
	}
	told, full := in.isAlive(), c.Room() == 0
	for req := in.on.first; req != nil; {
		next := req.next
		gone := req.state == abandoned
		c.finish(req)
		if !gone {
			c.act(Lost, 0, statusBadGateway, ev.Inst, req.id)
		}
		req.prev, req.next = nil, nil
		req = next
	}
	c.bury(in)
	c.running -= in.on.size
	in.on = row{}
	switch {
	case told:
		c.tell(ev)
	case in.node != 0: // its room is free again
		c.tell(&Event{Kind: Stopped, Inst: ev.Inst})
		c.relent(full)
	}
}

// relent tells the policy that its limits are no longer those of full nodes: what let go of its room was no longer alive,
// so that only this raises Max (PL-7).
func (c *Core) relent(full bool) {
	if full && c.Room() > 0 {
		c.handle(&Event{Kind: Configure})
	}
}

func (c *Core) onStopped(ev *Event) {
	in := c.met(ev)
	if in == nil {
		return
	}
	if in.state != Stopping {
		c.illegal("event", 0, ev.Inst, "it was not told to stop; an instance that ends by itself has failed")
	}
	full := c.Room() == 0
	c.bury(in)
	c.tell(ev)
	c.relent(full)
}

func (c *Core) onReady(ev *Event) {
	in := c.met(ev)
	if in == nil {
		return
	}
	switch in.state {
	case Stopping:
		c.stale++
		return
	case Starting:
		in.ready = c.now
		ev.Value = int64(c.now.Sub(in.began))
		c.move(in, Idle)
		if in.node != 0 {
			c.bring(in.node)
		}
		c.tell(ev)
	default:
		c.illegal("event", 0, ev.Inst, "it is ready already")
	}
}

// onTick asks the policy, unless the tick is the core's own.
func (c *Core) onTick(ev *Event) {
	if ev.Code == nodeTick {
		c.nodes.armed = false
		c.reclaim()
		return
	}
	c.tell(ev)
}

func (c *Core) onTimer(ev *Event) {
	c.tell(ev)
	if c.deadlineOf(ev.Req) <= c.now {
		c.illegal("event", ev.Req, 0, "the policy let a deadline pass: it must end the request or give it a later one")
	}
}

// deadlineOf returns the deadline of a waiting request, and Never of any other.
func (c *Core) deadlineOf(r RequestID) clock.Instant {
	if req := c.requests.Get(int64(r)); req != nil && req.state == waiting {
		return req.at
	}
	return clock.Never
}

// onCancel ends a request whose client has gone. One that runs keeps its slot until Done: the worker is really busy.
// The policy is told of one that waited.
func (c *Core) onCancel(ev *Event) {
	req := c.known(ev)
	if req == nil {
		return
	}
	switch req.state {
	case waiting:
		c.leave(req)
		c.finish(req)
		c.act(End, 0, statusClientGone, 0, ev.Req)
		c.tell(ev)
	case running:
		req.state = abandoned
		c.act(End, 0, statusClientGone, req.on.id, ev.Req)
	default:
		c.stale++
	}
}

func (c *Core) onSample(ev *Event) {
	in := c.met(ev)
	if in == nil {
		return
	}
	if !in.isUp() {
		c.stale++
		return
	}
	c.tell(ev)
}

// known returns the request of an event, nil if it has ended.
func (c *Core) known(ev *Event) *request {
	req := c.requests.Get(int64(ev.Req))
	if req != nil && req.state != ended {
		return req
	}
	if ev.Req <= 0 || int64(ev.Req) > c.requests.Last() {
		c.illegal("event", ev.Req, 0, "no such request has arrived")
	}
	c.stale++
	return nil
}

// met returns the instance of an event, nil if it has ended.
func (c *Core) met(ev *Event) *instance {
	if ev.Inst <= 0 || int64(ev.Inst) > c.instances.Last() {
		c.illegal("event", 0, ev.Inst, "no such instance was started")
	}
	in := c.instances.Get(int64(ev.Inst))
	if in == nil || in.state == Gone {
		c.stale++
		return nil
	}
	return in
}

const (
	statusOK         = 200
	statusClientGone = 499 // the client closed the connection first
	statusBadGateway = 502
)
