package policytest

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/scheduler"
)

// quiet is a scenario without faults: bursts of the sizes, ten seconds apart.
func quiet(limit int, sizes ...int) scenario {
	s := scenario{max: limit, grid: 1, slow: 1}
	for k := range s.streams {
		s.streams[k] = rng.NewKey(0, "quiet")
	}
	for k, n := range sizes {
		for range n {
			s.arrivals = append(s.arrivals, clock.Instant(k)*clock.Instant(10*time.Second))
		}
	}
	return s
}

// spare: an instance that becomes ready when nobody waits any more stays, idle, and nothing is decided but its end.
func spare(newPolicy func() scheduler.Policy, o Options) error {
	return guard(0, func() {
		w := newWorld(newPolicy(), o, quiet(scheduler.Unlimited, 1))
		w.plan(0, scheduler.Event{Kind: scheduler.Arrival, Req: 1})
		w.plan(1, scheduler.Event{Kind: scheduler.Cancel, Req: 1})
		w.until(clock.Instant(10 * time.Second))
		for _, a := range w.log {
			if a.Do == scheduler.Assign {
				w.broken(ToReady, "%v, but its client has gone", a)
			}
		}
		w.until(clock.Instant(w.o.Settle))
		w.over()
	})
}

// blocked: with max 0 every request is turned away, and none is left.
func blocked(newPolicy func() scheduler.Policy, o Options) error {
	return guard(0, func() {
		w := newWorld(newPolicy(), o, quiet(0, 3, 3))
		w.play(0)
		for _, a := range w.log {
			if a.Do == scheduler.Start || a.Do == scheduler.End {
				w.broken(WithinMax, "%v, but max is 0", a)
			}
		}
	})
}

// lowered: max falls below what is alive while requests run. Nothing of what runs is lost, and what is above max goes.
func lowered(newPolicy func() scheduler.Policy, o Options) error {
	return guard(0, func() {
		w := newWorld(newPolicy(), o, quiet(8, 8, 8*int(o.Limit)))
		at := clock.Instant(10*time.Second) + 1
		for _, limit := range []int{8, 3, 1, 0} {
			w.pending = append(w.pending, planned{at, scheduler.Event{Kind: scheduler.Configure}, scheduler.Config{Max: limit, Limit: o.Limit}})
			at++
		}
		w.play(0)
		for _, a := range w.log {
			if a.Do == scheduler.Lost {
				w.broken(KillsNone, "%v", a)
			}
		}
	})
}

// raised: a raised min is served at once and without traffic.
func raised(newPolicy func() scheduler.Policy, o Options) error {
	return guard(0, func() {
		w := newWorld(newPolicy(), o, quiet(8))
		w.pending = append(w.pending, planned{5, scheduler.Event{Kind: scheduler.Configure}, scheduler.Config{Min: 3, Max: 8, Limit: o.Limit}})
		w.until(5)
		if got := w.core.Alive(); got != 3 {
			w.broken(KeepsMin, "%d are alive at once, min 3", got)
		}
		w.until(clock.Instant(w.o.Settle))
		if got := w.core.Alive(); got != 3 {
			w.broken(KeepsMin, "%d are alive after %v of silence, min 3", got, w.o.Settle)
		}
	})
}
