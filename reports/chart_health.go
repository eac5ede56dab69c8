package reports

import (
	"fmt"
	"math"
	"time"

	"coldwave/analysis"
	"coldwave/internal/clock"
)

// lagPoints is how many points of the send lag are drawn; beyond it the largest of each stretch is kept.
const lagPoints = 1500

// lagDrawing draws the generator's own lateness over the run.
func lagDrawing(pr pair, c cell) *drawing {
	l := c.Run.Summary.SendLag
	d := &drawing{W: 640, H: 168, Title: fmt.Sprintf("%s, %s: send lag", pr.Pattern, c.Label()),
		Desc: fmt.Sprintf("Requests left late by %s at the median, %s at p99 and %s at most (n=%d).",
			duration(l.P50), duration(l.P99), duration(l.Max), l.N)}
	p := panel{d, linear(0, runSeconds(pr), 62, 626), linear(0, math.Max(1, 1.05*lagMax(pr)), 122, 30)}
	p.grid("seconds since the run began", "actual send − intended start", tickNumber, tickMillis, 8)
	n := len(c.Run.Records)
	stride := max(1, (n+lagPoints-1)/lagPoints)
	for from := 0; from < n; from += stride {
		i := latest(c.Run, from, min(n, from+stride))
		if i < 0 {
			continue
		}
		r := &c.Run.Records[i]
		d.circle("dot "+c.Class, p.x.at(inSeconds(r.Intended)), p.y.at(inMillis(r.SendLag())), 2.4, "")
	}
	return d
}

// latest returns the record of [from, to) that left latest, or -1 if none was sent.
func latest(r *analysis.Run, from, to int) int {
	best := -1
	for i := from; i < to; i++ {
		if r.Records[i].Sent != clock.Never && (best < 0 || r.Records[i].SendLag() > r.Records[best].SendLag()) {
			best = i
		}
	}
	return best
}

func lagMax(pr pair) float64 {
	var most time.Duration
	for _, c := range pr.Cells {
		most = max(most, c.Run.Summary.SendLag.Max)
	}
	return inMillis(most)
}

// hostGrid shows the calibration of the host: once where all runs share it.
func hostGrid(ps []pair) grid {
	g := grid{Caption: "Host", Columns: []column{
		{Name: "run"}, {Name: "measured"}, {Name: "n", Number: true}, {Name: "p50 ms", Number: true},
		{Name: "p95 ms", Number: true}, {Name: "max ms", Number: true}, {Name: "host"},
	}}
	for i, r := range differentHosts(ps) {
		name := r.Pattern + " " + subject(r)
		if i == 0 {
			name = "all runs, unless told below"
		}
		g.addHost(name, r.Host)
	}
	if len(g.Lines) == 0 {
		g.Notes = []string{"The host was not calibrated."}
	}
	return g
}

// differentHosts lists the first run, and every other whose calibration is another one.
func differentHosts(ps []pair) []*analysis.Run {
	var runs []*analysis.Run
	for _, p := range ps {
		for _, c := range p.Cells {
			if len(runs) == 0 || c.Run.Host != runs[0].Host {
				runs = append(runs, c.Run)
			}
		}
	}
	return runs
}

func (g *grid) addHost(name string, h analysis.Host) {
	state := "calm"
	if h.Busy {
		state = "busy: " + h.Reason
	}
	for _, s := range []struct {
		name string
		of   analysis.Stats
	}{{"sleeps of 100 ms ended late", h.Overshoot}, {"loopback round trip", h.Loopback}, {"short sleeps during the run", h.During}} {
		if s.of.N > 0 {
			g.add(name, s.name, count(s.of.N), inUnit(s.of.P50, milliseconds, 3), inUnit(s.of.P95, milliseconds, 3),
				inUnit(s.of.Max, milliseconds, 3), state)
		}
	}
}
