package analysis

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Threshold is a limit on one number of a run, such as "warm.p99 < 60ms".
type Threshold struct {
	Selector
	Op    string  // "<", "<=", ">" or ">="
	Limit float64 // in nanoseconds, from 0 to 1, requests a second, or instances, as the statistic is
	As    string  // a name of its own; empty: none
	Text  string  // as it was written, with single spaces
}

// ParseThreshold reads "[start.]stat OP value [over phase NAME|wave N] [as NAME]". Its errors are a *SyntaxError.
func ParseThreshold(text string) (Threshold, error) {
	p := &phrase{text: text}
	t := Threshold{Selector: p.selector(), Text: strings.Join(strings.Fields(text), " ")}
	t.Op = p.operator("<", "<=", ">", ">=")
	t.Limit = p.limit(t.Stat)
	p.scope(&t.Selector)
	if p.skip("as") {
		t.As, _ = p.word("a name")
	}
	p.end("'over phase NAME', 'over wave N', 'as NAME', or nothing more")
	if p.wrong != nil {
		return Threshold{}, p.wrong
	}
	return t, nil
}

// Name is the threshold as reports call it.
func (t Threshold) Name() string {
	if t.As != "" {
		return t.As
	}
	return t.Text
}

// upper says whether the number must stay below the limit.
func (t Threshold) upper() bool { return t.Op[0] == '<' }

// holds says whether a number obeys the threshold.
func (t Threshold) holds(x float64) bool {
	switch t.Op {
	case "<":
		return x < t.Limit
	case "<=":
		return x <= t.Limit
	case ">":
		return x > t.Limit
	default:
		return x >= t.Limit
	}
}

// limit reads a value in the unit of the statistic.
func (p *phrase) limit(s Stat) float64 {
	text, at := p.word("a value")
	switch {
	case p.wrong != nil:
		return 0
	case s.IsTime():
		return p.duration(text, at)
	case s.IsShare():
		return p.share(text, at)
	case s == RateStat:
		return p.rate(text, at)
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		p.fail(at, "must be a whole number of instances")
	}
	return float64(n)
}

func (p *phrase) duration(text string, at int) float64 {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		p.fail(at, "must be a duration with a unit, such as 60ms or 1.5s")
	case d < 0:
		p.fail(at, "must not be negative")
	}
	return float64(d)
}

// share reads "0.1%" or "0.001".
func (p *phrase) share(text string, at int) float64 {
	number, percent := strings.CutSuffix(text, "%")
	x, ok := plain(number)
	if percent {
		x /= 100
	}
	if !ok || x < 0 || x > 1 {
		p.fail(at, "must be a share such as 0.1%% or 0.001")
	}
	return x
}

// rate reads "50/s", "6/m", "10/h" or a number a second.
func (p *phrase) rate(text string, at int) float64 {
	number, unit, divided := strings.Cut(text, "/")
	if !divided {
		unit = "s"
	}
	x, ok := plain(number)
	per, known := map[string]float64{"s": 1, "m": 60, "h": 3600}[unit]
	if !ok || !known || x < 0 {
		p.fail(at, "must be a rate such as 50/s or 6/m")
		return 0
	}
	return x / per
}

// plain reads a finite decimal number.
func plain(text string) (float64, bool) {
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0) && !strings.ContainsAny(text, "xXpP_")
}
