package scheduler

import (
	"errors"
	"fmt"
	"math"
)

// Unlimited is a Max that is never reached.
const Unlimited = math.MaxInt32

// ErrConfig is wrapped by every error of Config.Validate.
var ErrConfig = errors.New("bad scheduler configuration")

// Config limits one core. The zero Config allows no instance at all, so every request is turned away: the quota of 0
// that blocks a function.
type Config struct {
	Min       int   // instances that are kept without traffic, 0 ≤ Min ≤ Max; default 0
	Max       int   // instances alive at once, the quota; 0: none, Unlimited: no limit
	Limit     int32 // requests in flight on one instance; 0 means 1. It is that of instances started from then on
	Overshoot bool  // the policy may start beyond Max, to at most 2·Max counted with the draining ones
}

// Validate returns every problem of the configuration, each wrapping ErrConfig, or nil.
func (c Config) Validate() error {
	var errs []error
	if c.Min < 0 {
		errs = append(errs, fmt.Errorf("%w: min %d: must be ≥ 0", ErrConfig, c.Min))
	}
	if c.Max < 0 || c.Max > Unlimited {
		errs = append(errs, fmt.Errorf("%w: max %d: must lie in 0 … %d", ErrConfig, c.Max, Unlimited))
	}
	if c.Min > c.Max {
		errs = append(errs, fmt.Errorf("%w: min %d above max %d: lower min or raise max", ErrConfig, c.Min, c.Max))
	}
	if c.Limit < 0 {
		errs = append(errs, fmt.Errorf("%w: limit %d: must be ≥ 0 (0 means 1)", ErrConfig, c.Limit))
	}
	return errors.Join(errs...)
}

func (c Config) withDefaults() Config {
	if c.Limit == 0 {
		c.Limit = 1
	}
	return c
}
