package reports

import (
	"fmt"
	"strings"

	"coldwave/analysis"
	"coldwave/record"
)

// waveGrid sets the waves of one pattern side by side, one group of columns for each side.
func waveGrid(p pair) grid {
	s := scaleOf(spread(waveStats(p)...)...)
	g := grid{Caption: waveCaption(p, s), Columns: []column{
		{Name: "wave", Number: true}, {Name: "at s", Number: true}, {Name: "n", Number: true},
	}}
	for _, c := range p.Cells {
		g.Columns = append(g.Columns, waveColumns(c.Name)...)
	}
	for _, w := range g.head(wavesOf(p)) {
		cells := []string{count(int(w.Wave) + 1), atSeconds(w.At), count(w.N)}
		for _, c := range p.Cells {
			cells = append(cells, waveCells(findWave(c.Run, w.Wave), s)...)
		}
		g.add(cells...)
	}
	g.Notes = append(g.Notes, startNote(p))
	return g
}

// stackedWaveGrid shows the same waves with one line for each wave and side, for narrow terminals.
func stackedWaveGrid(p pair) grid {
	s := scaleOf(spread(waveStats(p)...)...)
	g := grid{Caption: waveCaption(p, s), Columns: append([]column{
		{Name: "wave", Number: true}, {Name: "at s", Number: true}, {Name: "n", Number: true}, {Name: "side"},
	}, waveColumns("")...)}
	for _, w := range g.head(wavesOf(p)) {
		for _, c := range p.Cells {
			cells := []string{count(int(w.Wave) + 1), atSeconds(w.At), count(w.N), c.Name}
			g.add(append(cells, waveCells(findWave(c.Run, w.Wave), s)...)...)
		}
	}
	g.Notes = append(g.Notes, startNote(p))
	return g
}

// head returns the waves that a table shows, and notes how many there are when those are not all.
func (g *grid) head(waves []analysis.Wave) []analysis.Wave {
	if len(waves) <= tableRows {
		return waves
	}
	g.Notes = append(g.Notes, fmt.Sprintf("The first %d of %d waves.", tableRows, len(waves)))
	return waves[:tableRows]
}

func waveCaption(p pair, s scale) string {
	names := make([]string, len(p.Cells))
	for i, c := range p.Cells {
		names[i] = c.Label()
	}
	return fmt.Sprintf("%s: response time (%s) by wave, %s", p.Pattern, s.unit.name, strings.Join(names, ", "))
}

func waveColumns(group string) []column {
	names := []string{"mean", "p50", "p99", "max", "w/q/c"}
	columns := make([]column, len(names))
	for i, n := range names {
		columns[i] = column{Name: n, Group: group, Number: true}
	}
	return columns
}

func waveCells(w *analysis.Wave, s scale) []string {
	if w == nil {
		return []string{"-", "-", "-", "-", "-"}
	}
	r := w.Response
	if r.N == 0 {
		return []string{empty, "", "", "", starts(w)}
	}
	return []string{s.text(r.Mean), s.text(r.P50), s.text(r.P99), s.text(r.Max), starts(w)}
}

// starts prints the counts of start kinds. What is rare is named only where it occurred.
func starts(w *analysis.Wave) string {
	text := fmt.Sprintf("%d/%d/%d", w.ByStart[record.Warm], w.ByStart[record.Queued], w.ByStart[record.Cold])
	if n := w.ByStart[record.ColdWait]; n > 0 {
		text += fmt.Sprintf(" +%d wait", n)
	}
	if n := w.ByStart[record.Edge] + w.ByStart[record.StartUnknown]; n > 0 {
		text += fmt.Sprintf(" +%d ?", n)
	}
	if w.Rejected > 0 {
		text += fmt.Sprintf(" −%d", w.Rejected)
	}
	return text
}

// startNote explains the column of counts, as far as its parts occur.
func startNote(p pair) string {
	note := "w/q/c: requests served warm / queued for a used instance / cold"
	var waits, unknown, rejected bool
	for _, c := range p.Cells {
		for _, w := range c.Run.Summary.Waves {
			waits = waits || w.ByStart[record.ColdWait] > 0
			unknown = unknown || w.ByStart[record.Edge]+w.ByStart[record.StartUnknown] > 0
			rejected = rejected || w.Rejected > 0
		}
	}
	if waits {
		note += "; wait: waited for a starting instance, not its first"
	}
	if unknown {
		note += "; ?: start kind not told"
	}
	if rejected {
		note += "; −: rejected"
	}
	return note + "."
}

// wavesOf lists the waves of the cell that has most: the sides of a pattern face the same schedule.
func wavesOf(p pair) []analysis.Wave {
	var most []analysis.Wave
	for _, c := range p.Cells {
		if w := c.Run.Summary.Waves; len(w) > len(most) {
			most = w
		}
	}
	return most
}

func findWave(r *analysis.Run, wave int32) *analysis.Wave {
	for i := range r.Summary.Waves {
		if r.Summary.Waves[i].Wave == wave {
			return &r.Summary.Waves[i]
		}
	}
	return nil
}

func waveStats(p pair) []analysis.Stats {
	var all []analysis.Stats
	for _, c := range p.Cells {
		for _, w := range c.Run.Summary.Waves {
			all = append(all, w.Response)
		}
	}
	return all
}
