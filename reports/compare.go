package reports

import (
	"fmt"
	"io"
	"time"

	"coldwave/analysis"
)

// Comparison is policies on common seeds in virtual time: on each seed all sides face the same arrivals, demands and
// start-up draws.
type Comparison struct {
	Meta    Meta
	Setting Setting
	Sides   []Side // the first is what the others are compared with
	Pairs   []SidePair
	Each    bool // text and Markdown show each pair also where there are several

	Standings Standings     // all sides, in their order
	Wall      time.Duration // on this host; in no document
}

// Side is one of the things compared.
type Side struct {
	Name     string // as it was asked for, such as "policy:fc-race"
	Policy   string
	Requests int64  // of all runs
	Log      string // SHA-256 over the event logs in the order of the seeds
}

// SidePair is one side beside the first one.
type SidePair struct {
	A, B string // names of the sides
	Rows []analysis.Paired
}

// ComparisonText writes the paired differences. Its only errors are those of w.
func ComparisonText(w io.Writer, c Comparison, s Style) error {
	p := &printer{w: w, style: s}
	p.sentence(compareSentence(&c))
	p.grids(p.overview(&c.Standings, &c.Setting, everyOf(c.Standings.All), len(c.Standings.All)))
	p.grid(frontGrid(&c.Standings, &c.Setting, len(c.Standings.All)))
	p.sentence(frontSentence(&c.Standings))
	for i := range c.shownPairs() {
		for _, g := range pairedGrids(&c.Pairs[i], c.Setting.Level) {
			p.grid(g)
		}
	}
	p.write("\n")
	for _, text := range compareMethod(&c) {
		p.sentence(text)
	}
	for _, side := range c.Sides {
		if side.Log != "" && len(c.shownPairs()) > 0 {
			p.sentence("Event log SHA-256 of " + side.Name + ": " + side.Log + ".")
		}
	}
	return p.err
}

// ComparisonMarkdown writes the tables of c. Its only errors are those of w.
func ComparisonMarkdown(w io.Writer, c Comparison) error {
	m := &markdown{}
	m.paragraph("## " + inMarkdown(compareSentence(&c)))
	m.captioned(overviewGrid(&c.Standings, &c.Setting, everyOf(c.Standings.All), len(c.Standings.All)))
	m.captioned(frontGrid(&c.Standings, &c.Setting, len(c.Standings.All)))
	m.paragraph(inMarkdown(frontSentence(&c.Standings)))
	for i := range c.shownPairs() {
		for _, g := range pairedGrids(&c.Pairs[i], c.Setting.Level) {
			m.captioned(g)
		}
	}
	for _, text := range compareMethod(&c) {
		m.paragraph(inMarkdown(text))
	}
	_, err := io.WriteString(w, m.text.String())
	return err
}

// ComparisonHTML writes c as one self-contained page. Its errors are those of w.
func ComparisonHTML(w io.Writer, c Comparison) error {
	verdict, facts := compareSentence(&c), []string(nil)
	if len(c.Pairs) > 1 {
		verdict, facts = frontSentence(&c.Standings), []string{verdict}
	}
	p := &page{
		Title: "Comparison on " + c.Setting.Pattern, Verdict: verdict, Facts: facts, Tone: good, Method: compareMethod(&c),
		Environment: append(settingFacts(&c.Setting), toolFacts(c.Meta)...),
	}
	for _, side := range c.Sides {
		p.Environment = append(p.Environment, fact{"event log SHA-256 of " + side.Name, side.Log})
	}
	p.Sections = append(p.Sections, frontSection(&c.Standings, &c.Setting, everyOf(c.Standings.All), len(c.Standings.All)))
	p.Sections = append(p.Sections, pairSection(&c))
	return p.write(w)
}

// pairSection shows the differences: open if there is one pair, else one folded figure for each.
func pairSection(c *Comparison) section {
	s := section{ID: "pairs", Title: "Differences to " + first(c.Sides)}
	for i := range c.Pairs {
		grids := pairedGrids(&c.Pairs[i], c.Setting.Level)
		if len(c.Pairs) == 1 {
			s.Figures = append(s.Figures, tableFigures(grids)...)
		} else {
			s.Figures = append(s.Figures, &figure{Title: c.Pairs[i].B + " against " + c.Pairs[i].A, Tables: grids})
		}
	}
	return s
}

