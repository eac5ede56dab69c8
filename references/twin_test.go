package references

import (
	"strings"
	"testing"
	"time"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
)

// onTheWire is a run of our policies as the wire would record it, half a millisecond late, beside its twin. Change spoils
// what the wire recorded of each run.
func onTheWire(t *testing.T, seed uint64, before, after string, change func(c Cell)) Evidence {
	t.Helper()
	e := simulate(t, "uniform", seed, before, after)
	twins := simulate(t, "uniform", seed, "fc-bound", "fc-race")
	e.Host = calmHost()
	for i := range e.Cells {
		c := &e.Cells[i]
		c.Run.Driver, c.Run.Host = "wire", e.Host
		for k := range c.Run.Records {
			c.Run.Records[k].Done = c.Run.Records[k].Done.Add(ms / 2)
		}
		if change != nil {
			change(*c)
		}
		twin, _ := twins.find(c.Pattern, c.Role, c.Quota)
		d := analysis.Twin(c.Run, twin.Run)
		c.Run.Twin = &d
	}
	return e
}

func changed(pattern string, role Role, change func(r *analysis.Run)) func(Cell) {
	return func(c Cell) {
		if c.Pattern == pattern && c.Role == role && c.Quota == 0 {
			change(c.Run)
		}
	}
}

// FR-8 holds for the policies themselves, for any seed, and finds each kind of difference.
func TestTwin(t *testing.T) {
	for seed := range uint64(25) {
		r := resultOf(t, Check(load(t), onTheWire(t, seed, "fc-bound", "fc-race", nil)), "FR-8")
		if r.Verdict != Agrees || !strings.Contains(r.Measured, "later by p50 0.5 ms, max 0.5 ms") {
			t.Errorf("seed %d: FR-8 = %s (%s; measured %s), want agrees", seed, r.Verdict, r.Reason, r.Measured)
		}
	}
	for _, c := range []struct {
		why, before, after string
		change             func(Cell)
		reason             string
	}{
		{"another policy on the wire", "fc-bound", "fc-bound", nil, "fc-ramp after wave 2: served by 1 idle, 1 own_start, twin 1 idle, 1 freed"},
		{"a start more", "fc-bound", "fc-race", changed("fc-ramp", Before, func(r *analysis.Run) {
			r.Instances = append(r.Instances, record.Instance{Ready: clock.Never})
		}), "fc-ramp before: 33 starts, twin 32"},
		{"a request that waited where its twin did not", "fc-bound", "fc-race", changed("fc-burst", Before, func(r *analysis.Run) {
			r.Records[3].Server.Start = record.Queued
		}), "fc-burst before wave 2: served by 1 idle, 1 freed, twin 2 idle"},
		{"answers 43 ms late", "fc-bound", "fc-race", changed("fc-burst", After, func(r *analysis.Run) { delayed(r, 43*ms) }), "an answer came 43.0 ms after the twin's"},
		{"answers 16 ms early", "fc-bound", "fc-race", changed("fc-burst", After, func(r *analysis.Run) { delayed(r, -16*ms) }), "an answer came 16.0 ms before the twin's"},
	} {
		r := resultOf(t, Check(load(t), onTheWire(t, 1, c.before, c.after, c.change)), "FR-8")
		if r.Verdict != Disagrees || !strings.Contains(r.Reason, c.reason) {
			t.Errorf("%s: FR-8 = %s (%s), want disagrees, %s", c.why, r.Verdict, r.Reason, c.reason)
		}
	}
}

// delayed answers the last wave d later than the twin would.
func delayed(r *analysis.Run, d time.Duration) {
	for i := len(r.Records) - 2; i < len(r.Records); i++ {
		r.Records[i].Done = r.Records[i].Done.Add(d - ms/2)
	}
}

// A system whose policy is not known has no twin, and a run in virtual time is its own.
func TestNoTwin(t *testing.T) {
	e := onTheWire(t, 1, "fc-bound", "fc-race", nil)
	e.Cells[0].Run.Twin = nil
	if r := resultOf(t, Check(load(t), e), "FR-8"); r.Verdict != NotComparable || !strings.Contains(r.Reason, "no twin") {
		t.Errorf("without a twin: FR-8 = %s (%s), want not comparable", r.Verdict, r.Reason)
	}
	virtual := simulate(t, "uniform", 1, "fc-bound", "fc-race")
	if r := resultOf(t, Check(load(t), virtual), "FR-8"); r.Verdict != NotComparable || !strings.Contains(r.Reason, "loadgen verify FR-8") {
		t.Errorf("in virtual time: FR-8 = %s (%s), want not comparable", r.Verdict, r.Reason)
	}
}

// What is exact is not judged on the wire, and the reason says how to make the run.
func TestExactClaimsNeedVirtualTime(t *testing.T) {
	results := Check(load(t), onTheWire(t, 1, "fc-bound", "fc-race", nil))
	for _, id := range []string{"FA-3", "FA-6", "FA-7", "FA-11"} {
		if r := resultOf(t, results, id); r.Verdict != NotComparable || !strings.Contains(r.Reason, "loadgen verify --virtual "+id) {
			t.Errorf("%s on the wire = %s (%s), want not comparable", id, r.Verdict, r.Reason)
		}
	}
}
