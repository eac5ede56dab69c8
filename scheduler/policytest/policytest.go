// Package policytest is the conformance suite of scheduling policies: what every policy must do, whatever it decides.
//
// It runs a policy in the simulator on many seeds, with clients that leave, starts that fail, are slow or are never heard
// of, instances that crash before and after an answer, limits that change, full queues and simultaneous events. It keeps
// its own books from what the core is told and decides, and compares them with what the core says after each call. A
// failure names the rule, the seed and the instant, which is the way back.
package policytest

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/sim"
)

// Options say what the policy is exempt from, and how much is tried. The zero Options are right for a policy without
// exemptions.
type Options struct {
	Bound    bool            // it ties a request to its own start: a request may wait while a slot is free
	Learns   bool            // it keeps estimates when all traffic has gone, so it need not act twice alike
	Keeps    int             // instances that it keeps without traffic, as far as Max allows, where Min is lower
	Limit    int32           // requests in flight on one instance; default 1
	Nodes    scheduler.Nodes // on which instances are placed; the zero Nodes: nowhere
	Seeds    int             // default 60
	First    uint64          // first seed; default 1
	Requests int             // in each seed; default 150
	Wait     time.Duration   // the policy's wait limit; default 60 s
	Hang     time.Duration   // requests may wait so long while nothing lives and something may; default 1 s
	Settle   time.Duration   // after the last request ended, all above Min must have stopped within it; default 1 h
}

// OptionsOf returns the options of a policy of the table, with the default parameters.
func OptionsOf(e policies.Entry) Options {
	return Options{Bound: e.Bound, Learns: e.Learns, Keeps: e.Keeps, Nodes: e.Nodes, Settle: e.Holds, Wait: e.Wait}
}

func (o Options) withDefaults() Options {
	o.Limit = cmp.Or(o.Limit, 1)
	o.Seeds = cmp.Or(o.Seeds, 60)
	o.First = cmp.Or(o.First, 1)
	o.Requests = cmp.Or(o.Requests, 150)
	o.Wait = cmp.Or(o.Wait, time.Minute)
	o.Hang = cmp.Or(o.Hang, time.Second)
	o.Settle = cmp.Or(o.Settle, time.Hour)
	return o
}

// Rule is what a policy must obey.
type Rule string

// The rules.
const (
	Legal         Rule = "its acts are legal"
	EndsOnce      Rule = "each request ends exactly once"
	WithinLimit   Rule = "in flight ≤ limit on each instance"
	WithinMax     Rule = "alive ≤ max"
	ToReady       Rule = "a request goes to a ready instance only"
	NoIdleWait    Rule = "no request waits while a slot is free"
	NoHang        Rule = "no request waits while nothing lives and something may"
	Bounded       Rule = "it acts a bounded number of times at one event"
	Drains        Rule = "all requests end, and soon after the last fault"
	AddsUp        Rule = "the sums add up"
	ToZero        Rule = "without traffic all above what is kept stop"
	Deterministic Rule = "equal seeds give equal decisions"
	Renews        Rule = "after a long silence it acts as at first"
	NoAllocation  Rule = "a step allocates nothing"
	KillsNone     Rule = "lower limits kill no running request"
	KeepsMin      Rule = "min is kept without traffic"
	WithinNodes   Rule = "instances on a node ≤ its room, nodes in use ≤ their number"
	NodesAddUp    Rule = "each node is taken by its first start, reclaimed when it has been empty, and empty in the end"
)

// Violation is a broken rule.
type Violation struct { //nolint:errname // read where it is used, policytest.Violation says what it is
	Rule Rule
	Seed uint64
	At   clock.Instant
	What string
}

func (v Violation) Error() string {
	return fmt.Sprintf("%s: %s (seed %d, at %v)", v.Rule, v.What, v.Seed, v.At)
}

// Run runs the whole suite. NewPolicy returns a fresh policy at each call.
func Run(t *testing.T, newPolicy func() scheduler.Policy, o Options) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if err := c.find(newPolicy, o.withDefaults()); err != nil {
				t.Error(err)
			}
		})
	}
}

