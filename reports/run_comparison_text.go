package reports

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"coldwave/analysis"
)

// RunComparisonText writes the table of changes of each pair, the deciles, void rounds, and the verdict in one sentence.
// Its only errors are those of w.
func RunComparisonText(w io.Writer, c RunComparison, s Style) error {
	p := &printer{w: w, style: s}
	p.sentence(sessionSentence(&c))
	for _, text := range sessionWarnings(&c) {
		p.hanging(p.colour(doubt, "warning")+"  ", p.text(text))
	}
	for i := range c.Pairs {
		p.grid(changeGrid(&c, &c.Pairs[i]))
		if !c.AA {
			p.grid(decileGrid(&c, &c.Pairs[i]))
		}
	}
	p.write("\n")
	for _, text := range sessionMethod(&c) {
		p.sentence(text)
	}
	p.write("\n" + p.colour(sessionTone(&c), p.text(changeSentence(&c))) + "\n")
	return p.err
}

// RunComparisonMarkdown writes the same for a step summary. Its only errors are those of w.
func RunComparisonMarkdown(w io.Writer, c RunComparison) error {
	m := &markdown{}
	m.paragraph("## " + inMarkdown(changeSentence(&c)))
	m.paragraph(inMarkdown(sessionSentence(&c)))
	for _, text := range sessionWarnings(&c) {
		m.paragraph("**Warning:** " + inMarkdown(text))
	}
	for i := range c.Pairs {
		g := changeGrid(&c, &c.Pairs[i])
		m.paragraph("### " + inMarkdown(g.Caption))
		m.table(g)
		if !c.AA {
			m.folded(decileGrid(&c, &c.Pairs[i]))
		}
	}
	m.folded(runsGrid(&c))
	for _, text := range sessionMethod(&c) {
		m.paragraph(inMarkdown(text))
	}
	_, err := io.WriteString(w, m.text.String())
	return err
}

// RunComparisonHTML writes c as one self-contained page. Its errors are those of w.
func RunComparisonHTML(w io.Writer, c RunComparison) error {
	p := &page{
		Title: "Comparison on " + c.Pattern, Verdict: changeSentence(&c), Tone: sessionTone(&c), Facts: []string{sessionSentence(&c)},
		Method: sessionMethod(&c), Environment: append(sessionFacts(&c), toolFacts(c.Meta)...),
	}
	for _, text := range sessionWarnings(&c) {
		p.Warnings = append(p.Warnings, analysis.Warning{Code: "session", Text: text})
	}
	for i := range c.Pairs {
		pair := &c.Pairs[i]
		s := section{ID: "pair-" + strconv.Itoa(i+1), Title: pair.B + " against " + pair.A, Figures: tableFigures([]grid{changeGrid(&c, pair)})}
		if d := changeDrawing(&c, pair); d != nil {
			s.Figures = append(s.Figures, &figure{Drawing: d, Wide: true})
		}
		if !c.AA {
			s.Figures = append(s.Figures, tableFigures([]grid{decileGrid(&c, pair)})...)
		}
		p.Sections = append(p.Sections, s)
	}
	p.Sections = append(p.Sections, section{ID: "runs", Title: "Runs", Intro: "Each valid run is one line: they are what is compared.",
		Figures: tableFigures([]grid{runsGrid(&c)})})
	return p.write(w)
}

func sessionSentence(c *RunComparison) string {
	var sides []string
	for i := range c.Sides {
		sides = append(sides, letter(i)+" "+c.Sides[i].Name)
	}
	text := fmt.Sprintf("%s on %s", strings.Join(sides, ", "), c.Pattern)
	if c.AA && len(c.Sides) > 0 {
		text = fmt.Sprintf("A/A: %s against itself on %s", c.Sides[0].Name, c.Pattern)
	}
	if c.Law != "" {
		text += ", cold-start law " + c.Law
	}
	text += ", " + driver(c.Driver)
	if c.Driver == recordedDriver {
		return text + ": " + runsText(c) + "."
	}
	text += fmt.Sprintf(": %s in turns (ABBA)", runsText(c))
	if c.Lanes > 1 && c.Driver != virtualDriver {
		text += fmt.Sprintf(", %d at once", c.Lanes)
	}
	if c.Driver != virtualDriver {
		text += ", " + elapsed(c.Elapsed)
	}
	return text + "."
}

// recordedDriver is the driver of a comparison of runs that were made before.
const recordedDriver = "recorded"

func letter(side int) string { return string(rune('A' + side%26)) }

