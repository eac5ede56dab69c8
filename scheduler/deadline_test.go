package scheduler

import (
	"slices"
	"testing"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
)

// TestDeadlines compares ring and heap with a sorted list.
func TestDeadlines(t *testing.T) {
	for seed := range uint64(50) {
		r := rng.Stream(seed, "deadlines")
		var q deadlines
		var want []deadline
		spread := 1 + r.Int64N(50) // 1: all rise, so all are in the ring
		for step := range int64(2000) {
			if r.IntN(5) > 1 {
				d := deadline{clock.Instant(step + r.Int64N(spread)), RequestID(r.Int64N(20))}
				q.push(d)
				want = append(want, d)
				slices.SortFunc(want, func(a, b deadline) int {
					if a.before(b) {
						return -1
					}
					return 1
				})
			} else if len(want) > 0 {
				if got := q.top(); got != want[0] {
					t.Fatalf("seed %d, step %d: top() = %v, want %v", seed, step, got, want[0])
				}
				q.pop()
				want = want[1:]
			}
		}
		for _, d := range want {
			if got := q.top(); got != d {
				t.Fatalf("seed %d: top() = %v, want %v", seed, got, d)
			}
			q.pop()
		}
		if got := q.top().at; got != clock.Never {
			t.Errorf("seed %d: top() of nothing is at %v, want never", seed, got)
		}
		q.pop() // of nothing: nothing
	}
}

// TestDeadlinesKeep: sweeping the heap leaves the others in order.
func TestDeadlinesKeep(t *testing.T) {
	var q deadlines
	q.push(deadline{1000, 1})
	for k := range RequestID(100) {
		q.push(deadline{clock.Instant(999 - k), k})
	}
	q.keep(func(d deadline) bool { return d.req%7 == 0 })
	for k := RequestID(98); k >= 0; k -= 7 {
		if got := q.top(); got.req != k {
			t.Fatalf("top() = %v, want request %d", got, k)
		}
		q.pop()
	}
}

// TestDeadEntriesAreSwept: requests that leave and deadlines that move leave no heap of dead entries behind.
func TestDeadEntriesAreSwept(t *testing.T) {
	c := begin(puppet(func(c *Control, ev Event) {
		switch ev.Kind {
		case Arrival:
			c.Queue(ev.Req, c.Now()+1_000_000)
		case Cancel:
			for r := c.Front(); r != 0; r = c.NextOn(r) {
				c.Wait(r, c.Now()+clock.Instant(1000-r%100)) // falling deadlines belong to the heap
			}
		default:
		}
	}), Config{})
	for k := range RequestID(10_000) {
		now := clock.Instant(k)
		c.Step(nil, now, Event{Kind: Arrival, Req: k + 1})
		if k >= 10 {
			c.Step(nil, now, Event{Kind: Cancel, Req: k - 9})
		}
		c.Check()
	}
	if got := len(c.deadlines.heap); got > 200 {
		t.Errorf("the heap holds %d entries for %d waiting requests, want ≤ 200", got, c.Waiting())
	}
	if got := len(c.deadlines.ring); got > 64 {
		t.Errorf("the ring holds %d slots for %d waiting requests, want ≤ 64", got, c.Waiting())
	}
}
