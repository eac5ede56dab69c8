package platform

import (
	"fmt"
	"math"
	"time"

	"coldwave/internal/rng"
)

// Uniform draws every nanosecond of [Min, Max] equally often.
type Uniform struct{ Min, Max time.Duration }

// EndToEnd is the stated range of a request that waited for its own cold start: 1.7–3 s (FC-12, U-7).
func EndToEnd() Uniform { return Uniform{Min: 1700 * time.Millisecond, Max: 3 * time.Second} }

// Name is "uniform" for the stated range, else such as "uniform:1.7s-3s".
func (u Uniform) Name() string {
	if u == EndToEnd() {
		return "uniform"
	}
	return fmt.Sprintf("uniform:%v-%v", u.Min, u.Max)
}

// Draw implements Law; both ends are included.
func (u Uniform) Draw(d *rng.Draw) time.Duration {
	return u.Min + time.Duration(d.Int64N(int64(u.Max-u.Min)+1))
}

// Mean implements Law.
func (u Uniform) Mean() time.Duration { return u.Min + (u.Max-u.Min)/2 }

// Range implements Law.
func (u Uniform) Range() (shortest, longest time.Duration) { return u.Min, u.Max }

// Check implements Law.
func (u Uniform) Check() error {
	if u.Min < 0 || u.Max < u.Min || u.Max == math.MaxInt64 {
		return fmt.Errorf("uniform from %v to %v: %w: give 0 ≤ shortest ≤ longest", u.Min, u.Max, ErrLaw)
	}
	return nil
}
