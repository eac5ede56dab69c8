package reports

import (
	"fmt"
	"time"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
)

// timelineRows is how many instances the timeline shows.
const timelineRows = 60

// instanceDrawing draws one cell: counts of instances and waiting requests over the whole run, and around its largest
// wave one row for each instance with its start-up hatched and its executions solid.
func instanceDrawing(pr pair, c cell) *drawing {
	lives := livesOf(c.Run)
	whole := span{0, clock.Instant(runSeconds(pr) * float64(time.Second))}
	near := aroundAll(pr, whole)
	seen := living(lives, near)
	shown := seen[:min(len(seen), timelineRows)]
	all := levelsOf(lives, whole.to+1)
	rows := px(len(shown))
	height := max(6, min(14, 300/max(rows, 1)))
	d := &drawing{W: 640, Title: fmt.Sprintf("%s, %s: instances and queue", pr.Pattern, c.Label()),
		Desc: instanceFinding(c, near, all)}

	d.levels(all, whole, near, 30, 120)
	top := px(192)
	d.text("name", "start", 44, top-10, fmt.Sprintf("one row an instance, around the largest wave (%d of %d instances)", len(shown), len(lives)))
	p := panel{d, linear(inSeconds(near.from), inSeconds(near.to), 44, 626), axis{min: 0, max: float64(max(len(shown), 1)), from: top + rows*height, to: top}}
	p.timeline(shown, near, height)
	below := top + rows*height + 50
	d.levels(all, near, near, below, below+80)
	d.H = below + 80 + 42
	return d
}

// levels draws the step lines of a stretch of the run; of the whole run it also marks the stretch that is enlarged.
func (d *drawing) levels(all levels, in, marked span, top, bottom px) {
	most := max(peak(all.starting), peak(all.busy), peak(all.idle), peak(all.waiting), 1)
	p := panel{d, linear(inSeconds(in.from), inSeconds(in.to), 44, 626), linear(0, float64(most), bottom, top)}
	if in != marked {
		from, to := p.x.at(inSeconds(marked.from)), p.x.at(inSeconds(marked.to))
		p.rect("aside", from, top, to-from, bottom-top, "enlarged below")
	}
	name := ""
	if in != marked {
		name = "instances, waiting requests"
	}
	p.grid("seconds since the run began", name, tickNumber, tickNumber, 8)
	for _, l := range []struct {
		class string
		steps []level
	}{{"state-idle", all.idle}, {"state-starting", all.starting}, {"state-busy", all.busy}, {"state-waiting", all.waiting}} {
		d.path("curve "+l.class, p.levelSteps(l.steps, in))
	}
}

// levelSteps draws the part of a step line that lies in a stretch of time. What happens within one pixel is drawn as its
// highest and its last value, so that the line stays short however long the run is, and no peak is lost.
func (p panel) levelSteps(sums []level, in span) string {
	points := []point{{p.x.from, p.y.at(0)}}
	for _, s := range sums {
		if s.at > in.to {
			break
		}
		at := point{p.x.at(inSeconds(s.at)), p.y.at(float64(s.n))}
		n := len(points)
		switch {
		case s.at <= in.from:
			points[0].y = at.y
		case n > 2 && at.x-points[n-2].x < 1:
			points[n-2].y = min(points[n-2].y, at.y)
			points[n-1].y = at.y
		default:
			points = append(points, at, at)
		}
	}
	return steps(append(points, point{p.x.to, points[len(points)-1].y}))
}

// timeline draws the rows.
func (p panel) timeline(shown []*life, in span, height px) {
	for i, l := range shown {
		y := p.y.to + px(i)*height
		p.life(l, in, y, height)
	}
	p.line("axis", p.x.from, p.y.from, p.x.to, p.y.from)
	for _, v := range p.x.ticks(8) {
		p.line("axis", p.x.at(v), p.y.from, p.x.at(v), p.y.from+4)
	}
	p.text("tick", "end", p.x.from-6, p.y.to+10, "1st")
	if len(shown) > 4 {
		p.text("tick", "end", p.x.from-6, p.y.from, count(len(shown)))
	}
}

func (p panel) life(l *life, in span, y, height px) {
	bar := height - max(1, height/5)
	ready, gone := l.ready(in.to), l.gone(in.to)
	p.stretch("bar-starting", span{l.Started, ready}, in, y, bar, fmt.Sprintf("instance %d: start-up %s", l.ID, duration(ready.Sub(l.Started))))
	p.stretch("bar-idle", span{ready, gone}, in, y, bar, fmt.Sprintf("instance %d: ready", l.ID))
	for _, j := range l.jobs {
		if j.record.Server.Start != record.Cold { // of a cold request the start-up is the wait
			p.stretch("bar-wait", span{j.arrived, j.from}, in, y+bar/2-0.5, 1, "")
		}
	}
	for _, j := range l.jobs {
		kind := j.record.Server.Start
		p.stretch("bar-busy "+kindClass(kind), j.span, in, y, bar,
			fmt.Sprintf("request %d on instance %d: %s, waited %s", j.record.Seq, l.ID, kind, duration(j.record.Server.Wait())))
	}
}

