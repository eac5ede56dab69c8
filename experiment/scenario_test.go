package experiment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coldwave/analysis"
	"coldwave/patterns"
)

const wholeScenario = `# what a scenario can say
pattern: fc-burst
gap: 4s
policy: fc-bound
seed: 7
platform:
  cold_law: constant:2s
  max: 10
  node_cache: true
phases:
  - {name: calm, from: 0s, to: 12s}
  - name: burst
    from: 12s
    to: 16s
thresholds:
  - warm.p99 < 150ms over phase calm
  - "errors < 10% as failures"
metrics: [p99 over wave 4=5%]
primary:
  - p99 over wave 4
`

// settings are those that the platform of a test may have.
var settings = []string{"cold-law", "max", "node-cache"}

func TestParseScenario(t *testing.T) {
	got, err := ParseScenario("x/burst.yaml", []byte(wholeScenario), settings)
	if err != nil {
		t.Fatal(err)
	}
	want := Scenario{
		File: "x/burst.yaml", Pattern: "fc-burst",
		Settings: []Setting{{"gap", "4s"}, {"policy", "fc-bound"}, {"seed", "7"}, {"cold-law", "constant:2s"}, {"max", "10"}, {"node-cache", "true"}},
		Phases:   []analysis.Phase{{Name: "calm", From: 0, To: 12e9}, {Name: "burst", From: 12e9, To: 16e9}},
		Metrics:  []string{"p99 over wave 4=5%"}, Primary: []string{"p99 over wave 4"},
	}
	for _, text := range []string{"warm.p99 < 150ms over phase calm", "errors < 10% as failures"} {
		limit, err := analysis.ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		want.Thresholds = append(want.Thresholds, limit)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("ParseScenario (-want +got):\n%s", d)
	}
	for name, want := range map[string]string{"fc-ramp": "fc-ramp", "mine.yaml": "x/mine.yaml", "../a/mine.yaml": "a/mine.yaml", "/abs/mine.yaml": "/abs/mine.yaml"} {
		got, err := ParseScenario("x/s.yaml", []byte("pattern: "+name+"\n"), settings)
		if err != nil || got.Pattern != want {
			t.Errorf("pattern %s is looked for at %q (%v), want %q", name, got.Pattern, err, want)
		}
	}
}

