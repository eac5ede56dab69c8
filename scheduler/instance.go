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

// instance is one instance of the core: 104 bytes.
type instance struct {
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
	beside links // neighbours on its node, in order of start
}

type links struct{ prev, next InstanceID }

// chain is a list of instances that are linked through links[which].
type chain struct {
	first, last InstanceID
	size        int
	which       uint8
}

const (
	inAlive = iota // alive instances, in order of start
	inIdle         // idle instances, longest idle first
)

func (c *Control) chainOn(l *chain, i InstanceID, in *instance) {
	in.links[l.which&1] = links{prev: l.last}
	if l.last == 0 {
		l.first = i
	} else {
		c.instances.Get(int64(l.last)).links[l.which&1].next = i
	}
	l.last = i
	l.size++
}

func (c *Control) chainOff(l *chain, in *instance) {
	at := in.links[l.which&1]
	if at.prev == 0 {
		l.first = at.next
	} else {
		c.instances.Get(int64(at.prev)).links[l.which&1].next = at.next
	}
	if at.next == 0 {
		l.last = at.prev
	} else {
		c.instances.Get(int64(at.next)).links[l.which&1].prev = at.prev
	}
	in.links[l.which&1] = links{}
	l.size--
}

// move changes the state of an instance and keeps every list and count of instances in step with it.
func (c *Control) move(i InstanceID, in *instance, to State) {
	switch in.state { // what move did for the present state is undone
	case Starting:
		c.starting--
	case Idle:
		c.chainOff(&c.idle, in)
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
		c.chainOn(&c.alive, i, in)
	case Idle:
		c.chainOn(&c.idle, i, in)
	case Draining:
		c.draining++
	case Gone, Busy, Stopping: // in no list and no count of its own
	}
}

// quit takes an instance that was alive out of the alive list.
func (c *Control) quit(in *instance) {
	c.chainOff(&c.alive, in)
	c.refit()
}

func (in *instance) isAlive() bool { return in.state >= Starting && in.state <= Busy }

func (in *instance) isUp() bool { return in.state == Idle || in.state == Busy }

// bury marks the end of an instance. It stays readable until the next event.
func (c *Control) bury(i InstanceID, in *instance) {
	if in.isAlive() {
		c.quit(in)
	}
	c.move(i, in, Gone)
	if in.node != 0 {
		c.lift(in)
	}
	c.gone = append(c.gone, i)
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

func (c *Control) snapshot(i InstanceID, in *instance) Instance {
	s := Instance{
		ID: i, State: in.state, InFlight: in.on.size, Limit: int(in.limit), Served: int(in.served),
		Cause: in.cause, Node: in.node, Cached: in.cached, Began: in.began, Ready: in.ready, Since: in.since, Busy: in.busy,
	}
	if in.on.size > 0 {
		s.Busy += c.now.Sub(in.since)
	}
	return s
}
