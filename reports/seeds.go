package reports

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"coldwave/analysis"
	"coldwave/workload"
)

// Setting is what all runs over seeds had in common.
type Setting struct {
	Pattern   string // name, such as "fc-ramp"
	Canonical string // the pattern's text; parsing it gives the same arrivals
	Law       string // name of the cold-start law
	Function  workload.Function
	Quota     int                 // limit of alive instances; 0: none
	Placement *analysis.Placement // of every run; nil: nowhere in particular, or not the same
	Seed      uint64              // of the first run; run k has Seed + k
	Runs      int                 // seeds
	Level     float64             // of intervals
	Schedules string              // SHA-256 over the hashes of all schedules in the order of the seeds, hexadecimal
	Buckets   bool                // quantiles of at least one run come from a histogram of three digits
}

// Seeds is one policy over many seeds in virtual time.
type Seeds struct {
	Meta     Meta
	Setting  Setting
	Policy   string
	Waves    int    // of the pattern; those beyond the first hundred have no numbers of their own
	Requests int64  // of all runs
	Log      string // SHA-256 over the event logs in the order of the seeds; of one run its own
	Spreads  []analysis.Spread
	Gates    []analysis.Gate // thresholds over the runs; empty: there are none
	Trials   []Trial         // by seed; empty: not to be listed
	Wall     time.Duration   // on this host; in no document
}

// Trial is one run of many.
type Trial struct {
	Seed     uint64
	Schedule string  // its hash
	Log      string  // SHA-256 of its event log
	Values   []int64 // by metric, in the order of Seeds.Spreads; analysis.Missing: none
}

// unitGroup is a table of metrics with one unit.
type unitGroup struct {
	caption string
	holds   func(analysis.Metric) bool
}

var unitGroups = []unitGroup{
	{"Response time", func(m analysis.Metric) bool { return m.Unit == analysis.Latency && !isWave(m) }},
	{"Response time by wave", isWave},
	{"Requests and starts", func(m analysis.Metric) bool { return !m.Unit.IsTime() }},
	{"Instance time and waiting", func(m analysis.Metric) bool {
		return m.Unit == analysis.InstanceTime || m.Unit == analysis.RequestTime || m.Unit == analysis.NodeTime
	}},
}

func isWave(m analysis.Metric) bool { return strings.HasPrefix(m.Name, "wave_") }

// SeedsText writes what a policy gave over the seeds. Its only errors are those of w.
func SeedsText(w io.Writer, s Seeds, style Style) error {
	p := &printer{w: w, style: style}
	p.sentence(seedsSentence(&s))
	for _, g := range spreadGrids(&s) {
		p.grid(g)
	}
	for _, text := range seedsMethod(&s) {
		p.sentence(text)
	}
	if s.Log != "" {
		p.sentence("Event log SHA-256 " + s.Log + ".")
	}
	p.gates(s.Gates)
	return p.err
}

// SeedsMarkdown writes the tables of s. Its only errors are those of w.
func SeedsMarkdown(w io.Writer, s Seeds) error {
	m := &markdown{}
	m.paragraph("## " + inMarkdown(seedsSentence(&s)))
	m.gates(s.Gates)
	for _, g := range spreadGrids(&s) {
		m.paragraph("### " + inMarkdown(g.Caption))
		m.table(g)
	}
	for _, text := range seedsMethod(&s) {
		m.paragraph(inMarkdown(text))
	}
	if s.Log != "" {
		m.paragraph("Event log SHA-256 `" + s.Log + "`.")
	}
	_, err := io.WriteString(w, m.text.String())
	return err
}

// SeedsHTML writes s as one self-contained page. Its errors are those of w.
func SeedsHTML(w io.Writer, s Seeds) error {
	p := &page{
		Title: s.Setting.Pattern + " under " + s.Policy, Verdict: seedsSentence(&s), Tone: good, Method: seedsMethod(&s),
		Environment: append(settingFacts(&s.Setting), append(toolFacts(s.Meta), fact{"event log SHA-256", s.Log})...),
	}
	p.judged(s.Gates)
	p.Sections = append(p.Sections, section{ID: "numbers", Title: "Over the seeds", Figures: tableFigures(spreadGrids(&s))})
	return p.write(w)
}

// narrowColumns is how many columns a table has at most that fits into half of a page.
const narrowColumns = 7

func tableFigures(grids []grid) []*figure {
	var all []*figure
	for _, g := range grids {
		all = append(all, &figure{Tables: []grid{g}, Open: true, Wide: len(g.Columns) > narrowColumns})
	}
	return all
}

func seedsSentence(s *Seeds) string {
	text := s.Setting.Pattern + " under " + s.Policy + settingText(&s.Setting)
	return fmt.Sprintf("%s: %d requests in %s.", text, s.Requests, seedsText(&s.Setting))
}

// settingText names what is not told elsewhere.
func settingText(s *Setting) string {
	text := ", cold-start law " + s.Law
	if s.Quota > 0 {
		text += fmt.Sprintf(", at most %d instances", s.Quota)
	}
	return text + placementText(s.Placement) + ", in virtual time"
}

func seedsText(s *Setting) string {
	if s.Runs == 1 {
		return fmt.Sprintf("1 run, seed %d", s.Seed)
	}
	return fmt.Sprintf("%d runs, seeds %d to %d", s.Runs, s.Seed, s.Seed+uint64(s.Runs)-1)
}

