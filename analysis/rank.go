package analysis

import (
	"math"
	"slices"
	"sort"

	"github.com/aclements/go-moremath/stats"
	"gonum.org/v1/gonum/stat/distuv"
)

// exactRuns is the largest sample for which the null distribution of the Mann-Whitney U is summed up exactly. Above it
// the normal approximation with a correction for continuity is used, whose error is then below 0.001.
const exactRuns = 50

// uAtMost returns P(U ≤ u) for the Mann-Whitney U of samples of m and n values of one law, without ties.
func uAtMost(u, m, n int) float64 {
	switch {
	case u < 0:
		return 0
	case u >= m*n:
		return 1
	case m <= exactRuns && n <= exactRuns:
		return stats.UDist{N1: m, N2: n}.CDF(float64(u))
	}
	mn := float64(m) * float64(n)
	return normal.CDF((float64(u) + 0.5 - mn/2) / math.Sqrt(mn*float64(m+n+1)/12))
}

var normal = distuv.Normal{Mu: 0, Sigma: 1}

// wAtMost returns the function w ↦ P(W ≤ w) for the Wilcoxon signed-rank statistic of n differences symmetric about 0,
// without ties: the sum of the ranks of the positive ones.
func wAtMost(n int) func(w int) float64 {
	most := n * (n + 1) / 2
	if n > exactRuns {
		deviation := math.Sqrt(float64(most) * float64(2*n+1) / 12)
		return func(w int) float64 { return normal.CDF((float64(w) + 0.5 - float64(most)/2) / deviation) }
	}
	share := make([]float64, most+1) // of the sign patterns of the first k ranks with that sum
	share[0] = 1
	for k := 1; k <= n; k++ {
		for w := k * (k + 1) / 2; w >= 0; w-- {
			share[w] /= 2
			if w >= k {
				share[w] += share[w-k] / 2
			}
		}
	}
	for w := 1; w <= most; w++ {
		share[w] += share[w-1]
	}
	return func(w int) float64 {
		if w < 0 {
			return 0
		}
		return share[min(w, most)]
	}
}

// A contrast is all that two samples say of the shift between them: the elementary differences B − A, sorted, and how
// probable it is that so few of them lie on one side of the true shift.
type contrast struct {
	differences []float64
	atMost      func(count int) float64 // P(at most count differences lie below the true shift)
}

// independent compares each value of b with each of a: differences of Mann and Whitney.
func independent(a, b []float64) contrast {
	c := contrast{make([]float64, 0, len(a)*len(b)), func(u int) float64 { return uAtMost(u, len(a), len(b)) }}
	for _, x := range a {
		for _, y := range b {
			c.differences = append(c.differences, y-x)
		}
	}
	slices.Sort(c.differences)
	return c
}

// pairwise compares b[i] with a[i] only: Walsh averages of the pairs' differences.
func pairwise(a, b []float64) contrast {
	n := min(len(a), len(b))
	c := contrast{make([]float64, 0, n*(n+1)/2), wAtMost(n)}
	for i := range n {
		for j := range i + 1 {
			c.differences = append(c.differences, (b[i]-a[i]+b[j]-a[j])/2)
		}
	}
	slices.Sort(c.differences)
	return c
}

// estimate is the Hodges-Lehmann estimate of the shift; there must be a difference.
func (c contrast) estimate() float64 { return median(c.differences) }

// span is the interval of the shift whose every value a test at 1 − level would not refuse.
func (c contrast) span(level float64) Span {
	n, tail := len(c.differences), (1-level)/2
	cut := sort.Search(n, func(u int) bool { return c.atMost(u) > tail }) // differences cut off at each end, plus one
	if cut < 1 || n == 0 {
		return Span{}
	}
	return Span{Low: c.differences[cut-1], High: c.differences[n-cut], OK: true}
}

// above is the one-sided p-value of "the shift is at most limit": small where it is surely larger. Differences equal to
// the limit count against that.
func (c contrast) above(limit float64) float64 {
	return c.atMost(sort.Search(len(c.differences), func(i int) bool { return c.differences[i] > limit }))
}

// below is the one-sided p-value of "the shift is at least limit".
func (c contrast) below(limit float64) float64 {
	return c.atMost(len(c.differences) - sort.Search(len(c.differences), func(i int) bool { return c.differences[i] >= limit }))
}

// differ is the two-sided p-value of the exact Mann-Whitney test, ties included, of "both sides are alike"; 1 if all
// values are equal.
//
// Note: the library's own two-sided p takes the null distribution for symmetric, which it is not where there are ties and the
// sides differ in size. Each of its one-sided ones is exact.
func differ(a, b []float64) float64 {
	return min(1, 2*min(lower(a, b), lower(b, a)))
}

// lower is the one-sided p-value of "a is not lower than b".
func lower(a, b []float64) float64 {
	r, err := stats.MannWhitneyUTest(a, b, stats.LocationLess)
	if err != nil { // no value, or all are equal
		return 1
	}
	return r.P
}
