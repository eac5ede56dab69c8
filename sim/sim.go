// Package sim runs a schedule through a scheduler core in virtual time: a million requests in less than a second, with
// records of the same meaning as those of a run on the wire.
package sim

import (
	"errors"
	"fmt"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/workload"
)

// Platform answers how long things take. platform.Draws is one. An answer must depend on its arguments only.
type Platform interface {
	// StartUp tells how the instance starts that an arrival with that demand caused; the zero demand: none did.
	StartUp(instance int64, cause workload.Demand) platform.StartUp
	// RequestFails tells whether the body of arrival seq ends with an error.
	RequestFails(seq int64) bool
}

// DefaultPatience is how long after the end of its schedule a run may last, unless Config.Patience says otherwise.
const DefaultPatience = 24 * time.Hour

// ErrConfig is wrapped by Run's error for a Config that cannot be run.
var ErrConfig = errors.New("bad simulation")

// ErrStuck is wrapped by Run's error when requests are left that will never end, or not within Patience.
var ErrStuck = errors.New("requests never end")

// Config is one run. Schedule, Policy and Platform are required.
type Config struct {
	Schedule *workload.Schedule
	Policy   scheduler.Policy // fresh: a policy belongs to one core
	Limits   scheduler.Config // Limit 0: the schedule's function's concurrency. The zero Max lets nothing start
	Platform Platform
	Handover time.Duration        // from the end of a body until its slot is free; ≥ 0
	Seed     uint64               // for the text of a panic
	Run      string               // prefix of the request ids in Instance.Cause; default "sim"
	Patience time.Duration        // virtual time after the schedule's length; 0: DefaultPatience
	Trace    Trace                // what is kept of the decisions; default: nothing
	Observe  func(*record.Record) // gets each record as it is made, instead of Result.Records; it must not keep it
}

// Trace says what a run keeps of its core's decisions.
type Trace uint8

// The traces.
const (
	NoTrace Trace = iota
	Digest        // Result.Digest
	Actions       // Result.Actions and Result.Digest
)

// Result is what a run gave.
type Result struct {
	Records   []record.Record   // in order of Seq; none if Config.Observe is set
	Instances []record.Instance // in order of ID
	End       clock.Instant     // of the last event
	Events    int64             // that the core handled
	Actions   []scheduler.Action
	Digest    [32]byte // SHA-256 of the actions; equal configurations give equal digests
}

// Run runs the schedule to its end: until all requests have ended and the schedule's length is over. An error wraps
// ErrConfig or ErrStuck; with ErrStuck the Result holds what there is. A policy that acts against the rules panics with
// scheduler.Illegal.
//
// Times of a request: the core sees it Pre after its intended start. Its body runs from the dispatch on for Exec, its
// answer arrives Post later, and its slot is free Handover after the body. A request that the scheduler answers by
// itself (rejected, lost) has its answer at once.
func Run(cfg Config) (Result, error) {
	if err := cfg.check(); err != nil {
		return Result{}, err
	}
	s := newRun(cfg)
	err := s.run()
	return s.result(), err
}

func (cfg *Config) check() error {
	var errs []error
	if cfg.Schedule == nil || cfg.Policy == nil || cfg.Platform == nil {
		errs = append(errs, fmt.Errorf("%w: schedule, policy and platform are required", ErrConfig))
	}
	if cfg.Handover < 0 || cfg.Patience < 0 {
		errs = append(errs, fmt.Errorf("%w: handover %v, patience %v: must be ≥ 0", ErrConfig, cfg.Handover, cfg.Patience))
	}
	if err := cfg.Limits.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("%w: %w", ErrConfig, err))
	}
	return errors.Join(errs...)
}
