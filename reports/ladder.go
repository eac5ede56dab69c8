package reports

import (
	"fmt"
	"time"

	"coldwave/references"
)

// ladderScale is the precision of the documented table.
var ladderScale = scale{milliseconds, 2}

// ladderGrid sets the documented columns beside ours.
func ladderGrid(rows []references.LadderRow) grid {
	g := grid{Caption: fmt.Sprintf("Burst ladder: the %d requests of the burst, response time (ms)", len(rows)), Columns: []column{
		{Name: "row", Number: true}, {Name: "group", Number: true},
		{Name: "documented", Group: "before", Number: true}, {Name: "ascending", Group: "before", Number: true},
		{Name: "measured", Group: "before", Number: true}, {Name: "documented", Group: "after", Number: true},
		{Name: "measured", Group: "after", Number: true}, {Name: ""},
	}}
	var free bool
	for _, r := range rows {
		mark := ""
		if !r.Asserted {
			mark, free = "*", true
		}
		g.add(count(r.Row), count(r.Group), rungText(r.DocumentedBefore), rungText(r.SortedBefore), rungText(r.Before),
			rungText(r.DocumentedAfter), rungText(r.After), mark)
	}
	g.Notes = []string{"Documented: in processing order. Ascending: the same values by size, which is how ours are ordered."}
	if free {
		g.Notes = append(g.Notes, "* reported, not asserted: the documented value after is one that no correct policy produces (FA-9).")
	}
	return g
}

func rungText(d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return ladderScale.text(d)
}
