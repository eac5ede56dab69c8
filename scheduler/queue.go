package scheduler

import "coldwave/internal/clock"

// fate is where a request is on its way.
type fate uint8

const (
	arrived   fate = iota // its Arrival is being handled and nothing is decided
	waiting               // in the queue
	running               // on an instance
	abandoned             // on an instance, but its client has gone: the slot is held until Done
	ended                 // rejected, lost or ended; readable until the next event
)

// request is one request of the core: 56 bytes.
type request struct {
	id         RequestID
	state      fate
	tag        uint8
	on         *instance     // from its dispatch on: where
	prev, next *request      // neighbours in the queue, or on the instance
	since      clock.Instant // its arrival
	at         clock.Instant // waiting: its deadline; from then on: its dispatch
}

// row is a list of requests that are linked through their prev and next: the queue, or what runs on one instance.
type row struct {
	first, last *request
	size        int
}

// add makes req the last one.
func (l *row) add(req *request) {
	req.prev, req.next = l.last, nil
	if l.last == nil {
		l.first = req
	} else {
		l.last.next = req
	}
	l.last = req
	l.size++
}

func (l *row) remove(req *request) {
	if req.prev == nil {
		l.first = req.next
	} else {
		req.prev.next = req.next
	}
	if req.next == nil {
		l.last = req.prev
	} else {
		req.next.prev = req.prev
	}
	req.prev, req.next = nil, nil
	l.size--
}

// number returns the id of a request, 0 of none.
func (req *request) number() RequestID {
	if req == nil {
		return 0
	}
	return req.id
}

// leave takes a waiting request out of the queue.
func (c *Control) leave(req *request) {
	c.queue.remove(req)
	req.state = arrived
	c.trim()
}

// finish marks the end of a request. It stays readable until the next event, so that the host can account for every
// action of this one.
func (c *Control) finish(req *request) {
	req.state = ended
	c.ended = append(c.ended, req.id)
}
