package reports

import (
	"fmt"
	"strconv"
	"time"

	"coldwave/analysis"
	"coldwave/record"
	"coldwave/references"
)

// claimGrid sets each documented value beside the measured one.
func claimGrid(claims []references.Result) grid {
	g := grid{Caption: "Claims", Columns: []column{
		{Name: "claim"}, {Name: "documented", Prose: true}, {Name: "measured", Prose: true},
		{Name: "tolerance", Prose: true}, {Name: "verdict", Verb: true},
	}}
	for _, r := range claims {
		g.Lines = append(g.Lines, line{
			Cells: []string{r.Claim.ID, r.Claim.Documented, r.Measured, r.Claim.Tolerance, string(r.Verdict)},
			Tone:  toneOf(r.Verdict),
		})
	}
	return g
}

// startGrid adds up the requests and the instances of each cell.
func startGrid(ps []pair) grid {
	g := grid{Caption: "Requests and starts", Columns: []column{
		{Name: "pattern"}, {Name: "policy"}, {Name: "sent", Number: true}, {Name: "ok", Number: true},
		{Name: "not ok", Number: true}, {Name: "cold", Number: true}, {Name: "starts", Number: true},
		{Name: "failed", Number: true}, {Name: "peak", Number: true},
	}, Notes: []string{"cold: requests that were the first of a new instance; starts, failed, peak: instances."}}
	for _, p := range ps {
		for _, c := range p.Cells {
			s := &c.Run.Summary
			n := s.Instances
			g.add(p.Pattern, c.Policy, count(s.Sent), count(s.Outcomes[record.OK]), count(s.Sent-s.Outcomes[record.OK]),
				count(s.ByStart[record.Cold].N), count(n.Starts), count(n.Failed), count(n.Peak))
		}
	}
	return g
}

// timeGrid adds up the instance time of each cell.
func timeGrid(ps []pair) grid {
	g := grid{Caption: "Instance time (instance-seconds)", Columns: []column{
		{Name: "pattern"}, {Name: "policy"}, {Name: "allocated", Number: true}, {Name: "ready", Number: true},
		{Name: "busy", Number: true}, {Name: "idle", Number: true}, {Name: "requests waiting", Number: true},
	}, Notes: []string{"allocated: from the decision to start; ready: from ready; busy: with a request in flight; idle: ready without one; requests waiting: " +
		"request-seconds from accepted until dispatched."}}
	for _, p := range ps {
		for _, c := range p.Cells {
			n := c.Run.Summary.Instances
			g.add(p.Pattern, c.Policy, instanceSeconds(n.Allocated), instanceSeconds(n.Ready), instanceSeconds(n.Busy), instanceSeconds(n.Idle),
				instanceSeconds(c.Run.Summary.Waiting))
		}
	}
	return g
}

// instanceSeconds prints an amount of instance-time.
func instanceSeconds(d time.Duration) string { return inUnit(d, seconds, 1) }

// lagGrid shows how late the generator itself was.
func lagGrid(ps []pair) grid {
	s := scaleOf(lags(ps)...)
	g := grid{Caption: "Send lag (" + s.unit.name + ")", Notes: []string{"actual send − intended start."}, Columns: []column{
		{Name: "pattern"}, {Name: "policy"}, {Name: "n", Number: true}, {Name: "p50", Number: true},
		{Name: "p99", Number: true}, {Name: "max", Number: true}, {Name: "sent again", Number: true},
	}}
	for _, p := range ps {
		for _, c := range p.Cells {
			l := c.Run.Summary.SendLag
			g.add(p.Pattern, c.Policy, count(l.N), some(l, s, l.P50), some(l, s, l.P99), some(l, s, l.Max),
				count(c.Run.Summary.Resent))
		}
	}
	return g
}

func lags(ps []pair) []time.Duration {
	var all []time.Duration
	for _, p := range ps {
		for _, c := range p.Cells {
			l := c.Run.Summary.SendLag
			all = append(all, l.P50, l.P99, l.Max)
		}
	}
	return all
}

// kindGrid shows the response times of one run by start kind.
func kindGrid(r *analysis.Run) grid {
	rows := kindRows(&r.Summary)
	var all []analysis.Stats
	for _, row := range rows {
		all = append(all, row.stats)
	}
	s := scaleOf(spread(all...)...)
	g := grid{Caption: "Response time (" + s.unit.name + ") by start kind", Columns: []column{
		{Name: "start"}, {Name: "n", Number: true}, {Name: "mean", Number: true}, {Name: "p50", Number: true},
		{Name: "p90", Number: true}, {Name: "p95", Number: true}, {Name: "p99", Number: true}, {Name: "max", Number: true},
	}}
	for _, row := range rows {
		t := row.stats
		g.add(row.name, count(t.N), some(t, s, t.Mean), some(t, s, t.P50), some(t, s, t.P90), some(t, s, t.P95),
			some(t, s, t.P99), some(t, s, t.Max))
	}
	return g
}

type kindRow struct {
	name  string
	stats analysis.Stats
}

// kindRows lists all answers, the successful ones, and each start kind that occurred.
func kindRows(s *analysis.Summary) []kindRow {
	rows := []kindRow{{"all answered", s.All}, {"ok", s.OK}}
	for _, k := range kindOrder {
		if s.ByStart[k].N > 0 {
			rows = append(rows, kindRow{k.String(), s.ByStart[k]})
		}
	}
	return rows
}

// kindOrder is the order in which start kinds are shown: from the fastest to the slowest.
var kindOrder = []record.StartKind{
	record.Warm, record.Queued, record.ColdWait, record.Cold, record.Edge, record.StartUnknown,
}

// spread lists the smallest and the largest value of each sample, which is what a scale depends on.
func spread(all ...analysis.Stats) []time.Duration {
	var values []time.Duration
	for _, s := range all {
		if s.N > 0 {
			values = append(values, s.Min, s.Max)
		}
	}
	return values
}

// some prints one statistic of a sample, or says that there was none.
func some(of analysis.Stats, s scale, d time.Duration) string {
	if of.N == 0 {
		return empty
	}
	return s.text(d)
}

func count(n int) string { return strconv.Itoa(n) }

// outcomeSentence accounts for every arrival: scheduled = sent + dropped, sent = the sum of the rest.
func outcomeSentence(s *analysis.Summary) string {
	text := fmt.Sprintf("%d scheduled, %d sent: %d ok", s.Scheduled, s.Sent, s.Outcomes[record.OK])
	for o := record.Outcome(0); o < record.Outcomes; o++ {
		if o != record.OK && o != record.Dropped && s.Outcomes[o] > 0 {
			text += fmt.Sprintf(", %d %s", s.Outcomes[o], o)
		}
	}
	if n := s.Outcomes[record.Dropped]; n > 0 {
		text += fmt.Sprintf("; %d dropped", n)
	}
	return text
}
