package experiment

import (
	"cmp"
	"context"
	"runtime"
	"strings"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/references"
	"coldwave/scheduler"
	"coldwave/sim"
)

// scenes returns the cells of the worked examples that the claims speak of.
func (v Verify) scenes(claims []references.Claim) ([]Cell, error) {
	var cells []Cell
	for _, sc := range v.Suite.Play(claims) {
		process, err := sc.Process()
		if err != nil {
			return nil, err
		}
		cells = append(cells, Cell{
			Pattern: sc.Name, Scene: sc.Name, Process: process, Policy: v.policyOf(sc), Profile: profileOf(sc), Seed: v.Seed,
			Min: sc.Min, Max: cmp.Or(sc.Max, scheduler.Unlimited), Changes: changesOf(sc), Faults: faultsOf(sc),
			Nodes: scheduler.Nodes{Count: sc.Nodes.Count, Slots: sc.Nodes.Room, Keep: time.Duration(sc.Nodes.Keep)},
		})
	}
	return cells, nil
}

// policyOf returns the policy of a scene with its parameters. Parameters of the policy to judge go before them; if it has
// another name, it stands in for the suite's policy, in scenes that have none of their own.
func (v Verify) policyOf(sc references.Scene) string {
	name, params := cmp.Or(sc.Policy, v.Suite.Policy), sc.Params
	judged, own, _ := strings.Cut(v.Policy, ":")
	switch {
	case judged == name:
		params = strings.Trim(params+","+own, ",")
	case judged != "" && sc.Policy == "":
		name, params = judged, strings.Trim(params+","+own, ",")
	}
	if params != "" {
		return name + ":" + params
	}
	return name
}

// profileOf returns a platform on which nothing is random.
func profileOf(sc references.Scene) platform.Profile {
	body, start := time.Duration(sc.Body), time.Duration(sc.Start)
	p := platform.ProfileWith(platform.Constant(start + body))
	p.Function.Body, p.Function.Concurrency = body, max(sc.Limit, 1)
	p.Body, p.Start, p.Overhead = platform.Constant(body), platform.Constant(start), platform.Constant(0)
	return p
}

func changesOf(sc references.Scene) (changes []sim.Change) {
	for _, c := range sc.Changes {
		changes = append(changes, sim.Change{
			At: clock.Instant(c.At), Limits: scheduler.Config{Min: c.Min, Max: cmp.Or(c.Max, scheduler.Unlimited)},
		})
	}
	return changes
}

func faultsOf(sc references.Scene) sim.Faults {
	if sc.Crash == nil {
		return nil
	}
	return crash{Crash: *sc.Crash}
}

// crash ends one instance by itself.
type crash struct {
	sim.NoFaults
	references.Crash
}

// Crashes implements sim.Faults.
func (c crash) Crashes(instance int64, at clock.Instant) clock.Instant {
	if instance != c.Instance {
		return clock.Never
	}
	return at.Add(time.Duration(c.After))
}

// play runs all scenes in virtual time, on all processors.
func play(ctx context.Context, cells []Cell) ([]references.Cell, error) {
	out := make([]references.Cell, len(cells))
	err := forEach(ctx, len(cells), runtime.GOMAXPROCS(0), func(k int) (err error) {
		out[k], err = cells[k].play()
		return err
	})
	return out, err
}

func (c Cell) play() (references.Cell, error) {
	var w witness
	c.Watch = w.see
	run, err := Virtual(c)
	return references.Cell{Pattern: c.Pattern, Scene: c.Scene, Run: &run, Events: w.events}, err
}