func compareSentence(c *Comparison) string {
	const named = 3
	names := ""
	for i, side := range c.Sides {
		switch {
		case i == 0:
		case i == 1 && len(c.Sides) > named:
			return fmt.Sprintf("%s against %d others%s", names, len(c.Sides)-1, compareEnd(&c.Setting))
		case i == 1:
			names += " against "
		default:
			names += ", "
		}
		names += side.Name
	}
	return names + compareEnd(&c.Setting)
}

func compareEnd(s *Setting) string {
	return fmt.Sprintf(" on %s%s: %s, the same for every side.", s.Pattern, settingText(s), seedsText(s))
}

// shownPairs are the pairs that text and Markdown show: the only one, or all if that was asked for.
func (c *Comparison) shownPairs() []SidePair {
	if len(c.Pairs) == 1 || c.Each {
		return c.Pairs
	}
	return nil
}

// compareMethod says what the columns mean.
func compareMethod(c *Comparison) []string {
	s := &c.Setting
	level := percent(s.Level)
	quantiles := "Quantiles within a run are " + quantilesText(s.Buckets)
	if len(c.shownPairs()) == 0 {
		return []string{
			"Common random numbers: on each seed all sides face the same arrivals and demands, and the start-up of the k-th instance is drawn " +
				"alike. Intervals of medians are exact at " + level + " or more, from their order statistics. " + quantiles,
			"The seed-by-seed differences to " + first(c.Sides) + " are in the JSON and HTML documents, and here with --pairs.",
		}
	}
	return []string{
		"Common random numbers: on each seed all sides face the same arrivals and demands, and the start-up of the k-th instance is " +
			"drawn alike. So the sides are compared seed by seed: B − A is the median of the per-seed differences, and its interval " +
			"is exact at " + level + " or more for any law of the differences (sign test, from their order statistics; 6 seeds at " +
			"95 %). B ÷ A likewise. The intervals hold line by line, not all at once.",
		"A and B are medians over the seeds. " + quantiles,
	}
}

func first(sides []Side) string {
	if len(sides) == 0 {
		return "the first side"
	}
	return sides[0].Name
}

// pairedGrids shows the differences of one pair, one table for each group of units. A bill that no seed has on both sides is
// left out.
func pairedGrids(p *SidePair, level float64) []grid {
	var all []grid
	for _, group := range unitGroups {
		var rows []analysis.Paired
		for _, r := range p.Rows {
			if group.holds(r.Metric) && (r.N > 0 || r.Metric.Unit == analysis.Latency) {
				rows = append(rows, r)
			}
		}
		if len(rows) > 0 {
			all = append(all, pairedGrid(p, group.caption, rows, level))
		}
	}
	return all
}

func pairedGrid(p *SidePair, caption string, rows []analysis.Paired, level float64) grid {
	var values []time.Duration
	var differences []float64
	for _, r := range rows {
		if r.N > 0 {
			values = append(values, time.Duration(r.MedianA), time.Duration(r.MedianB))
			differences = append(differences, r.Difference, r.DifferenceIn.Low, r.DifferenceIn.High)
		}
	}
	show := printerOf(rows[0].Metric.Unit, values)
	fine := show.fine(differences)
	ci := percent(level)
	g := grid{Caption: fmt.Sprintf("%s%s: A = %s, B = %s", caption, show.unit, p.A, p.B), Columns: []column{
		{Name: "metric"}, {Name: "seeds", Number: true}, {Name: "A", Number: true}, {Name: "B", Number: true}, {Name: "B − A", Number: true},
		{Name: ci + " of B − A", Number: true}, {Name: "B ÷ A", Number: true}, {Name: ci + " of B ÷ A", Number: true}, {Name: "B is", Verb: true},
	}}
	for _, r := range rows {
		if r.N == 0 {
			g.add(spoken(r.Metric.Name), "0", "", "", empty)
			continue
		}
		quotient, quotientIn := "n/a", "n/a"
		if r.RatioOK {
			quotient, quotientIn = significant(r.Ratio), show.span(r.RatioIn, significant)
		}
		g.add(spoken(r.Metric.Name), count(r.N), show.value(float64(r.MedianA)), show.value(float64(r.MedianB)), fine.value(r.Difference),
			fine.span(r.DifferenceIn, fine.value), quotient, quotientIn, string(r.Finding()))
	}
	return g
}
