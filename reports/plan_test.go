package reports

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"coldwave/internal/clock"
	"coldwave/patterns"
	"coldwave/platform"
	"coldwave/workload"
)

// planned draws a pattern under the default profile, as the verb does.
func planned(t testing.TB, text string) *workload.Schedule {
	t.Helper()
	var p patterns.Pattern
	var err error
	if strings.HasPrefix(text, "{") {
		p, err = patterns.Parse("test.yaml", []byte(text))
	} else {
		p, err = patterns.Load(text, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	profile := platform.Default()
	s, err := workload.Build(workload.Source{Process: p, Demands: profile.Draws(1), Function: profile.Function, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		why, file, pattern string
		style              PlanStyle
	}{
		{"the documented ramp (FC-13)", "plan-fc-ramp.txt", "fc-ramp", PlanStyle{}},
		{"a burst with a spread wave, without Unicode", "plan-fc-burst-shifted.txt", "fc-burst-shifted", PlanStyle{ASCII: true}},
		{"random arrivals by second", "plan-poisson.txt", "{kind: poisson, rate: 20/s, duration: 30s}", PlanStyle{Width: 100}},
		{"a rising rate", "plan-ramp.txt", "{kind: ramp, from: 0/s, to: 500/s, duration: 45s}", PlanStyle{}},
		{"less than one request a second: 0, 10, … 50 s", "plan-slow.txt", "{kind: constant, rate: 6/m, duration: 60s}", PlanStyle{ASCII: true}},
		{"less than two seconds", "plan-short.txt", "{kind: constant, rate: 3/ms, duration: 50ms}", PlanStyle{Width: 40}},
		{"more waves than lines", "plan-many.txt", "{kind: waves, sizes: [" + strings.Repeat("3, ", 299) + "9], gap: 1s}", PlanStyle{Rows: 5}},
		{"nothing comes", "plan-empty.txt", "{kind: poisson, rate: 1/h, duration: 1s}", PlanStyle{}},
	} {
		t.Run(c.why, func(t *testing.T) {
			var out bytes.Buffer
			if err := Plan(&out, planned(t, c.pattern), c.style); err != nil {
				t.Fatal(err)
			}
			golden(t, c.file, out.Bytes())
			checkLines(t, out.String(), c.style)
		})
	}
}

// checkLines wants no line wider than asked, no blanks at its end, and ASCII where that is asked.
func checkLines(t *testing.T, text string, o PlanStyle) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		// The hash has 64 characters in one piece, so a narrow terminal has to break it.
		if n := utf8.RuneCountInString(line); n > o.style().Width && !strings.HasPrefix(line, "schedule") {
			t.Errorf("line of %d characters, want at most %d: %q", n, o.style().Width, line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("line ends with blanks: %q", line)
		}
		for _, r := range line {
			if o.ASCII && r >= utf8.RuneSelf {
				t.Errorf("line with %q, want ASCII: %q", r, line)
			}
		}
	}
}

// The totals of the table and the columns of the drawing are those of the schedule, whatever the pattern.
func TestPlanCountsEveryRequest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := time.Duration(rapid.Int64Range(1, int64(100*time.Hour)).Draw(t, "length"))
		s := &workload.Schedule{Length: length}
		for range rapid.IntRange(1, 50).Draw(t, "requests") {
			s.Arrivals = append(s.Arrivals, workload.Arrival{Wave: -1, At: clock.Instant(rapid.Int64Range(0, int64(length)-1).Draw(t, "at"))})
		}
		width := rapid.IntRange(40, 200).Draw(t, "width")
		c := planChart(s, width)
		sum := 0
		for _, n := range c.counts {
			sum += n
		}
		if sum != len(s.Arrivals) || len(c.counts) > width {
			t.Fatalf("the drawing has %d requests in %d columns, want %d in at most %d", sum, len(c.counts), len(s.Arrivals), width)
		}
		g := planSteps(s, 60)
		last := g.Lines[len(g.Lines)-1].Cells
		if got := last[len(last)-1]; got != strconv.Itoa(len(s.Arrivals)) || len(g.Lines) > 60 {
			t.Fatalf("the table ends at %s requests after %d lines, want %d in at most 60", got, len(g.Lines), len(s.Arrivals))
		}
	})
}

