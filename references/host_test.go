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
	late := on(After, func(m *model) { m.extraStarts = 1 })
	forgets := planted[0]
	for _, c := range []struct {
		name  string
		turn  func(*model)
		stall time.Duration
		id    string
		want  Verdict
	}{
		{"a wrong time without a stall", forgets.turn, 0, strings.Fields(forgets.claims)[0], Disagrees},
		{"a wrong time, stall at the limit", forgets.turn, timingStall, strings.Fields(forgets.claims)[0], Disagrees},
		{"a wrong time, stall above it", forgets.turn, timingStall + 1, strings.Fields(forgets.claims)[0], Void},
		{"a wrong count, stall that only times cannot bear", late, timingStall + 1, "FR-1", Disagrees},
		{"a wrong count, stall at its limit", late, countStall, "FR-1", Disagrees},
		{"a wrong count, stall above it", late, countStall + 1, "FR-1", Void},
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
