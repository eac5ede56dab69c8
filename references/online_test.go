package references

import (
	"strings"
	"testing"

	"coldwave/analysis"
)

// Each limit of FR-12 bites by itself; the rest of the run is as it should be.
func TestOnlineUser(t *testing.T) {
	for _, c := range []struct {
		why    string
		turn   func(m *model)
		want   Verdict
		reason string
	}{
		{"as documented", func(*model) {}, Agrees, ""},
		{"no spike before: the time before the step is slow too", of(Online25, Before, func(m *model) { m.extraResponse = 200 * ms }), Disagrees, "before: p99 "},
		{"no spike before: nobody waits for a start", of(Online25, Before, func(m *model) { m.actAs = After }), Disagrees, "is not a spike of 10 times"},
		{"a change after", of(Online32, After, func(m *model) { m.extraResponse = 40 * ms }), Disagrees, "is above 350.0 ms"},
		{"a share too large: before is fast as well", of(Online32, Before, func(m *model) { m.actAs = After }), Disagrees, "is not below 0.2 of"},
		{"a pattern without a step", of(Online32, After, func(m *model) { m.sizes = []int{11, 11, 11} }), Inconclusive, "no step"},
		{"another cold start", of(Online25, After, func(m *model) { m.law = "constant:2s" }), NotComparable, "has the cold-start law constant:2s"},
	} {
		for _, id := range []string{"fc-online", "FR-12"} {
			r := resultOf(t, Check(load(t), evidence(t, "uniform", 5, false, true, c.turn)), id)
			if r.Verdict != c.want || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("%s: %s = %s (%s; measured %s), want %s (%s)", c.why, id, r.Verdict, r.Reason, r.Measured, c.want, c.reason)
			}
		}
	}
}

func of(pattern string, role Role, turn func(m *model)) func(m *model) {
	return func(m *model) {
		if m.pattern == pattern && m.role == role {
			turn(m)
		}
	}
}

// The step is found by the size of the waves, without the warm-up, and its window is half-open.
func TestStepOf(t *testing.T) {
	run := simulateCell(t, Online25, fixedCold, "fc-race", 3, 0)
	s, ok := stepOf(newSide(Cell{Pattern: Online25, Run: run}), 10e9)
	if !ok || s.from != 11 || s.to != 25 || s.before.N != 110 || s.after.N != 250 {
		t.Errorf("stepOf = %v, %v, want 110 requests of 11 a wave before and 250 of 25 after", s, ok)
	}
	if s, _ := stepOf(newSide(Cell{Run: run}), 10e9+1); s.after.N != 275 {
		t.Errorf("a window of 10 s and 1 ns holds %d requests, want 275", s.after.N)
	}
	if got, ok := stepOf(newSide(Cell{Run: &analysis.Run{Records: run.Records[:44]}}), 10e9); ok {
		t.Errorf("stepOf of waves of one size = %v, want none", got)
	}
}
