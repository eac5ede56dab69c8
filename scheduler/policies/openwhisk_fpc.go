package policies

import (
	"math"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// OWSnapshot is what the newer scheduler knows of one queue when it decides (OW-10).
type OWSnapshot struct {
	Existing, InProgress int           // containers of the action: ready, starting
	Waiting              int           // requests
	Stale                int           // of them those that have waited for more than 100 ms
	Duration             time.Duration // mean of the last runs; 0: none has ended yet
	Concurrency          int
	Initialized          bool // the queue has had its first container
	Throttled            bool
	Capacity             int // containers that action and namespace may still have
}

// OWDecision is what follows.
type OWDecision struct {
	Start    int  // containers
	Throttle bool // the namespace is throttled from now on
	Release  bool // it no longer is
	Drop     bool // all that wait are turned away
}

// owInterval is the time between two decisions on a queue, and the wait from which on a request is stale (OW-10).
const owInterval = 100 * time.Millisecond

// OWDecide decides on one queue (OW-10). Float64, as in the source.
func OWDecide(s OWSnapshot) OWDecision {
	total := s.Existing + s.InProgress
	throughput := 0.0 // requests that one container ends in an interval
	if s.Duration > 0 {
		throughput = float64(owInterval) / float64(s.Duration) * float64(s.Concurrency)
	}
	n := 0
	switch fresh := float64(s.Waiting); {
	case s.Capacity <= 0:
		return OWDecision{Throttle: !s.Throttled, Drop: !s.Throttled && total == 0}
	case total == 0 && s.Duration == 0 && !s.Initialized:
		return OWDecision{Start: 1}
	case s.Throttled:
		return OWDecision{Release: true}
	case total == 0 && s.Waiting > 0:
		return OWDecision{Start: 1}
	case s.Stale > 0 && s.Duration == 0:
		n = min(int(ceilDiv(int64(s.Stale), int64(s.Concurrency)))-s.InProgress, s.Waiting)
	case s.Stale > 0:
		n = min(s.Stale, int(math.Ceil(float64(s.Stale)/throughput))) - s.InProgress
	case s.Duration > 0 && fresh >= throughput*float64(total) && total < s.Waiting:
		n = min(int(math.Ceil(fresh/throughput-float64(s.Existing)-float64(s.InProgress))), s.Waiting-total)
	}
	if n > s.Capacity {
		return OWDecision{Start: s.Capacity, Throttle: true}
	}
	return OWDecision{Start: max(0, n)}
}

// OWScheduler is the newer scheduler (OW-10): each action has one queue, containers pull from it, and every 100 ms
// containers are started for the backlog that those which exist, or start, do not work off. A new container goes to the
// invoker with the most room.
type OWScheduler struct {
	owContainers
	queues   []owQueue // by action
	calls    owCalls
	balancer owBalancer
	minute   owMinute
	awake    bool
}

// owQueue is the queue of one action.
type owQueue struct {
	row                 owRow
	waiting, stale      int
	fresh               scheduler.RequestID // the first one that is not stale
	free                owList              // containers that are ready and have room for a request, in order of last use
	existing, starting  int
	last                [owRuns]time.Duration
	runs                int // that ended
	initialized, denied bool
}

// owRuns is how many runs the mean duration is of.
const owRuns = 10

// NewOWScheduler returns the policy of one core.
func NewOWScheduler(o OWOptions) *OWScheduler {
	return &OWScheduler{owContainers: newOWContainers(o), balancer: newOWBalancer(o), queues: make([]owQueue, o.Actions)}
}

// Handle decides on one event.
func (p *OWScheduler) Handle(c *scheduler.Control, ev scheduler.Event) {
	switch ev.Kind {
	case scheduler.Configure:
		p.configure(c)
	case scheduler.Arrival:
		p.arrival(c, ev.Req)
	case scheduler.Ready:
		in := p.get(ev.Inst)
		q := &p.queues[in.action]
		in.ready = true
		q.starting--
		q.existing++
		p.pull(c, ev.Inst, in)
	case scheduler.Done:
		p.done(c, ev)
	case scheduler.Timer:
		c.Reject(ev.Req, unavailable)
		p.withdraw(ev.Req)
	case scheduler.Cancel:
		p.withdraw(ev.Req)
	case scheduler.Failed:
		p.forget(ev.Inst, p.get(ev.Inst))
		p.restore(c)
	case scheduler.Tick:
		p.tick(c, ev.Code)
	case scheduler.Stopped, scheduler.Sample: // the next decision sees the room
	}
	p.arm(c)
}

func (p *OWScheduler) arrival(c *scheduler.Control, r scheduler.RequestID) {
	action := p.actionOf(r)
	p.calls.Add(owCall{action: action})
	q := &p.queues[action]
	if q.existing+q.starting == 0 && q.row.first == 0 {
		*q = owQueue{} // a queue without containers and requests is removed, with what it has learnt
	}
	switch i := q.free.last; {
	case p.minute.over(c.Now(), p.o.PerMinute) || q.denied && q.existing+q.starting == 0:
		c.Reject(r, throttled)
		p.calls.Drop(int64(r))
	case c.Config().Max == 0 && c.Alive() == 0:
		c.Reject(r, unavailable)
		p.calls.Drop(int64(r))
	case i != 0:
		p.give(c, r, i, p.get(i))
	default:
		p.wait(c, r, q)
	}
}

// wait queues a request. The first one of a queue is decided on at once.
func (p *OWScheduler) wait(c *scheduler.Control, r scheduler.RequestID, q *owQueue) {
	c.Queue(r, c.Now().Add(OWCompletionTimeout(p.o.ActionTimeout)))
	p.calls.push(&q.row, r)
	if q.waiting++; q.fresh == 0 {
		q.fresh = r
	}
	if q.waiting == 1 {
		p.decide(c, int(p.calls.Get(int64(r)).action))
	}
	if !p.awake {
		p.awake = true
		c.Alarm(tickSchedule, nextMultiple(c.Now(), clock.Instant(owInterval)))
	}
}

// give sends a request to a container that is ready.
func (p *OWScheduler) give(c *scheduler.Control, r scheduler.RequestID, i scheduler.InstanceID, in *owContainer) {
	c.Assign(r, i)
	p.calls.Drop(int64(r))
	in.active++
	p.settle(c, i, in)
}

func (p *OWScheduler) settle(c *scheduler.Control, i scheduler.InstanceID, in *owContainer) {
	p.settleIn(&p.queues[in.action].free, c, i, in)
}

// pull lets a container take from its queue what it has room for.
func (p *OWScheduler) pull(c *scheduler.Control, i scheduler.InstanceID, in *owContainer) {
	q := &p.queues[in.action]
	p.settle(c, i, in)
	for r := q.row.first; r != 0 && in.active < c.Limit(i); r = q.row.first {
		p.unqueue(r, q)
		p.give(c, r, i, in)
	}
}

// unqueue takes a request out of its queue.
func (p *OWScheduler) unqueue(r scheduler.RequestID, q *owQueue) {
	call := p.calls.Get(int64(r))
	if q.fresh == r {
		q.fresh = call.next
	}
	if call.stale {
		q.stale--
	}
	q.waiting--
	p.calls.pull(&q.row, call)
}

// withdraw forgets a request that has waited in vain, or whose client has gone.
func (p *OWScheduler) withdraw(r scheduler.RequestID) {
	p.unqueue(r, &p.queues[p.calls.Get(int64(r)).action])
	p.calls.Drop(int64(r))
}

func (p *OWScheduler) done(c *scheduler.Control, ev scheduler.Event) {
	in := p.get(ev.Inst)
	if in == nil {
		return // it was let go
	}
	q := &p.queues[in.action]
	q.last[q.runs%owRuns] = time.Duration(ev.Value)
	q.runs++
	in.active--
	if p.o.FailedRun && failedRun(ev.Code) {
		p.stop(c, ev.Inst, in)
		return
	}
	p.pull(c, ev.Inst, in)
}

// forget takes a container that has gone, or is about to, out of the books.
func (p *OWScheduler) forget(i scheduler.InstanceID, in *owContainer) {
	q := &p.queues[in.action]
	if in.ready {
		q.existing--
	} else {
		q.starting--
	}
	p.remove(&q.free, inPool, i)
	p.wake(i, in)
	p.containers.Drop(int64(i))
}

func (p *OWScheduler) stop(c *scheduler.Control, i scheduler.InstanceID, in *owContainer) {
	p.forget(i, in)
	c.Stop(i)
}

func (p *OWScheduler) configure(c *scheduler.Control) {
	p.balancer.spread(max(1, c.Nodes().Count))
	c.Shrink()
	for c.Alive() > c.Config().Max {
		i := c.LastAlive()
		p.stop(c, i, p.get(i))
	}
	for id, in := range p.containers.All() {
		if i := scheduler.InstanceID(id); !c.Up(i) && c.State(i) != scheduler.Starting {
			p.forget(i, in)
		}
	}
	if c.Config().Max == 0 && c.Alive() == 0 {
		for k := range p.queues {
			p.dropAll(c, &p.queues[k], unavailable)
		}
	}
	for c.Alive() < c.Config().Min && p.start(c, 0, ForMin, 0) {
	}
}

func (p *OWScheduler) dropAll(c *scheduler.Control, q *owQueue, status int16) {
	for r := q.row.first; r != 0; r = q.row.first {
		c.Reject(r, status)
		p.withdraw(r)
	}
}

// restore replaces lost containers of Min as far as the budget goes.
func (p *OWScheduler) restore(c *scheduler.Control) {
	for c.Alive() < c.Config().Min {
		if !p.restarts.take(c.Now()) {
			wake(c, &p.restarts)
			return
		}
		if !p.start(c, 0, ForMin, 0) {
			return
		}
	}
}

func (p *OWScheduler) tick(c *scheduler.Control, name uint8) {
	switch name {
	case tickPause:
		p.pause(c)
	case tickReap:
		for i := p.expired(c); i != 0; i = p.expired(c) {
			p.stop(c, i, p.get(i))
		}
	case tickSchedule:
		p.awake = false
		for k := range p.queues {
			if q := &p.queues[k]; q.waiting > 0 || q.denied {
				p.decide(c, k)
				p.awake = p.awake || q.waiting > 0
			}
		}
		if p.awake {
			c.Alarm(tickSchedule, nextMultiple(c.Now(), clock.Instant(owInterval)))
		}
	case tickAgain:
		p.restore(c)
	}
}

// decide decides on the queue of an action, and carries it out.
func (p *OWScheduler) decide(c *scheduler.Control, action int) {
	q := &p.queues[action]
	d := OWDecide(p.snapshot(c, q))
	q.denied = (q.denied || d.Throttle) && !d.Release
	if d.Drop {
		p.dropAll(c, q, throttled)
		return
	}
	r := q.row.first
	for k := 0; k < q.starting && r != 0; k++ { // they have a start on the way
		r = p.calls.Get(int64(r)).next
	}
	for range d.Start {
		if !p.start(c, int16(action), ForLoad, r) {
			return
		}
		q.initialized = true
		if r != 0 {
			r = p.calls.Get(int64(r)).next
		}
	}
}

func (p *OWScheduler) snapshot(c *scheduler.Control, q *owQueue) OWSnapshot {
	for ; q.fresh != 0 && c.Now().Sub(c.Since(q.fresh)) > owInterval; q.stale++ {
		call := p.calls.Get(int64(q.fresh))
		call.stale = true
		q.fresh = call.next
	}
	s := OWSnapshot{
		Existing: q.existing, InProgress: q.starting, Waiting: q.waiting, Stale: q.stale, Concurrency: int(c.Config().Limit),
		Initialized: q.initialized, Throttled: q.denied, Capacity: p.capacity(c),
	}
	if n := min(q.runs, owRuns); n > 0 {
		for _, d := range q.last[:n] {
			s.Duration += d
		}
		s.Duration = max(1, s.Duration/time.Duration(n))
	}
	return s
}

// capacity returns how many containers the limits still allow, whether or not there is room for them.
func (p *OWScheduler) capacity(c *scheduler.Control) int {
	most := scheduler.Unlimited
	if p.o.Concurrent > 0 {
		most = p.o.Concurrent
	}
	if c.Room() > 0 { // else the nodes, and not the quota, may be what Max tells of
		most = min(most, c.Config().Max)
	}
	return most - c.Alive()
}

// start starts a container on the invoker with the most room. If there is none, the container that has been idle longest,
// of another action, makes room, and the next decision finds it.
func (p *OWScheduler) start(c *scheduler.Control, action int16, why Why, r scheduler.RequestID) bool {
	k := p.roomiest(c)
	if k < 0 {
		if i := p.idle.first; i != 0 && p.get(i).action != action && c.Alive() > c.Config().Min {
			p.stop(c, i, p.get(i))
		}
		return false
	}
	p.launch(c, k, action, why, r)
	p.queues[action].starting++
	return true
}

// roomiest returns the invoker with the most room, −1 if none has any.
func (p *OWScheduler) roomiest(c *scheduler.Control) int {
	best, most := -1, 0
	for k := p.balancer.from; k < p.balancer.to && c.Alive() < c.Config().Max; k++ {
		room := 1
		if c.Nodes().On() {
			room = c.RoomOn(scheduler.NodeID(k + 1))
		}
		if room > most {
			best, most = k, room
		}
	}
	return best
}
