package reports

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"coldwave/analysis"
	"coldwave/internal/rng"
	"coldwave/scheduler/policies"
)

// stood is one candidate of the fixture.
type stood struct {
	labels        []string
	policy        string
	latency, cost time.Duration // 0: it has no such number
	notOK         int64
}

// samples draws a metric over the runs: the latency and the cost are near the given ones, all else is small.
func (s stood) samples(m analysis.Metric, runs int) analysis.Sample {
	r := rng.Stream(1, s.policy+strings.Join(s.labels, " ")+m.Name)
	var out analysis.Sample
	for range runs {
		v := 10 + r.Int64N(10)
		switch {
		case m.Unit == analysis.Latency && s.latency == 0:
			v = analysis.Missing
		case m.Unit == analysis.Latency:
			v = int64(s.latency) + r.Int64N(int64(s.latency)/20)
		case strings.HasPrefix(m.Name, "billed_") && policies.TariffOf(s.policy, 0) == nil:
			v = analysis.Missing
		case m.Name == "billed_apart":
			v = 0
		case m.Unit.IsTime():
			v = int64(s.cost) + r.Int64N(int64(s.cost)/20)
		case m.Name == "not_ok" || m.Name == "rejected":
			v = s.notOK
		}
		out = append(out, v)
	}
	return out
}

func standingsFixture(columns []string, runs, oracle int, all []stood) Standings {
	metrics := analysis.Metrics()
	s := Standings{Columns: columns, Oracle: oracle, Notes: []string{"The fixture is made up."}}
	var medians []analysis.Candidate
	var best analysis.Candidate
	for i, one := range all {
		st := Standing{Labels: one.labels, Policy: one.policy, Requests: int64(32 * runs), NotOK: one.notOK * int64(runs), Tariff: policies.TariffOf(one.policy, 0)}
		var c analysis.Candidate
		for _, m := range metrics {
			spread := analysis.SpreadOf(m, one.samples(m, runs), 0.95)
			st.Spreads = append(st.Spreads, spread)
			switch m.Name {
			case "response_p99":
				s.Latency, c.Latency, c.OK = m, spread.Median, spread.N > 0 && one.notOK == 0
			case "allocated":
				s.Cost, c.Cost = m, spread.Median
			}
		}
		if i == oracle {
			best, c.OK = c, false
		}
		medians, s.All = append(medians, c), append(s.All, st)
	}
	for i, p := range analysis.Pareto(medians, best) {
		if s.All[i].Place = p; p.Front {
			s.All[i].FrontSeeds = runs - 1
		}
	}
	if best.OK {
		s.All[oracle].Place = analysis.Place{OK: true, Behind: 1, Latency: 1, Cost: 1}
	}
	return s
}

// fixtureStandings has each kind of place: the oracle, three on the front, two behind it, and two aside.
func fixtureStandings(runs int) Standings {
	policy := func(spec string, latency, cost time.Duration, notOK int64) stood {
		return stood{[]string{spec}, spec, latency, cost, notOK}
	}
	return standingsFixture([]string{policyColumn}, runs, 0, []stood{
		policy("oracle", 120*time.Millisecond, 100*time.Second, 0),
		policy("fc-bound", 2970*time.Millisecond, 860*time.Second, 0),
		policy("fc-race", 300*time.Millisecond, 400*time.Second, 0),
		policy("fixed", 900*time.Millisecond, 120*time.Second, 0),
		policy("cloudrun", 350*time.Millisecond, 450*time.Second, 0),
		policy("hpa", 1500*time.Millisecond, 60*time.Second, 0),
		policy("lambda:account_concurrency=10", 119*time.Millisecond, 90*time.Second, 7),
		policy("knative", 0, 80*time.Second, 32),
	})
}

