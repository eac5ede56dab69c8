package reports

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"coldwave/analysis"
)

// The table has a line for each cell with a twin, says what was alike, and is not there where nothing was compared.
func TestTwinGrid(t *testing.T) {
	runs := []analysis.Run{modelRun("fc-burst", "fc-bound", burstSizes, 1), modelRun("fc-burst", "fc-race", burstSizes, 1)}
	if got := twinGrids(pairs(runs)); got != nil {
		t.Errorf("twinGrids of runs without twins = %v, want none", got)
	}
	ms := time.Millisecond
	runs[1].Twin = &analysis.Distance{
		Starts: 20, TwinStarts: 19, Compared: 12, Different: []int64{4, 7},
		Waves: []analysis.WaveDistance{{Wave: 0}, {Wave: 1, Wire: analysis.Served{analysis.ByIdle: 1}}},
		Later: analysis.Of([]time.Duration{-ms, ms, 3 * ms}),
	}
	grids := twinGrids(pairs(runs))
	if len(grids) != 1 || len(grids[0].Lines) != 1 {
		t.Fatalf("twinGrids = %v, want one line", grids)
	}
	want := []string{"fc-burst", "fc-race", "20/19", "1/2", "10/12", "1.00", "3.00", "3.00"}
	if got := grids[0].Lines[0].Cells; !slices.Equal(got, want) {
		t.Errorf("cells = %q, want %q", got, want)
	}
	if got, names := len(want), len(grids[0].Columns); got != names {
		t.Errorf("%d cells under %d columns", got, names)
	}
}

// Every form of a verification holds the distance, also one without any sample.
func TestTwinIsInEveryForm(t *testing.T) {
	v := fixtureVerification()
	v.Runs[0].Twin = &analysis.Distance{}
	for name, write := range map[string]func(b *bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return VerificationText(b, v, Style{}) },
		"markdown": func(b *bytes.Buffer) error { return VerificationMarkdown(b, v) },
		"HTML":     func(b *bytes.Buffer) error { return VerificationHTML(b, v, Limits{}) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil || !strings.Contains(b.String(), "Distance to the virtual twin") || !strings.Contains(b.String(), empty) {
			t.Errorf("%s: %v, want the distance, and %q for the run without samples", name, err, empty)
		}
	}
	if d := twinOf(v.Runs[0].Twin); d.Waves == nil || d.Different == nil || d.Later.P50 != nil {
		t.Errorf("an empty distance = %+v, want empty lists and no times", d)
	}
	if twinOf(nil) != nil {
		t.Error("no distance is a document, want null")
	}
}
