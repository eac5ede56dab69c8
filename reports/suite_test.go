package reports

import (
	"bytes"
	"strings"
	"testing"

	"coldwave/references"
)

// suiteFixture is a verification of a suite with two scenes, one of which has parameters.
func suiteFixture(driver string) Verification {
	v := fixtureVerification()
	v.Driver, v.Law, v.Ladder, v.Runs = driver, "", nil, v.Runs[:2]
	for i, name := range []string{"100 at once", "<b>6 at once</b>"} {
		v.Runs[i].Pattern, v.Runs[i].Policy, v.Runs[i].Driver = name, "cloudrun:cpu=false,act=false", driver
	}
	v.Suite = &Suite{Name: "cloudrun", Title: "Cloud Run: worked examples", Left: []references.Left{{ID: "CR-b", Why: "no run shows it", Test: "TestB"}}}
	v.Claims = v.Claims[:2]
	return v
}

func TestSuiteText(t *testing.T) {
	for _, driver := range []string{"virtual", "wire"} {
		var b bytes.Buffer
		if err := VerificationText(&b, suiteFixture(driver), Style{Width: 100}); err != nil {
			t.Fatal(err)
		}
		out := b.String()
		for _, want := range []string{"\nScenes\n", " 100 at once ", " cloudrun:cpu=false, ", "\nExamples that no run shows\n", " CR-b ", " TestB"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the screen lacks %q:\n%s", driver, want, out)
			}
		}
		for _, not := range []string{"before", "The burst", "Instance time"} {
			if strings.Contains(out[strings.Index(out, "Scenes"):], not) {
				t.Errorf("%s: the screen compares: it has %q", driver, not)
			}
		}
		if lag := strings.Contains(out, "Send lag"); lag != (driver == "wire") {
			t.Errorf("%s: send lag shown: %v", driver, lag)
		}
	}
}

func TestSuiteOfNothing(t *testing.T) {
	v := suiteFixture("wire")
	v.Runs = nil
	var b bytes.Buffer
	if err := VerificationText(&b, v, Style{}); err != nil || strings.Contains(b.String(), "Scenes") {
		t.Errorf("a suite without runs: %v, want no empty table:\n%s", err, b.String())
	}
}

func TestSuiteJSON(t *testing.T) {
	root := parseSchema(t, VerifySchema)
	for driver, runs := range map[string]int{"virtual": 0, "wire": 2} {
		doc := verificationJSON(t, suiteFixture(driver))
		for _, p := range problems(root, decode(t, doc)) {
			t.Errorf("%s: %s", driver, p)
		}
		m := decode(t, doc).(map[string]any)
		if got := len(m["runs"].([]any)); got != runs {
			t.Errorf("%s: %d runs, want %d", driver, got, runs)
		}
		if got := len(m["suite"].(map[string]any)["scenes"].([]any)); got != 2 {
			t.Errorf("%s: %d scenes, want 2", driver, got)
		}
	}
}

// A suite in virtual time has many small scenes: a table, no charts. On the wire each scene has its charts.
func TestSuitePage(t *testing.T) {
	for driver, charts := range map[string]bool{"virtual": false, "wire": true} {
		var b bytes.Buffer
		if err := VerificationHTML(&b, suiteFixture(driver), Limits{}); err != nil {
			t.Fatal(err)
		}
		out := b.String()
		for _, want := range []string{`<h2 id="scenes">Scenes</h2>`, "100 at once", "&lt;b&gt;6 at once&lt;/b&gt;", "suite cloudrun", "TestB"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: the page lacks %q", driver, want)
			}
		}
		if got := strings.Contains(out, `<h2 id="latency">`); got != charts {
			t.Errorf("%s: charts shown: %v, want %v", driver, got, charts)
		}
		if strings.Contains(out, "<b>6") {
			t.Errorf("%s: the name of a scene is markup", driver)
		}
	}
}

func TestSuitesText(t *testing.T) {
	bad := suiteFixture("virtual")
	bad.Claims = []references.Result{{Claim: references.Claim{ID: "CR-x"}, Verdict: references.Disagrees, Reason: "two starts, want none"}}
	var b bytes.Buffer
	if err := SuitesText(&b, []Verification{fixtureVerification(), bad}, Style{}); err != nil {
		t.Fatal(err)
	}
	out := b.String()
	for _, want := range []string{"\n fc ", "\n cloudrun ", "disagrees  CR-x: two starts, want none", "1 disagree"} {
		if !strings.Contains(out, want) {
			t.Errorf("the table lacks %q:\n%s", want, out)
		}
	}
}
