package reports

import (
	"fmt"
	"io"
	"strconv"
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
	Wall    time.Duration // on this host; in no document
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
	for i := range c.Pairs {
		for _, g := range pairedGrids(&c.Pairs[i], c.Setting.Level) {
			p.grid(g)
		}
	}
	p.write("\n")
	for _, text := range compareMethod(&c.Setting) {
		p.sentence(text)
	}
	for _, side := range c.Sides {
		if side.Log != "" {
			p.sentence("Event log SHA-256 of " + side.Name + ": " + side.Log + ".")
		}
	}
	return p.err
}

// ComparisonMarkdown writes the tables of c. Its only errors are those of w.
func ComparisonMarkdown(w io.Writer, c Comparison) error {
	m := &markdown{}
	m.paragraph("## " + inMarkdown(compareSentence(&c)))
	for i := range c.Pairs {
		for _, g := range pairedGrids(&c.Pairs[i], c.Setting.Level) {
			m.paragraph("### " + inMarkdown(g.Caption))
			m.table(g)
		}
	}
	for _, text := range compareMethod(&c.Setting) {
		m.paragraph(inMarkdown(text))
	}
	_, err := io.WriteString(w, m.text.String())
	return err
}

// ComparisonHTML writes c as one self-contained page. Its errors are those of w.
func ComparisonHTML(w io.Writer, c Comparison) error {
	p := &page{
		Title: "Comparison on " + c.Setting.Pattern, Verdict: compareSentence(&c), Tone: good, Method: compareMethod(&c.Setting),
		Environment: append(settingFacts(&c.Setting), toolFacts(c.Meta)...),
	}
	for _, side := range c.Sides {
		p.Environment = append(p.Environment, fact{"event log SHA-256 of " + side.Name, side.Log})
	}
	for i := range c.Pairs {
		p.Sections = append(p.Sections, section{
			ID: "pair-" + strconv.Itoa(i+1), Title: c.Pairs[i].B + " against " + c.Pairs[i].A,
			Figures: tableFigures(pairedGrids(&c.Pairs[i], c.Setting.Level)),
		})
	}
	return p.write(w)
}

func compareSentence(c *Comparison) string {
	names := ""
	for i, side := range c.Sides {
		switch {
		case i == 0:
		case i == 1:
			names += " against "
		default:
			names += ", "
		}
		names += side.Name
	}
	return fmt.Sprintf("%s on %s%s: %s, the same for every side.", names, c.Setting.Pattern, settingText(&c.Setting), seedsText(&c.Setting))
}

// compareMethod says what the columns mean.
func compareMethod(s *Setting) []string {
	level := percent(s.Level)
	return []string{
		"Common random numbers: on each seed all sides face the same arrivals and demands, and the start-up of the k-th instance is " +
			"drawn alike. So the sides are compared seed by seed: B − A is the median of the per-seed differences, and its interval " +
			"is exact at " + level + " or more for any law of the differences (sign test, from their order statistics; 6 seeds at " +
			"95 %). B ÷ A likewise. The intervals hold line by line, not all at once.",
		"A and B are medians over the seeds. Quantiles within a run are " + quantilesText(s.Buckets),
	}
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
