package reports

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"coldwave/analysis"
)

// fixtureGates judges a run that has what gates can have: a pass, a fact, a failure, a doubt with what would decide it, and
// nothing at all.
func fixtureGates(t *testing.T, r *analysis.Run) []analysis.Gate {
	t.Helper()
	var gates []analysis.Gate
	for _, text := range []string{"p50 < 2s", "makespan < 1.5s over wave 4", "max < 2s as slowest", "errors < 10%", "warm.p90 < 119ms", "cold_wait.p50 < 1s"} {
		limit, err := analysis.ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		gates = append(gates, analysis.Reading{Run: r}.Judge(limit))
	}
	return gates
}

func TestGates(t *testing.T) {
	single := fixtureSingle()
	single.Gates = fixtureGates(t, &single.Run)
	text := rendered(t, func(b *bytes.Buffer) error { return SingleText(b, single, Style{}) })
	golden(t, "gates.txt", text[bytes.Index(text, []byte("\nGates")):])
	md := rendered(t, func(b *bytes.Buffer) error { return SingleMarkdown(b, single) })
	if want := "**3 of 6 gates pass, 2 failed (slowest; cold"; !strings.Contains(string(md), want) {
		t.Errorf("the Markdown has no %q", want)
	}
	page := string(rendered(t, func(b *bytes.Buffer) error { return SingleHTML(b, single, Limits{}) }))
	if gates, numbers := strings.Index(page, `<h2 id="gates`), strings.Index(page, `<h2 id="numbers`); gates < 0 || gates > numbers {
		t.Errorf("the page has its gates at %d, its numbers at %d: want gates first", gates, numbers)
	}
	if !strings.Contains(page, `<header class="top bad">`) {
		t.Error("the page of a run that failed is not painted so")
	}
	for id, write := range map[string]func(*bytes.Buffer) error{
		RunSchema: func(b *bytes.Buffer) error { return SingleJSON(b, single) },
		SeedsSchema: func(b *bytes.Buffer) error {
			seeds := fixtureSeeds(6)
			seeds.Gates = single.Gates
			return SeedsJSON(b, seeds)
		},
	} {
		root := parseSchema(t, id)
		for _, p := range problems(root, decode(t, rendered(t, write))) {
			t.Errorf("%s: %s", id, p)
		}
	}
}

func TestQuantity(t *testing.T) {
	for _, c := range []struct {
		stat analysis.Stat
		x    float64
		want string
	}{
		{analysis.QuantileStat, 58.9e6, "58.9 ms"},
		{analysis.Makespan, 2.31e9, "2.31 s"},
		{analysis.ErrorStat, 0.0013, "0.130 %"},
		{analysis.ErrorStat, 0.0000012, "0.00012 %"},
		{analysis.ColdShare, 0, "0 %"},
		{analysis.RateStat, 50, "50.0/s"},
		{analysis.PeakInstances, 12, "12"},
		{analysis.QuantileStat, math.Inf(1), "n/a"},
	} {
		if got := quantity(c.stat, c.x); got != c.want {
			t.Errorf("quantity(%v, %v) = %q, want %q", c.stat, c.x, got, c.want)
		}
	}
	for n, want := range map[int]string{1: "1", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}
