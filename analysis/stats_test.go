package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const ms = time.Millisecond

func TestOf(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(100-i) * ms // descending: the order must not matter
	}
	for _, c := range []struct {
		name string
		in   []time.Duration
		want Stats
	}{
		{"nothing", nil, Stats{}},
		{"one value is all of its quantiles", []time.Duration{7}, Stats{N: 1, Mean: 7, Min: 7, P50: 7, P90: 7, P95: 7, P99: 7, Max: 7}},
		{"p50 of two is the smaller one, p99 the larger", []time.Duration{30, 10}, Stats{N: 2, Mean: 20, Min: 10, P50: 10, P90: 30, P95: 30, P99: 30, Max: 30}},
		{"1 to 100 ms", hundred, Stats{N: 100, Mean: 50500 * time.Microsecond, Min: ms, P50: 50 * ms, P90: 90 * ms, P95: 95 * ms, P99: 99 * ms, Max: 100 * ms}},
		{"a sum beyond 64 bits", []time.Duration{math.MaxInt64, math.MaxInt64 - 2}, Stats{N: 2, Mean: math.MaxInt64 - 1, Min: math.MaxInt64 - 2,
			P50: math.MaxInt64 - 2, P90: math.MaxInt64, P95: math.MaxInt64, P99: math.MaxInt64, Max: math.MaxInt64}},
	} {
		before := slices.Clone(c.in)
		if diff := cmp.Diff(c.want, Of(c.in)); diff != "" {
			t.Errorf("%s: Of (-want +got):\n%s", c.name, diff)
		}
		if !slices.Equal(before, c.in) {
			t.Errorf("%s: Of changed its sample", c.name)
		}
	}
}

// In a window with fewer than 100 requests p99 is the maximum (0.2).
func TestQuantileOfSmallSamplesIsTheMaximum(t *testing.T) {
	for n := 1; n <= 101; n++ {
		sorted := make([]time.Duration, n)
		for i := range sorted {
			sorted[i] = time.Duration(i + 1)
		}
		want := time.Duration(min(n, max(n-1, 1)))
		if n < 100 {
			want = time.Duration(n)
		}
		if got, ok := Quantile(sorted, 0.99); got != want || !ok {
			t.Errorf("Quantile(1..%d, 0.99) = %d, %v, want %d, true", n, got, ok, want)
		}
	}
	if got, ok := Quantile(nil, 0.5); ok {
		t.Errorf("Quantile(nothing) = %d, want none", got)
	}
}

// The smallest samples with an interval, as published: two-sided 95 %.
func TestSmallestSampleWithAnInterval(t *testing.T) {
	for q, n := range map[float64]int{0.50: 6, 0.90: 36, 0.95: 72, 0.99: 368, 0.999: 3688, 0.9999: 36887} {
		if _, _, ok := intervalRanks(n, q, 0.025); !ok {
			t.Errorf("intervalRanks(%d, %v) = none, want one", n, q)
		}
		if l, u, ok := intervalRanks(n-1, q, 0.025); ok {
			t.Errorf("intervalRanks(%d, %v) = %d, %d, want none", n-1, q, l, u)
		}
	}
}

// The ranks against the definition, by summing the binomial distribution.
func TestIntervalRanksByDefinition(t *testing.T) {
	for _, n := range []int{6, 17, 40, 99, 400} {
		for _, q := range []float64{0.1, 0.5, 0.9, 0.95} {
			l, u, ok := intervalRanks(n, q, 0.025)
			wantL, wantU := ranksBySum(n, q, 0.025)
			if ok != (wantL >= 1 && wantU <= n) || ok && (l != wantL || u != wantU) {
				t.Errorf("intervalRanks(%d, %v) = %d, %d, %v, want %d, %d", n, q, l, u, ok, wantL, wantU)
			}
		}
	}
}

func ranksBySum(n int, q, tail float64) (l, u int) {
	below := 0.0 // P(B ≤ k−1)
	u = n + 1
	for k := 0; k <= n+1; k++ {
		if below <= tail {
			l = k
		}
		if 1-below <= tail {
			return l, min(u, k)
		}
		logC, _ := math.Lgamma(float64(n + 1))
		a, _ := math.Lgamma(float64(k + 1))
		b, _ := math.Lgamma(float64(n - k + 1))
		below += math.Exp(logC - a - b + float64(k)*math.Log(q) + float64(n-k)*math.Log1p(-q))
	}
	return l, u
}

// The interval covers the true quantile in at least 95 % of 2,000 samples; the one of half the width does not.
func TestIntervalCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	const trials, n = 2000, 400
	covered, narrow := 0, 0
	for range trials {
		sample := make([]time.Duration, n)
		for i := range sample {
			sample[i] = time.Duration(r.Int64N(1e9))
		}
		slices.Sort(sample)
		low, high, ok := Interval(sample, 0.9, 0.95)
		if !ok {
			t.Fatal("no interval at n = 400, q = 0.9")
		}
		covered += inside(0.9e9, low, high)
		mid, quarter := (low+high)/2, (high-low)/4
		narrow += inside(0.9e9, mid-quarter, mid+quarter)
	}
	limit := 0.95 - 3*math.Sqrt(0.95*0.05/trials) // three standard errors
	if got := float64(covered) / trials; got < limit {
		t.Errorf("coverage = %v, want ≥ %v", got, limit)
	}
	if got := float64(narrow) / trials; got >= limit {
		t.Errorf("coverage of half the interval = %v: the test would not see it", got)
	}
}

func inside(v, low, high time.Duration) int {
	if low <= v && v <= high {
		return 1
	}
	return 0
}
