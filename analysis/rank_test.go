package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"coldwave/internal/rng"
)

// How many differences are cut off at each end at 95 %, as published for equal numbers of runs.
func TestRanksOfTheShift(t *testing.T) {
	for n, want := range map[int]int{4: 1, 5: 3, 6: 6, 8: 14, 10: 24, 15: 65, 20: 128} {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n { // all n² differences are different: n·j − i
			a[i], b[i] = float64(i), float64(n*i)
		}
		c := independent(a, b)
		s := c.span(0.95)
		if got := slices.Index(c.differences, s.Low) + 1; !s.OK || got != want {
			t.Errorf("%d runs a side: the interval begins at difference %d, want %d", n, got, want)
		}
		if got := len(c.differences) - slices.Index(c.differences, s.High); got != want {
			t.Errorf("%d runs a side: the interval ends %d differences from the end, want %d", n, got, want)
		}
	}
	if s := independent([]float64{1, 2, 3}, []float64{4, 5, 6}).span(0.95); s.OK {
		t.Errorf("3 runs a side: interval %v at 95 %%, want none", s)
	}
}

// The smallest p that so many runs a side can give, as published.
func TestSmallestP(t *testing.T) {
	for n, want := range map[int]float64{3: 0.10, 4: 0.029, 5: 0.0079, 6: 0.0022, 7: 0.00058, 8: 0.00016} {
		var a, b []float64
		for i := range n {
			a, b = append(a, float64(i)), append(b, float64(100+i))
		}
		if got := differ(a, b); math.Abs(got-want) > 0.05*want {
			t.Errorf("differ of %d runs a side = %.5f, want %.5f", n, got, want)
		}
		if got := 2 * independent(a, b).above(0); math.Abs(got-want) > 0.05*want {
			t.Errorf("twice above(0) of %d runs a side = %.5f, want %.5f", n, got, want)
		}
	}
}

// The p-value with ties against counting all ways to deal the values to the sides, also where the sides differ in size.
func TestPWithTiesByCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 60 {
		a, b := make([]float64, 2+r.IntN(4)), make([]float64, 2+r.IntN(4))
		for i := range a {
			a[i] = float64(r.IntN(5))
		}
		for i := range b {
			b[i] = float64(r.IntN(5))
		}
		want := 1.0
		if all := slices.Concat(a, b); slices.Min(all) != slices.Max(all) {
			want = min(1, 2*min(dealt(a, b), dealt(b, a)))
		}
		if got := differ(a, b); math.Abs(got-want) > 1e-12 {
			t.Errorf("differ(%v, %v) = %v, want %v", a, b, got, want)
		}
	}
}

// dealt is the share of the ways to deal the values of both sides that give a as low a U as it has.
func dealt(a, b []float64) float64 {
	u := func(a, b []float64) (twice int) {
		for _, x := range a {
			for _, y := range b {
				if x > y {
					twice += 2
				} else if x == y {
					twice++
				}
			}
		}
		return twice
	}
	all, ways, low := slices.Concat(a, b), 0, 0
	for mask := range 1 << len(all) {
		var x, y []float64
		for i, v := range all {
			if mask>>i&1 == 1 {
				x = append(x, v)
			} else {
				y = append(y, v)
			}
		}
		if len(x) != len(a) {
			continue
		}
		ways++
		if u(x, y) <= u(a, b) {
			low++
		}
	}
	return float64(low) / float64(ways)
}

// The signed-rank distribution against counting all sign patterns.
func TestSignedRanksByCounting(t *testing.T) {
	for n := 1; n <= 12; n++ {
		count := make([]float64, n*(n+1)/2+1)
		for pattern := range 1 << n {
			w := 0
			for k := range n {
				if pattern>>k&1 == 1 {
					w += k + 1
				}
			}
			count[w] += 1 / math.Exp2(float64(n))
		}
		atMost, sum := wAtMost(n), 0.0
		for w, share := range count {
			if sum += share; math.Abs(atMost(w)-sum) > 1e-12 {
				t.Errorf("P(W ≤ %d) of %d = %v, want %v", w, n, atMost(w), sum)
			}
		}
	}
}

// Beyond the exact tables the normal form takes over without a step.
func TestNormalFormJoinsTheExactOne(t *testing.T) {
	const n = exactRuns
	for u := 0; u <= n*n/2; u += 50 {
		mn := float64(n * n)
		approx := normal.CDF((float64(u) + 0.5 - mn/2) / math.Sqrt(mn*(2*n+1)/12))
		if exact := uAtMost(u, n, n); math.Abs(exact-approx) > 0.001 {
			t.Errorf("P(U ≤ %d) of %d and %d = %v exactly, %v by the normal form", u, n, n, exact, approx)
		}
	}
}

// The interval and the one-sided tests are the same statement: a limit lies outside of the interval exactly if its test
// refuses it.
func TestIntervalInvertsTheTests(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		a, b := make([]float64, 4+r.IntN(8)), make([]float64, 4+r.IntN(8))
		for i := range a {
			a[i] = float64(r.IntN(12)) // ties are common
		}
		for i := range b {
			b[i] = float64(r.IntN(12))
		}
		for _, c := range []contrast{independent(a, b), pairwise(a, b)} {
			s := c.span(0.95)
			for limit := -13.0; s.OK && limit <= 13; limit += 0.25 {
				if (s.Low > limit) != (c.above(limit) <= 0.025) || (s.High < limit) != (c.below(limit) <= 0.025) {
					t.Fatalf("%v and %v: interval %v, limit %v: above %v, below %v", a, b, s, limit, c.above(limit), c.below(limit))
				}
			}
		}
	}
}

// noisyRuns draws the logarithm of one number of n runs: heavy tails, as of a host with neighbours.
func noisyRuns(r *rand.Rand, n int, shift float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = shift + 0.03*r.NormFloat64()
		if r.IntN(10) == 0 {
			out[i] += 0.2
		}
	}
	return out
}

// The interval of the shift holds the true one at its level, for runs of which every tenth is 20 % slower. Cutting off one
// quarter more differences, or taking a normal interval of the medians from one run's spread, does not. Tolerance: 3 standard
// deviations of 700 trials, 2.5 percentage points.
func TestShiftIntervalCovers(t *testing.T) {
	const trials, slack, shift = 700, 0.025, 0.07
	covers := func(n int, interval func(a, b []float64) Span) float64 {
		r, held := rng.Stream(17, "shift"), 0
		for range trials {
			s := interval(noisyRuns(r, n, 0), noisyRuns(r, n, shift))
			if s.Low <= shift && shift <= s.High {
				held++
			}
		}
		return float64(held) / trials
	}
	exact := func(a, b []float64) Span { return independent(a, b).span(0.95) }
	paired := func(a, b []float64) Span { return pairwise(a, b).span(0.95) }
	narrow := func(a, b []float64) Span {
		c := independent(a, b)
		cut := len(c.differences) / 3
		return Span{c.differences[cut], c.differences[len(c.differences)-1-cut], true}
	}
	for _, n := range []int{4, 8, 12} {
		if got := covers(n, exact); got < 0.95-slack {
			t.Errorf("%d runs a side: coverage %.3f, want at least 0.95", n, got)
		}
	}
	if got := covers(8, paired); got < 0.95-slack {
		t.Errorf("8 pairs: coverage %.3f, want at least 0.95", got)
	}
	if got := covers(8, narrow); got >= 0.95-slack {
		t.Errorf("too narrow an interval covers %.3f: the check cannot fail", got)
	}
}
