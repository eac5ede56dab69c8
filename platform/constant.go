package platform

import (
	"fmt"
	"time"

	"coldwave/internal/rng"
)

// Constant is always the same duration.
type Constant time.Duration

// Name is such as "constant:2.35s".
func (c Constant) Name() string { return "constant:" + time.Duration(c).String() }

// Draw implements Law.
func (c Constant) Draw(*rng.Draw) time.Duration { return time.Duration(c) }

// Mean implements Law.
func (c Constant) Mean() time.Duration { return time.Duration(c) }

// Range implements Law.
func (c Constant) Range() (shortest, longest time.Duration) {
	return time.Duration(c), time.Duration(c)
}

// Check implements Law.
func (c Constant) Check() error {
	if c < 0 {
		return fmt.Errorf("constant %v: %w: give 0 or more", time.Duration(c), ErrLaw)
	}
	return nil
}