func TestFrontNamesEveryPlace(t *testing.T) {
	s := fixtureStandings(8)
	want := map[string]string{"oracle": "best possible", "fc-bound": "behind", "fc-race": "front", "fixed": "front", "cloudrun": "behind", "hpa": "front",
		"lambda:account_concurrency=10": "aside", "knative": "aside"}
	for i := range s.All {
		if got, _ := placeText(&s, i); got != want[s.name(i)] {
			t.Errorf("%s: %q, want %q", s.name(i), got, want[s.name(i)])
		}
	}
	if got, want := frontSentence(&s), "Pareto front (p99 response time against instance-seconds): fc-race; fixed; hpa."; got != want {
		t.Errorf("sentence %q, want %q", got, want)
	}
	if got := frontSentence(&Standings{Latency: s.Latency}); !strings.Contains(got, "empty") {
		t.Errorf("sentence of an empty front %q", got)
	}
}

// Every candidate with both numbers has its mark, by shape and by class, and the names of the front are written.
func TestFrontDrawingShowsEveryCandidate(t *testing.T) {
	s := fixtureStandings(8)
	d := frontDrawing(&s, &Setting{Runs: 8})
	for class, want := range map[string]int{"mark-best": 1, "mark-front": 3, "mark-behind": 2, "mark-aside": 1, "tip": 7, "curve front": 1} {
		if got := classes(d, class); got != want {
			t.Errorf("%d shapes %q, want %d", got, class, want)
		}
	}
	for _, name := range []string{"oracle", "fc-race", "fixed", "hpa"} {
		if !hasText(d, name) {
			t.Errorf("no label %q", name)
		}
	}
	checkShapes(t, d)
	if d.Desc != frontSentence(&s) {
		t.Errorf("description %q, want the finding", d.Desc)
	}
}

func hasText(d *drawing, text string) bool {
	for _, s := range d.Shapes {
		if s.Kind == "text" && s.Text == text {
			return true
		}
	}
	return false
}

// Whatever was measured, labels do not overlap and every shape lies in the picture.
func TestFrontDrawingOfAnything(t *testing.T) {
	for _, all := range [][]stood{
		nil,
		{{[]string{"a"}, "a", 0, time.Second, 0}},
		{{[]string{"a"}, "a", time.Second, time.Second, 0}},
		{{[]string{"a"}, "a", time.Nanosecond * 40, time.Hour * 1000, 0}, {[]string{strings.Repeat("long", 40)}, "b", time.Hour, time.Nanosecond * 40, 0}},
	} {
		s := standingsFixture([]string{policyColumn}, 1, NoOracle, all)
		checkShapes(t, frontDrawing(&s, &Setting{Runs: 1}))
	}
	var many []stood
	r := rng.Stream(3, "many")
	for k := range 300 {
		many = append(many, stood{[]string{strings.Repeat("x", 1+k%20)}, "p", time.Duration(1e6 + r.Int64N(1e9)), time.Duration(1e9 + r.Int64N(1e12)), 0})
	}
	s := standingsFixture([]string{"n"}, 1, NoOracle, many)
	d := frontDrawing(&s, &Setting{Runs: 1})
	checkShapes(t, d)
	if got := classes(d, "tip"); got != 300 {
		t.Errorf("%d marks, want 300", got)
	}
}

func TestComparisonAtWidths(t *testing.T) {
	c := fixtureComparison(8)
	for name, style := range map[string]Style{"compare.txt": {Unicode: true}, "compare-160.txt": {Unicode: true, Width: 160}} {
		golden(t, name, rendered(t, func(b *bytes.Buffer) error { return ComparisonText(b, c, style) }))
	}
	c.Each = true
	text := string(rendered(t, func(b *bytes.Buffer) error { return ComparisonText(b, c, Style{}) }))
	if got := strings.Count(text, "\nResponse time (ms): A = "); got != 2 {
		t.Errorf("--pairs shows %d pairs, want 2", got)
	}
	c.Each, c.Pairs = false, c.Pairs[:1]
	text = string(rendered(t, func(b *bytes.Buffer) error { return ComparisonText(b, c, Style{}) }))
	if got := strings.Count(text, "\nResponse time (ms): A = "); got != 1 {
		t.Errorf("the only pair is shown %d times, want once", got)
	}
}
