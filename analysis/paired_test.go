package analysis

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"coldwave/internal/rng"
)

var anyMetric = Metric{Name: "any", Unit: Latency}

// A worked example with eight seeds. The differences B − A are −30 −20 −10 −10 −5 −1 0 2; at 95 % the exact sign test of
// n = 8 gives the first and the last one: P(B ≤ 0) = 1/256 ≤ 0.025, P(B ≤ 1) = 9/256 > 0.025.
func TestPairWorkedExample(t *testing.T) {
	a := Sample{100, 100, 100, 100, 100, 100, 100, 100}
	b := Sample{90, 102, 70, 100, 80, 99, 95, 90}
	p := Pair(anyMetric, a, b, 0.95)
	if p.N != 8 || p.MedianA != 100 || p.MedianB != 90 {
		t.Errorf("n %d, medians %d and %d, want 8, 100, 90", p.N, p.MedianA, p.MedianB)
	}
	if want := (Span{-30, 2, true}); p.Difference != -7.5 || p.DifferenceIn != want || p.MeanDifference != -9.25 {
		t.Errorf("difference %v in %v, mean %v, want −7.5 in %v, mean −9.25", p.Difference, p.DifferenceIn, p.MeanDifference, want)
	}
	if want := (Span{0.70, 1.02, true}); math.Abs(p.Ratio-0.925) > 1e-12 || p.RatioIn != want || !p.RatioOK {
		t.Errorf("ratio %v in %v, want 0.925 in %v", p.Ratio, p.RatioIn, want)
	}
	if p.Less != 6 || p.Equal != 1 || p.More != 1 {
		t.Errorf("less, equal, more = %d, %d, %d, want 6, 1, 1", p.Less, p.Equal, p.More)
	}
}

func TestFinding(t *testing.T) {
	ten := func(f func(i int) int64) Sample {
		s := make(Sample, 10)
		for i := range s {
			s[i] = f(i)
		}
		return s
	}
	a := ten(func(i int) int64 { return int64(1000 * i) })
	for _, row := range []struct {
		why  string
		b    Sample
		want Finding
	}{
		{"below on every seed", ten(func(i int) int64 { return a[i] - 1 }), Lower},
		{"above on every seed", ten(func(i int) int64 { return a[i] + 1 }), Higher},
		{"the same on every seed", a, Same},
		{"above on half of them", ten(func(i int) int64 { return a[i] + int64(2*(i%2)-1) }), Undecided},
		{"equal on most", ten(func(i int) int64 { return a[i] + int64(i/9) }), Undecided},
		{"five seeds give no interval at 95 %", ten(func(i int) int64 { return a[i] - 1 })[:5], TooFew},
		{"no seed", nil, TooFew},
	} {
		if got := Pair(anyMetric, a, row.b, 0.95).Finding(); got != row.want {
			t.Errorf("%s: %q, want %q", row.why, got, row.want)
		}
	}
}

// A seed on which one side has no number says nothing about the difference.
func TestPairLeavesOutWhatIsMissing(t *testing.T) {
	p := Pair(anyMetric, Sample{1, Missing, 3, 4}, Sample{2, 5, Missing, 6}, 0.95)
	if p.N != 2 || p.Difference != 1.5 || p.MedianA != 1 || p.MedianB != 2 {
		t.Errorf("Pair = %+v, want 2 seeds, difference 1.5, medians 1 and 2", p)
	}
	if p := Pair(anyMetric, Sample{Missing}, Sample{1}, 0.95); p.N != 0 || p.Finding() != TooFew {
		t.Errorf("Pair of nothing = %+v, want n 0", p)
	}
	if p := Pair(anyMetric, Sample{0, 1}, Sample{5, 5}, 0.95); p.RatioOK {
		t.Errorf("ratio to 0 = %v, want none", p.Ratio)
	}
}

