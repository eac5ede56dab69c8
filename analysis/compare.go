package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Change is what a comparison says of one yardstick.
type Change string

// The changes. Improved and Regressed hold after Holm's correction over all yardsticks of the comparison; NoRegression
// is a statement about one yardstick, and a conjunction of such statements needs no correction.
const (
	Improved     Change = "IMPROVED"
	Regressed    Change = "REGRESSION"
	NoRegression Change = "no regression"
	Unclear      Change = "inconclusive"
)

// Comparison is one yardstick on two sides, each a number of runs. The run is the unit of replication: requests of one
// run share its host, its minute and its queue, and are no independent evidence about a build.
type Comparison struct {
	Yardstick
	RunsA, RunsB     int     // runs that have the number; all below is meaningless if one is 0
	MedianA, MedianB float64 // over the runs
	CensoredA        int     // runs whose number is only a lower bound
	CensoredB        int
	Effect           float64 // Hodges-Lehmann: B ÷ A − 1, or B − A
	In               Span    // of Effect: exact at the level asked for, this yardstick alone
	P                float64 // two-sided, exact, ties included: both sides are alike
	Adjusted         float64 // two-sided, Holm: the change is within the margin
	Noise            float64 // standard deviation from run to run within the sides, on the scale of Effect
	Change           Change
	Reason           string // why it says no more; empty for Improved, Regressed and a plain NoRegression
	Needed           int    // runs a side that would likely decide, if this one is inconclusive; 0: cannot be told
}

// Versus says how two sides are compared. The zero value compares independent runs by DefaultYardsticks at
// DefaultConfidence.
type Versus struct {
	Yardsticks []Yardstick
	Level      float64 // in (0, 1)
	// Paired compares run i of B with run i of A only (Wilcoxon's signed ranks in place of Mann and Whitney's U). It needs
	// runs that were made in pairs, and pays where a drift or a seed moves both runs of a pair alike.
	Paired bool
}

// Compare judges all yardsticks by the runs of side B against those of side A. It is exact for small numbers of runs:
// the interval holds the true shift at its level or more whatever the law of the runs, as long as the sides differ by a
// shift. It says Regressed or Improved only if the whole interval lies beyond the margin, after Holm's correction over
// the yardsticks, and NoRegression only if the whole interval lies on the better side of the margin.
//
// Sources: Mann & Whitney 1947; Hodges & Lehmann 1963; Holm 1979; Schuirmann 1987.
func Compare(a, b []RunStats, v Versus) []Comparison {
	if len(v.Yardsticks) == 0 {
		v.Yardsticks = DefaultYardsticks()
	}
	v.Level = cmp.Or(v.Level, DefaultConfidence)
	out := make([]Comparison, len(v.Yardsticks))
	contrasts := make([]contrast, len(v.Yardsticks))
	for i, y := range v.Yardsticks {
		out[i], contrasts[i] = v.compare(y, a, b)
	}
	holm(out)
	for i := range out {
		out[i].judge(contrasts[i], v.Level)
	}
	return out
}

// compare fills in everything but the verdict.
func (v Versus) compare(y Yardstick, a, b []RunStats) (Comparison, contrast) {
	c := Comparison{Yardstick: y, P: 1, Adjusted: 1, Change: Unclear}
	if v.Paired {
		a, b = inPairs(y, a, b)
	}
	var x, z []float64
	x, c.MedianA, c.CensoredA = valuesOf(y, a)
	z, c.MedianB, c.CensoredB = valuesOf(y, b)
	c.RunsA, c.RunsB = len(x), len(z)
	if len(x) == 0 || len(z) == 0 {
		return c, contrast{}
	}
	of, deviation := independent(x, z), withinDeviation(x, z)
	c.P = differ(x, z)
	if v.Paired {
		of, deviation = pairwise(x, z), pairDeviation(x, z)
		c.P = min(1, 2*min(of.above(0), of.below(0)))
	}
	c.Effect, c.Noise = y.effect(of.estimate()), y.effect(deviation)
	if s := of.span(v.Level); s.OK {
		c.In = Span{y.effect(s.Low), y.effect(s.High), true}
	}
	worse, better := c.tests(of)
	c.Adjusted = min(1, 2*min(worse, better))
	return c, of
}

// tests returns the one-sided p-values against "not worse than the margin" and "not better than the margin".
func (c *Comparison) tests(of contrast) (worse, better float64) {
	worst, best := c.bounds()
	if c.Better == HigherIsBetter {
		return of.below(worst), of.above(best)
	}
	return of.above(worst), of.below(best)
}

