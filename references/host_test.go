package references

import (
	"strings"
	"testing"
	"time"

	"coldwave/analysis"
)

// A disagreement on a host that stood still for longer than the check bears is void; a shorter stall excuses nothing, and
// no stall takes an agreement away.
func TestAStallExcusesADisagreementOnly(t *testing.T) {
	extra := func(m *model) { m.extraStarts = 1 }
	forgets := on(After, func(m *model) { m.actAs = Before })          // off by seconds
	late := func(m *model) { m.extraResponse = 30 * time.Millisecond } // off by less than two stalls of 20 ms
	for _, c := range []struct {
		name  string
		turn  func(*model)
		stall time.Duration
		id    string
		want  Verdict
	}{
		{"late answers without a stall", late, 0, "FR-9", Disagrees},
		{"late answers, stall at the limit", late, timingStall, "FR-9", Disagrees},
		{"late answers, stall that explains them", late, 20 * time.Millisecond, "FR-9", Void},
		{"a policy that forgets, stall that explains nothing", forgets, 20 * time.Millisecond, "FR-6", Disagrees},
		{"a ratio far off, stall that explains nothing", forgets, 20 * time.Millisecond, "FR-7", Disagrees},
		{"a ladder that is none, stall that explains nothing", forgets, 20 * time.Millisecond, "FR-2", Disagrees},
		{"a policy that forgets, host that stood still for seconds", forgets, 3 * time.Second, "FR-6", Void},
		{"a wrong count, stall that only times cannot bear", extra, timingStall + 1, "FR-1", Disagrees},
		{"a wrong count, stall at its limit", extra, countStall, "FR-1", Disagrees},
		{"a wrong count, stall above it", extra, countStall + 1, "FR-1", Void},
		{"a right time, long stall", nil, time.Second, "FR-6", Agrees},
	} {
		e := evidence(t, "uniform", 7, false, true, c.turn)
		eachRun(&e, func(r *analysis.Run) { r.Host.During = analysis.Of([]time.Duration{c.stall}) })
		r := resultOf(t, Check(load(t), e), c.id)
		if r.Verdict != c.want {
			t.Errorf("%s: %s = %s (%s), want %s", c.name, c.id, r.Verdict, r.Reason, c.want)
		}
		if c.want == Void && !strings.Contains(r.Reason, "stood still") {
			t.Errorf("%s: reason %q does not name the stall", c.name, r.Reason)
		}
	}
}
