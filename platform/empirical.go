package platform

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"coldwave/internal/rng"
)

// Empirical draws one of the values, each equally often.
type Empirical struct {
	Label  string          // replaces the list in Name; empty: the list itself
	Values []time.Duration // at least one; a value that is listed twice comes twice as often
}

// Name is the label, or such as "empirical:1s,2s".
func (e Empirical) Name() string {
	if e.Label != "" {
		return e.Label
	}
	texts := make([]string, len(e.Values))
	for i, v := range e.Values {
		texts[i] = v.String()
	}
	return "empirical:" + strings.Join(texts, ",")
}

// Draw implements Law.
func (e Empirical) Draw(d *rng.Draw) time.Duration { return e.Values[d.Int64N(int64(len(e.Values)))] }

// Mean implements Law.
func (e Empirical) Mean() time.Duration {
	sum := 0.0
	for _, v := range e.Values {
		sum += float64(v)
	}
	return time.Duration(math.Round(sum / float64(len(e.Values))))
}

// Range implements Law.
func (e Empirical) Range() (shortest, longest time.Duration) {
	return slices.Min(e.Values), slices.Max(e.Values)
}

// Check implements Law.
func (e Empirical) Check() error {
	if len(e.Values) == 0 {
		return fmt.Errorf("empirical list: %w: it is empty: give at least one duration", ErrLaw)
	}
	for i, v := range e.Values {
		if v < 0 {
			return fmt.Errorf("empirical value %d, %v: %w: give 0 or more", i+1, v, ErrLaw)
		}
	}
	return nil
}
