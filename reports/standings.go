package reports

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"coldwave/analysis"
)

// Standings is several candidates that served the same requests, and which of them no other one beats in both of two
// numbers: the Pareto front.
type Standings struct {
	Latency analysis.Metric // of the first axis
	Cost    analysis.Metric // of the second one
	Allowed float64         // largest share of requests that may end otherwise than ok; a candidate above it takes no part
	Oracle  int             // index of the best possible; NoOracle: the best of each number stands for it
	Columns []string        // names of the labels
	All     []Standing
	Notes   []string // sentences, such as why there is no oracle
}

// NoOracle is the index of an oracle that is not there.
const NoOracle = -1

// Standing is one candidate.
type Standing struct {
	Labels     []string // one for each column: a policy, or the values of parameters
	Policy     string   // spec
	Requests   int64    // of all runs
	NotOK      int64    // of all runs: requests that ended otherwise than ok
	Spreads    []analysis.Spread
	Tariff     *analysis.Tariff // nil: not documented
	Place      analysis.Place   // by the medians over the seeds
	Log        string           // SHA-256 over the event logs in the order of the seeds; empty: no core decided
	FrontSeeds int              // seeds on which it is on the front of that seed
}

// name is how a candidate is called in a sentence.
func (s *Standings) name(i int) string {
	one := &s.All[i]
	if len(s.Columns) == 1 && len(one.Labels) == 1 && s.Columns[0] == policyColumn || i == s.Oracle {
		return one.Labels[0]
	}
	parts := make([]string, len(one.Labels))
	for k, v := range one.Labels {
		parts[k] = s.Columns[k] + "=" + v
	}
	return strings.Join(parts, " ")
}

// policyColumn is the column of labels that need no name beside them.
const policyColumn = "policy"

// spread returns a metric over the runs; one of no run if there is none of that name.
func (s *Standing) spread(name string) analysis.Spread {
	k := slices.IndexFunc(s.Spreads, func(m analysis.Spread) bool { return m.Metric.Name == name })
	if k < 0 {
		return analysis.Spread{}
	}
	return s.Spreads[k]
}

// An overviewColumn is one number of all candidates.
type overviewColumn struct {
	metric, name, group string
	cells               []string
}

const (
	latencyGroup = "response"
	startGroup   = "starts"
	billedGroup  = "billed"
)

// overview are the numbers that every candidate is shown with.
func (s *Standings) overview() []overviewColumn {
	columns := []overviewColumn{
		{"response_mean", "mean", latencyGroup, nil}, {"response_p50", "p50", latencyGroup, nil}, {"response_p95", "p95", latencyGroup, nil},
		{"response_p99", "p99", latencyGroup, nil}, {"response_max", "max", latencyGroup, nil},
		{"starts_own", "own", startGroup, nil}, {"starts_other", "other", startGroup, nil}, {"starts_never", "never", startGroup, nil},
		{"rejected", "rejected", "", nil}, {"not_ok", "not ok", "", nil},
		{"allocated", "inst-s", "", nil},
		{"billed_by_request", "request", billedGroup, nil}, {"billed_apart", "apart", billedGroup, nil}, {"billed_by_instance", "instance", billedGroup, nil},
	}
	return slices.DeleteFunc(columns, func(c overviewColumn) bool {
		switch c.metric {
		case "not_ok":
			return !s.any(func(one *Standing) bool { return one.spread("not_ok").Median != one.spread("rejected").Median })
		case "billed_apart":
			return !s.any(func(one *Standing) bool { return one.spread(c.metric).Median > 0 })
		case "billed_by_request", "billed_by_instance":
			return !s.any(func(one *Standing) bool { return one.spread(c.metric).N > 0 })
		}
		return false
	})
}

func (s *Standings) any(is func(*Standing) bool) bool {
	for i := range s.All {
		if is(&s.All[i]) {
			return true
		}
	}
	return false
}