// runsText says how many runs the sides have.
func runsText(c *RunComparison) string {
	var counts []string
	same := true
	for i := range c.Sides {
		counts = append(counts, strconv.Itoa(len(c.Sides[i].Runs)))
		same = same && counts[i] == counts[0]
	}
	if len(counts) == 0 {
		return "no runs"
	}
	if same {
		return counts[0] + " runs a side"
	}
	return strings.Join(counts, " and ") + " runs"
}

// sessionWarnings is what a reader must know before the numbers.
func sessionWarnings(c *RunComparison) []string {
	var all []string
	if !c.Valid() {
		all = append(all, fmt.Sprintf("the comparison is void: %s are valid, %d were wanted", runsText(c), c.Wanted))
	}
	all = append(all, voidWarnings(c.Void)...)
	if least := leastRuns(c); least > c.Wanted {
		all = append(all, fmt.Sprintf("%d runs a side cannot show a change in one of %d metrics; %d can, and fewer metrics need fewer (--metric)", c.Wanted,
			metricsOf(c), least))
	}
	all = append(all, c.Notes...)
	for _, d := range c.Differing {
		all = append(all, "the sides differ in more than what is compared: "+d)
	}
	return all
}

// voidWarnings names the rounds that count on no side, those of one reason together.
func voidWarnings(rounds []VoidRound) []string {
	var all []string
	for len(rounds) > 0 {
		reason := rounds[0].Reason
		var numbers []string
		var rest []VoidRound
		for _, v := range rounds {
			if v.Reason == reason {
				numbers = append(numbers, strconv.Itoa(v.Round))
			} else {
				rest = append(rest, v)
			}
		}
		text := "round " + numbers[0] + " counts"
		if len(numbers) > 1 {
			text = "rounds " + strings.Join(numbers, ", ") + " count"
		}
		all = append(all, text+" on no side: "+reason)
		rounds = rest
	}
	return all
}

// leastRuns is the smallest number of runs a side that could show anything among the metrics of c; 0 if there are none.
func leastRuns(c *RunComparison) int {
	n := metricsOf(c)
	if n == 0 || c.AA {
		return 0
	}
	return analysis.LeastRuns(n, analysis.Versus{Level: c.Level, Paired: c.Paired})
}

// metricsOf counts the metrics that both sides of the first pair have.
func metricsOf(c *RunComparison) (n int) {
	if len(c.Pairs) == 0 {
		return 0
	}
	for i := range c.Pairs[0].Rows {
		if r := &c.Pairs[0].Rows[i]; r.RunsA > 0 && r.RunsB > 0 {
			n++
		}
	}
	return n
}

// changeGrid is the table of one pair.
func changeGrid(c *RunComparison, pair *RunPair) grid {
	ci := percent(c.Level)
	g := grid{Caption: fmt.Sprintf("A = %s, B = %s", pair.A, pair.B), Columns: []column{
		{Name: "metric"}, {Name: "A", Number: true}, {Name: "B", Number: true}, {Name: "change", Number: true}, {Name: ci + " of change", Number: true},
		{Name: "margin", Number: true}, {Name: "noise", Number: true}, {Name: "verdict", Verb: true}, {Name: "why", Prose: true},
	}}
	if c.AA {
		g.Caption = "A/A: " + pair.A
		g.Columns[6] = column{Name: "noise", Number: true}
		g.Columns[8] = column{Name: fmt.Sprintf("%d runs a side would show", c.Wanted), Prose: true}
	}
	absent := 0
	for i := range pair.Rows {
		r := &pair.Rows[i]
		if r.RunsA == 0 && r.RunsB == 0 {
			absent++
			continue
		}
		g.Lines = append(g.Lines, line{Tone: changeTone(r.Change), Cells: changeCells(c, r)})
	}
	if absent > 0 {
		g.Notes = append(g.Notes, fmt.Sprintf("%d more metrics have no number on either side.", absent))
	}
	return g
}

func changeCells(c *RunComparison, r *analysis.Comparison) []string {
	name := r.Name
	if r.Primary {
		name += " *"
	}
	a, b := bounded(r, r.MedianA, r.CensoredA, r.RunsA), bounded(r, r.MedianB, r.CensoredB, r.RunsB)
	if r.RunsA == 0 || r.RunsB == 0 {
		return []string{name, a, b, "n/a", "n/a", changeText(r, r.Margin, false), "n/a", string(r.Change), reasonOf(r)}
	}
	interval := "n/a"
	if r.In.OK {
		interval = changeText(r, r.In.Low, true) + " to " + changeText(r, r.In.High, true)
	}
	last := reasonOf(r)
	if c.AA {
		last = detectable(r, c.Wanted)
	}
	return []string{name, a, b, changeText(r, r.Effect, true), interval, changeText(r, r.Margin, false), changeText(r, r.Noise, false), string(r.Change), last}
}

