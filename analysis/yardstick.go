package analysis

import "math"

// Value is one number of one run. AtLeast says that the true number is this or more: a quantile that timed out.
type Value struct {
	X       float64 `json:"value"`
	AtLeast bool    `json:"at_least,omitempty"`
}

// RunStats are the numbers of one run by the names of yardsticks: durations in nanoseconds, shares from 0 to 1. A number
// that a run does not have, such as the p99 of its cold requests when there were none, is not there.
type RunStats map[string]Value

// Scale says how two values of a yardstick are compared.
type Scale uint8

// The scales.
const (
	Ratio      Scale = iota // B ÷ A − 1, computed on logarithms
	Difference              // B − A, for shares that may be 0
)

// Better says which way a yardstick gets better.
type Better uint8

// The directions.
const (
	LowerIsBetter Better = iota
	HigherIsBetter
)

// Yardstick is a number of a run that two sides are compared by, with the change that does not matter yet.
type Yardstick struct {
	Name    string // key of RunStats
	Doc     string // one phrase
	Scale   Scale
	Better  Better
	Margin  float64 // of Ratio: 0.05 is 5 %; of Difference: 0.005 is half a percentage point. > 0
	Primary bool    // a regression of it fails a gate; others only inform
}

// scaled returns x on the axis on which changes add up; false if it has no place there.
func (y Yardstick) scaled(x float64) (float64, bool) {
	if y.Scale == Difference {
		return x, !math.IsNaN(x) && !math.IsInf(x, 0)
	}
	return math.Log(x), x > 0 && !math.IsInf(x, 1)
}

// effect is the inverse for changes: a shift on that axis as it is printed.
func (y Yardstick) effect(shift float64) float64 {
	if y.Scale == Difference {
		return shift
	}
	return math.Expm1(shift)
}

// bounds returns the shifts beyond which a change for the worse, and one for the better, matter.
func (y Yardstick) bounds() (worse, better float64) {
	up, down := y.Margin, -y.Margin
	if y.Scale == Ratio {
		up, down = math.Log1p(up), math.Log1p(down)
	}
	if y.Better == HigherIsBetter {
		return down, up
	}
	return up, down
}

// DefaultYardsticks are what runs are compared by unless it is said. Their names are selectors; the margins are 3 % for
// p50, 5 % for p95 and 10 % for p99, since tails move more from run to run than medians do.
func DefaultYardsticks() []Yardstick {
	return []Yardstick{
		{Name: "p50", Doc: "median response time", Margin: 0.03},
		{Name: "p95", Doc: "0.95 quantile of the response time", Margin: 0.05},
		{Name: "p99", Doc: "0.99 quantile of the response time", Margin: 0.10, Primary: true},
		{Name: "warm.p50", Doc: "median response time of warm requests", Margin: 0.03},
		{Name: "warm.p99", Doc: "0.99 quantile of the response time of warm requests", Margin: 0.10},
		{Name: "cold.p95", Doc: "0.95 quantile of the response time of cold requests", Margin: 0.05},
		{Name: "cold_share", Doc: "cold requests among the successful ones", Scale: Difference, Margin: 0.005},
		{Name: "errors", Doc: "requests sent that did not succeed", Scale: Difference, Margin: 0.001},
		{Name: "makespan", Doc: "longest time from a wave's start to its last answer", Margin: 0.05},
		{Name: "rate", Doc: "successful answers a second", Better: HigherIsBetter, Margin: 0.01},
		{Name: "peak_instances", Doc: "most instances alive at once", Margin: 0.05},
	}
}
