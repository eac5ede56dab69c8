package policies

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// pool returns the list that holds a container while it has room for a request.
func (p *OpenWhisk) pool(in *owContainer) *owList {
	k := &p.invokers[in.invoker]
	if in.action < 0 {
		return &k.prewarmed
	}
	return &k.free
}

func (p *OpenWhisk) settle(c *scheduler.Control, i scheduler.InstanceID, in *owContainer) {
	p.settleIn(p.pool(in), c, i, in)
}

// place finds a container of an invoker for a request, if it can have one now. Then give it the request.
func (p *OpenWhisk) place(c *scheduler.Control, k int, r scheduler.RequestID, call *owCall) bool {
	call.inst = p.find(c, k, r, call.action)
	return call.inst != 0
}

// find returns a container for a request on an invoker (OW-5): a warm one of its action, one that is starting and has
// room, a prewarmed one, a new one if there is room, else the one that has been idle longest is stopped for it. 0: there
// is none now.
func (p *OpenWhisk) find(c *scheduler.Control, k int, r scheduler.RequestID, action int16) scheduler.InstanceID {
	in := &p.invokers[k]
	if i := p.warm(in, action); i != 0 {
		return i
	}
	if i := in.prewarmed.first; i != 0 {
		p.remove(&in.prewarmed, inPool, i)
		p.get(i).action = action
		p.prewarm(c, k, false)
		return i
	}
	if !p.room(c, k) && !p.evict(c, k) {
		return 0
	}
	in.cold++
	p.wait(c, r)
	return p.launch(c, k, action, ForRequest, r)
}

// warm returns the container of the action that was used last, of those with room for a request; one that is ready comes
// first.
func (p *OpenWhisk) warm(in *owInvoker, action int16) scheduler.InstanceID {
	starting := scheduler.InstanceID(0)
	for i := in.free.last; i != 0; i = p.get(i).links[inPool].prev {
		switch box := p.get(i); {
		case box.action != action:
		case box.ready:
			return i
		case starting == 0:
			starting = i
		}
	}
	return starting
}

// evict stops the container of an invoker that has been idle longest (OW-5), or, where the quota and not the invoker is
// full, the one of all (OW-15). It reports whether there is room now: on a node there is when the container has gone.
func (p *OpenWhisk) evict(c *scheduler.Control, k int) bool {
	i := scheduler.InstanceID(0)
	if p.fits(c, k) {
		p.short = true
		i = p.idle.first
	} else if !leaves(c, scheduler.NodeID(k+1)) {
		i = p.oldest(&p.invokers[k])
	}
	if i == 0 {
		return false
	}
	p.stop(c, i, p.get(i))
	return p.room(c, k)
}

// oldest returns the idle container of an invoker whose last use lies furthest back, or 0.
func (p *OpenWhisk) oldest(in *owInvoker) scheduler.InstanceID {
	for i := in.free.first; i != 0; i = p.get(i).links[inPool].next {
		if box := p.get(i); box.ready && box.active == 0 {
			return i
		}
	}
	return 0
}

// leaves reports whether an instance of a node is stopping, so that there will be room.
func leaves(c *scheduler.Control, n scheduler.NodeID) bool {
	for i := c.FirstPlaced(n); i != 0; i = c.NextPlaced(i) {
		if c.State(i) == scheduler.Stopping {
			return true
		}
	}
	return false
}

// give sends a request to a container, or binds it to one that starts.
func (p *OpenWhisk) give(c *scheduler.Control, r scheduler.RequestID, call *owCall) {
	i := call.inst
	in := p.get(i)
	p.calls.push(&in.on, r)
	in.active++
	if in.ready {
		c.Assign(r, i)
	} else {
		p.wait(c, r)
	}
	p.settle(c, i, in)
}

// serve tries the head of an invoker's buffer, again and again until it finds none (OW-6). If the quota held one back, all
// heads are tried.
func (p *OpenWhisk) serve(c *scheduler.Control, k int) {
	p.serveOne(c, k)
	if p.short {
		p.serveAll(c)
	}
}

func (p *OpenWhisk) serveAll(c *scheduler.Control) {
	p.short = false
	for k := range p.invokers {
		p.serveOne(c, k)
	}
}

func (p *OpenWhisk) serveOne(c *scheduler.Control, k int) {
	row := &p.invokers[k].buffer
	for r := row.first; r != 0; r = row.first {
		call := p.calls.Get(int64(r))
		if !p.place(c, k, r, call) {
			return
		}
		p.calls.pull(row, call)
		p.give(c, r, call)
	}
}

// spare starts a container for Min, on the first invoker with room on the walk of the first action.
func (p *OpenWhisk) spare(c *scheduler.Control) bool {
	b := &p.balancer
	n := b.to - b.from
	k, step := OWWalk(b.hashes[0], n, b.steps)
	for range n {
		if p.room(c, b.from+k) {
			i := p.launch(c, b.from+k, 0, ForMin, 0)
			p.settle(c, i, p.get(i))
			return true
		}
		k = (k + step) % n
	}
	return false
}

// OWPrewarm says how many prewarmed containers an invoker keeps (OW-8).
type OWPrewarm struct {
	Initial              int
	Reactive             bool
	Min, Max             int
	Threshold, Increment int
	TTL                  time.Duration
}

// Wanted returns the number after so many cold starts since the last check.
func (w OWPrewarm) Wanted(cold int) int {
	if !w.Reactive {
		return w.Initial
	}
	return min(max(w.Min, cold/w.Threshold*w.Increment), w.Max)
}

const (
	owPrewarmCheck = clock.Instant(10 * time.Minute)
	owMostExpired  = 100
)

// prewarm starts what an invoker lacks of prewarmed containers, as far as there is room; again: within the budget of
// restarts.
func (p *OpenWhisk) prewarm(c *scheduler.Control, k int, again bool) {
	in := &p.invokers[k]
	for in.prewarmed.size+in.warming < in.want && p.room(c, k) {
		if again && !p.restarts.take(c.Now()) {
			wake(c, &p.restarts)
			return
		}
		p.launch(c, k, -1, ForPrewarm, 0)
		in.warming++
	}
}

// restore replaces lost containers of Min, and prewarmed ones.
func (p *OpenWhisk) restore(c *scheduler.Control) {
	for c.Alive() < c.Config().Min {
		if !p.restarts.take(c.Now()) {
			wake(c, &p.restarts)
			return
		}
		if !p.spare(c) {
			break
		}
	}
	for k := range p.invokers {
		p.prewarm(c, k, true)
	}
}

// adjust is the periodic check: prewarmed containers that were not used in time go, and each invoker's number follows its
// cold starts (OW-8).
func (p *OpenWhisk) adjust(c *scheduler.Control) {
	for k := range p.invokers {
		in := &p.invokers[k]
		for range owMostExpired {
			i := in.prewarmed.first
			if i == 0 || c.Now().Sub(p.get(i).since) < p.o.Prewarm.TTL {
				break
			}
			p.stop(c, i, p.get(i))
		}
		in.want, in.cold = p.o.Prewarm.Wanted(in.cold), 0
		p.prewarm(c, k, false)
		p.serve(c, k)
	}
}
