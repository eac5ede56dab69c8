package platform

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"coldwave/internal/rng"
)

// MaxCPUTime is the longest CPU time of one body.
const MaxCPUTime = 30 * 24 * time.Hour

// Cost is the CPU time of a body: what a law draws, or a share of its execution time. The zero Cost is none.
type Cost struct {
	Law   Law
	Share int64 // thousandths of the execution time, where Law is nil; up to 1000 times MaxThreads
}

func (c Cost) none() bool { return c.Law == nil && c.Share == 0 }

// of is the CPU time of the body that belongs to id and takes so long.
func (c Cost) of(exec time.Duration, k rng.Key, id int64) time.Duration {
	if c.Law != nil {
		return drawn(c.Law, k, id)
	}
	return min(MaxCPUTime, exec/1000*time.Duration(c.Share)+exec%1000*time.Duration(c.Share)/1000)
}

// Check says why the cost makes no sense; the error wraps ErrProfile.
func (c Cost) Check() error {
	switch {
	case c.Law == nil && outside(c.Share, 1000*MaxThreads):
		return fmt.Errorf("%w: CPU share of %d thousandths of the execution time: give 0 to %d", ErrProfile, c.Share, 1000*MaxThreads)
	case c.Law == nil:
		return nil
	}
	if err := c.Law.Check(); err != nil {
		return fmt.Errorf("%w: CPU time: %w", ErrProfile, err)
	}
	if _, longest := c.Law.Range(); longest > MaxCPUTime {
		return fmt.Errorf("%w: CPU time by %s: up to %v, must be at most %v; cap the law", ErrProfile, c.Law.Name(), longest, MaxCPUTime)
	}
	return nil
}

// String is what ParseCost reads: "none", "60%" or the name of a law.
func (c Cost) String() string {
	switch {
	case c.Law != nil:
		return c.Law.Name()
	case c.Share == 0:
		return "none"
	default:
		return strconv.FormatFloat(float64(c.Share)/10, 'f', -1, 64) + "%"
	}
}

// text is the String of a cost, and empty of none.
func (c Cost) text() string {
	if c.none() {
		return ""
	}
	return c.String()
}

// ParseCost reads a CPU time: a duration such as 50ms, a law, a share of the execution time such as 60% or 12.5%, or none.
// Errors wrap ErrLaw.
func ParseCost(text string) (Cost, error) {
	if text == "none" {
		return Cost{}, nil
	}
	if number, isShare := strings.CutSuffix(text, "%"); isShare {
		mille, err := parseDecimal(number, 1)
		if err != nil || mille > 1000*MaxThreads {
			return Cost{}, fmt.Errorf("CPU time %q: %w: write a share as in 60%% or 12.5%%, at most %d%%", text, ErrLaw, 100*MaxThreads)
		}
		return Cost{Share: mille}, nil
	}
	law, err := parseTime(text)
	if err != nil {
		return Cost{}, fmt.Errorf("CPU time: %w, or a share such as 60%%", err)
	}
	return Cost{Law: law}, nil
}

// parseTime reads a duration or a law.
func parseTime(text string) (Law, error) {
	if d, err := time.ParseDuration(text); err == nil {
		text = Constant(d).Name()
	}
	law, err := ParseLaw(text)
	if err != nil {
		return nil, fmt.Errorf("%w; or give a duration such as 50ms", err)
	}
	return law, nil
}