// overviewGrid is one table over the candidates of these indices; beyond most it says that there are more.
func overviewGrid(s *Standings, of *Setting, order []int, most int) grid {
	g := grid{}
	for _, name := range s.Columns {
		g.Columns = append(g.Columns, column{Name: name, Number: name != policyColumn})
	}
	columns := s.overview()
	for i := range columns {
		c := &columns[i]
		unit := s.fill(c, order)
		if c.group == latencyGroup {
			g.Caption = "Response time" + unit + ", starts by first use, instance-seconds" + mediansText(of)
		}
		g.Columns = append(g.Columns, column{Name: c.name, Group: c.group, Number: true})
	}
	for k, i := range order {
		if k == most {
			g.Notes = append(g.Notes, fmt.Sprintf("The first %d of %d.", most, len(order)))
			break
		}
		cells := slices.Clone(s.All[i].Labels)
		for _, c := range columns {
			cells = append(cells, c.cells[k])
		}
		g.add(cells...)
	}
	g.Notes = append(g.Notes, s.overviewNotes(columns)...)
	return g
}

// fill prints the cells of a column and returns the unit that it has.
func (s *Standings) fill(c *overviewColumn, order []int) string {
	var values []time.Duration
	var unit analysis.Unit
	for i := range s.All {
		for _, m := range s.All[i].Spreads {
			if m.Metric.Unit == analysis.Latency && m.N > 0 && c.group == latencyGroup || m.Metric.Name == c.metric && m.N > 0 {
				values = append(values, time.Duration(m.Median))
			}
			if m.Metric.Name == c.metric {
				unit = m.Metric.Unit
			}
		}
	}
	show := printerOf(unit, values)
	if unit == analysis.InstanceTime {
		show.digits = 1
	}
	for _, i := range order {
		c.cells = append(c.cells, s.All[i].median(c, show))
	}
	return show.unit
}

// notDocumented is short for what the notes spell out.
const notDocumented = "n/d"

func (s *Standing) median(c *overviewColumn, show unitPrinter) string {
	m := s.spread(c.metric)
	switch {
	case m.N > 0:
		return show.value(float64(m.Median))
	case c.group != billedGroup:
		return "n/a"
	case s.Tariff == nil || c.metric == "billed_by_instance" && s.Tariff.ByInstance == nil:
		return notDocumented
	}
	return "n/a"
}

func (s *Standings) overviewNotes(columns []overviewColumn) []string {
	notes := []string{"own, other, never: starts whose first request was the one that caused them, another one, or none; inst-s: " +
		"instance-seconds from the decision to start."}
	if !slices.ContainsFunc(columns, func(c overviewColumn) bool { return c.group == billedGroup }) {
		return append(notes, "What would be billed is not documented for any of these.")
	}
	missing := false
	for _, c := range columns {
		missing = missing || slices.Contains(c.cells, notDocumented)
	}
	text := "billed: instance-seconds that the platform of the policy would bill, by request or by instance."
	if missing {
		text += " " + notDocumented + ": not documented."
	}
	notes = append(notes, text)
	for i := range s.All {
		if t := s.All[i].Tariff; t != nil && !slices.Contains(notes, TariffText(t)) {
			notes = append(notes, TariffText(t))
		}
	}
	return notes
}

// mediansText says what the numbers of a table are, over so many seeds.
func mediansText(of *Setting) string {
	if of.Runs <= 1 {
		return ""
	}
	return fmt.Sprintf(": medians over %d seeds", of.Runs)
}

// frontOrder returns the oracle, the front by rising latency, then those behind it, the nearest first, and those that take no part.
func (s *Standings) frontOrder() []int {
	order := make([]int, len(s.All))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) float64 {
		p := s.All[i].Place
		switch {
		case i == s.Oracle:
			return -1
		case !p.OK:
			return math.Inf(1)
		case p.Front:
			return 0
		}
		return p.Behind
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)),
			cmp.Compare(s.All[a].spread(s.Latency.Name).Median, s.All[b].spread(s.Latency.Name).Median))
	})
	return order
}