// A pattern in the file keeps its place, block or flow.
func TestPatternsInScenarios(t *testing.T) {
	for why, text := range map[string]string{
		"block":          "thresholds: [p50 < 1s]\npattern:\n  kind: waves\n  sizes: [1, 2]\n  gap: 2s\npolicy: fc-race\n",
		"flow":           "pattern: {kind: waves, sizes: [1, 2], gap: 2s}\npolicy: fc-race\n",
		"last, comments": "policy: fc-race\npattern: # mine\n  # of two\n  kind: waves\n\n  sizes: [1, 2]\n  gap: 2s\n",
		"flow of lines":  "pattern: {\n  kind: waves, sizes: [1, 2],\n  gap: 2s\n}\npolicy: fc-race\n",
	} {
		got, err := ParseScenario("s.yaml", []byte(text), settings)
		if err != nil || got.Pattern != "s.yaml#pattern" {
			t.Errorf("%s: %+v, %v", why, got, err)
			continue
		}
		read := func(name string) ([]byte, error) {
			if name != "s.yaml" {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		}
		src, found, err := InlinePattern(got.Pattern, read)
		if err != nil || !found {
			t.Errorf("%s: InlinePattern: %v, %v", why, found, err)
			continue
		}
		p, err := patterns.Parse("s.yaml", src)
		if err != nil || p.String() != "{kind: waves, sizes: [1, 2], gap: 2s}" {
			t.Errorf("%s: the pattern is %v, %v", why, p, err)
		}
	}
	if _, found, err := InlinePattern("fc-burst", nil); found || err != nil {
		t.Errorf("a plain name is taken for one in a file: %v, %v", found, err)
	}
	if _, found, err := InlinePattern("s.yaml#pattern", func(string) ([]byte, error) { return []byte("pattern: fc-ramp\n"), nil }); !found || err == nil {
		t.Errorf("a file without a pattern of its own: %v, %v", found, err)
	}
}

func TestScenarioErrorsHaveAPlace(t *testing.T) {
	for _, row := range []struct{ text, place, what string }{
		{"patern: fc-burst\n", "1:1", `unknown key "patern", did you mean "pattern"?`},
		{"pattern: fc-burst\nthreshold: [p50 < 1s]\n", "2:1", `unknown key "threshold", did you mean "thresholds"?`},
		{"pattern: fc-burst\nphases:\n  - {name: a, form: 0s, to: 1s}\n", "3:15", `unknown key "form", did you mean "from"?`},
		{"policy: fc-race\n", "1:1", "key pattern is missing"},
		{"pattern: 3\n", "1:10", "pattern is neither a name nor a mapping"},
		{"pattern:\n  kind: wavs\n", "2:9", `unknown kind "wavs", did you mean "waves"?`},
		{"pattern: {kind: waves, sizes: [0], gap: 1s}\n", "1:32", "0"},
		{"pattern: fc-burst\npolicy: fc-rase\n", "2:9", "fc-rase"},
		{"pattern: fc-burst\nplatform: {cold_law: weird}\n", "2:22", "weird"},
		{"pattern: fc-burst\nplatform:\n  mix: 3\n", "3:3", `unknown setting "mix" of the platform, did you mean "max"?`},
		{"pattern: fc-burst\nplatform:\n  max: [3]\n", "3:8", "no single value"},
		{"pattern: fc-burst\nplatform: {max: 3}\ntarget: http://127.0.0.1/\n", "2:11", "belongs to the bundled stack"},
		{"pattern: fc-burst\nplatform: 3\n", "2:11", ""},
		{"pattern: fc-burst\ngap: soon\n", "2:6", "soon"},
		{"pattern: fc-burst\ntimeout: 5\n", "2:10", `timeout: "5" is no duration`},
		{"pattern: fc-burst\ntarget: http://127.0.0.1/\npolicy: fc-race\n", "3:9", "belongs to the bundled stack"},
		{"pattern: fc-burst\nthresholds:\n  - p50 < 1s\n  - warm.p9x < 60ms\n", "4:10", `unknown statistic "p9x"`},
		{"pattern: fc-burst\nthresholds: [p50 < 1s over phase hold]\n", "2:14", `there is no phase "hold"`},
		{"pattern: fc-burst\nmetrics: [p99, p9x=3%]\n", "2:16", `unknown statistic "p9x"`},
		{"pattern: fc-burst\nphases: [{name: a b, from: 0s, to: 1s}]\n", "2:10", "no name that is one word"},
		{"pattern: fc-burst\nphases: [{name: a, from: 2s, to: 1s}]\n", "2:10", "is no stretch of time"},
		{"pattern: fc-burst\nphases: [{name: a, from: 0s, to: 1s}, {name: a, from: 1s, to: 2s}]\n", "2:46", "phase a is there twice"},
		{"pattern: fc-burst\npattern: fc-ramp\n", "2:1", "already defined"},
		{"- pattern\n", "1:1", "no mapping"},
		{"", "1:1", "not one YAML document"},
		{"pattern: [\n", "1:10", "sequence"},
		{"pattern: fc-burst\nthresholds: {a: b}\n", "2:13", "mapping was used"},
		{"x: " + strings.Repeat("[", 100), "1:20", "nested too deep"},
		{"# " + strings.Repeat("x", maxScenario), "1:1", "more than"},
	} {
		_, err := ParseScenario("s.yaml", []byte(row.text), settings)
		if err == nil {
			t.Errorf("%.60q: no error, want %s at %s", row.text, row.what, row.place)
			continue
		}
		if text := err.Error(); !strings.Contains(text, "s.yaml:"+row.place+": ") || !strings.Contains(text, row.what) || strings.ContainsAny(text, "\n\r") {
			t.Errorf("%.60q: %s; want %s at %s", row.text, text, row.what, row.place)
		}
	}
	_, err := ParseScenario("s.yaml", []byte("pattern: fc-burst\nthresholds: [p9x < 1s]\n"), settings)
	var placed interface{ Detail() string }
	if !errors.As(err, &placed) || !strings.HasSuffix(placed.Detail(), "\n^") {
		t.Errorf("a misread threshold has no caret: %v", err)
	}
}

// Whatever is in the file, it is read or refused with a place, and never panics.
func FuzzParseScenario(f *testing.F) {
	for _, text := range []string{wholeScenario, "pattern: {kind: waves, sizes: [1], gap: 1s}\n", "pattern:\n  kind: constant\n  rate: 5/s\n  duration: 1s\n",
		"pattern: &a {kind: waves}\npolicy: *a\n", "pattern: fc-burst\nphases:\n  - {name: a}\n", "? pattern\n: fc-burst\n", "pattern: fc-burst\nmax: ~\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseScenario("s.yaml", []byte(text), settings)
		if err != nil {
			var wrong *ScenarioError
			var pattern *patterns.Error
			if !errors.As(err, &wrong) && !errors.As(err, &pattern) || errors.As(err, &wrong) && (wrong.Line < 1 || wrong.Column < 1) {
				t.Fatalf("ParseScenario(%q): %#v", text, err)
			}
			return
		}
		if got.Pattern == "" {
			t.Fatalf("ParseScenario(%q) has no pattern", text)
		}
		if src, found, err := InlinePattern(got.Pattern, func(string) ([]byte, error) { return []byte(text), nil }); found && got.Pattern == "s.yaml#pattern" {
			if _, parsed := patterns.Parse("s.yaml", src); err != nil || parsed != nil {
				t.Fatalf("%q: %v", text, fmt.Errorf("%w, %w", err, parsed))
			}
		}
	})
}

// The example of the documentation is a scenario.
func TestDocumentedScenario(t *testing.T) {
	text, err := os.ReadFile("../docs/SCENARIOS.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "```yaml\n")
	example, _, found := strings.Cut(after, "```\n")
	got, err := ParseScenario("burst.yaml", []byte(example), settings)
	if !found || err != nil || len(got.Thresholds) != 2 || len(got.Phases) != 2 || len(got.Metrics) != 2 || len(got.Settings) != 5 {
		t.Errorf("the example of docs/SCENARIOS.md is read as %+v, %v", got, err)
	}
}
