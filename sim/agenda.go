package sim

import (
	"math/bits"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// entry is one pending event: 16 bytes.
type entry struct {
	at  clock.Instant // ≥ 0
	key uint64        // kind, core and id, the order of events at one instant
}

const (
	kindShift = 56
	coreShift = 36
	idMask    = 1<<coreShift - 1
)

// keyOf orders by kind, then core, then id. A key names what happens and not when it was planned, so an event keeps its
// place whatever else is planned; no counter of pushes is needed.
func keyOf(kind scheduler.Kind, core uint32, id int64) uint64 {
	return uint64(kind)<<kindShift | uint64(core)<<coreShift | uint64(id)&idMask
}

func (e entry) kind() scheduler.Kind { return scheduler.Kind(e.key >> kindShift) }

func (e entry) id() int64 { return int64(e.key & idMask) }

// less is 1 if e comes before f, else 0: one comparison of 128 bits, without a branch.
func less(e, f entry) int {
	_, borrow := bits.Sub64(e.key, f.key, 0)
	_, borrow = bits.Sub64(uint64(e.at), uint64(f.at), borrow)
	return int(borrow)
}

// agenda holds the pending events. Entries that rise go to a ring, in constant time: with a constant service time those
// are all completions. The others go to a binary heap. The zero agenda is empty and ready.
type agenda struct {
	ring       []entry // its length is a power of two
	head, tail uint64
	latest     entry // that was put in the ring
	heap       []entry
}

// push plans an event in the heap.
func (a *agenda) push(e entry) {
	a.heap = append(a.heap, e)
	a.up(len(a.heap) - 1)
}

// pushRising plans an event that is probably the latest of its kind. Start-ups do not belong here: a far one in the
// ring would push every nearer event into the heap.
func (a *agenda) pushRising(e entry) {
	if less(e, a.latest) == 1 {
		a.push(e)
		return
	}
	n := uint64(len(a.ring))
	if a.latest = e; a.tail-a.head == n {
		a.grow(max(16, 2*n))
		n = uint64(len(a.ring))
	}
	a.ring[a.tail&(n-1)] = e
	a.tail++
}

func (a *agenda) grow(n uint64) {
	ring := make([]entry, n)
	for p := a.head; p != a.tail; p++ {
		ring[p&(n-1)] = a.ring[p&uint64(len(a.ring)-1)]
	}
	a.ring = ring
}

// top returns the next event; its instant is Never if there is none.
func (a *agenda) top() entry {
	e := entry{at: clock.Never}
	if a.head != a.tail {
		e = a.ring[a.head&uint64(len(a.ring)-1)]
	}
	if len(a.heap) > 0 && less(a.heap[0], e) == 1 {
		return a.heap[0]
	}
	return e
}

// pop removes and returns the next event; there must be one.
func (a *agenda) pop() entry {
	if a.head == a.tail {
		return a.popHeap()
	}
	e := a.ring[a.head&uint64(len(a.ring)-1)]
	if len(a.heap) > 0 && less(a.heap[0], e) == 1 {
		return a.popHeap()
	}
	a.head++
	return e
}

// popHeap moves the hole at the top down to a leaf, where the last entry nearly always belongs anyway, and that one up
// from there: the way down needs no comparison with it.
func (a *agenda) popHeap() entry {
	top, n := a.heap[0], len(a.heap)-1
	last := a.heap[n]
	h := a.heap[:n]
	a.heap = h
	if n == 0 {
		return top
	}
	k := 0
	for 2*k+2 < n {
		child := 2*k + 1 + less(h[2*k+2], h[2*k+1])
		h[k] = h[child]
		k = child
	}
	if 2*k+1 < n {
		h[k] = h[2*k+1]
		k = 2*k + 1
	}
	h[k] = last
	a.up(k)
	return top
}

func (a *agenda) up(k int) {
	h := a.heap
	e := h[k]
	for k > 0 && less(e, h[(k-1)/2]) == 1 {
		h[k] = h[(k-1)/2]
		k = (k - 1) / 2
	}
	h[k] = e
}
