package policies

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/scheduler"
)

// This file has what both OpenWhisk policies know of containers: which are idle, and when those are paused and stopped.

// owContainer is one instance.
type owContainer struct {
	on      owRow // requests that were given to it, in order: they run, or wait for its start
	active  int32 // how many
	invoker int16
	action  int16         // −1: none yet, it is a prewarmed one
	ready   bool          // it has started
	paused  bool          // OW-7
	leaving bool          // it was let go, and finishes what it has
	since   clock.Instant // prewarmed: when it was ready
	links   [2]owLinks
}

// The lists that a container may be in, one of each kind.
const (
	inPool = iota // of an invoker or a queue: containers with room for a request, in order of last use, or prewarmed ones
	inIdle        // all idle ones but the prewarmed, longest idle first
)

type owLinks struct {
	prev, next scheduler.InstanceID
	on         bool
}

type owList struct {
	first, last scheduler.InstanceID
	size        int
}

// owContainers are the containers of one core.
type owContainers struct {
	o          OWOptions
	containers scheduler.Table[owContainer]
	idle       owList
	unpaused   scheduler.InstanceID // the first idle one that is not paused; those before it are
	pausing    bool                 // a tick comes for it, or earlier
	reaping    bool                 // a tick comes for the first idle one, or earlier
	restarts   budget
}

func newOWContainers(o OWOptions) owContainers {
	return owContainers{o: o, restarts: newBudget(deploymentRestarts)}
}

// The ticks of the OpenWhisk policies, beside tickReap and tickAgain.
const (
	tickPause uint8 = iota + 24
	tickProbe
	tickPrewarm
	tickSchedule
)

// MarkPaused is the code of the Mark of a container that was paused (OW-7).
const MarkPaused uint8 = 64

func (p *owContainers) get(i scheduler.InstanceID) *owContainer { return p.containers.Get(int64(i)) }

// actionOf returns the action of a request (OW-12).
func (p *owContainers) actionOf(r scheduler.RequestID) int16 {
	return int16((int64(r) - 1) % int64(p.o.Actions))
}

// invokerOf returns the invoker of a container.
func (p *owContainers) invokerOf(c *scheduler.Control, i scheduler.InstanceID) int {
	return max(0, int(c.Node(i))-1)
}

// room reports whether an invoker has room for one more container, and the quota for one more instance.
func (p *owContainers) room(c *scheduler.Control, k int) bool {
	return c.Alive() < c.Config().Max && p.fits(c, k)
}

// fits reports whether an invoker has room for one more container.
func (p *owContainers) fits(c *scheduler.Control, k int) bool {
	return !c.Nodes().On() || c.RoomOn(scheduler.NodeID(k+1)) > 0
}

// launch starts a container on an invoker that has room.
func (p *owContainers) launch(c *scheduler.Control, k int, action int16, why Why, r scheduler.RequestID) scheduler.InstanceID {
	n := scheduler.NodeID(0)
	if c.Nodes().On() {
		n = scheduler.NodeID(k + 1)
	}
	i := c.StartOn(n, uint8(why), r)
	p.containers.Add(owContainer{invoker: int16(k), action: action})
	return i
}

// settleIn puts a container in its place among those with room, in this pool, and among the idle ones, after its last use.
func (p *owContainers) settleIn(pool *owList, c *scheduler.Control, i scheduler.InstanceID, in *owContainer) {
	p.remove(pool, inPool, i)
	if in.active < c.Limit(i) {
		p.add(pool, inPool, i)
	}
	p.wake(i, in)
	if in.ready && in.active == 0 {
		p.add(&p.idle, inIdle, i)
		if p.unpaused == 0 {
			p.unpaused = i
		}
	}
}

// wake takes a container out of the idle ones.
func (p *owContainers) wake(i scheduler.InstanceID, in *owContainer) {
	if p.unpaused == i {
		p.unpaused = in.links[inIdle].next
	}
	p.remove(&p.idle, inIdle, i)
	in.paused = false
}

