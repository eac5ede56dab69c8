package reports

import (
	"fmt"
	"math"
	"strconv"

	"coldwave/analysis"
)

// changeRow is the height of one metric in the picture of changes.
const changeRow px = 34

// changeDrawing draws each ratio B ÷ A with its interval and margin, and a dot for each run, so that readers see the
// replication. It is nil if there is nothing to draw.
func changeDrawing(c *RunComparison, pair *RunPair) *drawing {
	var rows []*analysis.Comparison
	for i := range pair.Rows {
		if r := &pair.Rows[i]; r.Scale == analysis.Ratio && r.RunsA > 0 && r.RunsB > 0 {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	d := &drawing{W: 820, H: 70 + changeRow*px(len(rows)), Title: "B ÷ A: " + pair.B + " against " + pair.A, Desc: changeFinding(c, rows)}
	lo, hi := changeRange(c, pair, rows)
	x := axis{min: lo, max: hi, from: 130, to: 800, log: true}
	bottom := 30 + changeRow*px(len(rows))
	for _, v := range ratioTicks(lo, hi) {
		d.line("grid", x.at(v), 24, x.at(v), bottom)
		d.text("tick", "middle", x.at(v), bottom+17, strconv.FormatFloat(v, 'g', 3, 64))
	}
	for i, r := range rows {
		changeMarks(d, c, pair, r, x, 30+changeRow*px(i))
	}
	d.line("axis", x.at(1), 24, x.at(1), bottom)
	d.text("name", "end", x.to, bottom+33, "value ÷ median of A; band: margin; bar: interval of B ÷ A; dots: runs of A above, of B below")
	return d
}

// changeMarks draws one metric below top.
func changeMarks(d *drawing, c *RunComparison, pair *RunPair, r *analysis.Comparison, x axis, top px) {
	middle := top + changeRow/2
	from, to := x.at(1-r.Margin), x.at(1+r.Margin)
	d.rect("aside", from, top+3, to-from, changeRow-6, fmt.Sprintf("margin of %s: %s", r.Name, changeText(r, r.Margin, false)))
	d.text("tick", "end", x.from-8, middle+4, r.Name)
	for _, side := range []struct {
		name, class string
		y           px
	}{{pair.A, "before", middle - 9}, {pair.B, "after", middle + 9}} {
		for _, v := range ratiosOf(c, side.name, side.class, pair, r) {
			d.circle("dot "+side.class, x.at(v), side.y, 2.6, fmt.Sprintf("%s of a run of %s: %s of A's median", r.Name, side.name, strconv.FormatFloat(v, 'f', 3, 64)))
		}
	}
	if r.In.OK {
		d.line("curve after", x.at(1+r.In.Low), middle, x.at(1+r.In.High), middle)
	}
	d.circle("solid after", x.at(1+r.Effect), middle, 4.2, fmt.Sprintf("%s: %s, %s", r.Name, changeText(r, r.Effect, true), r.Change))
}

// ratiosOf are the runs of a side as parts of A's median. Of a comparison of a side with itself, A is the first one.
func ratiosOf(c *RunComparison, name, class string, pair *RunPair, r *analysis.Comparison) []float64 {
	var out []float64
	for i := range c.Sides {
		if c.Sides[i].Name != name || (pair.A == pair.B && (i == 0) != (class == "before")) {
			continue
		}
		for _, run := range c.Sides[i].Runs {
			if v, ok := run.Stats[r.Name]; ok && v.X > 0 && r.MedianA > 0 {
				out = append(out, v.X/r.MedianA)
			}
		}
	}
	return out
}

// changeRange is the range of the axis: everything that is drawn, and the margins at least.
func changeRange(c *RunComparison, pair *RunPair, rows []*analysis.Comparison) (lo, hi float64) {
	lo, hi = 0.9, 1.1
	for _, r := range rows {
		all := append(ratiosOf(c, pair.A, "before", pair, r), ratiosOf(c, pair.B, "after", pair, r)...)
		all = append(all, 1+r.Effect, 1-r.Margin, 1+r.Margin)
		if r.In.OK {
			all = append(all, 1+r.In.Low, 1+r.In.High)
		}
		for _, v := range all {
			if v > 0 && !math.IsInf(v, 0) && !math.IsNaN(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	return lo / 1.02, hi * 1.02
}

// ratioTicks are round ratios within the range, 1 among them.
func ratioTicks(lo, hi float64) []float64 {
	candidates := []float64{0.9, 0.95, 1, 1.05, 1.1}
	if hi/lo > 1.6 {
		candidates = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50, 100}
	}
	var out []float64
	for _, v := range candidates {
		if v >= lo && v <= hi {
			out = append(out, v)
		}
	}
	return out
}

// changeFinding says what is to be seen.
func changeFinding(c *RunComparison, rows []*analysis.Comparison) string {
	text := ""
	for _, r := range rows {
		text += fmt.Sprintf("%s %s (%s). ", r.Name, changeText(r, r.Effect, true), r.Change)
	}
	return text + fmt.Sprintf("Each side has %s.", runsText(c))
}
