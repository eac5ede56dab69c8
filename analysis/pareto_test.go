package analysis

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func drawCandidates(t *rapid.T) []Candidate {
	wide := rapid.SampledFrom([]int64{3, 20, 1 << 40}).Draw(t, "wide")
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Candidate {
		return Candidate{OK: rapid.IntRange(0, 9).Draw(t, "ok") > 0, Latency: rapid.Int64Range(0, wide).Draw(t, "latency"), Cost: rapid.Int64Range(0, wide).Draw(t, "cost")}
	}), 0, 40).Draw(t, "all")
}

// dominates says whether a is nowhere worse than b and somewhere better.
func dominates(a, b Candidate) bool { return a.Latency <= b.Latency && a.Cost <= b.Cost && a != b }

// bruteFront compares each with each.
func bruteFront(all []Candidate) []bool {
	on := make([]bool, len(all))
	for i, c := range all {
		on[i] = c.OK
		for _, other := range all {
			if other.OK && dominates(other, c) {
				on[i] = false
			}
		}
	}
	return on
}

func bruteBehind(all []Candidate, on []bool, c Candidate) float64 {
	least := math.Inf(1)
	for i, f := range all {
		if on[i] {
			least = min(least, max(1, quotient(c.Latency, f.Latency), quotient(c.Cost, f.Cost)))
		}
	}
	return least
}

func TestFrontIsThatOfBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawCandidates(t)
		places, on := Pareto(all, Candidate{}), bruteFront(all)
		for i, c := range all {
			p := places[i]
			if p.OK != c.OK || p.Front != on[i] {
				t.Fatalf("%+v among %+v: %+v, want front %v", c, all, p, on[i])
			}
			if want := bruteBehind(all, on, c); c.OK && p.Behind != want {
				t.Fatalf("%+v among %+v is behind by %v, want %v", c, all, p.Behind, want)
			}
		}
	})
}

// What a front is, without another computation beside it.
func TestFrontProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawCandidates(t)
		places := Pareto(all, Candidate{})
		for i, p := range places {
			if !p.OK {
				continue
			}
			dominated := false
			for j, q := range places {
				if q.Front && dominates(all[j], all[i]) {
					dominated = true
				}
			}
			if dominated == p.Front {
				t.Fatalf("%+v among %+v: on the front %v, dominated by one of it %v", all[i], all, p.Front, dominated)
			}
			if p.Front != (p.Behind == 1) && all[i].Latency > 0 && all[i].Cost > 0 {
				t.Fatalf("%+v among %+v: on the front %v, behind by %v", all[i], all, p.Front, p.Behind)
			}
			if p.Latency < 1 || p.Cost < 1 {
				t.Fatalf("%+v among %+v is better than the best: %+v", all[i], all, p)
			}
		}
		shuffled := append([]Candidate{}, all...)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		order := r.Perm(len(all))
		for i, k := range order {
			shuffled[i] = all[k]
		}
		for i, p := range Pareto(shuffled, Candidate{}) {
			if p != places[order[i]] {
				t.Fatalf("the order changes the place of %+v: %+v, then %+v", shuffled[i], places[order[i]], p)
			}
		}
	})
}

func TestParetoWorkedExample(t *testing.T) {
	best := Candidate{true, 100, 400}
	all := []Candidate{
		{true, 200, 800},
		{true, 400, 500},  // cheaper
		{true, 600, 500},  // as cheap, slower
		{true, 800, 1000}, // worse in both
		{true, 200, 800},  // the same as the first
		{false, 50, 1},    // served nothing
		{true, 1000, 200}, // cheapest, below the oracle, which lets nobody wait
	}
	want := []Place{
		{true, true, 1, 2, 2}, {true, true, 1, 4, 1.25}, {true, false, 1.5, 6, 1.25}, {true, false, 2, 8, 2.5}, {true, true, 1, 2, 2}, {},
		{true, true, 1, 10, 0.5},
	}
	for i, got := range Pareto(all, best) {
		if got != want[i] {
			t.Errorf("%+v: %+v, want %+v", all[i], got, want[i])
		}
	}
	if got, want := Pareto(all, Candidate{})[3], (Place{true, false, 2, 4, 5}); got != want {
		t.Errorf("against the best of each: %+v, want %+v", got, want)
	}
}

func TestCoarse(t *testing.T) {
	for in, want := range map[int64]int64{0: 0, 7: 7, 999: 999, 1000: 1000, 1004: 1000, 1005: 1010, 1234567: 1230000, 1235000: 1240000, 9995: 10000,
		119_880_000: 120_000_000, 119_930_000: 120_000_000, 119_490_000: 119_000_000, math.MaxInt64: 922 * 1e16} {
		if got := (Candidate{OK: true, Latency: in, Cost: in}).Coarse(); got != (Candidate{true, want, want}) {
			t.Errorf("%d: %+v, want %d", in, got, want)
		}
	}
}

func TestParetoOfNothing(t *testing.T) {
	if got := Pareto(nil, Candidate{}); len(got) != 0 {
		t.Errorf("Pareto(nil) = %v", got)
	}
	if got := Pareto([]Candidate{{}, {}}, Candidate{OK: true}); got[0] != (Place{}) || got[1] != (Place{}) {
		t.Errorf("Pareto of those that take no part = %v, want no place", got)
	}
	if got := Pareto([]Candidate{{OK: true}, {OK: true, Latency: 1}}, Candidate{}); !got[0].Front || got[0].Behind != 1 || !math.IsInf(got[1].Latency, 1) {
		t.Errorf("Pareto with zeros = %+v", got)
	}
}

// A front that keeps one too many, or loses one, is seen by the brute force.
func TestWrongFrontIsSeen(t *testing.T) {
	all := []Candidate{{true, 1, 9}, {true, 2, 9}, {true, 3, 5}}
	if on := bruteFront(all); !on[0] || on[1] || !on[2] {
		t.Errorf("brute force says %v, want the first and the last", on)
	}
}