// seedsMethod says what the columns of spreads mean.
func seedsMethod(of *Seeds) []string {
	s, waves, spreads := &of.Setting, of.Waves, of.Spreads
	level := percent(s.Level)
	all := []string{
		"Each line is one number of a run over independent runs, one a seed. Interval of the mean: Student's t at " + level +
			", which holds where the mean of so many runs is near normal. Interval of the median: exact at " + level +
			" or more whatever the law of the runs, from their order statistics; it needs 6 runs at 95 %.",
		"Quantiles within a run are " + quantilesText(s.Buckets) + " p5, median and p95 over the runs are nearest rank.",
	}
	if shown := wavesShown(spreads); shown < waves {
		all = append(all, fmt.Sprintf("The first %d of %d waves have numbers of their own.", shown, waves))
	}
	return all
}

// wavesShown counts the waves that have numbers of their own.
func wavesShown(spreads []analysis.Spread) int {
	n := 0
	for _, s := range spreads {
		if isWave(s.Metric) && strings.HasSuffix(s.Metric.Name, "_mean") {
			n++
		}
	}
	return n
}

func quantilesText(buckets bool) string {
	if buckets {
		return "those of HDR histograms with 3 digits where a run has too many requests to keep them (up to 0.1 % above the exact ones)."
	}
	return "exact (nearest rank)."
}

// percent prints a level such as 0.95 as "95 %".
func percent(level float64) string { return strconv.FormatFloat(100*level, 'g', 6, 64) + " %" }

// spreadGrids shows the metrics, one table for each group of units. A bill that no run has is left out.
func spreadGrids(s *Seeds) []grid {
	var all []grid
	for _, group := range unitGroups {
		var rows []analysis.Spread
		for _, spread := range s.Spreads {
			if group.holds(spread.Metric) && (spread.N > 0 || spread.Metric.Unit == analysis.Latency) {
				rows = append(rows, spread)
			}
		}
		if len(rows) > 0 {
			all = append(all, spreadGrid(group.caption, rows, s.Setting.Level))
		}
	}
	return all
}

func spreadGrid(caption string, rows []analysis.Spread, level float64) grid {
	show := printerOf(rows[0].Metric.Unit, spreadValues(rows))
	ci := percent(level)
	g := grid{Caption: caption + show.unit, Columns: []column{
		{Name: "metric"}, {Name: "runs", Number: true}, {Name: "mean", Number: true}, {Name: ci + " of mean", Number: true},
		{Name: "min", Number: true}, {Name: "p5", Number: true}, {Name: "median", Number: true}, {Name: ci + " of median", Number: true},
		{Name: "p95", Number: true}, {Name: "max", Number: true},
	}}
	for _, r := range rows {
		if r.N == 0 {
			g.add(spoken(r.Metric.Name), "0", empty)
			continue
		}
		g.add(spoken(r.Metric.Name), count(r.N), show.average(r.Mean), show.span(r.MeanSpan, show.average), show.value(float64(r.Min)),
			show.value(float64(r.P5)), show.value(float64(r.Median)), show.span(r.MedianIn, show.value), show.value(float64(r.P95)),
			show.value(float64(r.Max)))
	}
	return g
}

func spreadValues(rows []analysis.Spread) []time.Duration {
	var all []time.Duration
	for _, r := range rows {
		if r.N > 0 {
			all = append(all, time.Duration(r.Min), time.Duration(r.Max))
		}
	}
	return all
}

// spoken turns the name of a metric into words.
func spoken(name string) string { return strings.ReplaceAll(name, "_", " ") }

// unitPrinter prints the numbers of one table.
type unitPrinter struct {
	unit   string // for the caption, in parentheses
	size   time.Duration
	digits int // behind the point of a value; -1: as many as it has
	means  int // of a mean
}

// printerOf chooses how the numbers of one unit are printed: latencies in the unit that fits them, sums of time in
// seconds, counts as they are and their means with two digits.
func printerOf(u analysis.Unit, values []time.Duration) unitPrinter {
	switch u {
	case analysis.Latency:
		s := scaleOf(values...)
		digits := max(s.digits, 1) // means over many runs differ by less than one request's times
		return unitPrinter{" (" + s.unit.name + ")", s.unit.size, digits, digits}
	case analysis.InstanceTime, analysis.RequestTime, analysis.NodeTime:
		return unitPrinter{" (s)", time.Second, 2, 2}
	case analysis.Requests, analysis.Instances, analysis.Nodes:
	}
	return unitPrinter{"", 1, -1, 2} // the median of an even number of differences may be a half
}

// fine returns a printer for differences, whose smallest must not look like zero: up to three digits behind the point.
func (p unitPrinter) fine(differences []float64) unitPrinter {
	const most = 3
	for _, d := range differences {
		for p.digits >= 0 && p.digits < most && d != 0 && strings.Trim(p.value(d), "-0.") == "" {
			p.digits++
		}
	}
	return p
}

func (p unitPrinter) value(x float64) string { return p.number(x, p.digits) }

func (p unitPrinter) average(x float64) string { return p.number(x, p.means) }

func (p unitPrinter) number(x float64, digits int) string {
	return unsigned(strconv.FormatFloat(x/float64(p.size), 'f', digits, 64))
}

// unsigned removes the sign of a zero.
func unsigned(number string) string {
	if strings.Trim(number, "-0.") == "" {
		return strings.TrimPrefix(number, "-")
	}
	return number
}

// span prints an interval, or says that there is none.
func (p unitPrinter) span(s analysis.Span, text func(float64) string) string {
	if !s.OK {
		return "n/a"
	}
	return text(s.Low) + " to " + text(s.High)
}

// settingFacts lists what a reader needs to repeat the runs.
func settingFacts(s *Setting) []fact {
	return []fact{
		{"pattern", s.Canonical}, {"cold-start law", s.Law}, {"runs", seedsText(s)}, {"SHA-256 over all schedules", s.Schedules},
	}
}

func toolFacts(m Meta) []fact {
	return []fact{{"program", strings.TrimSpace(m.Tool + " " + m.Version)}, {"commit", m.Commit}, {"command", m.Command}}
}
