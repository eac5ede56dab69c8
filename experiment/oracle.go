package experiment

import (
	"errors"
	"fmt"
	"time"

	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/sim"
	"coldwave/workload"
)

// Oracle stands among the policies' names for the clairvoyant bound: every request is served at once, with the fewest
// instance-seconds. It acts on what has not happened yet, so it exists in virtual time only.
const Oracle = "oracle"

// OracleSummary says in one line what Oracle is.
const OracleSummary = "virtual only: the clairvoyant bound, serves every request at once with the fewest instance-seconds"

// ErrVirtualOnly is wrapped by the error for a cell that cannot be put on the wire.
var ErrVirtualOnly = errors.New("exists in virtual time only")

// CheckPolicy returns an error for a spec that names no policy; in virtual time Oracle is one.
func CheckPolicy(spec string, virtual bool) error {
	switch {
	case spec != Oracle:
		_, err := policies.New(spec)
		return err
	case virtual:
		return nil
	default:
		return fmt.Errorf("policy %q %w: use loadgen simulate or compare", Oracle, ErrVirtualOnly)
	}
}

func (c Cell) isOracle() bool { return c.MakePolicy == nil && c.Policy == Oracle }

// foresee is simulate for the oracle. No core decides, so there is no event log.
func (c Cell) foresee(schedule *workload.Schedule, hash string) (Simulated, error) {
	if c.Max != scheduler.Unlimited {
		return Simulated{}, fmt.Errorf("policy %q with at most %d instances: no quota binds it; leave the quota out", Oracle, c.Max)
	}
	if c.Profile.Resources.Modelled() || c.Profile.Backing.On() {
		return Simulated{}, fmt.Errorf("policy %q with CPUs or memory of an instance, or a backing service: it knows bodies that share nothing; leave them out", Oracle)
	}
	began := time.Now()
	result, err := sim.Oracle(sim.OracleConfig{Schedule: schedule, Platform: c.Profile.Draws(c.Seed), Handover: c.Profile.Handover})
	if err != nil {
		return Simulated{}, fmt.Errorf("cell %s, seed %d: %w", c.Name(), c.Seed, err)
	}
	out := Simulated{Run: c.newRun("virtual", schedule, hash), Wall: time.Since(began)}
	out.Run.Records, out.Run.Instances = result.Records, result.Instances
	summarize(&out.Run)
	return out, nil
}
