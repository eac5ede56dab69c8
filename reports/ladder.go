package reports

import (
	"fmt"
	"time"
)

// LadderRow is one request of the documented burst, in processing order, beside ours. A duration of 0 means that there
// is none: the side was not run, or its request failed.
type LadderRow struct {
	Row              int // from 1
	DocumentedBefore time.Duration
	DocumentedAfter  time.Duration
	Before, After    time.Duration // measured
	Asserted         bool          // false: reported only; a correct policy cannot show the documented value
}

// ladderScale is the precision of the documented table.
var ladderScale = scale{milliseconds, 2}

// ladderGrid sets the documented columns beside ours.
func ladderGrid(rows []LadderRow) grid {
	g := grid{Caption: fmt.Sprintf("Burst ladder: the %d requests of the burst, response time (ms)", len(rows)), Columns: []column{
		{Name: "row", Number: true}, {Name: "documented", Group: "before", Number: true},
		{Name: "measured", Group: "before", Number: true}, {Name: "documented", Group: "after", Number: true},
		{Name: "measured", Group: "after", Number: true}, {Name: ""},
	}}
	var free bool
	for _, r := range rows {
		mark := ""
		if !r.Asserted {
			mark, free = "reported, not asserted", true
		}
		g.add(count(r.Row), rungText(r.DocumentedBefore), rungText(r.Before), rungText(r.DocumentedAfter), rungText(r.After), mark)
	}
	if free {
		g.Notes = []string{"Rows that are reported and not asserted show documented values that no correct policy produces (FA-9)."}
	}
	return g
}

func rungText(d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return ladderScale.text(d)
}
