package realclock

import (
	"container/heap"
	"sync"
	"time"

	"coldwave/internal/clock"
)

// entry is one wake-up: of a waiter or of a timer.
type entry struct {
	at  clock.Instant
	c   chan time.Time // capacity 1
	pos int            // index in the heap + 1; 0: not in it
}

// waker ends wait at or after the instant that was armed last.
type waker interface {
	arm(at clock.Instant)
	wait()
}

// queue wakes its entries in order of their instants.
//
// One alarm serves all entries, so a thousand waiters take one descriptor. Its goroutine lives while an entry is queued:
// nobody has to close a clock.
type queue struct {
	alarm waker
	now   func() clock.Instant

	mu      sync.Mutex
	heap    entryHeap
	running bool
	spare   sync.Pool // of *entry
}

// entry returns an entry that is in no queue.
func (q *queue) entry() *entry {
	if e, ok := q.spare.Get().(*entry); ok {
		return e
	}
	return &entry{c: make(chan time.Time, 1)}
}

// set moves e's wake-up to at and drops one that was not received; Never takes e out.
func (q *queue) set(e *entry, at clock.Instant) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e.pos > 0 {
		heap.Remove(&q.heap, e.pos-1)
	}
	select {
	case <-e.c:
	default:
	}
	if at != clock.Never {
		e.at = at
		heap.Push(&q.heap, e)
	}
	q.serve(e)
}

// serve lets the goroutine of the queue look at a change that e made.
func (q *queue) serve(e *entry) {
	switch {
	case len(q.heap) == 0 && q.running:
		q.alarm.arm(q.now()) // to end
	case len(q.heap) > 0 && q.heap[0] == e:
		q.alarm.arm(e.at)
	}
	if len(q.heap) > 0 && !q.running {
		q.running = true
		go q.run()
	}
}

func (q *queue) run() {
	for {
		q.alarm.wait()
		if !q.fire() {
			return
		}
	}
}

// fire wakes what is due and reports whether something is left to wait for.
func (q *queue) fire() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.heap) > 0 && q.heap[0].at <= q.now() {
		e := heap.Pop(&q.heap).(*entry)
		e.c <- time.Now() // never blocks: set has emptied it, and an entry is woken once
	}
	if len(q.heap) == 0 {
		q.running = false
		return false
	}
	q.alarm.arm(q.heap[0].at)
	return true
}

type entryHeap []*entry

func (h entryHeap) Len() int           { return len(h) }
func (h entryHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h entryHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].pos, h[j].pos = i+1, j+1
}

func (h *entryHeap) Push(x any) {
	e := x.(*entry)
	*h = append(*h, e)
	e.pos = len(*h)
}

func (h *entryHeap) Pop() any {
	last := len(*h) - 1
	e := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	e.pos = 0
	return e
}
