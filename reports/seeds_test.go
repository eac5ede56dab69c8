package reports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"coldwave/analysis"
	"coldwave/internal/rng"
	"coldwave/workload"
)

func fixtureSetting(runs int) Setting {
	return Setting{
		Pattern: "fc-burst", Canonical: "{kind: burst}", Law: "uniform", Function: workload.Function{Name: "fc-test", Concurrency: 1},
		Quota: 10, Seed: 5, Runs: runs, Level: 0.95, Schedules: strings.Repeat("ab", 32),
	}
}

// fixtureSamples draws one number of each run and metric: latencies around 200 ms and around 1 s, and small counts.
func fixtureSamples(runs int, side string) ([]analysis.Metric, []analysis.Sample) {
	metrics := append(analysis.Metrics(), analysis.WaveMetrics(2)...)
	samples := make([]analysis.Sample, len(metrics))
	for i, m := range metrics {
		r := rng.Stream(uint64(i), side)
		for range runs {
			v := 20 + r.Int64N(5)
			if m.Unit.IsTime() {
				v = v*10_000_000 + r.Int64N(9_000_000)
			}
			samples[i] = append(samples[i], v)
		}
	}
	return metrics, samples
}

func fixtureSeeds(runs int) Seeds {
	out := Seeds{
		Meta: fixtureMeta(), Setting: fixtureSetting(runs), Policy: "fc-race", Waves: 2, Requests: int64(32 * runs),
		Log: strings.Repeat("cd", 32), Wall: time.Second,
	}
	metrics, samples := fixtureSamples(runs, "a")
	for i, m := range metrics {
		out.Spreads = append(out.Spreads, analysis.SpreadOf(m, samples[i], 0.95))
	}
	for k := range runs {
		t := Trial{Seed: 5 + uint64(k), Schedule: strings.Repeat("ab", 32), Log: strings.Repeat("ef", 32)}
		for i := range metrics {
			t.Values = append(t.Values, samples[i][k])
		}
		t.Values[1] = analysis.Missing
		out.Trials = append(out.Trials, t)
	}
	return out
}

func fixtureComparison(runs int) Comparison {
	c := Comparison{Meta: fixtureMeta(), Setting: fixtureSetting(runs), Wall: time.Second}
	metrics, a := fixtureSamples(runs, "a")
	for i, name := range []string{"policy:fc-bound", "policy:fc-race", "policy:fc-race:start_per_request=true"} {
		c.Sides = append(c.Sides, Side{Name: name, Policy: name[len("policy:"):], Requests: int64(32 * runs), Log: fmt.Sprintf("%064d", i)})
		if i == 0 {
			continue
		}
		_, b := fixtureSamples(runs, name)
		pair := SidePair{A: "policy:fc-bound", B: name}
		for k, m := range metrics {
			pair.Rows = append(pair.Rows, analysis.Pair(m, a[k], b[k], 0.95))
		}
		c.Pairs = append(c.Pairs, pair)
	}
	c.Standings = fixtureStandings(runs)
	return c
}

