package hdr

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// javaJar is where Debian's libhdrhistogram-java puts the original implementation.
const javaJar = "/usr/share/java/hdrhistogram.jar"

// processed is what the original implementation reads from a log under one tag, in nanoseconds.
func processed(t *testing.T, log, tag string) (head string, rows []javaRow) {
	t.Helper()
	java, err := exec.LookPath("java")
	if _, missing := os.Stat(javaJar); err != nil || missing != nil {
		t.Skip("no java or no " + javaJar + ": install libhdrhistogram-java to compare with the original implementation")
	}
	cmd := exec.CommandContext(t.Context(), java, "-cp", javaJar, "org.HdrHistogram.HistogramLogProcessor", "-i", log, "-tag", tag, "-outputValueUnitRatio", "1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", cmd, err)
	}
	for line := range strings.Lines(string(out)) {
		var r javaRow
		if n, _ := fmt.Sscan(line, &r.value, &r.share, &r.count); n == 3 {
			rows = append(rows, r)
		}
	}
	head, _, _ = strings.Cut(string(out), "\n")
	return head, rows
}

// javaRow is one line of the percentiles that the original implementation prints.
type javaRow struct {
	value, share float64
	count        int
}

// The original implementation sees the same values as were written: their number exactly, and every order statistic that it
// prints within three digits (HD-03, F25).
func TestTheOriginalImplementationAgrees(t *testing.T) {
	samples := someSamples()
	log := filepath.Join(t.TempDir(), "latency.hlog")
	var b bytes.Buffer
	if err := writeLog(&b, Head{Comment: "run=1", Start: time.Date(2026, 1, 2, 3, 4, 5, 250e6, time.UTC)}, samples); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	byTag := map[string][]time.Duration{}
	for _, s := range samples {
		byTag[s.Tag] = append(byTag[s.Tag], s.Value)
	}
	for tag, values := range byTag {
		head, rows := processed(t, log, tag)
		if !strings.HasPrefix(head, "#[StartTime: 1767323045.250 ") {
			t.Errorf("%s: begins with %q, want the wall time of the start, to the millisecond (HD-09)", tag, head)
		}
		for _, wrong := range disagreements(values, rows) {
			t.Errorf("%s: %s", tag, wrong)
		}
		if len(disagreements(append(values, 5*time.Second), rows)) == 0 {
			t.Errorf("%s: one more value makes no difference, so the comparison finds nothing", tag)
		}
	}
}

// disagreements compares the printed percentiles with exact order statistics.
func disagreements(values []time.Duration, rows []javaRow) []string {
	sorted := slices.Sorted(slices.Values(values))
	if len(rows) == 0 || rows[len(rows)-1].count != len(sorted) {
		return []string{fmt.Sprintf("%v, want the last line to count %d", rows, len(sorted))}
	}
	var all []string
	for _, r := range rows {
		exact := float64(sorted[Rank(r.share, int64(len(sorted)))-1])
		if r.value < exact || r.value > exact*1.001+1 {
			all = append(all, fmt.Sprintf("at %v: %v ns, want %v or up to 0.1 %% more", r.share, r.value, exact))
		}
	}
	return all
}
