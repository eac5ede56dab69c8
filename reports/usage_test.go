package reports

import (
	"slices"
	"testing"
	"time"

	"coldwave/analysis"
)

// TestUsageGrids: reasons are shown where there is more than one, and use where it was told.
func TestUsageGrids(t *testing.T) {
	of := func(u analysis.Usage, ready time.Duration) []pair {
		return []pair{{Pattern: "p", Cells: []cell{{side: side{Policy: "cloudrun"}, Run: &analysis.Run{Summary: analysis.Summary{
			Usage: u, Instances: analysis.InstanceTotals{Ready: ready},
		}}}}}}
	}
	told := analysis.Usage{Reasons: []analysis.Reason{{Name: "cpu", Starts: 3}, {Name: "on-demand", Starts: 1}}, CPU: 90 * time.Second, Memory: 3 << 19, OutOfMemory: 2}
	lines := func(g grid) (all [][]string) {
		for _, l := range g.Lines {
			all = append(all, l.Cells)
		}
		return all
	}
	got := usageGrids(of(told, time.Minute))
	want := [][][]string{
		{{"p", "cloudrun", "cpu", "3"}, {"p", "cloudrun", "on-demand", "1"}},
		{{"p", "cloudrun", "90.0", "1.50", "1.5", "2"}},
	}
	if len(got) != 2 {
		t.Fatalf("%d tables, want 2", len(got))
	}
	for k := range want {
		if !slices.EqualFunc(lines(got[k]), want[k], slices.Equal[[]string]) {
			t.Errorf("table %d: %v, want %v", k, lines(got[k]), want[k])
		}
	}
	if one := usageGrids(of(analysis.Usage{Reasons: told.Reasons[:1]}, time.Minute)); len(one) != 0 {
		t.Errorf("one reason and nothing used: %d tables, want none", len(one))
	}
	if odd := usageGrids(of(analysis.Usage{CPU: time.Second}, 0)); len(odd) != 1 || lines(odd[0])[0][3] != "n/a" || lines(odd[0])[0][4] != "n/a" {
		t.Errorf("CPU of instances that were never ready: %v", odd)
	}
}