// bounded prints the median of a side; where runs timed out it is a lower bound.
func bounded(r *analysis.Comparison, x float64, censored, runs int) string {
	if runs == 0 {
		return empty
	}
	text := metricText(r, x)
	if censored > 0 {
		text = "≥ " + text
	}
	return text
}

// metricText prints a number of a yardstick with its unit.
func metricText(r *analysis.Comparison, x float64) string {
	s, err := analysis.ParseSelector(r.Name)
	if err != nil {
		return significant(x)
	}
	return quantity(s.Stat, x)
}

// changeText prints a change: in percent, or in percentage points where the yardstick is a share.
func changeText(r *analysis.Comparison, x float64, signed bool) string {
	unit := "%"
	if r.Scale == analysis.Difference {
		unit = "pp"
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "n/a"
	}
	text := unsigned(strconv.FormatFloat(100*x, 'f', changeDigits(100*x), 64))
	if signed && x > 0 && !strings.HasPrefix(text, "0") || signed && strings.Trim(text, "0.") != "" && x > 0 {
		text = "+" + text
	}
	return text + " " + unit
}

// changeDigits keeps changes near zero apart and large ones short.
func changeDigits(x float64) int {
	switch x = math.Abs(x); {
	case x >= 99.5:
		return 0
	case x >= 0.95 || x < 0.005:
		return 1
	default:
		return 2
	}
}

// reasonOf says why a comparison says no more, and what would decide it.
func reasonOf(r *analysis.Comparison) string {
	needed := ""
	switch {
	case r.Needed > analysis.MaxNeeded:
		needed = "more than " + thousands(analysis.MaxNeeded) + " runs a side needed"
	case r.Needed > 0:
		needed = strconv.Itoa(r.Needed) + " runs a side needed"
	}
	switch {
	case needed == "":
		return r.Reason
	case r.PlainlyUnclear():
		return needed
	}
	return r.Reason + "; " + needed
}

// detectable says what change so many runs would likely show.
func detectable(r *analysis.Comparison, runs int) string {
	if runs < 1 {
		return ""
	}
	if r.Scale == analysis.Difference {
		return "± " + changeText(r, analysis.Detectable(r.Noise, runs), false)
	}
	return "± " + changeText(r, math.Expm1(analysis.Detectable(math.Log1p(r.Noise), runs)), false)
}

func changeTone(c analysis.Change) tone {
	switch c {
	case analysis.Improved, analysis.NoRegression:
		return good
	case analysis.Regressed:
		return bad
	case analysis.Unclear:
	}
	return doubt
}

// decileGrid shows how the change runs from the fastest requests to the slowest.
func decileGrid(c *RunComparison, pair *RunPair) grid {
	g := grid{Caption: "B ÷ A by quantile of the response time", Columns: []column{{Name: "quantile"}}}
	ratios, spans := line{Cells: []string{"B ÷ A"}}, line{Cells: []string{percent(c.Level)}}
	for _, d := range pair.Deciles {
		g.Columns = append(g.Columns, column{Name: strconv.FormatFloat(100*d.Q, 'g', 4, 64) + " %", Number: true})
		ratio, span := "n/a", "n/a"
		if d.OK {
			ratio = strconv.FormatFloat(d.Ratio, 'f', 2, 64)
		}
		if d.OK && d.In.OK {
			span = strconv.FormatFloat(d.In.Low, 'f', 2, 64) + "–" + strconv.FormatFloat(d.In.High, 'f', 2, 64)
		}
		ratios.Cells, spans.Cells = append(ratios.Cells, ratio), append(spans.Cells, span)
	}
	g.Lines = []line{ratios, spans}
	return g
}