// frontGrid shows who is on the front, and how far the others are from it and from the best possible.
func frontGrid(s *Standings, of *Setting, most int) grid {
	order := s.frontOrder()
	var latencies, costs []time.Duration
	for i := range s.All {
		latencies = appendMedian(latencies, s.All[i].spread(s.Latency.Name))
		costs = appendMedian(costs, s.All[i].spread(s.Cost.Name))
	}
	latency, cost := printerOf(s.Latency.Unit, latencies), printerOf(s.Cost.Unit, costs)
	cost.digits = 1
	name, many := statistic(s.Latency), of.Runs > 1
	known := s.any(func(one *Standing) bool { return one.spread(s.Cost.Name).MedianIn.OK })
	g := grid{Caption: "Pareto front: " + name + " response time against instance-seconds" + mediansText(of)}
	for _, label := range s.Columns {
		g.Columns = append(g.Columns, column{Name: label, Number: label != policyColumn})
	}
	ci := percent(of.Level)
	add := func(name string, only bool) {
		if only {
			g.Columns = append(g.Columns, column{Name: name, Number: true})
		}
	}
	add(name+latency.unit, true)
	add(ci, known)
	add("inst-s", true)
	add(ci, known)
	g.Columns = append(g.Columns, column{Name: "place", Verb: true})
	add("seeds", many)
	for _, text := range []string{"behind", name + " ÷ best", "inst-s ÷ best"} {
		add(text, true)
	}
	for k, i := range order {
		if k == most {
			g.Notes = append(g.Notes, fmt.Sprintf("The first %d of %d.", most, len(order)))
			break
		}
		one := &s.All[i]
		l, c := one.spread(s.Latency.Name), one.spread(s.Cost.Name)
		cells := append(slices.Clone(one.Labels), medianText(l, latency))
		if known {
			cells = append(cells, latency.span(l.MedianIn, latency.value))
		}
		cells = append(cells, medianText(c, cost))
		if known {
			cells = append(cells, cost.span(c.MedianIn, cost.value))
		}
		word, tone := placeText(s, i)
		cells = append(cells, word)
		if many {
			cells = append(cells, s.seedsOnFront(i))
		}
		cells = append(cells, factorText(one.Place.OK && i != s.Oracle, one.Place.Behind), factorText(one.Place.OK, one.Place.Latency), factorText(one.Place.OK, one.Place.Cost))
		g.Lines = append(g.Lines, line{Cells: cells, Tone: tone})
	}
	g.Notes = append(g.Notes, frontNotes(s, many)...)
	return g
}

// seedsOnFront counts the seeds on which a candidate is on the front; the oracle is none.
func (s *Standings) seedsOnFront(i int) string {
	if i == s.Oracle {
		return ""
	}
	return count(s.All[i].FrontSeeds)
}

func appendMedian(to []time.Duration, m analysis.Spread) []time.Duration {
	if m.N == 0 {
		return to
	}
	return append(to, time.Duration(m.Median))
}

func medianText(m analysis.Spread, show unitPrinter) string {
	if m.N == 0 {
		return "n/a"
	}
	return show.value(float64(m.Median))
}

// statistic names what of the response time a metric is, such as "p99".
func statistic(m analysis.Metric) string { return strings.TrimPrefix(m.Name, "response_") }

