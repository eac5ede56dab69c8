package gateway

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
)

// lateCauses are events that may come late, each with the actions that come of one.
var lateCauses = []struct {
	why   string
	kind  scheduler.Kind
	comes func(scheduler.Action) bool
}{
	{"the end of a request", scheduler.Done, served},
	{"an arrival", scheduler.Arrival, func(a scheduler.Action) bool { return a.Req > 500 }},
	{"a client that leaves", scheduler.Cancel, func(a scheduler.Action) bool { return a.Do == scheduler.End && a.Status == 499 }},
	{"a crash under a request", scheduler.Failed, func(a scheduler.Action) bool { return a.Do == scheduler.Lost }},
	{"a start-up", scheduler.Ready, func(a scheduler.Action) bool {
		return a.Do == scheduler.Assign && record.StartKind(a.Code) == record.Cold
	}},
}

func served(a scheduler.Action) bool { return a.Do == scheduler.End && a.Status == 200 }

// firstOf returns the first world in which the policy decides such a thing, what the simulator makes of it, and which
// action it is.
func firstOf(t *testing.T, e policies.Entry, such func(scheduler.Action) bool) (*world, course, int) {
	t.Helper()
	for seed := uint64(1); seed <= 20; seed++ {
		w := worldOf(seed)
		want := w.simulate(t, e, nil)
		if k := slices.IndexFunc(want.actions, such); k >= 0 {
			return w, want, k
		}
	}
	t.Fatalf("%s decides no such thing in 20 worlds", e.Name)
	return nil, course{}, 0
}

// wantDifference fails the test unless the courses first differ at the action of that index, and the report says so.
func (w *world) wantDifference(t *testing.T, e policies.Entry, sim, loop course, index int) {
	t.Helper()
	var d *disagreement
	if err := w.compare(e, sim, loop); !errors.As(err, &d) {
		t.Fatalf("compare = %v, want a difference at action %d", err, index)
	}
	if d.index != index || d.seed != w.seed {
		t.Errorf("difference at action %d of seed %d, want action %d of seed %d\n%v", d.index, d.seed, index, w.seed, d)
	}
	for _, part := range []string{"-run '^TestLoopParity$/^" + e.Name + "$/^seed=", "simulator: ", "loop: "} {
		if !strings.Contains(d.Error(), part) {
			t.Errorf("report %q, want %q in it", d.Error(), part)
		}
	}
}

// TestLoopParityNoticesTheFleet: one event that the fleet tells one nanosecond late is found, at the first action that
// comes of it.
func TestLoopParityNoticesTheFleet(t *testing.T) {
	for _, c := range lateCauses {
		for _, e := range policies.All() {
			t.Run(c.why+"/"+e.Name, func(t *testing.T) {
				t.Parallel()
				w, want, index := firstOf(t, e, c.comes)
				cause := want.actions[index]
				late := func(ev scheduler.Event) time.Duration {
					if ev.Kind == c.kind && (ev.Req != 0 && ev.Req == cause.Req || ev.Inst != 0 && ev.Inst == cause.Inst) {
						return 1
					}
					return 0
				}
				synctest.Test(t, func(t *testing.T) { w.wantDifference(t, e, want, w.loop(t, e, late), index) })
			})
		}
	}
}

// TestLoopParityNoticesTheSimulator: the same with a body that takes a nanosecond longer in the simulator.
func TestLoopParityNoticesTheSimulator(t *testing.T) {
	for _, e := range policies.All() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			w, right, index := firstOf(t, e, served)
			k := w.sent()[right.actions[index].Req-1].Seq
			synctest.Test(t, func(t *testing.T) {
				loop := w.loop(t, e, nil)
				w.schedule.Arrivals[k].Demand.Exec++
				w.wantDifference(t, e, w.simulate(t, e, nil), loop, index)
			})
		})
	}
}

// TestCompareCourses: no field of an action is left out, nor an action too few or too many, nor what the core ignored.
func TestCompareCourses(t *testing.T) {
	e := policies.All()[0]
	acts := []scheduler.Action{{Do: scheduler.Queue, Req: 1}, {Do: scheduler.Start, Code: 1, Inst: 1, Req: 1, At: 5}, {Do: scheduler.Reject, Status: 503, Req: 1, At: 9}}
	right := course{acts, 7, 2}
	w := &world{seed: 3}
	if err := w.compare(e, right, course{slices.Clone(acts), 7, 2}); err != nil {
		t.Errorf("compare of equal courses = %v, want nil", err)
	}
	for _, c := range []struct {
		why   string
		index int
		spoil func([]scheduler.Action) []scheduler.Action
	}{
		{"a nanosecond late", 1, func(a []scheduler.Action) []scheduler.Action { a[1].At++; return a }},
		{"another action", 0, func(a []scheduler.Action) []scheduler.Action { a[0].Do = scheduler.Mark; return a }},
		{"another code", 1, func(a []scheduler.Action) []scheduler.Action { a[1].Code = 2; return a }},
		{"another status", 2, func(a []scheduler.Action) []scheduler.Action { a[2].Status = 504; return a }},
		{"another instance", 1, func(a []scheduler.Action) []scheduler.Action { a[1].Inst = 2; return a }},
		{"another request", 2, func(a []scheduler.Action) []scheduler.Action { a[2].Req = 2; return a }},
		{"another order", 0, func(a []scheduler.Action) []scheduler.Action { a[0], a[1] = a[1], a[0]; return a }},
		{"one too few", 2, func(a []scheduler.Action) []scheduler.Action { return a[:2] }},
		{"one too many", 3, func(a []scheduler.Action) []scheduler.Action { return append(a, scheduler.Action{}) }},
	} {
		t.Run(c.why, func(t *testing.T) {
			w.wantDifference(t, e, right, course{c.spoil(slices.Clone(acts)), 7, 2}, c.index)
		})
	}
	for _, other := range []course{{acts, 8, 2}, {acts, 7, 3}} {
		if err := w.compare(e, right, other); err == nil {
			t.Errorf("compare of %d, %d with %d, %d events and late ones = nil, want an error", right.events, right.stale, other.events, other.stale)
		}
	}
}
