package reports

import (
	"fmt"
	"math"
	"strconv"

	"coldwave/analysis"
)

// windowGrid shows one run window by window.
func windowGrid(r *analysis.Run) grid {
	var all []analysis.Stats
	for _, w := range r.Summary.Windows {
		all = append(all, w.Response)
	}
	s := scaleOf(spread(all...)...)
	g := grid{Caption: "Windows: response time (" + s.unit.name + ") by intended start", Columns: []column{
		{Name: "from s", Number: true}, {Name: "n", Number: true}, {Name: "answered", Number: true},
		{Name: "TPS", Number: true}, {Name: "mean", Number: true}, {Name: "p50", Number: true},
		{Name: "p90", Number: true}, {Name: "p99", Number: true}, {Name: "max", Number: true},
	}}
	for i, w := range r.Summary.Windows {
		if i == tableRows {
			g.Notes = append(g.Notes, fmt.Sprintf("The first %d of %d windows.", tableRows, len(r.Summary.Windows)))
			break
		}
		t := w.Response
		g.add(atSeconds(w.From), count(w.N), count(w.Answered), tps(w.TPS), some(t, s, t.Mean), some(t, s, t.P50),
			some(t, s, t.P90), some(t, s, t.P99), some(t, s, t.Max))
	}
	return g
}

// tps prints a rate of requests per second.
func tps(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "n/a"
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// singleWaveGrid shows the waves of one run with more columns than fit beside another run's.
func singleWaveGrid(r *analysis.Run) grid {
	var all []analysis.Stats
	for _, w := range r.Summary.Waves {
		all = append(all, w.Response)
	}
	s := scaleOf(spread(all...)...)
	g := grid{Caption: "Waves: response time (" + s.unit.name + ")", Columns: []column{
		{Name: "wave", Number: true}, {Name: "at s", Number: true}, {Name: "n", Number: true}, {Name: "w/q/c", Number: true},
		{Name: "mean", Number: true}, {Name: "p50", Number: true}, {Name: "p90", Number: true}, {Name: "p99", Number: true},
		{Name: "max", Number: true}, {Name: "makespan", Number: true},
	}}
	for i := range g.head(r.Summary.Waves) {
		w := &r.Summary.Waves[i]
		t := w.Response
		g.add(count(int(w.Wave)+1), atSeconds(w.At), count(w.N), starts(w), some(t, s, t.Mean), some(t, s, t.P50),
			some(t, s, t.P90), some(t, s, t.P99), some(t, s, t.Max), s.text(w.Makespan))
	}
	g.Notes = append(g.Notes, startNote(pairs([]analysis.Run{*r})[0]))
	return g
}
