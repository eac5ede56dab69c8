package analysis

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// Candidate is one of several ways to serve the same requests, by two numbers that should both be small.
type Candidate struct {
	OK      bool  // false: it takes no part, as one that did not serve the requests
	Latency int64 // in nanoseconds, ≥ 0
	Cost    int64 // instance-time in nanoseconds, ≥ 0
}

// Coarse returns the candidate with three significant digits of both numbers, as histograms have them: a difference
// below that is no reason to prefer one.
func (c Candidate) Coarse() Candidate {
	return Candidate{OK: c.OK, Latency: threeDigits(c.Latency), Cost: threeDigits(c.Cost)}
}

func threeDigits(n int64) int64 {
	unit := int64(1)
	for n/unit >= 1000 {
		unit *= 10
	}
	if unit > 1 && n%unit >= unit/2 {
		return (n/unit + 1) * unit
	}
	return n / unit * unit
}

// Place is where a candidate stands among the others. Ratios are +Inf where they would divide by 0.
type Place struct {
	OK      bool    // as of the candidate; all below is meaningless without it
	Front   bool    // no other one dominates it
	Behind  float64 // the least factor by which both its numbers would have to shrink until it is on the front: 1 there
	Latency float64 // its latency ÷ the best possible
	Cost    float64 // its cost ÷ the best possible
}

// Pareto returns the place of each candidate. Ratios are to best, the best possible, which is no candidate; if it takes no
// part, to the lowest latency beside the lowest cost of those that do, which no single one may reach.
//
// Equal candidates share their place: all of them are on the front, or none.
func Pareto(all []Candidate, best Candidate) []Place {
	front := frontOf(all)
	if !best.OK && len(front) > 0 {
		best = Candidate{OK: true, Latency: front[0].Latency, Cost: front[len(front)-1].Cost}
	}
	places := make([]Place, len(all))
	for i, c := range all {
		if !c.OK {
			continue
		}
		places[i] = Place{OK: true, Behind: behind(c, front), Latency: quotient(c.Latency, best.Latency), Cost: quotient(c.Cost, best.Cost)}
		_, places[i].Front = slices.BinarySearchFunc(front, c, byLatency)
	}
	return places
}

func byLatency(a, b Candidate) int {
	return cmp.Or(cmp.Compare(a.Latency, b.Latency), cmp.Compare(a.Cost, b.Cost))
}

// frontOf returns those that no other one dominates, each once: with rising latency and falling cost.
func frontOf(all []Candidate) []Candidate {
	var front []Candidate
	for _, c := range slices.SortedFunc(slices.Values(all), byLatency) {
		if c.OK && (len(front) == 0 || c.Cost < front[len(front)-1].Cost) {
			front = append(front, c)
		}
	}
	return front
}

// behind is the least of the factors that lead to one of the front. Along it the latency that is asked for rises and the
// cost falls, so the factor of the one falls and that of the other rises: the least lies where they cross.
func behind(c Candidate, front []Candidate) float64 {
	factor := func(f Candidate) float64 { return max(1, quotient(c.Latency, f.Latency), quotient(c.Cost, f.Cost)) }
	k := sort.Search(len(front), func(i int) bool {
		return quotient(c.Cost, front[i].Cost) >= quotient(c.Latency, front[i].Latency)
	})
	least := math.Inf(1)
	for _, f := range front[max(0, k-1):min(len(front), k+1)] {
		least = min(least, factor(f))
	}
	return least
}

func quotient(a, b int64) float64 {
	switch {
	case b > 0:
		return float64(a) / float64(b)
	case a == b:
		return 1
	}
	return math.Inf(1)
}
