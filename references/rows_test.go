package references

import (
	"slices"
	"testing"
	"time"
)

// The ladder sets order statistics side by side: rows of the published table in their order, and sorted for comparison.
func TestLadder(t *testing.T) {
	rows, err := Ladder(evidence(t, "documented", 1, false, false, nil))
	if err != nil || len(rows) != 20 {
		t.Fatalf("Ladder = %d rows, %v, want 20", len(rows), err)
	}
	first, third, last := rows[0], rows[2], rows[19]
	if first.DocumentedBefore != 113450*time.Microsecond || first.DocumentedAfter != 112930*time.Microsecond || first.Group != 1 || !first.Asserted {
		t.Errorf("row 1 = %+v, want the published 113.45 and 112.93 ms in group 1", first)
	}
	if third.SortedBefore != 1783990*time.Microsecond || third.SortedAfter != 174650*time.Microsecond || third.DocumentedAfter != 179260*time.Microsecond || third.Group != 2 {
		t.Errorf("row 3 = %+v, want 1783.99 sorted, 174.65 inside its pair, 179.26 published", third)
	}
	if last.SortedBefore != 2961990*time.Microsecond || last.DocumentedAfter != 1348590*time.Microsecond || last.Group != 10 || last.Asserted {
		t.Errorf("row 20 = %+v, want 2961.99 sorted, 1348.59 published, reported only", last)
	}
	for _, r := range rows[:assertedRows] {
		if d, ok := r.DeltaAfter(); !ok || d.Abs() > 8*ms {
			t.Errorf("row %d differs by %v after, want at most 8 ms (FA-8)", r.Row, d)
		}
	}
	if !slices.IsSortedFunc(rows, func(a, b LadderRow) int { return int(a.After - b.After) }) {
		t.Errorf("measured rows are not ascending")
	}
}

// A run that is missing leaves its column empty.
func TestLadderWithoutRuns(t *testing.T) {
	e := evidence(t, "uniform", 1, false, false, nil)
	e.Cells = slices.DeleteFunc(e.Cells, func(c Cell) bool { return c.Role == After })
	rows, err := Ladder(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		_, before := r.DeltaBefore()
		_, after := r.DeltaAfter()
		if r.After != 0 || after || r.Before == 0 || !before {
			t.Errorf("row %d = %+v, want a measured time before and none after", r.Row, r)
		}
	}
}