func TestNiceStep(t *testing.T) {
	for _, c := range []struct {
		why    string
		length time.Duration
		most   int
		want   time.Duration
	}{
		{"one column is enough", time.Second, 1, time.Second},
		{"a minute in seconds", time.Minute, 60, time.Second},
		{"one column less needs two seconds", time.Minute, 59, 2 * time.Second},
		{"ten seconds", 10 * time.Second, 70, 200 * time.Millisecond},
		{"an end within a step counts", 10*time.Second + 1, 50, 500 * time.Millisecond},
		{"an hour", time.Hour, 70, time.Minute},
		{"a day", 24 * time.Hour, 70, 30 * time.Minute},
		{"a month", 720 * time.Hour, 70, 12 * time.Hour},
		{"a month in few columns", 720 * time.Hour, 7, 5 * 24 * time.Hour},
		{"nanoseconds", 3, 70, 1},
	} {
		got := niceStep(c.length, c.most)
		if got != c.want {
			t.Errorf("%s: niceStep(%v, %d) = %v, want %v", c.why, c.length, c.most, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		length, most := time.Duration(rapid.Int64Range(1, 1<<62).Draw(t, "length")), rapid.IntRange(1, 500).Draw(t, "most")
		if step := niceStep(length, most); step < 1 || (length-1)/step >= time.Duration(most) {
			t.Fatalf("niceStep(%d, %d) = %d: too many steps", length, most, step)
		}
	})
}

func TestFullestSecond(t *testing.T) {
	const ms = clock.Instant(time.Millisecond)
	for _, c := range []struct {
		why  string
		at   []clock.Instant
		want int
	}{
		{"one", []clock.Instant{5}, 1},
		{"exactly a second apart is not within a second", []clock.Instant{0, 1000 * ms}, 1},
		{"a nanosecond less is", []clock.Instant{1, 1000 * ms}, 2},
		{"the second may begin anywhere", []clock.Instant{0, 900 * ms, 1000 * ms, 1100 * ms, 1899 * ms, 1900 * ms}, 4},
		{"a wave", []clock.Instant{0, 0, 0, 5000 * ms}, 3},
	} {
		s := &workload.Schedule{}
		for _, at := range c.at {
			s.Arrivals = append(s.Arrivals, workload.Arrival{At: at})
		}
		if got := fullestSecond(s); got != c.want {
			t.Errorf("%s: fullestSecond = %d, want %d", c.why, got, c.want)
		}
	}
}

func TestExactSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 1: "0.000000001 s", 42200 * time.Microsecond: "0.0422 s", time.Minute: "60 s", 100 * time.Second: "100 s",
		30*time.Second + 42200*time.Microsecond: "30.0422 s",
	} {
		if got := exactSeconds(d); got != want {
			t.Errorf("exactSeconds(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestPlanCSV(t *testing.T) {
	s := planned(t, "fc-burst-shifted")
	var out bytes.Buffer
	if err := PlanCSV(&out, s); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan-fc-burst-shifted.csv", out.Bytes())
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(s.Arrivals)+1 {
		t.Fatalf("%d lines, want a header and %d arrivals", len(rows), len(s.Arrivals))
	}
	for i, a := range s.Arrivals {
		want := fmt.Sprint(a.Seq, int64(a.At), a.Wave, int64(a.Demand.Exec), int64(a.Demand.Pre), int64(a.Demand.Post))
		if got := strings.Join(rows[i+1], " "); got != want {
			t.Errorf("line %d = %s, want %s", i+2, got, want)
		}
	}
	out.Reset()
	if err := PlanCSV(&out, &workload.Schedule{}); err != nil || out.String() != "seq,intended_ns,wave,exec_ns,pre_ns,post_ns\n" {
		t.Errorf("PlanCSV of nothing = %q, %v, want the header", out.String(), err)
	}
}

// smallDisk is one with room for some bytes.
type smallDisk struct{ room int }

var errSmallDisk = errors.New("no space left")

func (f *smallDisk) Write(b []byte) (int, error) {
	if len(b) > f.room {
		return 0, errSmallDisk
	}
	f.room -= len(b)
	return len(b), nil
}

// A plan that could not be written is never reported as written.
func TestPlanReportsWriteErrors(t *testing.T) {
	s := planned(t, "{kind: constant, rate: 100/s, duration: 30s}")
	for _, room := range []int{0, 10, 500, 2000} {
		if err := Plan(&smallDisk{room}, s, PlanStyle{}); !errors.Is(err, errSmallDisk) {
			t.Errorf("Plan with room for %d bytes: %v, want %v", room, err, errSmallDisk)
		}
	}
	for _, room := range []int{0, 10, 5000} {
		if err := PlanCSV(&smallDisk{room}, s); !errors.Is(err, errSmallDisk) {
			t.Errorf("PlanCSV with room for %d bytes: %v, want %v", room, err, errSmallDisk)
		}
	}
}

// A pattern's text comes from a file: it must not act on the terminal.
func TestPlanEscapes(t *testing.T) {
	s := planned(t, "fc-ramp")
	s.Pattern, s.Function.Name = "a\x1b[2Jb", "f\nseed 5"
	var out bytes.Buffer
	if err := Plan(&out, s, PlanStyle{}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "\x1b") || strings.Contains(text, "\nseed 5") {
		t.Errorf("Plan writes control bytes: %q", text[:120])
	}
}

func BenchmarkPlanCSV(b *testing.B) {
	s := planned(b, "{kind: constant, rate: 10000/s, requests: 100000}")
	b.ReportAllocs()
	for b.Loop() {
		var out bytes.Buffer
		if err := PlanCSV(&out, s); err != nil {
			b.Fatal(err)
		}
	}
}
