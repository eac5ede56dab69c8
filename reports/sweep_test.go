package reports

import (
	"bytes"
	"encoding/csv"
	"errors"
	"strings"
	"testing"
	"time"

	"coldwave/analysis"
)

// fixtureSweep is two targets × three idle timeouts and the oracle; one point turned requests away.
func fixtureSweep(runs int) Sweep {
	s := Sweep{
		Meta: fixtureMeta(), Setting: fixtureSetting(runs), Policy: "cloudrun:reserve=0.4", LeftOut: 2, Wall: time.Second,
		Axes: []Axis{{"concurrency_target", []string{"0.3", "0.6"}}, {"idle_timeout", []string{"10s", "1m0s", "15m0s"}}},
	}
	var all []stood
	for i, target := range s.Axes[0].Values {
		for k, idle := range s.Axes[1].Values {
			one := stood{labels: []string{target, idle}, policy: "cloudrun:concurrency_target=" + target + ",idle_timeout=" + idle,
				latency: time.Duration(400-150*i-100*k) * time.Millisecond, cost: time.Duration(100+80*k-30*i) * time.Second}
			if i == 1 && k == 0 {
				one.notOK = 3
			}
			all = append(all, one)
		}
	}
	all = append(all, stood{[]string{"oracle", ""}, "oracle", 120 * time.Millisecond, 60 * time.Second, 0})
	s.Standings = standingsFixture([]string{"concurrency_target", "idle_timeout"}, runs, len(all)-1, all)
	return s
}

func TestSweepGolden(t *testing.T) {
	s := fixtureSweep(8)
	s.Sort, s.Rows = "p99", 5
	golden(t, "sweep.txt", rendered(t, func(b *bytes.Buffer) error { return SweepText(b, s, Style{Unicode: true, Width: 160}) }))
	golden(t, "sweep.md", rendered(t, func(b *bytes.Buffer) error { return SweepMarkdown(b, s) }))
	golden(t, "sweep.csv", rendered(t, func(b *bytes.Buffer) error { return SweepCSV(b, s) }))
	golden(t, "sweep.outline.txt", []byte(outline(parseHTML(t, string(rendered(t, func(b *bytes.Buffer) error { return SweepHTML(b, s) }))))))
}

func TestSweepObeysItsSchema(t *testing.T) {
	root := parseSchema(t, SweepSchema)
	for why, s := range map[string]Sweep{"many seeds": fixtureSweep(8), "one seed": fixtureSweep(1), "no run": fixtureSweep(0), "nothing": {}} {
		doc := rendered(t, func(b *bytes.Buffer) error { return SweepJSON(b, s) })
		for _, p := range problems(root, decode(t, doc)) {
			t.Errorf("%s: %s", why, p)
		}
	}
	good := rendered(t, func(b *bytes.Buffer) error { return SweepJSON(b, fixtureSweep(8)) })
	for _, row := range []struct{ why, old, now string }{
		{"a place that is no truth", `"front": true`, `"front": "yes"`},
		{"a share below 0", `"allowed_not_ok": 0`, `"allowed_not_ok": -1`},
		{"a field that does not exist", `"takes_part": true`, `"takes_part": true, "wins": true`},
	} {
		bad := bytes.Replace(good, []byte(row.old), []byte(row.now), 1)
		if bytes.Equal(bad, good) {
			t.Fatalf("%s: %q is not in the document", row.why, row.old)
		}
		if len(problems(root, decode(t, bad))) == 0 {
			t.Errorf("%s: the schema accepts it", row.why)
		}
	}
}

