package scheduler

import (
	"time"

	"coldwave/internal/clock"
)

// State is where an instance is in its life.
type State uint8

// The states. Alive are Starting, Idle and Busy; up are Idle and Busy.
const (
	Gone     State = iota // never started, or ended
	Starting              // it will report Ready or Failed
	Idle                  // ready, nothing in flight
	Busy                  // ready, with requests in flight
	Draining              // it gets no new request and is stopped after its last one
	Stopping              // told to stop; its end is awaited
)

// instance is one instance of the core: 120 bytes.
type instance struct {
	id     InstanceID
	state  State
	cached bool   // its start skips the download
	node   NodeID // 0: it is placed nowhere
	limit  int32
	served int32
	cause  RequestID
	on     row // requests in flight, in order of dispatch
	began  clock.Instant
	ready  clock.Instant // Never before it is
	since  clock.Instant // when its present state began
	busy   time.Duration // closed periods with something in flight
	links  [2]links
	beside beside // neighbours on its node, in order of start
}

// links are the neighbours of an instance in a chain: nil if it is in none. Pointers, because a step changes two chains,
// and looking neighbours up by id took a tenth of it.
type links struct{ prev, next *instance }

// beside are the neighbours of an instance on its node, 0: none.
type beside struct{ prev, next InstanceID }

// chain is a list of instances that are linked through links[which]: a ring through none, which is no instance and has
// the id 0. So neither the first nor the last one is a case of its own.
type chain struct {
	none  instance
	size  int
	which uint8
}

const (
	inAlive = iota // alive instances, in order of start
	inIdle         // idle instances, longest idle first
)

// open makes an empty chain of that kind.
func (l *chain) open(which uint8) {
	l.which = which & 1
	l.ends().prev, l.ends().next = &l.none, &l.none
}

// ends holds the last one as prev and the first one as next.
func (l *chain) ends() *links { return &l.none.links[l.which&1] }

func (l *chain) first() *instance { return l.ends().next }

func (l *chain) last() *instance { return l.ends().prev }

// add makes in the last one.
func (l *chain) add(in *instance) {
	ends := l.ends()
	last := ends.prev
	in.links[l.which&1] = links{prev: last, next: &l.none}
	last.links[l.which&1].next = in
	ends.prev = in
	l.size++
}

func (l *chain) remove(in *instance) {
	at := &in.links[l.which&1]
	at.prev.links[l.which&1].next = at.next
	at.next.links[l.which&1].prev = at.prev
	at.prev, at.next = nil, nil
	l.size--
}

// move changes the state of an instance and keeps every list and count of instances in step with it.
func (c *Control) move(in *instance, to State) {
	switch in.state { // what move did for the present state is undone
	case Starting:
		c.starting--
	case Idle:
		c.idle.remove(in)
	case Busy:
		in.busy += c.now.Sub(in.since)
	case Draining:
		in.busy += c.now.Sub(in.since)
		c.draining--
	case Gone, Stopping:
	}
	in.state, in.since = to, c.now
	switch to {
	case Starting:
		c.starting++
		c.alive.add(in)
	case Idle:
		c.idle.add(in)
	case Draining:
		c.draining++
	case Gone, Busy, Stopping: // in no list and no count of its own
	}
}

// quit takes an instance that was alive out of the alive list.
func (c *Control) quit(in *instance) {
	c.alive.remove(in)
	c.refit()
}

func (in *instance) isAlive() bool { return in.state >= Starting && in.state <= Busy }

func (in *instance) isUp() bool { return in.state == Idle || in.state == Busy }

// bury marks the end of an instance. It stays readable until the next event.
func (c *Control) bury(in *instance) {
	if in.isAlive() {
		c.quit(in)
	}
	c.move(in, Gone)
	if in.node != 0 {
		c.lift(in)
	}
	c.gone = append(c.gone, in.id)
}

// Instance is a snapshot of one instance, for those who watch.
type Instance struct {
	ID       InstanceID
	State    State
	InFlight int
	Limit    int
	Served   int // requests that it has finished, those of clients that had gone included
	Cause    RequestID
	Node     NodeID        // 0: it is placed nowhere
	Cached   bool          // its start skips the download
	Began    clock.Instant // the decision to start it
	Ready    clock.Instant // Never if it is not, or never was
	Since    clock.Instant // when its present state began
	Busy     time.Duration // time with at least one request in flight, up to now
}

func (c *Control) snapshot(in *instance) Instance {
	s := Instance{
		ID: in.id, State: in.state, InFlight: in.on.size, Limit: int(in.limit), Served: int(in.served),
		Cause: in.cause, Node: in.node, Cached: in.cached, Began: in.began, Ready: in.ready, Since: in.since, Busy: in.busy,
	}
	if in.on.size > 0 {
		s.Busy += c.now.Sub(in.since)
	}
	return s
}
