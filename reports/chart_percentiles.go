package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
)

// curvePoints is how many points of one percentile curve are drawn; more would not be seen.
const curvePoints = 400

// percentileDrawing draws one cell's percentiles by start kind over log10(1/(1−q)), the axis of HDR plots. A line ends
// where the nearest rank has no more samples: n samples say nothing beyond q = 1 − 1/n.
func percentileDrawing(pr pair, c cell) *drawing {
	samples := samplesByKind(c.Run)
	d := &drawing{W: 640, H: 288,
		Title: fmt.Sprintf("%s, %s: percentiles by start kind", pr.Pattern, c.Label()), Desc: percentileFinding(samples)}
	lo, hi := responseRange(pr)
	p := panel{d, linear(0, percentileEnd(pr), 62, 556), logarithmic(lo, hi, 240, 30)}
	p.grid("percentile", "response time, logarithmic", percentileTick, tickTime, 1)
	p.percentileTicks()
	var labels labelColumn
	for _, k := range kindOrder {
		if len(samples[k]) == 0 {
			continue
		}
		points := p.curve(samples[k])
		d.path("curve "+kindClass(k), steps(points))
		end := points[len(points)-1]
		d.circle("solid "+kindClass(k), end.x, end.y, 3.4, fmt.Sprintf("%s ends here: n=%d", k, len(samples[k])))
		labels.add(end, side{Name: k.String(), Class: kindClass(k)})
	}
	labels.draw(d, p.y)
	return d
}

// curve returns the value of each rank, at most curvePoints of them. sorted is not empty.
func (p panel) curve(sorted []time.Duration) []point {
	n := len(sorted)
	stride := max(1, n/curvePoints)
	var points []point
	for rank := 0; rank < n; rank += stride {
		if n-rank < stride*4 {
			stride = max(1, (n-rank)/4) // the tail is what the figure is for
		}
		x := math.Log10(float64(n) / float64(n-rank))
		points = append(points, point{p.x.at(x), p.y.at(inMillis(sorted[rank]))})
	}
	return points
}

var percentileMarks = []float64{0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999}

func (p panel) percentileTicks() {
	for _, q := range percentileMarks {
		v := math.Log10(1 / (1 - q))
		if v > p.x.max {
			break
		}
		p.line("grid", p.x.at(v), p.y.from, p.x.at(v), p.y.to)
		p.text("tick", "middle", p.x.at(v), p.y.from+17, "p"+tickNumber(q*100))
	}
}

// percentileTick labels nothing: the marks of this axis are percentiles, not multiples.
func percentileTick(float64) string { return "" }

// percentileEnd is the right end of the axis: what the largest sample of the pattern reaches.
func percentileEnd(pr pair) float64 {
	most := 1.0
	for _, c := range pr.Cells {
		for _, s := range samplesByKind(c.Run) {
			if len(s) > 0 {
				most = max(most, math.Log10(float64(len(s))))
			}
		}
	}
	return most
}

// samplesByKind returns the sorted response times of the successful requests.
func samplesByKind(r *analysis.Run) [record.StartKinds][]time.Duration {
	var samples [record.StartKinds][]time.Duration
	for i := range r.Records {
		rec := &r.Records[i]
		if rec.Outcome == record.OK && rec.Server.Start < record.StartKinds {
			samples[rec.Server.Start] = append(samples[rec.Server.Start], rec.Response())
		}
	}
	for k := range samples {
		slices.Sort(samples[k])
	}
	return samples
}

// responseRange spans the response times of all sides of a pattern in milliseconds, so that they share an axis.
func responseRange(pr pair) (lo, hi float64) {
	for _, c := range pr.Cells {
		for i := range c.Run.Records {
			r := &c.Run.Records[i]
			if v := inMillis(r.Response()); ended(r) && v > 0 {
				if lo == 0 || v < lo {
					lo = v
				}
				hi = max(hi, v)
			}
		}
	}
	return lo, hi
}

// ended says whether the record has a response time: it was sent and its end is known.
func ended(r *record.Record) bool { return r.Outcome != record.Dropped && r.Done != clock.Never }

func percentileFinding(samples [record.StartKinds][]time.Duration) string {
	var parts []string
	for _, k := range kindOrder {
		if s := samples[k]; len(s) > 0 {
			parts = append(parts, fmt.Sprintf("%s: median %s, largest %s of %d", k, duration(s[(len(s)+1)/2-1]),
				duration(s[len(s)-1]), len(s)))
		}
	}
	if len(parts) == 0 {
		return "No request succeeded."
	}
	return strings.Join(parts, "; ") + "."
}

// kindClass names a start kind's colour in the style sheet.
func kindClass(k record.StartKind) string { return "kind-" + strings.ReplaceAll(k.String(), "_", "-") }
