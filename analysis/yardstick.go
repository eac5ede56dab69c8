package analysis

import (
	"fmt"
	"math"
	"strconv"
)

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

// DefaultYardsticks are what runs are compared by unless it is said. The 0.99 quantile of all response times is primary.
func DefaultYardsticks() []Yardstick {
	var all []Yardstick
	for _, name := range []string{"p50", "p95", "p99", "warm.p50", "warm.p99", "cold.p95", "cold_share", "errors", "makespan", "rate", "peak_instances"} {
		s, err := ParseSelector(name)
		if err != nil {
			panic(err) // a test reads them all
		}
		y := YardstickFor(s)
		y.Primary = name == "p99"
		all = append(all, y)
	}
	return all
}

// The margins of yardsticks: the changes that do not matter yet, unless it is said. Tails move more from run to run than
// medians do.
const (
	marginMiddle = 0.03  // of quantiles up to the median
	marginHigh   = 0.05  // of quantiles up to p95, means, makespans and numbers of instances
	marginTail   = 0.10  // of quantiles beyond, and of the longest
	marginRate   = 0.01  // of rates
	marginCold   = 0.005 // of the share of cold requests: half a percentage point
	marginErrors = 0.001 // of the share of errors: a tenth of a percentage point
)

// YardstickFor returns the yardstick of a selector, with the margin that is used unless another is asked for.
func YardstickFor(s Selector) Yardstick {
	y := Yardstick{Name: s.String(), Doc: describeSelector(s), Margin: marginHigh}
	switch s.Stat {
	case QuantileStat:
		if y.Margin = marginTail; s.Q <= 0.5 {
			y.Margin = marginMiddle
		} else if s.Q <= 0.95 {
			y.Margin = marginHigh
		}
	case MaxStat:
		y.Margin = marginTail
	case RateStat:
		y.Better, y.Margin = HigherIsBetter, marginRate
	case ErrorStat:
		y.Scale, y.Margin = Difference, marginErrors
	case ColdShare:
		y.Scale, y.Margin = Difference, marginCold
	case MeanStat, Makespan, PeakInstances: // as set
	}
	return y
}

// describeSelector says in one phrase what a selector is.
func describeSelector(s Selector) string {
	what := map[Stat]string{
		QuantileStat: strconv.FormatFloat(s.Q, 'g', 8, 64) + " quantile of the response time", MaxStat: "longest response time",
		MeanStat: "mean response time", RateStat: "successful answers a second", ErrorStat: "share of the arrivals that did not end ok",
		ColdShare: "share of the successful requests that were cold", Makespan: "longest time from a wave's start to its last answer",
		PeakInstances: "most instances alive at once",
	}[s.Stat]
	for _, n := range startNames {
		if n.kind == s.Start && n.kind != allStarts {
			what += " of " + n.name + " requests"
		}
	}
	switch {
	case s.Phase != "":
		what += " in phase " + s.Phase
	case s.Wave > 0:
		what += fmt.Sprintf(" in wave %d", s.Wave)
	}
	return what
}

// Decile is the change of one quantile between two sides.
type Decile struct {
	Q     float64
	Ratio float64 // Hodges-Lehmann, of the runs' quantiles: B ÷ A
	In    Span
	OK    bool // both sides have the number
}

// DecileYardsticks are the numbers that Deciles compares.
func DecileYardsticks() []Yardstick {
	var all []Yardstick
	for _, percent := range []float64{10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99} {
		all = append(all, YardstickFor(Selector{Q: percent / 100}))
	}
	return all
}

// Deciles is the shift function: how B ÷ A changes from the fastest requests to the slowest. Two builds can have equal
// medians and very different tails. It judges nothing: its intervals hold line by line.
func Deciles(a, b []RunStats, v Versus) []Decile {
	v.Yardsticks = DecileYardsticks()
	var all []Decile
	for i, c := range Compare(a, b, v) {
		s, err := ParseSelector(v.Yardsticks[i].Name)
		d := Decile{Q: s.Q, Ratio: 1 + c.Effect, In: c.In, OK: err == nil && c.RunsA > 0 && c.RunsB > 0}
		d.In.Low, d.In.High = 1+d.In.Low, 1+d.In.High
		all = append(all, d)
	}
	return all
}