// factorText prints a ratio with two digits behind the point.
func factorText(ok bool, x float64) string {
	if !ok {
		return ""
	}
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return "n/a"
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// placeText says where a candidate stands, in a word.
func placeText(s *Standings, i int) (string, tone) {
	switch one := &s.All[i]; {
	case i == s.Oracle:
		return "best possible", plain
	case !one.Place.OK:
		return "aside", muted
	case one.Place.Front:
		return "front", good
	}
	return "behind", plain
}

func frontNotes(s *Standings, many bool) []string {
	best := "best: the oracle, which serves every request at once with the fewest instance-seconds, because it knows the future; so it is no " +
		"candidate. A policy that lets requests wait may use fewer."
	if s.Oracle == NoOracle {
		best = "best: the lowest number in each column, which no single one need reach."
	}
	notes := []string{"front: no other one is lower in one number and not higher in the other. behind: the least factor by which both " +
		"numbers would have to shrink to be on the front. Both count with three significant digits.", best}
	if many {
		notes = append(notes, "seeds: on how many of them it is on the front of that seed.")
	}
	if s.any(func(one *Standing) bool { return !one.Place.OK }) {
		notes = append(notes, fmt.Sprintf("aside: more than %s of its requests were not served (--not-ok), so its numbers are of fewer requests.", percent(s.Allowed)))
	}
	return append(notes, s.Notes...)
}

// A stand is a place on the front that several candidates may share.
type stand struct {
	first int // index of one of them
	alike int // how many others there are
}

// stands lists the places on the front by rising latency.
func (s *Standings) stands() []stand {
	var all []stand
	seen := map[analysis.Candidate]int{}
	for _, i := range s.frontOrder() {
		if i == s.Oracle || !s.All[i].Place.Front {
			continue
		}
		c := analysis.Candidate{Latency: s.All[i].spread(s.Latency.Name).Median, Cost: s.All[i].spread(s.Cost.Name).Median}.Coarse()
		if k, ok := seen[c]; ok {
			all[k].alike++
			continue
		}
		seen[c] = len(all)
		all = append(all, stand{first: i})
	}
	return all
}

// frontSentence names those on the front, or its ends where there are many.
func frontSentence(s *Standings) string {
	const most = 5
	what := "Pareto front (" + statistic(s.Latency) + " response time against instance-seconds)"
	all := s.stands()
	if len(all) == 0 {
		return what + ": empty, because none served its requests; --not-ok says how many may fail."
	}
	if len(all) > most {
		return fmt.Sprintf("%s: %d places, from %s to %s.", what, len(all), s.standText(all[len(all)-1], true), s.standText(all[0], true))
	}
	var names []string
	for _, one := range all {
		names = append(names, s.standText(one, false))
	}
	return what + ": " + strings.Join(names, "; ") + "."
}

// standText names a place, with its numbers if that is asked for.
func (s *Standings) standText(one stand, numbers bool) string {
	text := s.name(one.first)
	var more []string
	if numbers {
		more = append(more, medianOf(s.All[one.first].spread(s.Latency.Name)), medianOf(s.All[one.first].spread(s.Cost.Name)))
	}
	if one.alike > 0 {
		more = append(more, fmt.Sprintf("%d alike", one.alike))
	}
	if len(more) > 0 {
		text += " (" + strings.Join(more, ", ") + ")"
	}
	return text
}

// medianOf prints the median of a metric with its unit.
func medianOf(m analysis.Spread) string {
	switch m.Metric.Unit {
	case analysis.Latency:
		return duration(time.Duration(m.Median))
	case analysis.InstanceTime, analysis.RequestTime, analysis.NodeTime:
		return instanceSeconds(time.Duration(m.Median)) + " s"
	case analysis.Requests, analysis.Instances, analysis.Nodes:
	}
	return fmt.Sprint(m.Median)
}

// everyOf returns the indices of all, in their order.
func everyOf(all []Standing) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	return order
}

// overview is the table over all, in two where the terminal is too narrow for one.
func (p *printer) overview(s *Standings, of *Setting, order []int, most int) []grid {
	g := overviewGrid(s, of, order, most)
	if p.needs(g) <= p.width() {
		return []grid{g}
	}
	labels, times := len(s.Columns), len(s.Columns)
	for times < len(g.Columns) && g.Columns[times].Group == latencyGroup {
		times++
	}
	first, second, _ := strings.Cut(strings.TrimSuffix(g.Caption, mediansText(of)), ", ")
	upper := grid{Caption: first + mediansText(of), Columns: g.Columns[:times]}
	lower := grid{Caption: strings.ToUpper(second[:1]) + second[1:] + mediansText(of), Notes: g.Notes}
	lower.Columns = append(slices.Clone(g.Columns[:labels]), g.Columns[times:]...)
	for _, l := range g.Lines {
		upper.add(l.Cells[:times]...)
		lower.add(append(slices.Clone(l.Cells[:labels]), l.Cells[times:]...)...)
	}
	return []grid{upper, lower}
}

// Requests is the number of requests of all candidates on all seeds.
func (s *Standings) Requests() (n int64) {
	for i := range s.All {
		n += s.All[i].Requests
	}
	return n
}
