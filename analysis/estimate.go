package analysis

import (
	"math"
	"slices"
	"sort"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"coldwave/internal/hdr"
)

// Estimate is one number of a run, with what the run can say of the law behind it: the limits above and below which that
// law's number lies, each alone, at a level. They hold within this run and for independent requests; what differs from run
// to run is for Compare.
type Estimate struct {
	N       int     // requests, or runs, that it is made of
	Value   float64 // meaningless when N is 0
	AtLeast bool    // Value is a lower bound: it timed out
	Low     float64 // −Inf: no such limit
	High    float64 // +Inf: no such limit; also where it timed out
	Whole   bool    // Value is no sample: the longest, the rate or the makespan of this run is what it is, with Low = High = Value

	// For planning: the share of the sample at most x, and the standard deviation of the sample.
	share     func(x float64) float64
	deviation float64
	q         float64 // the quantile, where it is one
	total     int     // requests of the run, of which N were looked at
	unsure    int     // requests of N that do not tell what was asked
	guessed   int     // requests left out, because a model labelled them
}

// quantileOf estimates a quantile of a sample of which the last ones timed out. The limits are order statistics, exact
// whatever the law (Hahn & Meeker): the upper is x(u), u = min{k : P(B ≥ k) ≤ tail}, and there is none where u > n.
func quantileOf(sorted []float64, timedOut int, q, tail float64) Estimate {
	n := len(sorted)
	e := Estimate{N: n, Low: math.Inf(-1), High: math.Inf(1), q: q}
	if n == 0 {
		return e
	}
	censored := n - timedOut // rank of the first one that did, less one
	rank := int(hdr.Rank(q, int64(n)))
	l, u, _ := intervalRanks(n, q, tail)
	e.Value, e.AtLeast = sorted[rank-1], rank > censored
	if l >= 1 {
		e.Low = sorted[l-1]
	}
	if u <= censored {
		e.High = sorted[u-1]
	}
	e.share = func(x float64) float64 {
		return float64(min(sort.Search(n, func(i int) bool { return sorted[i] > x }), censored)) / float64(n)
	}
	return e
}

// least is the smallest sample for which the mean is taken to be near normal.
const least = 30

// meanOf estimates the mean by Student's t, which holds where the mean of so many is near normal: below 30 there are no
// limits. A sample with timeouts has no upper one.
func meanOf(sample []float64, timedOut int, tail float64) Estimate {
	e := Estimate{N: len(sample), Low: math.Inf(-1), High: math.Inf(1), AtLeast: timedOut > 0}
	if e.N == 0 {
		return e
	}
	for _, v := range sample {
		e.Value += v / float64(e.N)
	}
	if e.N < 2 {
		return e
	}
	e.deviation = math.Sqrt(squares(sample) / float64(e.N-1))
	if e.N < least {
		return e
	}
	half := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(e.N - 1)}.Quantile(1-tail) * e.deviation / math.Sqrt(float64(e.N))
	e.Low = e.Value - half
	if timedOut == 0 {
		e.High = e.Value + half
	}
	return e
}

// shareOf estimates a share of which k in n are seen and unsure more may be.
func shareOf(k, n, unsure int, tail float64, limits func(k, n int, tail float64) Span) Estimate {
	e := Estimate{N: n, Low: math.Inf(-1), High: math.Inf(1), unsure: unsure}
	if n == 0 {
		return e
	}
	e.Value = float64(k) / float64(n)
	e.Low, e.High = limits(k, n, tail).Low, limits(k+unsure, n, tail).High
	return e
}

// whole is a number that is no sample.
func whole(n int, x float64, timedOut bool) Estimate {
	e := Estimate{N: n, Value: x, AtLeast: timedOut, Low: x, High: x, Whole: true}
	if timedOut {
		e.High = math.Inf(1)
	}
	if n == 0 {
		e.Low, e.High = math.Inf(-1), math.Inf(1)
	}
	return e
}

// Alone is the number without its sample, for runs that are only a sample of runs themselves.
func (e Estimate) Alone() Estimate {
	return Estimate{N: e.N, Value: e.Value, AtLeast: e.AtLeast, unsure: e.unsure, guessed: e.guessed}
}

// overRuns estimates the median of one number over runs: the run is the unit of replication. A run without the number is
// left out.
func overRuns(runs []Estimate, tail float64) Estimate {
	var known, timedOut []float64
	out := Estimate{}
	for _, r := range runs {
		out.unsure, out.guessed = out.unsure+r.unsure, out.guessed+r.guessed
		switch {
		case r.N == 0:
		case r.AtLeast:
			timedOut = append(timedOut, r.Value)
		default:
			known = append(known, r.Value)
		}
	}
	slices.Sort(known)
	slices.Sort(timedOut)
	e := quantileOf(append(known, timedOut...), len(timedOut), 0.5, tail)
	e.unsure, e.guessed, e.total = out.unsure, out.guessed, len(runs)
	return e
}

func nanoseconds(sample []time.Duration) []float64 {
	out := make([]float64, len(sample))
	for i, d := range sample {
		out[i] = float64(d)
	}
	return out
}
