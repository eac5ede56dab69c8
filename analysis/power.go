package analysis

import (
	"cmp"
	"math"
)

// MaxNeeded is the most runs a side that a plan names: beyond it the host is the problem, not the number of runs.
const MaxNeeded = 1000

// The planning constants of a comparison of N runs a side whose standard deviation is s: the half width of the 95 %
// interval is about halfWidth·s·√(2/N), and a distance of decides·s·√(2/N) from a limit is found in 80 % of the cases.
// They hold for normal runs; a simulation in the tests holds them to it.
const (
	halfWidth = 2.1
	decides   = halfWidth + 0.84
)

// RunsFor returns how many runs a side would likely (80 %) show a change of that size against a limit that far away, both
// on the scale of the yardstick's noise: logarithms for ratios. It is at least what an interval needs, and MaxNeeded+1 if
// MaxNeeded runs are too few.
func RunsFor(distance, noise float64) int {
	least := leastRuns(DefaultConfidence)
	if noise <= 0 {
		return least
	}
	x := decides * noise / math.Abs(distance)
	n := 2 * x * x
	if !(n <= MaxNeeded) {
		return MaxNeeded + 1
	}
	return max(int(math.Ceil(n)), least)
}

// Detectable returns the smallest change that n runs a side would likely (80 %) show, on the scale of noise.
func Detectable(noise float64, n int) float64 {
	return decides * noise * math.Sqrt(2/float64(n))
}

// HalfWidth returns half of the 95 % interval of n runs a side, on the scale of noise.
func HalfWidth(noise float64, n int) float64 { return halfWidth * noise * math.Sqrt(2/float64(n)) }

// LeastRequests is the smallest run that has a one-sided 95 % limit of the quantile on either side.
func LeastRequests(q float64) int { return leastSample(q) }

// LeastRuns is the smallest number of runs a side that can show a change in one of so many yardsticks after Holm's
// correction, if all of its runs lie beyond all of the other side's.
func LeastRuns(yardsticks int, v Versus) int {
	alpha := (1 - cmp.Or(v.Level, DefaultConfidence)) / 2 / float64(max(yardsticks, 1))
	n := 1
	for ; n < MaxNeeded; n++ {
		p := uAtMost(0, n, n)
		if v.Paired {
			p = math.Exp2(-float64(n))
		}
		if p <= alpha {
			break
		}
	}
	return n
}

// leastRuns is the smallest number of runs a side with an interval of that level.
func leastRuns(level float64) int {
	n := 1
	for uAtMost(0, n, n) > (1-level)/2 {
		n++
	}
	return n
}

// needed returns how many runs a side would likely put the whole interval on one side of the margin for the worse.
func (c *Comparison) needed(shift float64) int {
	worst, _ := c.bounds()
	noise := c.Noise
	if c.Scale == Ratio {
		noise = math.Log1p(noise)
	}
	return max(RunsFor(worst-shift, noise), max(c.RunsA, c.RunsB)+1)
}
