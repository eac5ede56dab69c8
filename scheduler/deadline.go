package scheduler

import "coldwave/internal/clock"

// deadline is an entry that says: look at request req at instant at. It may be out of date; the request knows better.
type deadline struct {
	at  clock.Instant
	req RequestID
}

func (d deadline) before(e deadline) bool { return d.at < e.at || d.at == e.at && d.req < e.req }

// deadlines holds the deadlines of waiting requests. Nearly always each new one is the latest, and it goes to a ring;
// the rest go to a small heap. Nothing is removed when a request leaves: an entry is checked against its request when
// it comes to the front.
//
// Note: a timer of the runtime for each queued request costs ten times as much, and its order would be the host's.
type deadlines struct {
	ring       []deadline // its length is a power of two
	head, tail uint64     // positions in the ring, taken modulo its length
	heap       []deadline // binary, earliest first
	soonest    clock.Instant
}

// settle finds the soonest again. The host asks for it at each event, and it changes far more rarely.
func (q *deadlines) settle() { q.soonest = q.top().at }

func (q *deadlines) push(d deadline) {
	n := uint64(len(q.ring))
	if q.head != q.tail && d.before(q.ring[(q.tail-1)&(n-1)]) {
		q.heap = append(q.heap, d)
		q.up(len(q.heap) - 1)
		return
	}
	if q.tail-q.head == n {
		q.grow(max(8, 2*n))
		n = uint64(len(q.ring))
	}
	q.ring[q.tail&(n-1)] = d
	q.tail++
}

func (q *deadlines) grow(n uint64) {
	ring := make([]deadline, n)
	for p := q.head; p != q.tail; p++ {
		ring[p&(n-1)] = q.ring[p&uint64(len(q.ring)-1)]
	}
	q.ring = ring
}

// top returns the earliest entry; its instant is Never if there is none.
func (q *deadlines) top() deadline {
	d := deadline{at: clock.Never}
	if q.head != q.tail {
		d = q.ring[q.head&uint64(len(q.ring)-1)]
	}
	if len(q.heap) > 0 && q.heap[0].before(d) {
		return q.heap[0]
	}
	return d
}

// pop removes the entry that top returns.
func (q *deadlines) pop() {
	inRing := q.head != q.tail
	if len(q.heap) > 0 && (!inRing || q.heap[0].before(q.ring[q.head&uint64(len(q.ring)-1)])) {
		q.popHeap()
		return
	}
	if inRing {
		q.head++
	}
}

func (q *deadlines) popHeap() {
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	q.down(0)
}

func (q *deadlines) up(k int) {
	for k > 0 && q.heap[k].before(q.heap[(k-1)/2]) {
		q.heap[k], q.heap[(k-1)/2] = q.heap[(k-1)/2], q.heap[k]
		k = (k - 1) / 2
	}
}

func (q *deadlines) down(k int) {
	for {
		child := 2*k + 1
		if child >= len(q.heap) {
			return
		}
		if child+1 < len(q.heap) && q.heap[child+1].before(q.heap[child]) {
			child++
		}
		if !q.heap[child].before(q.heap[k]) {
			return
		}
		q.heap[k], q.heap[child] = q.heap[child], q.heap[k]
		k = child
	}
}

// keep removes every entry that live refuses.
func (q *deadlines) keep(live func(deadline) bool) {
	mask, to := uint64(len(q.ring)-1), q.head
	for p := q.head; p != q.tail; p++ {
		if d := q.ring[p&mask]; live(d) {
			q.ring[to&mask] = d
			to++
		}
	}
	q.tail = to
	kept := q.heap[:0]
	for _, d := range q.heap {
		if live(d) {
			kept = append(kept, d)
		}
	}
	q.heap = kept
	for k := len(kept)/2 - 1; k >= 0; k-- {
		q.down(k)
	}
}

// expires sets the deadline of a waiting request. Entries that are out of date are swept out when they are most of what
// is held: a policy that moves deadlines again and again, or one old request at the front, would pile them up.
// Amortised constant time.
func (c *Control) expires(req *request, until clock.Instant) {
	req.at = until
	if until == clock.Never {
		return
	}
	if q := &c.deadlines; len(q.heap)+int(q.tail-q.head) > 2*c.queue.size+64 {
		q.keep(c.holds)
	}
	c.deadlines.push(deadline{until, req.id})
	c.deadlines.settle()
}

// holds reports whether d is the deadline of a request that waits.
func (c *Control) holds(d deadline) bool {
	req := c.requests.Get(int64(d.req))
	return req != nil && req.state == waiting && req.at == d.at
}

// trim drops entries at the front that are out of date. It runs whenever a request leaves the queue: otherwise a
// whole wait limit of dead entries would pile up. Amortised constant time.
func (c *Control) trim() {
	q := &c.deadlines
	for q.head != q.tail && !c.holds(q.ring[q.head&uint64(len(q.ring)-1)]) {
		q.head++
	}
	for len(q.heap) > 0 && !c.holds(q.heap[0]) {
		q.popHeap()
	}
	q.settle()
}
