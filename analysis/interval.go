package analysis

import (
	"sort"
	"time"

	"gonum.org/v1/gonum/mathext"
)

// Interval returns the exact, distribution-free confidence interval of the quantile q in (0, 1) at that level, such as
// 0.95, from the order statistics of one run. It holds within the run only, and for independent requests. It returns
// false where no such interval exists, as for p99 at 95 % below n = 368.
func Interval(sorted []time.Duration, q, level float64) (low, high time.Duration, ok bool) {
	l, u, ok := intervalRanks(len(sorted), q, (1-level)/2)
	if !ok {
		return 0, 0, false
	}
	return sorted[l-1], sorted[u-1], true
}

// intervalRanks returns l = max{k : P(B ≤ k−1) ≤ tail} and u = min{k : P(B ≥ k) ≤ tail} for B ~ Bin(n, q).
func intervalRanks(n int, q, tail float64) (l, u int, ok bool) {
	l = sort.Search(n, func(k int) bool { return atMost(k, n, q) > tail }) // k here is k−1 of the first rank too many
	u = 1 + sort.Search(n, func(k int) bool { return 1-atMost(k, n, q) <= tail })
	return l, u, l >= 1 && u <= n
}

// atMost returns P(B ≤ k) for B ~ Bin(n, q) and 0 ≤ k < n, by the incomplete beta function.
func atMost(k, n int, q float64) float64 {
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-q)
}