// covers says whether the shape hides a rectangle of the same class from x to its end: on one row of a long run many
// executions share a pixel.
func (s shape) covers(class string, x, end, y px) bool {
	return s.Kind == "rect" && s.Class == class && s.Y == y && s.X <= x && s.X+s.W >= end
}

// stretch draws the part of s that is in view, at least one pixel wide.
func (p panel) stretch(class string, s, in span, y, height px, tip string) {
	from, to := max(s.from, in.from), min(s.to, in.to)
	if from >= to {
		return
	}
	x, end := p.x.at(inSeconds(from)), p.x.at(inSeconds(to))
	if n := len(p.Shapes); n > 0 && p.Shapes[n-1].covers(class, x, end, y) {
		return
	}
	p.rect(class, x, y, max(1, end-x), height, tip)
}

// aroundAll covers the largest wave on every side of a pattern, so that the sides share the axis.
func aroundAll(pr pair, whole span) span {
	all := around(pr.Cells[0].Run, whole)
	for _, c := range pr.Cells[1:] {
		one := around(c.Run, whole)
		all = span{min(all.from, one.from), max(all.to, one.to)}
	}
	return all
}

// around returns the time of the largest wave, from shortly before it until its answers have come and the instances
// that it started are ready, but not into the next wave. Without waves it is the whole run.
func around(r *analysis.Run, whole span) span {
	waves := r.Summary.Waves
	best := -1
	for i, w := range waves {
		if best < 0 || w.N >= waves[best].N {
			best = i
		}
	}
	if best < 0 {
		return whole
	}
	const margin = 250 * time.Millisecond
	w := waves[best]
	end := w.At.Add(w.Makespan)
	limit := whole.to
	if best+1 < len(waves) {
		limit = waves[best+1].At
	}
	for _, i := range r.Instances {
		if i.Started >= w.At && i.Started < end && i.Ready < limit {
			end = max(end, i.Ready)
		}
	}
	return span{max(0, w.At.Add(-margin)), max(w.At+1, min(end.Add(margin), limit))}
}

// living lists the instances that lived in a stretch of time.
func living(lives []life, in span) []*life {
	var seen []*life
	for i := range lives {
		if lives[i].Started < in.to && lives[i].Stopped > in.from {
			seen = append(seen, &lives[i])
		}
	}
	return seen
}

func instanceFinding(c cell, near span, all levels) string {
	n := c.Run.Summary.Instances
	return fmt.Sprintf("%d starts, at most %d instances alive, %d starting, %d busy and %d requests waiting at once; enlarged: %s to %s s.",
		n.Starts, n.Peak, peak(all.starting), peak(all.busy), peak(all.waiting), inUnit(time.Duration(near.from), seconds, 2), inUnit(time.Duration(near.to), seconds, 2))
}

// instanceTable lists the instances of one cell.
func instanceTable(c cell) grid {
	g := grid{Caption: "Instances, " + c.Label(), Columns: []column{
		{Name: "instance", Number: true}, {Name: "started s", Number: true}, {Name: "start-up s", Number: true},
		{Name: "stopped s", Number: true}, {Name: "served", Number: true}, {Name: "busy s", Number: true}, {Name: "first used by"}, {Name: "failed"},
	}}
	onNodes := placed(c.Run.Instances)
	if onNodes {
		g.Columns = append(g.Columns, column{Name: "node", Number: true}, column{Name: "download"})
	}
	for i, inst := range c.Run.Instances {
		if i == tableRows {
			g.Notes = append(g.Notes, fmt.Sprintf("The first %d of %d.", tableRows, len(c.Run.Instances)))
			break
		}
		startUp, stopped, failed := "-", "-", ""
		if inst.Ready != clock.Never {
			startUp = inUnit(inst.Ready.Sub(inst.Started), seconds, 3)
		}
		if inst.Stopped != clock.Never {
			stopped = inUnit(time.Duration(inst.Stopped), seconds, 3)
		}
		if inst.Failed {
			failed = "failed"
		}
		cells := []string{count(int(inst.ID)), inUnit(time.Duration(inst.Started), seconds, 3), startUp, stopped, count(inst.Served),
			inUnit(inst.Busy, seconds, 3), usedBy(&inst), failed}
		if onNodes {
			cells = append(cells, nodeText(inst.Node), downloadText(inst.Cached))
		}
		g.add(cells...)
	}
	return g
}

func downloadText(cached bool) string {
	if cached {
		return "skipped"
	}
	return ""
}