// Pairing is what shows a small difference: each seed moves both sides by up to a second, the policy by 5 ms. Pairing
// the wrong seeds is the wrong method, and it shows nothing.
func TestPairingCancelsWhatTheSeedDecides(t *testing.T) {
	r := rng.Stream(7, "pairs")
	a, b := make(Sample, 100), make(Sample, 100)
	for i := range a {
		a[i] = r.Int64N(1_000_000_000)
		b[i] = a[i] + 5_000_000 + r.Int64N(1000)
	}
	if p := Pair(anyMetric, a, b, 0.95); p.Finding() != Higher || p.DifferenceIn.High-p.DifferenceIn.Low > 1000 {
		t.Errorf("paired: %q in %v, want higher within 1 µs", p.Finding(), p.DifferenceIn)
	}
	shifted := append(slices.Clone(b[1:]), b[0])
	if p := Pair(anyMetric, a, shifted, 0.95); p.Finding() != Undecided {
		t.Errorf("paired with other seeds: %q in %v, want nothing shown", p.Finding(), p.DifferenceIn)
	}
}

// coverage returns how often the interval holds the true median, ln 2, of exponential differences.
func coverage(n, trials int, interval func([]float64) Span) float64 {
	r := rng.Stream(11, "coverage")
	held := 0
	for range trials {
		sample := make([]float64, n)
		for i := range sample {
			sample[i] = r.ExpFloat64()
		}
		slices.Sort(sample)
		if s := interval(sample); s.Low <= math.Ln2 && math.Ln2 <= s.High {
			held++
		}
	}
	return float64(held) / float64(trials)
}

// The interval covers the median at its level though the differences are skewed. One rank less on each side does not,
// and neither does the Wilcoxon interval. Tolerance: 3 standard deviations of 2,000 trials, 1.5 percentage points.
func TestMedianIntervalCoversSkewedDifferences(t *testing.T) {
	const trials, slack = 2000, 0.015
	exact := func(s []float64) Span { return medianSpan(s, 0.95) }
	narrow := func(s []float64) Span {
		l, u, _ := intervalRanks(len(s), 0.5, 0.025)
		return Span{Low: s[l], High: s[u-2], OK: true}
	}
	for _, n := range []int{6, 20, 200} {
		if got := coverage(n, trials, exact); got < 0.95-slack {
			t.Errorf("n = %d: coverage %.3f, want at least 0.95", n, got)
		}
	}
	if got := coverage(20, trials, narrow); got >= 0.95-slack {
		t.Errorf("one rank less on each side covers %.3f: the check cannot fail", got)
	}
	if got := coverage(200, 200, wilcoxon); got >= 0.5 {
		t.Errorf("the Wilcoxon interval covers the median of skewed differences in %.3f, want hardly ever", got)
	}
}

// wilcoxon is the interval of the signed-rank test in its normal form: order statistics of the Walsh averages. It is the
// wrong method here.
func wilcoxon(sorted []float64) Span {
	n := float64(len(sorted))
	var walsh []float64
	for i := range sorted {
		for j := i; j < len(sorted); j++ {
			walsh = append(walsh, (sorted[i]+sorted[j])/2)
		}
	}
	slices.Sort(walsh)
	c := int(n*(n+1)/4 - 1.96*math.Sqrt(n*(n+1)*(2*n+1)/24))
	return Span{Low: walsh[c], High: walsh[len(walsh)-1-c], OK: true}
}

// Swapping the sides turns the difference round.
func TestPairIsAntisymmetric(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := 1; n < 40; n++ {
		a, b := make(Sample, n), make(Sample, n)
		for i := range a {
			a[i], b[i] = r.Int64N(100)+1, r.Int64N(100)+1
		}
		p, q := Pair(anyMetric, a, b, 0.95), Pair(anyMetric, b, a, 0.95)
		if p.Difference != -q.Difference || p.DifferenceIn.Low != -q.DifferenceIn.High || p.Less != q.More || p.Equal != q.Equal {
			t.Errorf("n = %d: B−A %v in %v, A−B %v in %v, want the same turned round", n, p.Difference, p.DifferenceIn, q.Difference, q.DifferenceIn)
		}
	}
}
