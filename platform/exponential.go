package platform

import (
	"fmt"
	"math"
	"time"

	"coldwave/internal/rng"
)

// Exponential is the law without memory of that mean. With Poisson arrivals and a fixed number of instances it makes the
// queue whose waits are known in closed form.
//
// Note: as for Lognormal, its draws may differ by a nanosecond between processor families, because log is not rounded alike
// everywhere.
type Exponential time.Duration

// longestMeans is the longest draw in means, rounded up: a uniform draw has 53 bits, and 53·ln 2 = 36.74.
const longestMeans = 37

// Name is such as "exponential:100ms".
func (e Exponential) Name() string { return "exponential:" + time.Duration(e).String() }

// Draw implements Law.
func (e Exponential) Draw(d *rng.Draw) time.Duration {
	return time.Duration(-math.Log1p(-d.Float64()) * float64(e))
}

// Mean implements Law. It is half a nanosecond above that of the draws, which are rounded down.
func (e Exponential) Mean() time.Duration { return time.Duration(e) }

// Range implements Law.
func (e Exponential) Range() (shortest, longest time.Duration) {
	return 0, longestMeans * time.Duration(e)
}

// Check implements Law.
func (e Exponential) Check() error {
	if e <= 0 || e > math.MaxInt64/longestMeans {
		return fmt.Errorf("exponential mean %v: %w: give more than 0 and at most %v", time.Duration(e), ErrLaw,
			time.Duration(math.MaxInt64/longestMeans).Truncate(time.Hour))
	}
	return nil
}