// Find returns the first rule that the policy breaks, as a Violation or, for an illegal act, as one that says what the
// core said; nil if it breaks none.
func Find(newPolicy func() scheduler.Policy, o Options) error {
	for _, c := range checks {
		if err := c.find(newPolicy, o.withDefaults()); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// check is one part of the suite.
type check struct {
	name string
	find func(func() scheduler.Policy, Options) error
}

// The quick ones come first.
var checks = []check{
	{"ready with an empty queue", spare},
	{"no room at all", blocked},
	{"max lowered below alive", lowered},
	{"min raised", raised},
	{"allocation", allocation},
	{"random", random},
	{"deterministic", deterministic},
	{"renewal", renewal},
}

// guard turns what goes wrong inside f into an error.
func guard(seed uint64, f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case Violation:
			err = p
		case scheduler.Illegal:
			err = Violation{Legal, seed, p.At, p.Error()}
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

// Play runs the policy through the scenario of one seed and checks all books after each call of the core. It returns the
// rare states that were reached, and the first rule that was broken, as a Violation.
func Play(newPolicy func() scheduler.Policy, o Options, seed uint64) (Reached, error) {
	o = o.withDefaults()
	reached := make(Reached, len(rareStates))
	err := guard(seed, func() { reached = play(newPolicy(), o, swarm(seed, o)).reached })
	return reached, err
}

// play runs a scenario to its end. It panics with what is wrong.
func play(p scheduler.Policy, o Options, s *scenario) *books {
	return playWith(s.config(p, o), o, s)
}

func playWith(cfg sim.Config, o Options, s *scenario) *books {
	b := newBooks(o, s)
	cfg.Watch = b.watch
	res, err := sim.Run(cfg)
	b.close(res, err)
	return b
}

// random runs the seeds.
func random(newPolicy func() scheduler.Policy, o Options) error {
	for k := range o.Seeds {
		if _, err := Play(newPolicy, o, o.First+uint64(k)); err != nil {
			return err
		}
	}
	return nil
}

// deterministic runs a few seeds twice.
func deterministic(newPolicy func() scheduler.Policy, o Options) error {
	for k := range min(o.Seeds, 10) {
		seed := o.First + uint64(k)
		err := guard(seed, func() {
			one, two := play(newPolicy(), o, swarm(seed, o)), play(newPolicy(), o, swarm(seed, o))
			one.same(Deterministic, one.log, two.log)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// renewal runs the same requests twice with a long silence between: but for the names, the decisions are equal.
func renewal(newPolicy func() scheduler.Policy, o Options) error {
	if o.Learns || o.Keeps > 0 { // a kept instance is no initial state
		return nil
	}
	for k := range min(o.Seeds, 10) {
		seed := o.First + uint64(k)
		err := guard(seed, func() {
			s := swarm(seed, o)
			s.min, s.changes = 0, nil // a kept instance is no initial state
			s.twice(o)
			b := play(newPolicy(), o, s)
			b.same(Renews, b.logOf(0, s), b.logOf(s.second, s))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// logOf returns the decisions of one of two plays, with ids and instants that count from its start.
func (b *books) logOf(start clock.Instant, s *scenario) []scheduler.Action {
	var log []scheduler.Action
	for _, a := range b.log {
		if (a.At >= s.second) != (start == s.second) {
			continue
		}
		if start == s.second {
			a.At -= start
			a.Req = max(0, a.Req-scheduler.RequestID(len(s.arrivals)/2))
			a.Inst = max(0, a.Inst-scheduler.InstanceID(s.starts))
		}
		log = append(log, a)
	}
	return log
}

// same compares two logs.
func (b *books) same(rule Rule, one, two []scheduler.Action) {
	for k := range min(len(one), len(two)) {
		if one[k] != two[k] {
			b.broken(rule, "decision %d is first %v at %v, then %v at %v", k, one[k], one[k].At, two[k], two[k].At)
		}
	}
	if len(one) != len(two) {
		b.broken(rule, "first %d decisions, then %d", len(one), len(two))
	}
}
