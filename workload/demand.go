package workload

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// DemandHeader is the request header that carries the text form of a Demand to the bundled stack. Other targets ignore
// it.
const DemandHeader = "X-Coldwave-Demand"

// Limits of a demand that comes from outside, because whoever sends one makes the stack sleep that long.
const (
	DefaultExecLimit     = 10 * time.Minute
	DefaultOverheadLimit = time.Minute
	demandTextLimit      = 256 // bytes; the longest text of four durations has about 120
)

// ErrDemandLimit is wrapped by every error about a demand above its limit.
var ErrDemandLimit = errors.New("demand above its limit")

// DemandLimit is what ParseDemand accepts at most. The zero value has the defaults.
type DemandLimit struct {
	Exec     time.Duration // of Exec and of CPU, each, inclusive; 0: DefaultExecLimit
	Overhead time.Duration // of Pre and of Post, each, inclusive; 0: DefaultOverheadLimit
}

// String returns the header form, such as "exec=100ms;pre=6.25ms;post=6.25ms": ASCII, every part present but a CPU time of
// 0, exact to the nanosecond. ParseDemand reads it back.
func (d Demand) String() string {
	text := "exec=" + asciiDuration(d.Exec) + ";pre=" + asciiDuration(d.Pre) + ";post=" + asciiDuration(d.Post)
	if d.CPU != 0 {
		text += ";cpu=" + asciiDuration(d.CPU)
	}
	return text
}

// asciiDuration writes the micro sign as u, since a header value should stay ASCII.
func asciiDuration(d time.Duration) string { return strings.Replace(d.String(), "µ", "u", 1) }

// ParseDemand reads the header form under the default limits. Parts may come in any order, each at most once; a missing
// part is 0. A negative duration, an unknown or repeated part and an empty text are errors; a part above its limit
// wraps ErrDemandLimit.
func ParseDemand(text string) (Demand, error) { return DemandLimit{}.Parse(text) }

// Parse is ParseDemand under these limits.
func (l DemandLimit) Parse(text string) (Demand, error) {
	if len(text) > demandTextLimit {
		return Demand{}, fmt.Errorf("demand of %d bytes: %w: give at most %d bytes", len(text), ErrDemandLimit, demandTextLimit)
	}
	var d Demand
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ";") {
		key, value, found := strings.Cut(strings.TrimSpace(part), "=")
		if !found {
			return Demand{}, fmt.Errorf("demand %q: part %q has no value: write it as in exec=100ms;pre=6ms;post=6ms", text, part)
		}
		if seen[key] {
			return Demand{}, fmt.Errorf("demand %q: part %q comes twice: give it once", text, key)
		}
		seen[key] = true
		if err := l.set(&d, key, value); err != nil {
			return Demand{}, fmt.Errorf("demand %q: %w", text, err)
		}
	}
	return d, nil
}

// set stores one part.
func (l DemandLimit) set(d *Demand, key, value string) error {
	field, limit := &d.Exec, or(l.Exec, DefaultExecLimit)
	switch key {
	case "exec":
	case "cpu":
		field = &d.CPU
	case "pre":
		field, limit = &d.Pre, or(l.Overhead, DefaultOverheadLimit)
	case "post":
		field, limit = &d.Post, or(l.Overhead, DefaultOverheadLimit)
	default:
		return fmt.Errorf("unknown part %q: the parts are exec, pre, post and cpu", key)
	}
	v, err := time.ParseDuration(value)
	if err != nil {
		return fmt.Errorf("%s %q is no duration: write it as in 6.25ms", key, value)
	}
	if v < 0 {
		return fmt.Errorf("%s %v is negative: give 0 or more", key, v)
	}
	if v > limit {
		return fmt.Errorf("%s %v: %w: give at most %v", key, v, ErrDemandLimit, limit)
	}
	*field = v
	return nil
}

// or returns v, or the default if v is 0.
func or[T comparable](v, preset T) T {
	var zero T
	if v == zero {
		return preset
	}
	return v
}