func TestSweepOrder(t *testing.T) {
	s := fixtureSweep(8)
	s.Standings.All[1].Spreads[4].N = 0 // it has no p99
	labels := func(key string) string {
		order, err := s.Order(key)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, i := range order {
			all = append(all, strings.Join(s.Standings.All[i].Labels, " "))
		}
		return strings.Join(all, ", ")
	}
	for key, want := range map[string]string{
		"":                  "0.3 10s, 0.3 1m0s, 0.3 15m0s, 0.6 10s, 0.6 1m0s, 0.6 15m0s, oracle ",
		"idle_timeout":      "0.3 10s, 0.6 10s, 0.3 1m0s, 0.6 1m0s, 0.3 15m0s, 0.6 15m0s, oracle ",
		"idle_timeout:desc": "0.3 15m0s, 0.6 15m0s, 0.3 1m0s, 0.6 1m0s, 0.3 10s, 0.6 10s, oracle ",
		"p99":               "0.6 15m0s, oracle , 0.6 1m0s, 0.3 15m0s, 0.6 10s, 0.3 10s, 0.3 1m0s",
		"p99:desc":          "0.3 10s, 0.6 10s, 0.3 15m0s, 0.6 1m0s, oracle , 0.6 15m0s, 0.3 1m0s",
		"inst-s":            "oracle , 0.6 10s, 0.3 10s, 0.6 1m0s, 0.3 1m0s, 0.6 15m0s, 0.3 15m0s",
		"not_ok:desc":       "0.6 10s, 0.3 10s, 0.3 1m0s, 0.3 15m0s, 0.6 1m0s, 0.6 15m0s, oracle ",
	} {
		if got := labels(key); got != want {
			t.Errorf("Order(%q) = %s, want %s", key, got, want)
		}
	}
	if got := labels("place"); !strings.HasPrefix(got, "oracle , 0.6 15m0s") {
		t.Errorf("Order(place) = %s, want the oracle and the front first", got)
	}
	if _, err := s.Order("price"); !errors.Is(err, ErrSort) {
		t.Errorf("Order(price): %v, want ErrSort", err)
	}
	for _, write := range []func(*bytes.Buffer, Sweep) error{
		func(b *bytes.Buffer, s Sweep) error { return SweepText(b, s, Style{}) }, func(b *bytes.Buffer, s Sweep) error { return SweepMarkdown(b, s) },
		func(b *bytes.Buffer, s Sweep) error { return SweepHTML(b, s) }, func(b *bytes.Buffer, s Sweep) error { return SweepCSV(b, s) },
	} {
		var b bytes.Buffer
		s.Sort = "price"
		if err := write(&b, s); !errors.Is(err, ErrSort) || b.Len() > 0 {
			t.Errorf("a bad key: %v and %d bytes, want ErrSort and none", err, b.Len())
		}
	}
}

// Every point is a line of the CSV with as many cells as the head, whatever the tables leave out.
func TestSweepCSVIsWhole(t *testing.T) {
	s := fixtureSweep(8)
	s.Rows = 2
	rows, err := csv.NewReader(bytes.NewReader(rendered(t, func(b *bytes.Buffer) error { return SweepCSV(b, s) }))).ReadAll()
	if err != nil || len(rows) != 1+len(s.Standings.All) || len(rows[0]) != 2+8+3*len(analysis.Metrics()) {
		t.Errorf("%d lines, %v; want a head and %d", len(rows), err, len(s.Standings.All))
	}
}

func TestBestOfEach(t *testing.T) {
	s := fixtureSweep(8)
	got := map[string]string{}
	for _, l := range bestGrid(&s).Lines {
		got[l.Cells[0]] = strings.Join(l.Cells[1:3], " ")
	}
	for name, want := range map[string]string{"p99 response time": "0.6 15m0s", "instance-seconds": "0.3 10s"} {
		if got[name] != want { // that of 0.6 10s is lower, but it turned requests away
			t.Errorf("lowest %s: %q, want %q", name, got[name], want)
		}
	}
	if len(got) != 5 {
		t.Errorf("%d objectives, want 5: %v", len(got), got)
	}
	for i := range s.Standings.All {
		s.Standings.All[i].Place.OK = false
	}
	if got := bestGrid(&s).Lines; len(got) != 0 {
		t.Errorf("nobody takes part, and still: %v", got)
	}
}

// Where many candidates share few places, each place is named once.
func TestFrontSentenceOfManyPoints(t *testing.T) {
	var all []stood
	for k := range 12 {
		all = append(all, stood{[]string{string(rune('a' + k)), "x"}, "p", time.Duration(100*(1+k/2)) * time.Millisecond, time.Duration(1000-100*(k/2)) * time.Second, 0})
	}
	s := standingsFixture([]string{"n", "m"}, 1, NoOracle, all)
	for i := range s.All { // without the noise of the fixture
		for k := range s.All[i].Spreads {
			m := &s.All[i].Spreads[k]
			switch m.Metric.Name {
			case "response_p99":
				m.Median = int64(all[i].latency)
			case "allocated":
				m.Median = int64(all[i].cost)
			}
		}
		s.All[i].Place = analysis.Place{OK: true, Front: true}
	}
	if got, want := frontSentence(&s), "Pareto front (p99 response time against instance-seconds): 6 places, from n=k m=x (600 ms, 500.0 s, 1 alike) to n=a m=x (100 ms, 1000.0 s, 1 alike)."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.All = s.All[:4]
	if got, want := frontSentence(&s), "Pareto front (p99 response time against instance-seconds): n=a m=x (1 alike); n=c m=x (1 alike)."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
