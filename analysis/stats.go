package analysis

import (
	"slices"
	"time"

	"coldwave/internal/hdr"
)

// Of describes a sample by its exact order statistics. The sample is left as it is.
func Of(sample []time.Duration) Stats {
	return ofOwn(slices.Clone(sample))
}

// ofOwn is Of for a sample that may be sorted.
func ofOwn(sorted []time.Duration) Stats {
	if len(sorted) == 0 {
		return Stats{}
	}
	slices.Sort(sorted)
	at := func(q float64) time.Duration { return sorted[hdr.Rank(q, int64(len(sorted)))-1] }
	return Stats{
		N: len(sorted), Mean: mean(sorted), Min: sorted[0], Max: sorted[len(sorted)-1],
		P50: at(0.50), P90: at(0.90), P95: at(0.95), P99: at(0.99),
	}
}

// Quantile returns the value of nearest rank, sorted[ceil(q·n)−1], for q in [0, 1]: a duration that occurred. It returns
// false if there is none. Below n = 100 the 0.99 quantile is the maximum.
func Quantile(sorted []time.Duration, q float64) (time.Duration, bool) {
	if len(sorted) == 0 {
		return 0, false
	}
	return sorted[hdr.Rank(q, int64(len(sorted)))-1], true
}

// mean divides before it adds: a sum of long durations may exceed 64 bits.
func mean(sample []time.Duration) time.Duration {
	n := time.Duration(len(sample))
	var whole, rest time.Duration
	for _, d := range sample {
		whole += d / n
		rest += d % n
	}
	return whole + rest/n
}