func rendered(t *testing.T, write func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSeedsGolden(t *testing.T) {
	s, c := fixtureSeeds(8), fixtureComparison(8)
	golden(t, "seeds.txt", rendered(t, func(b *bytes.Buffer) error { return SeedsText(b, s, Style{}) }))
	golden(t, "seeds.md", rendered(t, func(b *bytes.Buffer) error { return SeedsMarkdown(b, s) }))
	c.Each = true
	golden(t, "compare-pairs.txt", rendered(t, func(b *bytes.Buffer) error { return ComparisonText(b, c, Style{Unicode: true}) }))
	golden(t, "compare.md", rendered(t, func(b *bytes.Buffer) error { return ComparisonMarkdown(b, c) }))
}

func TestSeedsObeyTheirSchemas(t *testing.T) {
	for _, row := range []struct {
		why    string
		schema string
		doc    []byte
	}{
		{"many runs", SeedsSchema, rendered(t, func(b *bytes.Buffer) error { return SeedsJSON(b, fixtureSeeds(8)) })},
		{"one run has no interval", SeedsSchema, rendered(t, func(b *bytes.Buffer) error { return SeedsJSON(b, fixtureSeeds(1)) })},
		{"no run", SeedsSchema, rendered(t, func(b *bytes.Buffer) error { return SeedsJSON(b, fixtureSeeds(0)) })},
		{"a comparison", CompareSchema, rendered(t, func(b *bytes.Buffer) error { return ComparisonJSON(b, fixtureComparison(8)) })},
		{"a comparison of one seed", CompareSchema, rendered(t, func(b *bytes.Buffer) error { return ComparisonJSON(b, fixtureComparison(1)) })},
		{"a comparison of nothing", CompareSchema, rendered(t, func(b *bytes.Buffer) error { return ComparisonJSON(b, Comparison{}) })},
	} {
		root := parseSchema(t, row.schema)
		for _, p := range problems(root, decode(t, row.doc)) {
			t.Errorf("%s: %s", row.why, p)
		}
	}
	root := parseSchema(t, CompareSchema)
	good := rendered(t, func(b *bytes.Buffer) error { return ComparisonJSON(b, fixtureComparison(8)) })
	for _, row := range []struct{ why, old, now string }{
		{"a finding that does not exist", `"b_is": "no difference shown"`, `"b_is": "better"`},
		{"something of the host", `"cpus": null`, `"cpus": 2`},
		{"a number of requests below 0", `"requests": 256`, `"requests": -256`},
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

// Neither the wall time nor anything else of the host is in a result over seeds.
func TestSeedsKnowNoHost(t *testing.T) {
	for name, write := range map[string]func(b *bytes.Buffer, m Meta, wall time.Duration) error{
		"seeds": func(b *bytes.Buffer, m Meta, wall time.Duration) error {
			s := fixtureSeeds(8)
			s.Meta, s.Wall = m, wall
			return SeedsJSON(b, s)
		},
		"comparison": func(b *bytes.Buffer, m Meta, wall time.Duration) error {
			c := fixtureComparison(8)
			c.Meta, c.Wall = m, wall
			return ComparisonJSON(b, c)
		},
	} {
		here, there := fixtureMeta(), fixtureMeta()
		there.CPUs, there.Go, there.OS, there.Began = 99, "go9", "plan9", here.Began.Add(time.Hour)
		a := rendered(t, func(b *bytes.Buffer) error { return write(b, here, time.Second) })
		b := rendered(t, func(b *bytes.Buffer) error { return write(b, there, time.Minute) })
		if !bytes.Equal(a, b) {
			t.Errorf("%s: another host gives another document", name)
		}
	}
}

func TestSeedsPages(t *testing.T) {
	for name, page := range map[string][]byte{
		"seeds":      rendered(t, func(b *bytes.Buffer) error { return SeedsHTML(b, fixtureSeeds(8)) }),
		"comparison": rendered(t, func(b *bytes.Buffer) error { return ComparisonHTML(b, fixtureComparison(8)) }),
	} {
		for _, part := range []string{"response p99", "default-src", "seeds 5 to 12", "95 % of"} {
			if !bytes.Contains(page, []byte(part)) {
				t.Errorf("%s page has no %q", name, part)
			}
		}
	}
}

func TestSeedsSayWhatTheyLeaveOut(t *testing.T) {
	s := fixtureSeeds(8)
	s.Waves, s.Setting.Buckets = 200, true
	text := string(rendered(t, func(b *bytes.Buffer) error { return SeedsText(b, s, Style{}) }))
	for _, part := range []string{"The first 2 of 200 waves", "HDR histograms with 3 digits"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), part) {
			t.Errorf("the text does not say %q", part)
		}
	}
}

func TestNoNegativeZero(t *testing.T) {
	for in, want := range map[string]string{"-0": "0", "-0.00": "0.00", "0.0": "0.0", "-0.01": "-0.01", "-10": "-10", "0": "0"} {
		if got := unsigned(in); got != want {
			t.Errorf("unsigned(%q) = %q, want %q", in, got, want)
		}
	}
}

// A difference of some microseconds beside latencies of seconds is no zero.
func TestSmallDifferencesAreSeen(t *testing.T) {
	show := printerOf(analysis.Latency, []time.Duration{120 * time.Millisecond, 3 * time.Second})
	for _, row := range []struct {
		why  string
		all  []float64
		want string // of the first
	}{
		{"as coarse as the values", []float64{-948.2e6}, "-948.2"},
		{"finer where it must be", []float64{40e3, -948.2e6}, "0.04"},
		{"three digits at most", []float64{40}, "0.000"},
		{"equal", []float64{0, 0}, "0.0"},
	} {
		if got := show.fine(row.all).value(row.all[0]); got != row.want {
			t.Errorf("%s: %v ns = %q, want %q", row.why, row.all[0], got, row.want)
		}
	}
}
