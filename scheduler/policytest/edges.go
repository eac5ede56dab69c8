package policytest

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
	"coldwave/sim"
)

// quiet is a scenario without faults: bursts of the sizes, ten seconds apart.
func quiet(o Options, most int, sizes ...int) *scenario {
	s := &scenario{max: most, limit: o.Limit, grid: 1, slow: 1, second: clock.Never}
	s.name()
	for k, n := range sizes {
		s.quiet = clock.Instant(k) * clock.Instant(10*time.Second)
		for range n {
			s.arrivals = append(s.arrivals, s.quiet)
		}
	}
	return s
}

// fleeting are faults of which every client leaves a nanosecond after its arrival.
type fleeting struct{ faults }

// Leaves returns the next nanosecond.
func (fleeting) Leaves(_ int64, at clock.Instant) clock.Instant { return at + 1 }

// spare: an instance that becomes ready when nobody waits any more stays, idle, and nothing is decided but its end.
func spare(newPolicy func() scheduler.Policy, o Options) error {
	return guard(0, func() {
		s := quiet(o, scheduler.Unlimited, 1)
		cfg := s.config(newPolicy(), o)
		cfg.Faults = fleeting{faults{s}}
		b := playWith(cfg, o, s)
		for _, a := range b.log {
			if a.Do == scheduler.Assign {
				b.broken(ToReady, "%v, but its client has gone", a)
			}
		}
	})
}

// blocked: with max 0 every request is turned away, and none is left.
func blocked(newPolicy func() scheduler.Policy, o Options) error {
	return guard(0, func() {
		b := play(newPolicy(), o, quiet(o, 0, 3, 3))
		for _, a := range b.log {
			if a.Do == scheduler.Start || a.Do == scheduler.End {
				b.broken(WithinMax, "%v, but max is 0", a)
			}
		}
	})
}

// lowered: max falls below what is alive while requests run. Nothing of what runs is lost, and what is above max goes.
func lowered(newPolicy func() scheduler.Policy, o Options) error {
	return guard(0, func() {
		s := quiet(o, 8, 8, 8*int(o.Limit))
		for k, limit := range []int{8, 3, 1, 0} {
			at := clock.Instant(10*time.Second) + clock.Instant(k) + 1
			s.changes = append(s.changes, sim.Change{At: at, Limits: scheduler.Config{Max: limit, Limit: o.Limit}})
		}
		b := play(newPolicy(), o, s)
		for _, a := range b.log {
			if a.Do == scheduler.Lost {
				b.broken(KillsNone, "%v", a)
			}
		}
	})
}

// raised: a raised min is served at once and without traffic.
func raised(newPolicy func() scheduler.Policy, o Options) error {
	return guard(0, func() {
		s := quiet(o, 8)
		s.changes = []sim.Change{{At: 5, Limits: scheduler.Config{Min: 3, Max: 8, Limit: o.Limit}}}
		cfg, b := s.config(newPolicy(), o), newBooks(o, s)
		cfg.Watch = func(step *sim.Step) {
			b.watch(step)
			if got := step.Core.Alive(); step.At == 5 && got != 3 {
				b.broken(KeepsMin, "%d are alive at once, min 3", got)
			}
		}
		b.close(sim.Run(cfg))
		if got := b.core.Alive(); got != 3 {
			b.broken(KeepsMin, "%d are alive after %v of silence, min 3", got, o.Settle)
		}
	})
}
