package reports

import (
	"strings"
	"testing"

	"coldwave/analysis"
)

// labels prints pairs as "pattern: side, side; …".
func labels(runs []analysis.Run) string {
	var groups []string
	for _, p := range pairs(runs) {
		var cells []string
		for _, c := range p.Cells {
			cells = append(cells, c.Label())
		}
		groups = append(groups, p.Pattern+": "+strings.Join(cells, ", "))
	}
	return strings.Join(groups, "; ")
}

func TestPairsPutSidesOfAPatternTogether(t *testing.T) {
	run := func(pattern, policy string, quota int) analysis.Run {
		return analysis.Run{Pattern: pattern, Policy: policy, Quota: quota}
	}
	for _, row := range []struct {
		why  string
		runs []analysis.Run
		want string
	}{
		{"nothing", nil, ""},
		{"the main job", []analysis.Run{run("a", "x", 0), run("a", "y", 0), run("b", "x", 0), run("b", "y", 0)},
			"a: before (x), after (y); b: before (x), after (y)"},
		{"one policy is compared with nothing", []analysis.Run{run("a", "y", 0)}, "a: y"},
		{"an external target is named by its address", []analysis.Run{{Pattern: "a", Target: "http://127.0.0.1:1"}}, "a: http://127.0.0.1:1"},
		{"the same pattern with a quota is another comparison", []analysis.Run{run("a", "x", 0), run("a", "y", 0), run("a", "x", 10), run("a", "y", 10)},
			"a: before (x), after (y); a with quota 10: before (x), after (y)"},
		{"a second run of a policy is not mixed with the first", []analysis.Run{run("a", "x", 0), run("a", "y", 0), run("a", "x", 0)},
			"a: before (x), after (y); a: before (x)"},
		{"a third policy keeps its own name", []analysis.Run{run("a", "x", 0), run("a", "y", 0), run("a", "z", 0)},
			"a: before (x), after (y), z"},
		{"a pattern without the first policy keeps the names of the sides", []analysis.Run{run("a", "x", 0), run("a", "y", 0), run("b", "y", 0)},
			"a: before (x), after (y); b: after (y)"},
	} {
		if got := labels(row.runs); got != row.want {
			t.Errorf("%s: pairs = %q, want %q", row.why, got, row.want)
		}
	}
}
