package analysis

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"coldwave/internal/hdr"
)

// DefaultConfidence is the level of intervals.
const DefaultConfidence = 0.95

// Sample holds one metric of independent runs, in the order of the runs. A run that has no such number is Missing.
type Sample []int64

// Missing stands for a run that has no such number.
const Missing = math.MinInt64

// SampleOf returns one metric of each run.
func SampleOf(m Metric, runs []Summary) Sample {
	out := make(Sample, len(runs))
	for i := range runs {
		v, ok := m.Of(&runs[i])
		if !ok {
			v = Missing
		}
		out[i] = v
	}
	return out
}

// present returns the numbers there are, sorted.
func (s Sample) present() []int64 {
	out := make([]int64, 0, len(s))
	for _, v := range s {
		if v != Missing {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// Span is an interval, or none where none can be given.
type Span struct {
	Low, High float64
	OK        bool
}

// Spread describes one metric over independent runs. All fields but N are meaningless when N is 0.
type Spread struct {
	Metric    Metric
	N         int     // runs that have the metric
	Mean      float64 // over the runs
	MeanSpan  Span    // Student's t: holds where the mean of N runs is near normal; none below 2 runs
	Min, Max  int64
	P5, P95   int64 // nearest rank over the runs
	Median    int64 // nearest rank over the runs
	MedianIn  Span  // from order statistics: exact for independent runs whatever their law; none below 6 runs at 0.95
	Deviation float64
}

// SpreadOf describes a metric over runs, with intervals of that level, such as 0.95.
func SpreadOf(m Metric, s Sample, level float64) Spread {
	sorted := s.present()
	out := Spread{Metric: m, N: len(sorted)}
	if len(sorted) == 0 {
		return out
	}
	at := func(q float64) int64 { return sorted[hdr.Rank(q, int64(len(sorted)))-1] }
	out.Min, out.Max = sorted[0], sorted[len(sorted)-1]
	out.P5, out.Median, out.P95 = at(0.05), at(0.5), at(0.95)
	out.Mean, out.Deviation = moments(sorted)
	out.MeanSpan = meanSpan(out.Mean, out.Deviation, out.N, level)
	out.MedianIn = medianSpan(sorted, level)
	return out
}

// moments returns the mean and the standard deviation (n − 1). The values are moved by the first one, which keeps the
// sums exact where the differences are small.
func moments(sorted []int64) (mean, deviation float64) {
	base, n := sorted[0], float64(len(sorted))
	for _, v := range sorted {
		mean += float64(v-base) / n
	}
	var squares float64
	for _, v := range sorted {
		d := float64(v-base) - mean
		squares += d * d
	}
	if len(sorted) > 1 {
		deviation = math.Sqrt(squares / (n - 1))
	}
	return float64(base) + mean, deviation
}

// meanSpan returns the t interval of a mean.
func meanSpan(mean, deviation float64, n int, level float64) Span {
	if n < 2 {
		return Span{}
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile((1 + level) / 2)
	half := t * deviation / math.Sqrt(float64(n))
	return Span{Low: mean - half, High: mean + half, OK: true}
}

// medianSpan returns the exact interval of a median from order statistics.
func medianSpan[T int64 | float64](sorted []T, level float64) Span {
	l, u, ok := intervalRanks(len(sorted), 0.5, (1-level)/2)
	if !ok {
		return Span{}
	}
	return Span{Low: float64(sorted[l-1]), High: float64(sorted[u-1]), OK: true}
}
