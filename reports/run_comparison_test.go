package reports

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"coldwave/analysis"
	"coldwave/internal/rng"
)

// fixtureRuns draws the runs of a side: factor is how much slower it is than the first one.
func fixtureRuns(name string, runs int, factor float64) RunSide {
	r, side := rng.Stream(3, name), RunSide{Name: name, Labels: []string{"header"}, Requests: int64(32 * runs)}
	for k := range runs {
		stats := analysis.RunStats{}
		for _, y := range append(analysis.DefaultYardsticks(), analysis.DecileYardsticks()...) {
			noise := 1 + 0.01*r.NormFloat64()
			switch s, err := analysis.ParseSelector(y.Name); {
			case err != nil || y.Name == "cold.p95":
				continue
			case s.Stat == analysis.ColdShare:
				stats[y.Name] = analysis.Value{X: 0.06 * noise}
			case s.Stat == analysis.ErrorStat:
				stats[y.Name] = analysis.Value{X: 0}
			case s.Stat.IsTime():
				stats[y.Name] = analysis.Value{X: 1e9 * factor * noise, AtLeast: y.Name == "p99" && factor > 10}
			case s.Stat == analysis.PeakInstances:
				stats[y.Name] = analysis.Value{X: 20}
			default:
				stats[y.Name] = analysis.Value{X: 20 * noise}
			}
		}
		side.Runs = append(side.Runs, SideRun{ID: fmt.Sprintf("%02d-%s", k+1, name), Seed: uint64(k + 1), Stats: stats})
	}
	return side
}

func fixtureSession(factor float64) RunComparison {
	c := RunComparison{Meta: fixtureMeta(), ID: "01JX", Pattern: "fc-burst", Canonical: "{kind: burst}", Law: "uniform", Driver: "wire", Seed: 1, Level: 0.95,
		Wanted: 8, Lanes: 8, Sides: []RunSide{fixtureRuns("policy:fc-bound", 8, 1), fixtureRuns("policy:fc-race", 8, factor)},
		Void: []VoidRound{{2, "the host was too busy: it stood still"}, {5, "the host was too busy: it stood still"}, {6, "policy:fc-race: 3 of 32 arrivals were dropped"}}}
	c.Compare(analysis.Versus{})
	return c
}

