package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"coldwave/analysis"
)

// gateGrids shows the thresholds of a run beside what was measured; nothing if there are none.
func gateGrids(gates []analysis.Gate) []grid {
	if len(gates) == 0 {
		return nil
	}
	g := grid{Caption: "Gates", Columns: []column{
		{Name: "gate"}, {Name: "measured"}, {Name: "n", Number: true}, {Name: "verdict", Verb: true}, {Name: "why", Prose: true},
	}}
	limits := false
	for i := range gates {
		gate := &gates[i]
		limits = limits || !gate.Whole && gate.N > 0
		g.Lines = append(g.Lines, line{Tone: gateTone(gate.Verdict), Cells: []string{gate.Text, measured(gate), count(gate.N), string(gate.Verdict), gateReason(gate)}})
	}
	if limits {
		g.Notes = append(g.Notes, gateMethod(&gates[0]))
	}
	return []grid{g}
}

func gateMethod(g *analysis.Gate) string {
	if g.Runs > 0 {
		return "measured: the median run, with its one-sided 95 % limits over the runs."
	}
	return "measured: in parentheses the one-sided 95 % limits, within this run and for independent requests. A gate passes if the limit " +
		"on the side that matters obeys it."
}

func gateTone(v analysis.Verdict) tone {
	switch v {
	case analysis.Pass:
		return good
	case analysis.Fail:
		return bad
	case analysis.Inconclusive:
	}
	return doubt
}

// measured prints the number of a gate with its limits, such as "58.9 ms (57.2 ms to 61.1 ms)".
func measured(g *analysis.Gate) string {
	if g.N == 0 {
		return empty
	}
	text := quantity(g.Stat, g.Value)
	if g.AtLeast {
		text = "≥ " + text
	}
	if g.Whole {
		return text
	}
	return fmt.Sprintf("%s (%s to %s)", text, quantity(g.Stat, g.Low), quantity(g.Stat, g.High))
}

// quantity prints a number of a statistic with its unit.
func quantity(s analysis.Stat, x float64) string {
	switch {
	case math.IsInf(x, 0) || math.IsNaN(x):
		return "n/a"
	case s.IsTime():
		return duration(time.Duration(x))
	case s.IsShare():
		return shareText(x)
	case s == analysis.RateStat:
		return significant(x) + "/s"
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// shareText prints a share in percent, with three significant digits.
func shareText(x float64) string {
	if x == 0 {
		return "0 %"
	}
	text := significant(100 * x)
	if strings.Trim(text, "-0.") == "" {
		text = strconv.FormatFloat(100*x, 'g', 2, 64)
	}
	return text + " %"
}

// gateReason says why, and what would decide it.
func gateReason(g *analysis.Gate) string {
	if g.More == 0 {
		return g.Reason
	}
	what := "requests"
	if g.Runs > 0 {
		what = "runs"
	}
	return fmt.Sprintf("%s; +%s %s would likely decide", g.Reason, thousands(g.More), what)
}

// thousands prints n with commas.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// gateSentence counts the verdicts, and names what failed.
func gateSentence(gates []analysis.Gate) string {
	if len(gates) == 0 {
		return ""
	}
	var failed []string
	passed, undecided := 0, 0
	for i := range gates {
		switch gates[i].Verdict {
		case analysis.Pass:
			passed++
		case analysis.Fail:
			failed = append(failed, gates[i].Name())
		case analysis.Inconclusive:
			undecided++
		}
	}
	text := fmt.Sprintf("%d of %d gates pass", passed, len(gates))
	if len(failed) > 0 {
		text += fmt.Sprintf(", %d failed (%s)", len(failed), strings.Join(failed, "; "))
	}
	if undecided > 0 {
		text += fmt.Sprintf(", %d inconclusive", undecided)
	}
	return text + "."
}

// gates is the table of what was judged, with its sentence.
func (m *markdown) gates(all []analysis.Gate) {
	for _, g := range gateGrids(all) {
		m.paragraph("**" + inMarkdown(gateSentence(all)) + "**")
		m.table(g)
	}
}

// judged puts the verdicts before everything else.
func (p *page) judged(all []analysis.Gate) {
	if len(all) == 0 {
		return
	}
	p.Verdict = gateSentence(all) + " " + p.Verdict
	if t := gatesTone(all); t == bad || p.Tone == good {
		p.Tone = t
	}
	p.Sections = append(p.Sections, section{ID: "gates", Title: "Gates", Figures: tableFigures(gateGrids(all))})
}

// gatesTone is the tone of all gates together.
func gatesTone(gates []analysis.Gate) tone {
	worst := good
	for i := range gates {
		switch gates[i].Verdict {
		case analysis.Fail:
			return bad
		case analysis.Inconclusive:
			worst = doubt
		case analysis.Pass:
		}
	}
	return worst
}

// gateDoc is one threshold in files. Durations are in nanoseconds, shares from 0 to 1, rates a second.
type gateDoc struct {
	Name      string   `json:"name"`
	Threshold string   `json:"threshold"`
	Selector  string   `json:"selector"`
	Op        string   `json:"op"`
	Limit     *float64 `json:"limit"`
	N         int      `json:"n"`
	Value     *float64 `json:"value"`
	AtLeast   bool     `json:"at_least"`
	Low       *float64 `json:"low"`
	High      *float64 `json:"high"`
	Runs      *int     `json:"runs"`
	Verdict   string   `json:"verdict"`
	Reason    *string  `json:"reason"`
	More      *int     `json:"more"`
}

func gateDocs(gates []analysis.Gate) []gateDoc {
	docs := []gateDoc{}
	for i := range gates {
		g := &gates[i]
		d := gateDoc{Name: g.Name(), Threshold: g.Text, Selector: g.Selector.String(), Op: g.Op, Limit: finite(g.Limit), N: g.N, AtLeast: g.AtLeast,
			Verdict: string(g.Verdict), Reason: known(g.Reason), Runs: quotaOf(g.Runs), More: quotaOf(g.More)}
		if g.N > 0 {
			d.Value, d.Low, d.High = finite(g.Value), finite(g.Low), finite(g.High)
		}
		docs = append(docs, d)
	}
	return docs
}
