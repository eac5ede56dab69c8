package reports

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// px is a coordinate of a drawing; a tenth of a pixel is finer than a screen shows.
type px float64

func (p px) String() string {
	return strconv.FormatFloat(math.Round(float64(p)*10)/10, 'f', -1, 64)
}

// A drawing is one static picture. Title and Desc say what it shows and what is to be seen in it: they are all that a
// reader has who does not see it.
type drawing struct {
	ID          string
	Title, Desc string
	W, H        px
	Shapes      []shape
}

// A shape is one element of a drawing. Class names its colours in the style sheet.
type shape struct {
	Kind       string // line, rect, circle, path or text
	Class      string
	X, Y, W, H px     // line: from X, Y to W, H; circle: center and radius W
	D          string // path
	Text       string // text, or what is told of the shape under the pointer
	Anchor     string // text: start, middle or end
}

func (d *drawing) line(class string, x1, y1, x2, y2 px) {
	d.Shapes = append(d.Shapes, shape{Kind: "line", Class: class, X: x1, Y: y1, W: x2, H: y2})
}

func (d *drawing) rect(class string, x, y, w, h px, tip string) {
	d.Shapes = append(d.Shapes, shape{Kind: "rect", Class: class, X: x, Y: y, W: w, H: h, Text: tip})
}

func (d *drawing) circle(class string, x, y, r px, tip string) {
	d.Shapes = append(d.Shapes, shape{Kind: "circle", Class: class, X: x, Y: y, W: r, Text: tip})
}

func (d *drawing) text(class, anchor string, x, y px, text string) {
	d.Shapes = append(d.Shapes, shape{Kind: "text", Class: class, Anchor: anchor, X: x, Y: y, Text: text})
}

func (d *drawing) path(class, data string) {
	if data != "" {
		d.Shapes = append(d.Shapes, shape{Kind: "path", Class: class, D: data})
	}
}

// A point is a place in a drawing.
type point struct{ x, y px }

// polyline joins points by straight lines.
func polyline(points []point) string {
	var b strings.Builder
	for i, p := range points {
		if i == 0 {
			b.WriteString("M")
		} else {
			b.WriteString("L")
		}
		b.WriteString(p.x.String() + " " + p.y.String())
	}
	return b.String()
}

// steps joins points by a line that keeps each value until the next point.
func steps(points []point) string {
	var b strings.Builder
	for i, p := range points {
		if i == 0 {
			b.WriteString("M" + p.x.String() + " " + p.y.String())
		} else {
			b.WriteString("H" + p.x.String() + "V" + p.y.String())
		}
	}
	return b.String()
}

// An axis maps values to places. Of a logarithmic axis both ends are above 0.
type axis struct {
	min, max float64
	from, to px
	log      bool
}

// at returns the place of v; values beyond an end lie on it.
func (a axis) at(v float64) px {
	v = min(max(v, a.min), a.max)
	share := (v - a.min) / (a.max - a.min)
	if a.log {
		share = math.Log(v/a.min) / math.Log(a.max/a.min)
	}
	return a.from + (a.to-a.from)*px(share)
}

// linear returns an axis from lo to hi, which differ at least a little.
func linear(lo, hi float64, from, to px) axis {
	if hi <= lo {
		hi = lo + 1
	}
	return axis{min: lo, max: hi, from: from, to: to}
}

// logarithmic returns an axis whose ends are the next of 1, 2, 5, 10, … outside lo and hi.
func logarithmic(lo, hi float64, from, to px) axis {
	lo, hi = roundDown(lo), roundUp(hi)
	if hi <= lo {
		hi = lo * 10
	}
	return axis{min: lo, max: hi, from: from, to: to, log: true}
}

var mantissas = []float64{1, 2, 5, 10}

func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range mantissas {
		if m*unit >= v*(1-1e-9) {
			return m * unit
		}
	}
	return 10 * unit
}

func roundDown(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	best := unit
	for _, m := range mantissas {
		if m*unit <= v*(1+1e-9) {
			best = m * unit
		}
	}
	return best
}

// ticks returns about n values at which the axis is labelled.
func (a axis) ticks(n int) []float64 {
	if a.log {
		return a.logTicks(n)
	}
	step := roundUp((a.max - a.min) / float64(n))
	var values []float64
	for i := int(math.Ceil(a.min/step - 1e-9)); float64(i)*step <= a.max*(1+1e-9); i++ {
		values = append(values, float64(i)*step)
	}
	return values
}

// logTicks returns 1, 2, 5, 10, …, or the powers of ten alone where those would be too many.
func (a axis) logTicks(n int) []float64 {
	var values []float64
	for unit := math.Pow(10, math.Floor(math.Log10(a.min))); unit <= a.max*(1+1e-9); unit *= 10 {
		for _, m := range mantissas[:3] {
			if v := m * unit; v >= a.min*(1-1e-9) && v <= a.max*(1+1e-9) {
				values = append(values, v)
			}
		}
	}
	if len(values) <= 2*n {
		return values
	}
	var powers []float64
	for _, v := range values {
		if l := math.Log10(v); math.Abs(l-math.Round(l)) < 1e-9 {
			powers = append(powers, v)
		}
	}
	return powers
}

// tickTime labels a number of milliseconds.
func tickTime(ms float64) string {
	switch {
	case ms >= 1000:
		return tickNumber(ms/1000) + " s"
	case ms >= 1 || ms == 0:
		return tickNumber(ms) + " ms"
	}
	return tickNumber(ms*1000) + " us"
}

// tickMillis labels a number of milliseconds on an axis that begins at 0, where one unit reads better than two.
func tickMillis(ms float64) string { return tickNumber(ms) + " ms" }

// tickNumber labels a plain number.
func tickNumber(v float64) string { return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64) }

func inMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func inSeconds[T ~int64](d T) float64 { return float64(d) / float64(time.Second) }

// A panel is the area of a drawing that holds data, with its two axes.
type panel struct {
	*drawing
	x, y axis
}

// grid draws lines and labels at the values of both axes, and the names of the axes.
func (p panel) grid(xName, yName string, xLabel, yLabel func(float64) string, xTicks int) {
	for _, v := range p.y.ticks(5) {
		y := p.y.at(v)
		p.line("grid", p.x.from, y, p.x.to, y)
		p.text("tick", "end", p.x.from-6, y+4, yLabel(v))
	}
	for _, v := range p.x.ticks(xTicks) {
		x := p.x.at(v)
		p.line("axis", x, p.y.from, x, p.y.from+4)
		p.text("tick", "middle", x, p.y.from+17, xLabel(v))
	}
	p.line("axis", p.x.from, p.y.from, p.x.to, p.y.from)
	if xName != "" {
		p.text("name", "end", p.x.to, p.y.from+33, xName)
	}
	if yName != "" {
		p.text("name", "start", p.x.from, p.y.to-8, yName)
	}
}
