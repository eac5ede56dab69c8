package analysis

import (
	"slices"

	"coldwave/internal/hdr"
)

// Paired compares one metric of two sides that faced the same seeds: per seed the same arrivals, demands and start-up
// draws. What the seed decides for both cancels in the difference of the two, so far fewer seeds are needed than for two
// independent sides.
//
// The estimate is the median of the per-seed differences. Its interval is made of two of these differences, the order
// statistics that an exact sign test gives: it covers the median with at least its level for any number of seeds and
// any law of the differences.
//
// Note: the Hodges–Lehmann estimate with the Wilcoxon interval is shorter where differences are symmetric. Those of
// policies are not: the longest of many cold starts against a constant is skewed, and the Wilcoxon interval then misses
// the median ever more surely the more seeds there are.
type Paired struct {
	Metric            Metric
	N                 int     // seeds on which both sides have the metric; all below is meaningless when it is 0
	MedianA, MedianB  int64   // over the seeds, nearest rank
	Difference        float64 // median of B − A over the seeds: the mean of the two middle ones if N is even
	DifferenceIn      Span
	MeanDifference    float64
	Ratio             float64 // median of B ÷ A over the seeds; meaningless unless RatioOK
	RatioIn           Span
	RatioOK           bool // A is above 0 on every seed
	Less, Equal, More int  // seeds on which B is below, equal to and above A
}

// Pair compares B with A, seed by seed; both must have the same seeds in the same order. Level is that of the intervals.
func Pair(m Metric, a, b Sample, level float64) Paired {
	a, b = both(a, b)
	p := Paired{Metric: m, N: len(a)}
	if p.N == 0 {
		return p
	}
	differences := make([]int64, p.N)
	for i := range a {
		differences[i] = b[i] - a[i]
		switch {
		case b[i] < a[i]:
			p.Less++
		case b[i] > a[i]:
			p.More++
		default:
			p.Equal++
		}
	}
	slices.Sort(differences)
	p.Difference, p.DifferenceIn = median(differences), medianSpan(differences, level)
	p.MeanDifference, _ = moments(differences)
	p.Ratio, p.RatioIn, p.RatioOK = ratio(a, b, level)
	p.MedianA, p.MedianB = middle(a), middle(b)
	return p
}

// both leaves out the seeds on which one side has no number.
func both(a, b Sample) (Sample, Sample) {
	var x, y Sample
	for i := range min(len(a), len(b)) {
		if a[i] != Missing && b[i] != Missing {
			x, y = append(x, a[i]), append(y, b[i])
		}
	}
	return x, y
}

// ratio returns the median of B ÷ A and its interval; false if A is not above 0 everywhere.
func ratio(a, b Sample, level float64) (float64, Span, bool) {
	ratios := make([]float64, len(a))
	for i := range a {
		if a[i] <= 0 {
			return 0, Span{}, false
		}
		ratios[i] = float64(b[i]) / float64(a[i])
	}
	slices.Sort(ratios)
	return median(ratios), medianSpan(ratios, level), true
}

// median returns the middle value, or the mean of the two middle ones.
func median[T int64 | float64](sorted []T) float64 {
	n := len(sorted)
	low, high := float64(sorted[(n-1)/2]), float64(sorted[n/2])
	return low + (high-low)/2
}

// middle returns the median of nearest rank: a value that occurred.
func middle(s Sample) int64 {
	sorted := slices.Sorted(slices.Values(s))
	return sorted[hdr.Rank(0.5, int64(len(sorted)))-1]
}

// Finding is what a paired comparison shows.
type Finding string

// The findings.
const (
	Lower     Finding = "lower"               // the whole interval of B − A lies below 0
	Higher    Finding = "higher"              // the whole interval lies above 0
	Same      Finding = "equal"               // B equals A on every seed
	Undecided Finding = "no difference shown" // 0 lies in the interval
	TooFew    Finding = "too few seeds"       // there is no interval of that level
)

// Finding says what the interval of the difference shows.
func (p Paired) Finding() Finding {
	switch {
	case p.N > 0 && p.Equal == p.N:
		return Same
	case !p.DifferenceIn.OK:
		return TooFew
	case p.DifferenceIn.High < 0:
		return Lower
	case p.DifferenceIn.Low > 0:
		return Higher
	default:
		return Undecided
	}
}