// runsGrid lists every valid run with its primary numbers.
func runsGrid(c *RunComparison) grid {
	g := grid{Caption: "Runs", Columns: []column{{Name: "run"}, {Name: "side"}, {Name: "seed", Number: true}}}
	if len(c.Pairs) == 0 {
		return g
	}
	rows := c.Pairs[0].Rows
	for i := range rows {
		g.Columns = append(g.Columns, column{Name: rows[i].Name, Number: true})
	}
	for i := range c.Sides {
		for _, run := range c.Sides[i].Runs {
			cells := []string{run.ID, letter(i) + " " + c.Sides[i].Name, strconv.FormatUint(run.Seed, 10)}
			for k := range rows {
				v, ok := run.Stats[rows[k].Name]
				text := "n/a"
				if ok {
					text = bounded(&rows[k], v.X, btoi(v.AtLeast), 1)
				}
				cells = append(cells, text)
			}
			g.add(cells...)
		}
	}
	return g
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// changeSentence is the verdict: what the primary metrics say.
func changeSentence(c *RunComparison) string {
	if !c.Valid() {
		return fmt.Sprintf("Void: %s are valid, %d were wanted.", runsText(c), c.Wanted)
	}
	var parts []string
	for i := range c.Pairs {
		pair := &c.Pairs[i]
		for k := range pair.Rows {
			if r := &pair.Rows[k]; r.Primary {
				parts = append(parts, changeOf(c, pair, r))
			}
		}
		parts = append(parts, othersOf(pair)...)
	}
	return strings.Join(parts, "; ") + "."
}

func changeOf(c *RunComparison, pair *RunPair, r *analysis.Comparison) string {
	subject := r.Name
	if len(c.Pairs) > 1 {
		subject = pair.B + " " + r.Name
	}
	if r.RunsA == 0 || r.RunsB == 0 {
		return subject + ": " + string(r.Change)
	}
	return fmt.Sprintf("%s: %s, %s", subject, r.Change, changeText(r, r.Effect, true))
}

// othersOf names what else changed: it informs, and decides nothing.
func othersOf(pair *RunPair) []string {
	by := map[analysis.Change][]string{}
	for i := range pair.Rows {
		if r := &pair.Rows[i]; !r.Primary {
			by[r.Change] = append(by[r.Change], r.Name)
		}
	}
	var out []string
	for _, change := range []analysis.Change{analysis.Regressed, analysis.Improved} {
		if names := by[change]; len(names) > 0 {
			out = append(out, "also "+string(change)+": "+strings.Join(names, ", "))
		}
	}
	return out
}

// sessionTone is the tone of the whole comparison.
func sessionTone(c *RunComparison) tone {
	if !c.Valid() {
		return doubt
	}
	worst := good
	for i := range c.Pairs {
		for k := range c.Pairs[i].Rows {
			switch r := &c.Pairs[i].Rows[k]; {
			case !r.Primary:
			case r.Change == analysis.Regressed:
				return bad
			case r.Change == analysis.Unclear:
				worst = doubt
			}
		}
	}
	return worst
}

// sessionMethod says what the columns mean.
func sessionMethod(c *RunComparison) []string {
	test := "exact Mann-Whitney interval"
	if c.Paired {
		test = "exact Wilcoxon signed-rank interval of the rounds"
	}
	all := []string{
		"* primary metric: only it decides the exit code. A and B are medians over the runs, the unit of replication. Change: Hodges-Lehmann " +
			"estimate, with its " + test + "; IMPROVED and REGRESSION lie wholly beyond the margin, after Holm's correction over " +
			strconv.Itoa(metricsOf(c)) + " metrics. Noise: standard deviation from run to run.",
	}
	if labels := labelsText(c); labels != "" {
		all = append(all, labels)
	}
	if c.AA {
		all = append(all, "A/A: one side against itself, so every change is noise. The last column is the smallest change that as many runs "+
			"would show in 80 % of the cases.")
	}
	return all
}

// labelsText says where the start kinds of each side come from.
func labelsText(c *RunComparison) string {
	var parts []string
	for i := range c.Sides {
		from := strings.Join(c.Sides[i].Labels, ", ")
		if from == "" {
			from = "not told"
		}
		parts = append(parts, letter(i)+" "+from)
	}
	if len(parts) == 0 {
		return ""
	}
	return "Start kinds come from: " + strings.Join(parts, "; ") + "."
}

// sessionFacts lists what a reader needs to repeat the comparison.
func sessionFacts(c *RunComparison) []fact {
	facts := []fact{{"pattern", c.Canonical}, {"cold-start law", c.Law}, {"first seed", strconv.FormatUint(c.Seed, 10)}, {"runs at once", count(c.Lanes)}}
	for i := range c.Sides {
		facts = append(facts, fact{"side " + letter(i), fmt.Sprintf("%s, %d runs, %d requests", c.Sides[i].Name, len(c.Sides[i].Runs), c.Sides[i].Requests)})
	}
	return facts
}
