package reports

import (
	"fmt"
	"time"

	"coldwave/references"
)

// ladderDrawing draws the burst row by row: documented values hollow, measured ones filled.
func ladderDrawing(rows []references.LadderRow) *drawing {
	const top, step = 30, 32
	bottom := px(top + step*len(rows))
	d := &drawing{Title: "The burst, row by row", Desc: ladderFinding(rows), W: 640, H: bottom + 44}
	p := panel{d, linear(0, ladderMax(rows), 44, 626), axis{min: 0, max: float64(len(rows)), from: bottom, to: top}}
	for _, v := range p.x.ticks(7) {
		d.line("grid", p.x.at(v), top, p.x.at(v), bottom)
		d.text("tick", "middle", p.x.at(v), bottom+17, tickTime(v))
	}
	d.line("axis", p.x.from, bottom, p.x.to, bottom)
	d.text("name", "end", p.x.to, bottom+34, "response time")
	d.text("name", "start", 8, top-10, "row")
	for i, r := range rows {
		p.rung(px(top+step*i)+step/2, r)
	}
	return d
}

// rung draws one row: before above the line's middle, after below it.
func (p panel) rung(y px, r references.LadderRow) {
	if !r.Asserted {
		p.rect("aside", p.x.from, y-15.5, p.x.to-p.x.from, 31, "reported, not asserted")
	}
	p.text("tick", "end", p.x.from-8, y+4, count(r.Row))
	p.line("rule", p.x.from, y, p.x.to, y)
	p.mark(y-3, "before", r.Row, r.SortedBefore, r.Before)
	p.mark(y+3, "after", r.Row, r.SortedAfter, r.After)
}

// mark draws a documented and a measured value of one side, joined by a line as long as their difference.
func (p panel) mark(y px, side string, row int, documented, measured time.Duration) {
	if documented > 0 && measured > 0 {
		p.line("join "+side, p.x.at(inMillis(documented)), y, p.x.at(inMillis(measured)), y)
	}
	if documented > 0 {
		p.circle("hollow "+side, p.x.at(inMillis(documented)), y, 4.2,
			fmt.Sprintf("row %d, %s, documented: %s ms", row, side, rungText(documented)))
	}
	if measured > 0 {
		p.circle("solid "+side, p.x.at(inMillis(measured)), y, 3.2,
			fmt.Sprintf("row %d, %s, measured: %s ms", row, side, rungText(measured)))
	}
}

func ladderMax(rows []references.LadderRow) float64 {
	var most time.Duration
	for _, r := range rows {
		most = max(most, r.Before, r.After, r.DocumentedBefore, r.DocumentedAfter)
	}
	return inMillis(most) * 1.02
}

// ladderFinding states the slowest request of each side.
func ladderFinding(rows []references.LadderRow) string {
	var before, after, docBefore, docAfter time.Duration
	for _, r := range rows {
		before, after = max(before, r.Before), max(after, r.After)
		docBefore, docAfter = max(docBefore, r.DocumentedBefore), max(docAfter, r.DocumentedAfter)
	}
	text := ""
	if before > 0 {
		text += fmt.Sprintf("Before, the slowest request of the burst took %s (documented %s). ", duration(before), duration(docBefore))
	}
	if after > 0 {
		text += fmt.Sprintf("After, it took %s (documented %s).", duration(after), duration(docAfter))
	}
	return text
}
