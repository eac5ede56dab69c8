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

// request is one request of the core: 40 bytes.
type request struct {
	state      fate
	tag        uint8
	inst       InstanceID    // running: where
	prev, next RequestID     // neighbours in the queue, or on the instance
	since      clock.Instant // its arrival
	at         clock.Instant // waiting: its deadline; from then on: its dispatch
}

// row is a list of requests that are linked through their prev and next: the queue, or what runs on one instance.
type row struct {
	first, last RequestID
	size        int
}

func (c *Control) link(l *row, r RequestID, req *request) {
	req.prev, req.next = l.last, 0
	if l.last == 0 {
		l.first = r
	} else {
		c.requests.Get(int64(l.last)).next = r
	}
	l.last = r
	l.size++
}

func (c *Control) unlink(l *row, req *request) {
	if req.prev == 0 {
		l.first = req.next
	} else {
		c.requests.Get(int64(req.prev)).next = req.next
	}
	if req.next == 0 {
		l.last = req.prev
	} else {
		c.requests.Get(int64(req.next)).prev = req.prev
	}
	req.prev, req.next = 0, 0
	l.size--
}

// leave takes a waiting request out of the queue.
func (c *Control) leave(req *request) {
	c.unlink(&c.queue, req)
	req.state = arrived
	c.trim()
}

// finish marks the end of a request. It stays readable until the next event, so that the host can account for every
// action of this one.
func (c *Control) finish(r RequestID, req *request) {
	req.state = ended
	c.ended = append(c.ended, r)
}
