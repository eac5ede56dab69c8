package sim

import (
	"cmp"
	"slices"
	"testing"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/scheduler"
)

// TestAgenda compares ring and heap with a sorted list.
func TestAgenda(t *testing.T) {
	for seed := range uint64(50) {
		r := rng.Stream(seed, "agenda")
		var a agenda
		var want []entry
		spread := 1 + r.Int64N(40)
		for step := range int64(2000) {
			if r.IntN(5) > 1 {
				kind := scheduler.Kind(r.IntN(int(scheduler.Tick) + 1))
				e := entry{clock.Instant(step + r.Int64N(spread)), keyOf(kind, uint32(r.IntN(3)), r.Int64N(1000))}
				if kind == scheduler.Done {
					a.pushRising(e)
				} else {
					a.push(e)
				}
				want = append(want, e)
				slices.SortFunc(want, func(a, b entry) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.key, b.key)) })
				continue
			}
			if len(want) == 0 {
				continue
			}
			if top := a.top(); top != want[0] {
				t.Fatalf("seed %d, step %d: top() = %v, want %v", seed, step, top, want[0])
			}
			if got := a.pop(); got != want[0] {
				t.Fatalf("seed %d, step %d: pop() = %v, want %v", seed, step, got, want[0])
			}
			want = want[1:]
		}
		for _, e := range want {
			if got := a.pop(); got != e {
				t.Fatalf("seed %d: pop() = %v, want %v", seed, got, e)
			}
		}
		if got := a.top().at; got != clock.Never {
			t.Errorf("seed %d: top() of nothing is at %v, want never", seed, got)
		}
	}
}

// TestKey: a key orders by kind, then core, then id, and gives them back.
func TestKey(t *testing.T) {
	ordered := []uint64{
		keyOf(scheduler.Done, 0, 5), keyOf(scheduler.Done, 0, 6), keyOf(scheduler.Done, 1, 1), keyOf(scheduler.Ready, 0, 1),
		keyOf(scheduler.Arrival, 0, 0), keyOf(scheduler.Arrival, 0, idMask), keyOf(scheduler.Arrival, 7, 2), keyOf(scheduler.Cancel, 0, 0),
	}
	if !slices.IsSorted(ordered) {
		t.Errorf("keys %x are out of order", ordered)
	}
	e := entry{key: keyOf(scheduler.Stopped, 9, 1<<35)}
	if e.kind() != scheduler.Stopped || e.id() != 1<<35 {
		t.Errorf("key gives %v, %d back, want stopped, %d", e.kind(), e.id(), int64(1<<35))
	}
}
