package gateway

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/scheduler"
)

// lives keeps the life of each instance of one function. The loop writes it, anybody may read it.
type lives struct {
	mu     sync.Mutex
	alive  map[scheduler.InstanceID]*life
	ended  []life // a ring: next is the place of the oldest one once it is full
	next   int
	limit  int
	forgot int64 // ended ones that are no longer kept
}

// life is one instance.
type life struct {
	record.Instance
	addr      string
	state     scheduler.State
	inFlight  int
	busySince clock.Instant
	cancel    context.CancelFunc // ends a start that is under way
	started   chan struct{}      // closed when the start is over
}

func newLives(limit int) *lives {
	return &lives{alive: map[scheduler.InstanceID]*life{}, limit: limit}
}

// begin notes a start and returns its life.
func (l *lives) begin(a scheduler.Action, r StartRequest, reason string, cancel context.CancelFunc) *life {
	in := &life{
		Instance: record.Instance{
			ID: int32(a.Inst), Cause: r.Cause, Reason: reason, Node: int32(a.Status), Cached: r.Cached,
			Started: a.At, Ready: clock.Never, Stopped: clock.Never,
		},
		state: scheduler.Starting, cancel: cancel, started: make(chan struct{}),
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alive[a.Inst] = in
	return in
}

// change applies f to the life of id, if it has not ended.
func (l *lives) change(id scheduler.InstanceID, f func(*life)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	in, ok := l.alive[id]
	if ok {
		f(in)
	}
	return ok
}

// stopping says whether the instance was told to stop.
func (l *lives) stopping(id scheduler.InstanceID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	in, ok := l.alive[id]
	return ok && in.state == scheduler.Stopping
}

// get returns the life of id for reading what never changes again; nil if it has ended.
func (l *lives) get(id scheduler.InstanceID) *life {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.alive[id]
}

func (l *lives) ready(id scheduler.InstanceID, addr string, at clock.Instant) bool {
	return l.change(id, func(in *life) {
		in.addr = addr
		if in.state == scheduler.Starting {
			in.Ready, in.state = at, scheduler.Idle
		}
	})
}

// serving returns the instances that can serve, in no order.
func (l *lives) serving() []ready {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []ready
	for id, in := range l.alive {
		if in.state == scheduler.Idle || in.state == scheduler.Busy {
			all = append(all, ready{id, in.addr})
		}
	}
	return all
}

// occupy notes one more request on an instance, by its name, and returns the instance's address.
func (l *lives) occupy(id scheduler.InstanceID, request string, at clock.Instant) (addr string) {
	l.change(id, func(in *life) {
		addr, in.First = in.addr, cmp.Or(in.First, request)
		if in.inFlight++; in.inFlight == 1 {
			in.busySince, in.state = at, scheduler.Busy
		}
	})
	return addr
}

// vacate notes that a request has left an instance, and whether the instance answered it.
func (l *lives) vacate(id scheduler.InstanceID, at clock.Instant, answered bool) {
	l.change(id, func(in *life) {
		if answered {
			in.Served++
		}
		if in.inFlight--; in.inFlight == 0 {
			in.Busy += at.Sub(in.busySince)
			if in.state == scheduler.Busy {
				in.state = scheduler.Idle
			}
		}
	})
}

// end notes that an instance is gone; failure says why if it failed and somebody knows.
func (l *lives) end(id scheduler.InstanceID, at clock.Instant, failed bool, failure string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in, ok := l.alive[id]
	if !ok {
		return
	}
	delete(l.alive, id)
	in.cancel()
	if in.inFlight > 0 {
		in.Busy += at.Sub(in.busySince)
	}
	in.Stopped, in.Failed, in.Failure, in.state, in.inFlight = at, failed, failure, scheduler.Gone, 0
	if len(l.ended) < l.limit {
		l.ended = append(l.ended, *in)
		return
	}
	l.ended[l.next] = *in
	l.next = (l.next + 1) % l.limit
	l.forgot++
}

// all returns copies of all lives in order of id; a busy one's time is counted up to now.
func (l *lives) all(now clock.Instant) []life {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]life, 0, len(l.ended)+len(l.alive))
	out = append(out, l.ended...)
	for _, in := range l.alive {
		c := *in
		if c.inFlight > 0 {
			c.Busy += max(0, now.Sub(c.busySince))
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b life) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// left returns the ids of the instances that have not ended, in order.
func (l *lives) left() []scheduler.InstanceID {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids := make([]scheduler.InstanceID, 0, len(l.alive))
	for id := range l.alive {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// instanceName is what InstanceHeader says: the id in decimal.
func instanceName(id scheduler.InstanceID) string { return strconv.Itoa(int(id)) }
