package reports

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"coldwave/analysis"
)

// Sweep is one policy at every point of a grid of parameters, on common seeds in virtual time.
type Sweep struct {
	Meta      Meta
	Setting   Setting
	Policy    string // spec of what no axis sets
	Axes      []Axis
	LeftOut   int       // points that no scheduler can have, as a minimum above the maximum
	Standings Standings // the points in the order of the grid, the last axis fastest, and then the oracle
	Sort      string    // as of Order; empty: the order of the grid
	Rows      int       // points that text, Markdown and HTML list; 0: all
	Wall      time.Duration
}

// Axis is one parameter with its values as they are written.
type Axis struct {
	Name   string
	Values []string
}

// ErrSort is wrapped by the error for a key that nothing can be sorted by.
var ErrSort = errors.New("bad sort key")

// descending ends a key for the opposite order.
const descending = ":desc"

// Order returns the indices of all standings by a key: a parameter, in the order of its values; "place", the front first; a
// statistic of the response time such as "p99"; or any metric. ":desc" at its end turns the order round. Those that have no such
// number come last, and equal ones stay in the order of the grid. An error wraps ErrSort.
func (s *Sweep) Order(key string) ([]int, error) {
	order := everyOf(s.Standings.All)
	name, turned := strings.CutSuffix(key, descending)
	if name == "" {
		return order, nil
	}
	rank, err := s.ranks(name)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := rank(a), rank(b)
		switch {
		case x == analysis.Missing || y == analysis.Missing:
			return cmp.Compare(b2i(x == analysis.Missing), b2i(y == analysis.Missing))
		case turned:
			return cmp.Compare(y, x)
		}
		return cmp.Compare(x, y)
	})
	return order, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ranks returns what the standings are sorted by; analysis.Missing: it has no such number.
func (s *Sweep) ranks(name string) (func(i int) int64, error) {
	all := s.Standings.All
	if k := slices.IndexFunc(s.Axes, func(a Axis) bool { return a.Name == name }); k >= 0 {
		return func(i int) int64 {
			at := slices.Index(s.Axes[k].Values, all[i].Labels[k])
			if at < 0 || i == s.Standings.Oracle {
				return analysis.Missing
			}
			return int64(at)
		}, nil
	}
	if name == "place" {
		places := make([]int64, len(all))
		for at, i := range s.Standings.frontOrder() {
			places[i] = int64(at)
		}
		return func(i int) int64 { return places[i] }, nil
	}
	for _, m := range analysis.Metrics() {
		if m.Name == name || statistic(m) == name || m.Name == "allocated" && name == "inst-s" {
			return func(i int) int64 {
				if one := all[i].spread(m.Name); one.N > 0 {
					return one.Median
				}
				return analysis.Missing
			}, nil
		}
	}
	return nil, fmt.Errorf("%w %q: must be %s", ErrSort, name, strings.Join(s.sortKeys(), ", "))
}

// sortKeys lists what can be sorted by.
func (s *Sweep) sortKeys() []string {
	var keys []string
	for _, a := range s.Axes {
		keys = append(keys, a.Name)
	}
	keys = append(keys, "place", "inst-s")
	for _, m := range analysis.Metrics() {
		keys = append(keys, statistic(m))
	}
	return keys
}

// rows is how many rows a table has.
func (s *Sweep) rows() int {
	if s.Rows <= 0 {
		return len(s.Standings.All)
	}
	return s.Rows
}

// SweepText writes the best of each objective, the table over all points and the Pareto front. Its errors are those of w and
// of Order.
func SweepText(w io.Writer, s Sweep, style Style) error {
	order, err := s.Order(s.Sort)
	if err != nil {
		return err
	}
	p := &printer{w: w, style: style}
	p.sentence(sweepSentence(&s))
	p.grids(p.overview(&s.Standings, &s.Setting, order, s.rows()))
	p.grid(frontGrid(&s.Standings, &s.Setting, s.rows()))
	p.grid(bestGrid(&s))
	p.write("\n")
	p.sentence(frontSentence(&s.Standings))
	for _, text := range sweepMethod(&s) {
		p.sentence(text)
	}
	return p.err
}

// SweepMarkdown writes what SweepText does. Its errors are those of w and of Order.
func SweepMarkdown(w io.Writer, s Sweep) error {
	order, err := s.Order(s.Sort)
	if err != nil {
		return err
	}
	m := &markdown{}
	m.paragraph("## " + inMarkdown(frontSentence(&s.Standings)))
	m.paragraph(inMarkdown(sweepSentence(&s)))
	m.captioned(bestGrid(&s))
	m.captioned(frontGrid(&s.Standings, &s.Setting, s.rows()))
	m.captioned(overviewGrid(&s.Standings, &s.Setting, order, s.rows()))
	for _, text := range sweepMethod(&s) {
		m.paragraph(inMarkdown(text))
	}
	_, err = io.WriteString(w, m.text.String())
	return err
}