// arm asks for a tick when the next container is to be paused, or stopped (OW-7).
func (p *owContainers) arm(c *scheduler.Control) {
	if i := p.unpaused; i != 0 && !p.pausing {
		p.pausing = true
		c.Alarm(tickPause, max(c.IdleSince(i).Add(p.o.PauseGrace), c.Now()+1))
	}
	if i := p.idle.first; i != 0 && !p.reaping && p.o.IdleTimeout > 0 && c.Alive() > c.Config().Min {
		p.reaping = true
		c.Alarm(tickReap, max(c.IdleSince(i).Add(p.o.PauseGrace+p.o.IdleTimeout), c.Now()+1))
	}
}

// pause pauses what has been idle for the grace time.
func (p *owContainers) pause(c *scheduler.Control) {
	p.pausing = false
	for i := p.unpaused; i != 0 && c.Now().Sub(c.IdleSince(i)) >= p.o.PauseGrace; i = p.unpaused {
		in := p.get(i)
		in.paused = true
		p.unpaused = in.links[inIdle].next
		c.Mark(i, MarkPaused)
	}
}

// expired returns the next container that has been idle and paused for too long, 0 if there is none. Min is kept.
func (p *owContainers) expired(c *scheduler.Control) scheduler.InstanceID {
	p.reaping = false
	i := p.idle.first
	if i == 0 || c.Alive() <= c.Config().Min || c.Now().Sub(c.IdleSince(i)) < p.o.PauseGrace+p.o.IdleTimeout {
		return 0
	}
	return i
}

// failedRun reports whether a run ended with an error of its own.
func failedRun(code uint8) bool { return record.Outcome(code) == record.HTTPError }

func (p *owContainers) add(l *owList, which int, i scheduler.InstanceID) {
	p.get(i).links[which] = owLinks{prev: l.last, on: true}
	if l.last == 0 {
		l.first = i
	} else {
		p.get(l.last).links[which].next = i
	}
	l.last = i
	l.size++
}

// remove takes a container out of a list, if it is in it.
func (p *owContainers) remove(l *owList, which int, i scheduler.InstanceID) {
	at := &p.get(i).links[which]
	if !at.on {
		return
	}
	if at.prev == 0 {
		l.first = at.next
	} else {
		p.get(at.prev).links[which].next = at.next
	}
	if at.next == 0 {
		l.last = at.prev
	} else {
		p.get(at.next).links[which].prev = at.prev
	}
	*at = owLinks{}
	l.size--
}

// owRow is a row of requests that are linked through their calls.
type owRow struct{ first, last scheduler.RequestID }

// owCalls are the requests that wait or run, by id: each arrival adds one.
type owCalls struct{ scheduler.Table[owCall] }

func (t *owCalls) push(row *owRow, r scheduler.RequestID) {
	call := t.Get(int64(r))
	call.prev, call.next = row.last, 0
	if row.last == 0 {
		row.first = r
	} else {
		t.Get(int64(row.last)).next = r
	}
	row.last = r
}

func (t *owCalls) pull(row *owRow, call *owCall) {
	if call.prev == 0 {
		row.first = call.next
	} else {
		t.Get(int64(call.prev)).next = call.next
	}
	if call.next == 0 {
		row.last = call.prev
	} else {
		t.Get(int64(call.next)).prev = call.prev
	}
	call.prev, call.next = 0, 0
}

// owMinute counts requests by the minute of the clock (OW-9).
type owMinute struct {
	minute int64
	count  int
}

// over counts one request and reports whether it is one too many. Those that are turned away count too.
func (m *owMinute) over(now clock.Instant, most int) bool {
	if minute := int64(now) / int64(time.Minute); minute != m.minute {
		m.minute, m.count = minute, 0
	}
	m.count++
	return most > 0 && m.count > most
}