// holm turns the p-values in Adjusted into those of Holm's step-down procedure. A yardstick that one side has no number of
// is none that could alarm.
func holm(all []Comparison) {
	var order []*Comparison
	for i := range all {
		if all[i].RunsA > 0 && all[i].RunsB > 0 {
			order = append(order, &all[i])
		}
	}
	slices.SortStableFunc(order, func(x, y *Comparison) int { return cmp.Compare(x.Adjusted, y.Adjusted) })
	least := 0.0
	for rank, c := range order {
		least = max(least, min(1, float64(len(order)-rank)*c.Adjusted))
		c.Adjusted = least
	}
}

// marginWithin is the plain reason of an inconclusive comparison.
const marginWithin = "the interval holds the margin"

// judge gives the verdict.
func (c *Comparison) judge(of contrast, level float64) {
	if c.RunsA == 0 || c.RunsB == 0 {
		c.Reason = fmt.Sprintf("no run to compare: %d and %d runs have this number", c.RunsA, c.RunsB)
		return
	}
	span := of.span(level)
	if !span.OK {
		c.Needed = leastRuns(level)
		c.Reason = fmt.Sprintf("%d and %d runs give no interval at %g %%", c.RunsA, c.RunsB, 100*level)
		return
	}
	worst, _ := c.bounds()
	worse, better := c.tests(of)
	far := c.Adjusted <= 1-level
	switch noWorse := c.Better == LowerIsBetter && span.High < worst || c.Better == HigherIsBetter && span.Low > worst; {
	case far && worse < better:
		c.decide(Regressed)
	case far:
		c.decide(Improved)
	case noWorse:
		c.decide(NoRegression)
		if min(worse, better) <= (1-level)/2 && c.Change == NoRegression {
			c.Reason = "IMPROVED alone, not after Holm"
		}
	default:
		c.Needed = c.needed(of.estimate())
		c.Reason = marginWithin
		if min(worse, better) <= (1-level)/2 {
			c.Reason = "REGRESSION alone, not after Holm"
		}
	}
}

// decide takes a change, unless runs that timed out could turn it round: their true numbers are larger than what was
// counted, by nobody knows how much.
func (c *Comparison) decide(change Change) {
	unsafe := c.CensoredB
	if (change == Regressed) == (c.Better == LowerIsBetter) {
		unsafe = c.CensoredA
	}
	if unsafe > 0 {
		c.Reason = fmt.Sprintf("%d and %d runs reached the time limit: how much they differ is not known", c.CensoredA, c.CensoredB)
		return
	}
	c.Change = change
}

// PlainlyUnclear says that nothing but more runs is wanting: the interval holds the margin.
func (c *Comparison) PlainlyUnclear() bool { return c.Reason == marginWithin }

// valuesOf returns the numbers of the runs that have one on the yardstick's axis, their median as it was measured, and how
// many of them are lower bounds.
func valuesOf(y Yardstick, runs []RunStats) (scaled []float64, middle float64, censored int) {
	var plain []float64
	for _, r := range runs {
		v, ok := r[y.Name]
		if !ok {
			continue
		}
		if s, ok := y.scaled(v.X); ok {
			scaled, plain = append(scaled, s), append(plain, v.X)
			if v.AtLeast {
				censored++
			}
		}
	}
	if len(plain) > 0 {
		slices.Sort(plain)
		middle = median(plain)
	}
	return scaled, middle, censored
}

// inPairs leaves out the pairs of which one run has no number.
func inPairs(y Yardstick, a, b []RunStats) (x, z []RunStats) {
	has := func(r RunStats) bool {
		v, ok := r[y.Name]
		if ok {
			_, ok = y.scaled(v.X)
		}
		return ok
	}
	for i := range min(len(a), len(b)) {
		if has(a[i]) && has(b[i]) {
			x, z = append(x, a[i]), append(z, b[i])
		}
	}
	return x, z
}

// withinDeviation is the standard deviation of a run about its own side, pooled over both; 0 below 3 runs in all.
func withinDeviation(a, b []float64) float64 {
	freedom := len(a) + len(b) - 2
	if freedom < 1 {
		return 0
	}
	return math.Sqrt((squares(a) + squares(b)) / float64(freedom))
}

// pairDeviation is that of one run as far as it does not cancel within a pair.
func pairDeviation(a, b []float64) float64 {
	differences := make([]float64, min(len(a), len(b)))
	for i := range differences {
		differences[i] = b[i] - a[i]
	}
	if len(differences) < 2 {
		return 0
	}
	return math.Sqrt(squares(differences) / float64(len(differences)-1) / 2)
}

// squares is the sum of the squared deviations from the mean.
func squares(x []float64) (sum float64) {
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return sum
}
