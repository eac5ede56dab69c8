// Package experiment says what is run, how often, in which order and under which clock: it wires patterns, policies,
// platform, fleet, gateway, engine and simulator to cells, and cells to the main job.
package experiment

import (
	"errors"

	"coldwave/analysis"
	"coldwave/patterns"
	"coldwave/platform"
	"coldwave/references"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/sim"
	"coldwave/workload"
)

// Cell is one scenario under one policy on the bundled stack.
type Cell struct {
	Pattern    string // name, such as "fc-ramp"
	Process    patterns.Pattern
	Policy     string // spec: a name, or name:key=value,…
	Role       references.Role
	Profile    platform.Profile
	Max        int             // quota of alive instances; scheduler.Unlimited: none
	Min        int             // instances that are kept without traffic
	Nodes      scheduler.Nodes // on which instances are placed; the zero Nodes: those of the policy's own, if it has some
	Seed       uint64
	MakePolicy func() (scheduler.Policy, error) // nil: looked up by Policy
	Scene      string                           // of a suite of worked examples; empty: none

	// In virtual time only.
	Changes []sim.Change    // of the limits
	Faults  sim.Faults      // nil: none
	Watch   func(*sim.Step) // sees each step; nil: nobody does
}

// Name is "pattern/policy".
func (c Cell) Name() string { return c.Pattern + "/" + c.Policy }

// Schedule draws the cell's arrivals: the same for every policy.
func (c Cell) Schedule() (*workload.Schedule, error) {
	return workload.Build(workload.Source{
		Process: c.Process, Demands: c.Profile.Draws(c.Seed), Function: c.Profile.Function, Seed: c.Seed,
	})
}

// quota is the limit of alive instances as a claim names it: 0 for none.
func (c Cell) quota() int {
	if c.Max == scheduler.Unlimited {
		return 0
	}
	return c.Max
}

// policy returns a fresh policy.
func (c Cell) policy() (scheduler.Policy, error) {
	if c.MakePolicy != nil {
		return c.MakePolicy()
	}
	return policies.New(c.Policy)
}

func (c Cell) config() scheduler.Config {
	return scheduler.Config{Min: c.Min, Max: c.Max, Limit: int32(c.Profile.Function.Concurrency)}
}

// nodes are what instances are placed on: the cell's, or those without which its policy would not be itself.
func (c Cell) nodes() scheduler.Nodes {
	if c.Nodes.On() || c.MakePolicy != nil {
		return c.Nodes
	}
	e, err := policies.Find(c.Policy)
	if err != nil {
		return scheduler.Nodes{} // the oracle, or a policy that check refuses
	}
	return e.Nodes
}

// placement tells of the nodes; nil: there are none.
func (c Cell) placement() *analysis.Placement {
	n := c.nodes()
	if !n.On() || c.isOracle() {
		return nil
	}
	return &analysis.Placement{Count: n.Count, Slots: n.Slots, Keep: n.Keep, Cache: n.Cache}
}

// tariff is how the policy's platform bills; nil: not documented.
func (c Cell) tariff() *analysis.Tariff {
	if c.MakePolicy != nil {
		return nil
	}
	return policies.TariffOf(c.Policy, c.config().Min)
}

// check finds what is wrong with the cell before anything is started.
func (c Cell) check() error {
	if err := c.Profile.Check(); err != nil {
		return err
	}
	if err := errors.Join(c.config().Validate(), c.nodes().Validate()); err != nil {
		return err
	}
	if c.isOracle() {
		return nil // CheckPolicy says where it may run
	}
	_, err := c.policy()
	return err
}
