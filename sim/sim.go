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

// Config is one run. Policy, Platform and one of Schedule and Source are required.
type Config struct {
	Schedule  *workload.Schedule
	Source    *workload.Source // instead of Schedule: its arrivals are drawn as they come, and none is held for long
	Policy    scheduler.Policy // fresh: a policy belongs to one core
	Limits    scheduler.Config // Limit 0: the function's concurrency. The zero Max lets nothing start
	Nodes     scheduler.Nodes  // on which instances are placed; the zero Nodes: nowhere in particular
	Changes   []Change         // of the limits, in order of At
	Commands  []Command        // to the service, in order of At: with any there may be several revisions
	Revision  string           // name of the revision in records; with Commands the default is FirstRevision
	Deadline  time.Duration    // of a deployment, see scheduler.ServiceConfig
	Platform  Platform
	Faults    Faults             // nil: none
	Resources platform.Resources // of each instance; the zero Resources: bodies share nothing, and nothing is sampled
	Backing   platform.Backing   // service that all instances call; the zero Backing: none
	Handover  time.Duration      // from the end of a body until its slot is free; ≥ 0
	Seed      uint64             // for the text of a panic
	Why       func(uint8) string // names the policy's reasons for a start in Instance.Reason; nil: they are not told
	Run       string             // prefix of the request ids in Instance.Cause and First; default "sim"
	Patience  time.Duration      // virtual time after the schedule's length; 0: DefaultPatience
	Trace     Trace              // what is kept of the decisions; default: nothing

	// Where the results go. A record is made only if somebody gets it: with Tally and without Observe none is.
	Observe         func(*record.Record)   // gets each record as it is made, instead of Result.Records; it must not keep it
	ObserveInstance func(*record.Instance) // gets each instance as it ends, and the rest at the end, instead of Result.Instances
	Tally           *Tally                 // counts each request; Result.Records stays empty
	Watch           func(*Step)            // sees each call of the core, its decisions not yet carried out; it must keep nothing
}

// Change is a change of the limits during a run. One after the schedule's length happens only if requests are left.
type Change struct {
	At     clock.Instant // > 0
	Limits scheduler.Config
}

// Step is one call of the core.
type Step struct {
	At      clock.Instant
	Advance bool            // the core was only told the time
	Event   scheduler.Event // what it was told otherwise; of a Configure see Core.Config
	Actions []scheduler.Action
	Core    *scheduler.Core // for reading
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
	Records   []record.Record   // in order of Seq; none if Config.Observe or Config.Tally is set
	Instances []record.Instance // in order of ID; none if Config.ObserveInstance is set
	Nodes     []record.Node     // in the order in which they were taken
	Notices   []record.Notice   // of deployments and shifts of traffic
	Requests  int64             // arrivals of the schedule
	Length    time.Duration     // that the schedule covers
	End       clock.Instant     // of the last event
	Events    int64             // that the core handled
	Stale     int64             // that came too late and were ignored, see scheduler.Core.Stale
	Actions   []scheduler.Action
	Decisions []Decision // instead of Actions, if there were Commands
	Digest    [32]byte   // SHA-256 of the actions; equal configurations give equal digests
}

// Run runs the schedule to its end: until all requests have ended and left their instances, and the schedule's length is
// over. An error wraps ErrConfig, ErrStuck, or what the Source's stream ended with; with the latter two the Result holds
// what there is. A policy that acts against the rules panics with scheduler.Illegal.
//
// Times of a request: the core sees it Pre after its intended start. Its body runs from the dispatch on for Exec, its
// answer arrives Post later, and its slot is free Handover after the body. A request that the scheduler answers by
// itself (rejected, lost) has its answer at once. One whose client goes away is Canceled at that instant, without an
// answer. One whose instance ends between its body and its Done has had its answer.
//
// With Resources a body ends when its instance is done with it. Once a second, at full seconds, each instance that serves
// is sampled, if the policy wants samples. Faults.Breaks is told the end of a body that lacks no CPU.
//
// With Tally or Observe, ObserveInstance and a Source a run allocates nothing for a request: its memory is that of what
// is under way at once.
func Run(cfg Config) (Result, error) {
	if err := cfg.check(); err != nil {
		return Result{}, err
	}
	if len(cfg.Commands) > 0 {
		return runRevisions(cfg)
	}
	s := newRun(cfg)
	err := s.run()
	return s.result(), err
}

func (cfg *Config) check() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...))
	}
	if cfg.Policy == nil || cfg.Platform == nil {
		bad("policy and platform are required")
	}
	if (cfg.Schedule == nil) == (cfg.Source == nil) {
		bad("give either a schedule or a source of one")
	}
	if cfg.Handover < 0 || cfg.Patience < 0 {
		bad("handover %v, patience %v: must be ≥ 0", cfg.Handover, cfg.Patience)
	}
	if err := errors.Join(cfg.Resources.Check(), cfg.Backing.Check()); err != nil {
		bad("%w", err)
	}
	if err := errors.Join(cfg.Limits.Validate(), cfg.Nodes.Validate()); err != nil {
		bad("%w", err)
	}
	before := clock.Instant(0)
	for k, c := range cfg.Changes {
		if c.At <= before {
			bad("change %d of the limits at %v: must be after %v", k+1, c.At, before)
		}
		if err := c.Limits.Validate(); err != nil {
			bad("change %d of the limits: %w", k+1, err)
		}
		before = c.At
	}
	cfg.checkCommands(bad)
	return errors.Join(errs...)
}

func (cfg *Config) concurrency() int32 {
	if cfg.Source != nil {
		return int32(cfg.Source.Function.Concurrency)
	}
	return int32(cfg.Schedule.Function.Concurrency)
}