func TestRunComparison(t *testing.T) {
	c := fixtureSession(0.8)
	text := rendered(t, func(b *bytes.Buffer) error { return RunComparisonText(b, c, Style{}) })
	golden(t, "compare-runs.txt", text)
	golden(t, "compare-runs.md", rendered(t, func(b *bytes.Buffer) error { return RunComparisonMarkdown(b, c) }))
	page := string(rendered(t, func(b *bytes.Buffer) error { return RunComparisonHTML(b, c) }))
	for _, want := range []string{"<h1>p99: IMPROVED, -1", "margin of p99", "01-policy:fc-race", `<header class="top good">`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
}

func TestRunComparisonAA(t *testing.T) {
	c := fixtureSession(1)
	c.AA, c.Void, c.Sides[1].Name = true, nil, c.Sides[0].Name
	c.Compare(analysis.Versus{})
	golden(t, "compare-aa.txt", rendered(t, func(b *bytes.Buffer) error { return RunComparisonText(b, c, Style{}) }))
}

// The sentence and its tone follow the primary metric, and a comparison with too few valid runs is void whatever it shows.
func TestChangeSentence(t *testing.T) {
	short := fixtureSession(2)
	short.Sides[1].Runs = short.Sides[1].Runs[:5]
	none := fixtureSession(1)
	none.Sides[1].Runs = nil
	none.Compare(analysis.Versus{})
	for _, row := range []struct {
		why  string
		c    RunComparison
		want string
		tone tone
	}{
		{"better", fixtureSession(0.8), "p99: IMPROVED, -1", good},
		{"worse", fixtureSession(1.3), "p99: REGRESSION, +", bad},
		{"alike", fixtureSession(1), "p99: no regression, ", good},
		{"on the margin", fixtureSession(1.1), "p99: inconclusive, ", doubt},
		{"B timed out: it is worse all the same", fixtureSession(20), "p99: REGRESSION, +", bad},
		{"five valid runs of eight", short, "Void: 8 and 5 runs are valid, 8 were wanted.", doubt},
		{"no run at all", none, "Void: 8 and 0 runs are valid", doubt},
	} {
		if got := changeSentence(&row.c); !strings.HasPrefix(got, row.want) || sessionTone(&row.c) != row.tone {
			t.Errorf("%s: %q, tone %q; want %q…, %q", row.why, got, sessionTone(&row.c), row.want, row.tone)
		}
	}
}

func TestRunComparisonKeepsItsSchema(t *testing.T) {
	void := fixtureSession(1)
	void.Sides[1].Runs, void.Differing = nil, []string{"system: linux and darwin"}
	void.Compare(analysis.Versus{})
	plan := fixturePlan()
	for _, row := range []struct {
		why, schema string
		doc         []byte
	}{
		{"a comparison", RunsSchema, rendered(t, func(b *bytes.Buffer) error { return RunComparisonJSON(b, fixtureSession(0.8)) })},
		{"timed out", RunsSchema, rendered(t, func(b *bytes.Buffer) error { return RunComparisonJSON(b, fixtureSession(20)) })},
		{"no runs of B", RunsSchema, rendered(t, func(b *bytes.Buffer) error { return RunComparisonJSON(b, void) })},
		{"nothing", RunsSchema, rendered(t, func(b *bytes.Buffer) error { return RunComparisonJSON(b, RunComparison{Driver: "recorded"}) })},
		{"a plan", PlanSchema, rendered(t, func(b *bytes.Buffer) error { return RunPlanJSON(b, plan) })},
	} {
		root := parseSchema(t, row.schema)
		for _, p := range problems(root, decode(t, row.doc)) {
			t.Errorf("%s: %s", row.why, p)
		}
	}
	root := parseSchema(t, RunsSchema)
	good := string(rendered(t, func(b *bytes.Buffer) error { return RunComparisonJSON(b, fixtureSession(0.8)) }))
	for why, bad := range map[string]string{
		"a verdict that does not exist": strings.Replace(good, `"verdict": "IMPROVED"`, `"verdict": "better"`, 1),
		"a margin that is missing":      strings.Replace(good, `"margin":`, `"edge":`, 1),
	} {
		if bad == good || len(problems(root, decode(t, []byte(bad)))) == 0 {
			t.Errorf("%s: the schema takes it", why)
		}
	}
}

func fixturePlan() RunPlan {
	p := RunPlan{Meta: fixtureMeta(), Source: "The noise of 3 % was given.", Pattern: "fc-burst", Requests: 32, Runs: 8, Effect: 0.05}
	for i, y := range analysis.DefaultYardsticks() {
		row := PlanRowOf(y, 0.01*float64(i), p.Effect, p.Runs)
		if i > 0 {
			row.N, row.Median = 50, 0.5
			if s, err := analysis.ParseSelector(y.Name); err == nil && s.Stat.IsTime() {
				row.Median = 1e9 / float64(i)
			}
		}
		p.Rows = append(p.Rows, row)
	}
	p.Rows = append(p.Rows, PlanRowOf(analysis.DefaultYardsticks()[0], 5, p.Effect, p.Runs))
	return p
}

func TestRunPlan(t *testing.T) {
	golden(t, "compare-plan.txt", rendered(t, func(b *bytes.Buffer) error { return RunPlanText(b, fixturePlan(), Style{}) }))
	md := rendered(t, func(b *bytes.Buffer) error { return RunPlanMarkdown(b, fixturePlan()) })
	page := rendered(t, func(b *bytes.Buffer) error { return RunPlanHTML(b, fixturePlan()) })
	for _, want := range []string{"fc-burst", "299"} {
		if !bytes.Contains(md, []byte(want)) || !bytes.Contains(page, []byte(want)) {
			t.Errorf("%q is not in the Markdown or not in the page", want)
		}
	}
}

// Whatever the numbers are, every shape lies in its picture.
func TestChangeDrawing(t *testing.T) {
	for _, factor := range []float64{0.01, 0.8, 1, 1.0001, 3, 500} {
		c := fixtureSession(factor)
		d := changeDrawing(&c, &c.Pairs[0])
		if d == nil || d.Title == "" || d.Desc == "" {
			t.Fatalf("factor %v: no picture", factor)
		}
		for _, s := range d.Shapes {
			if s.Kind != "text" && (s.X < 0 || s.X > d.W || s.Y < 0 || s.Y > d.H) {
				t.Errorf("factor %v: %s at %v, %v lies outside of %v × %v", factor, s.Kind, s.X, s.Y, d.W, d.H)
			}
		}
	}
	empty := fixtureSession(1)
	empty.Sides[1].Runs = nil
	empty.Compare(analysis.Versus{})
	if d := changeDrawing(&empty, &empty.Pairs[0]); d != nil {
		t.Error("a picture of nothing")
	}
}

// Names come from the command line: they show themselves in every format.
func TestRunComparisonIsNoMarkup(t *testing.T) {
	c := fixtureSession(0.8)
	c.Sides[1].Name, c.Notes = "target:http://x/<script>alert(1)</script>\x1b[31m", []string{"| a <b> | \x1b"}
	c.Compare(analysis.Versus{})
	page := string(rendered(t, func(b *bytes.Buffer) error { return RunComparisonHTML(b, c) }))
	if strings.Contains(page, "<script>alert(1)") {
		t.Error("the page holds a script from a name")
	}
	for name, text := range map[string][]byte{
		"text":     rendered(t, func(b *bytes.Buffer) error { return RunComparisonText(b, c, Style{}) }),
		"markdown": rendered(t, func(b *bytes.Buffer) error { return RunComparisonMarkdown(b, c) }),
		"json":     rendered(t, func(b *bytes.Buffer) error { return RunComparisonJSON(b, c) }),
		"html":     []byte(page),
	} {
		if bytes.ContainsRune(text, 0x1b) {
			t.Errorf("%s holds a control character", name)
		}
	}
}