// SweepHTML writes s as one self-contained page. Its errors are those of w and of Order.
func SweepHTML(w io.Writer, s Sweep) error {
	order, err := s.Order(s.Sort)
	if err != nil {
		return err
	}
	p := &page{
		Title: "Sweep of " + s.Policy + " on " + s.Setting.Pattern, Verdict: frontSentence(&s.Standings), Tone: good,
		Facts: []string{sweepSentence(&s)}, Method: sweepMethod(&s),
		Environment: append(settingFacts(&s.Setting), toolFacts(s.Meta)...),
	}
	for _, a := range s.Axes {
		p.Environment = append(p.Environment, fact{a.Name, strings.Join(a.Values, ", ")})
	}
	front := frontSection(&s.Standings, &s.Setting, order, s.rows())
	front.Figures = slices.Insert(front.Figures, 1, &figure{Tables: []grid{bestGrid(&s)}, Open: true, Wide: true})
	p.Sections = []section{front}
	return p.write(w)
}

func sweepSentence(s *Sweep) string {
	var axes []string
	for _, a := range s.Axes {
		axes = append(axes, fmt.Sprintf("%s (%d)", a.Name, len(a.Values)))
	}
	points := len(s.Standings.All)
	if s.Standings.Oracle != NoOracle {
		points--
	}
	text := fmt.Sprintf("%s over %s: %s on %s%s: %s each.", s.Policy, strings.Join(axes, " × "), pointsText(points), s.Setting.Pattern,
		settingText(&s.Setting), seedsText(&s.Setting))
	switch {
	case s.LeftOut == 1:
		text += " Another one is left out: its minimum is above its maximum."
	case s.LeftOut > 1:
		text += fmt.Sprintf(" %d others are left out: their minimum is above their maximum.", s.LeftOut)
	}
	return text
}

func pointsText(n int) string {
	if n == 1 {
		return "1 point"
	}
	return fmt.Sprintf("%d points", n)
}

// An objective is a number that should be small.
type objective struct{ metric, name string }

// bestGrid shows the best point of each objective among those that served their requests.
func bestGrid(s *Sweep) grid {
	of := &s.Standings
	g := grid{Caption: "Best of each", Columns: []column{{Name: "lowest"}}}
	for _, name := range of.Columns {
		g.Columns = append(g.Columns, column{Name: name, Number: true})
	}
	g.Columns = append(g.Columns, column{Name: "median", Number: true}, column{Name: "alike", Number: true})
	for _, o := range []objective{
		{of.Latency.Name, statistic(of.Latency) + " response time"}, {of.Cost.Name, "instance-seconds"}, {"billed_by_request", "billed by request"},
		{"billed_by_instance", "billed by instance"}, {"starts", "starts"},
	} {
		if best, alike := of.best(o.metric); best >= 0 {
			one := &of.All[best]
			g.add(slices.Concat([]string{o.name}, one.Labels, []string{medianOf(one.spread(o.metric)), count(alike)})...)
		}
	}
	g.Notes = []string{"The first in the order of the grid; alike: others with the same three digits. Who did not serve its requests is left out."}
	return g
}

// best returns the first candidate with the lowest median of a metric, with three digits as on the front, and how many
// others have it; −1: there is none.
func (s *Standings) best(metric string) (best, alike int) {
	best = -1
	var lowest int64
	for i := range s.All {
		m := s.All[i].spread(metric)
		if i == s.Oracle || !s.All[i].Place.OK || m.N == 0 {
			continue
		}
		switch n := (analysis.Candidate{Cost: m.Median}).Coarse().Cost; {
		case best < 0 || n < lowest:
			best, alike, lowest = i, 0, n
		case n == lowest:
			alike++
		}
	}
	return best, alike
}

func sweepMethod(s *Sweep) []string {
	return []string{
		"Common random numbers: on each seed every point faces the same arrivals and demands, and the start-up of the k-th instance is drawn " +
			"alike. Intervals of medians are exact at " + percent(s.Setting.Level) + " or more, from their order statistics; they need 6 seeds at 95 %. " +
			"Quantiles within a run are " + quantilesText(s.Setting.Buckets),
	}
}
