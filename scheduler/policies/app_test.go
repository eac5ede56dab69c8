package policies_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
)

// app is one core whose instances take a constant time to start; its requests end when the test says so.
type app struct {
	t     *testing.T
	core  *scheduler.Core
	boot  time.Duration
	last  scheduler.RequestID
	on    map[scheduler.RequestID]bool // requests that run
	log   []scheduler.Action
	ready []scheduler.Event // to come, and when
	at    []clock.Instant
}

func newApp(t *testing.T, spec string, cfg scheduler.Config) *app {
	t.Helper()
	a := &app{t: t, core: scheduler.New(fresh(t, spec), cfg, 1), boot: time.Second, on: make(map[scheduler.RequestID]bool)}
	a.absorb(a.core.Configure(nil, 0, cfg))
	return a
}

// absorb notes what was decided and carries it out.
func (a *app) absorb(acts []scheduler.Action) []scheduler.Action {
	a.log = append(a.log, acts...)
	for _, act := range acts {
		switch act.Do {
		case scheduler.Start:
			a.ready = append(a.ready, scheduler.Event{Kind: scheduler.Ready, Inst: act.Inst})
			a.at = append(a.at, act.At.Add(a.boot))
		case scheduler.Assign:
			a.on[act.Req] = true
		case scheduler.End, scheduler.Lost:
			delete(a.on, act.Req)
		default:
		}
	}
	return acts
}

// until lets time pass: instances become ready, and what falls due before the instant happens. What falls due at it does
// not yet: the next event may come first.
func (a *app) until(at time.Duration) {
	for end := clock.Instant(at); ; {
		next := a.core.Next()
		switch {
		case len(a.at) > 0 && a.at[0] <= min(next, end):
			now, ev := a.at[0], a.ready[0]
			a.at, a.ready = a.at[1:], a.ready[1:]
			a.absorb(a.core.Step(nil, now, ev))
		case next < end:
			a.absorb(a.core.Advance(nil, next))
		default:
			return
		}
	}
}

// arrive lets n requests arrive at one instant and counts what became of them there.
func (a *app) arrive(at time.Duration, n int) tally {
	a.until(at)
	var got tally
	for range n {
		a.last++
		for _, act := range a.absorb(a.core.Step(nil, clock.Instant(at), scheduler.Event{Kind: scheduler.Arrival, Req: a.last})) {
			got.count(act)
		}
	}
	a.core.Check()
	return got
}

// end ends the request at the instant.
func (a *app) end(at time.Duration, r scheduler.RequestID) {
	a.until(at)
	a.absorb(a.core.Step(nil, clock.Instant(at), scheduler.Event{Kind: scheduler.Done, Req: r}))
	a.core.Check()
}

// endAll ends all that runs, in order of arrival.
func (a *app) endAll(at time.Duration) {
	a.until(at)
	for r := scheduler.RequestID(1); r <= a.last; r++ {
		if a.on[r] {
			a.end(at, r)
		}
	}
}

// visit is one request that runs for two seconds after its arrival. It reports whether it was warm.
func (a *app) visit(at time.Duration) bool {
	got := a.arrive(at, 1)
	a.end(at+2*time.Second, a.last)
	return got.warm == 1
}

// tally counts what became of arrivals.
type tally struct{ warm, starts, throttled, refused int }

func (n *tally) count(a scheduler.Action) {
	switch {
	case a.Do == scheduler.Assign:
		n.warm++
	case a.Do == scheduler.Start:
		n.starts++
	case a.Do == scheduler.Reject && a.Status == 429:
		n.throttled++
	case a.Do == scheduler.Reject:
		n.refused++
	}
}

// loads prints the starts and stops since an instant, and how long after it they came.
func (a *app) loads(since time.Duration) string {
	var out strings.Builder
	for _, act := range a.log {
		if after := act.At.Sub(clock.Instant(since)); after >= 0 && act.Do == scheduler.Start {
			fmt.Fprintf(&out, "start %v (%v) ", after, policies.Why(act.Code))
		} else if after >= 0 && act.Do == scheduler.Stop {
			fmt.Fprintf(&out, "stop %v ", after)
		}
	}
	return strings.TrimSpace(out.String())
}
