package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"coldwave/analysis"
)

// A windowStatistic is one of the two curves of the source's own figure.
type windowStatistic struct {
	name string
	of   func(analysis.Stats) time.Duration
}

var windowStatistics = []windowStatistic{
	{"mean", func(s analysis.Stats) time.Duration { return s.Mean }},
	{"p99", func(s analysis.Stats) time.Duration { return s.P99 }},
}

// windowDrawing draws one statistic by window, a line for each side.
func windowDrawing(pr pair, stat windowStatistic) *drawing {
	d := &drawing{W: 640, H: 268,
		Title: fmt.Sprintf("%s: %s response time per %s", pr.Pattern, stat.name, windowLength(pr)),
		Desc:  windowFinding(pr, stat)}
	lo, hi := windowRange(pr)
	p := panel{d, linear(0, runSeconds(pr), 62, 520), logarithmic(lo, hi, 222, 30)}
	p.grid("seconds since the run began", "response time, logarithmic", tickNumber, tickTime, 8)
	var labels labelColumn
	for _, c := range pr.Cells {
		var points []point
		for _, w := range c.Run.Summary.Windows {
			if w.Response.N == 0 {
				continue
			}
			v := stat.of(w.Response)
			at := point{p.x.at(inSeconds(w.From) + inSeconds(w.Length)/2), p.y.at(inMillis(v))}
			points = append(points, at)
			d.circle("solid "+c.Class, at.x, at.y, 3.4, fmt.Sprintf("%s, from %s s: %s, n=%d", c.Label(), atSeconds(w.From),
				duration(v), w.Response.N))
		}
		d.path("curve "+c.Class, polyline(points))
		if len(points) > 0 {
			labels.add(points[len(points)-1], c.side)
		}
	}
	labels.draw(d, p.y)
	return d
}

// windowTable is the table under the figure: both statistics of every window.
func windowTable(pr pair) grid {
	var all []analysis.Stats
	columns := []column{{Name: "from s", Number: true}, {Name: "n", Number: true}}
	for _, c := range pr.Cells {
		for _, w := range c.Run.Summary.Windows {
			all = append(all, w.Response)
		}
		columns = append(columns, column{Name: "mean", Group: c.Name, Number: true}, column{Name: "p99", Group: c.Name, Number: true},
			column{Name: "TPS", Group: c.Name, Number: true})
	}
	s := scaleOf(spread(all...)...)
	g := grid{Caption: pr.Pattern + ": response time (" + s.unit.name + ") by window", Columns: columns}
	for i, w := range windowsOf(pr) {
		if i == tableRows {
			g.Notes = append(g.Notes, fmt.Sprintf("The first %d of %d windows.", tableRows, len(windowsOf(pr))))
			break
		}
		cells := []string{atSeconds(w.From), count(w.N)}
		for _, c := range pr.Cells {
			if i >= len(c.Run.Summary.Windows) {
				cells = append(cells, "-", "-", "-")
				continue
			}
			t := c.Run.Summary.Windows[i]
			cells = append(cells, some(t.Response, s, t.Response.Mean), some(t.Response, s, t.Response.P99), tps(t.TPS))
		}
		g.add(cells...)
	}
	return g
}

func windowsOf(pr pair) []analysis.Window {
	var most []analysis.Window
	for _, c := range pr.Cells {
		if w := c.Run.Summary.Windows; len(w) > len(most) {
			most = w
		}
	}
	return most
}

func windowLength(pr pair) string {
	if w := windowsOf(pr); len(w) > 0 {
		return tickNumber(w[0].Length.Seconds()) + " s"
	}
	return "window"
}

// windowRange spans both statistics of all sides, so that the two figures of a pattern share their axes.
func windowRange(pr pair) (lo, hi float64) {
	for _, c := range pr.Cells {
		for _, w := range c.Run.Summary.Windows {
			for _, stat := range windowStatistics {
				v := inMillis(stat.of(w.Response))
				if v > 0 && (lo == 0 || v < lo) {
					lo = v
				}
				hi = max(hi, v)
			}
		}
	}
	return lo, hi
}

// windowFinding states the largest value of each side, without the first window: there everything is cold.
func windowFinding(pr pair, stat windowStatistic) string {
	var parts []string
	for _, c := range pr.Cells {
		var most time.Duration
		for i, w := range c.Run.Summary.Windows {
			if i > 0 {
				most = max(most, stat.of(w.Response))
			}
		}
		parts = append(parts, c.Label()+" "+duration(most))
	}
	return "Largest " + stat.name + " after the first window: " + strings.Join(parts, ", ") + "."
}

// runSeconds is the length of the pattern's time axis.
func runSeconds(pr pair) float64 {
	var most float64
	for _, c := range pr.Cells {
		most = max(most, runLength(c.Run))
	}
	return most
}

// runLength is the time from the epoch to the end of the schedule or the last answer, whichever is later, in seconds.
func runLength(r *analysis.Run) float64 {
	var most float64
	if r.Schedule != nil {
		most = r.Schedule.Length.Seconds()
	}
	for i := range r.Records {
		if ended(&r.Records[i]) {
			most = max(most, inSeconds(r.Records[i].Done))
		}
	}
	return most
}

// A labelColumn writes the names of sides beside the ends of their lines, moved apart where they would overlap.
type labelColumn struct{ labels []endLabel }

type endLabel struct {
	point
	side side
}

func (l *labelColumn) add(end point, s side) {
	l.labels = append(l.labels, endLabel{end, s})
}

// draw writes the labels. A label gives way upwards: below the last one is the axis.
func (l *labelColumn) draw(d *drawing, y axis) {
	const height = 15
	slices.SortStableFunc(l.labels, func(a, b endLabel) int { return cmp.Compare(b.y, a.y) })
	free := y.from - 6
	for _, label := range l.labels {
		at := min(label.y, free)
		d.text("label "+label.side.Class, "start", label.x+8, at+4, label.side.Name)
		free = at - height
	}
}
