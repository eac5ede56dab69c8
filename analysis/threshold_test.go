package analysis

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"coldwave/record"
)

func TestParseThreshold(t *testing.T) {
	for _, row := range []struct {
		text string
		want Threshold
	}{
		{"warm.p99 < 60ms", Threshold{Selector: Selector{Start: record.Warm, Q: 0.99}, Op: "<", Limit: 60e6}},
		{"p99.9<=1.5s", Threshold{Selector: Selector{Q: 0.999}, Op: "<=", Limit: 1.5e9}},
		{"all.p50 >= 1us", Threshold{Selector: Selector{Q: 0.5}, Op: ">=", Limit: 1e3}},
		{"cold_wait.max < 3s", Threshold{Selector: Selector{Start: record.ColdWait, Stat: MaxStat}, Op: "<", Limit: 3e9}},
		{"errors < 0.1%", Threshold{Selector: Selector{Stat: ErrorStat}, Op: "<", Limit: 0.001}},
		{"cold_share <= 5% over phase hold", Threshold{Selector: Selector{Stat: ColdShare, Phase: "hold"}, Op: "<=", Limit: 0.05}},
		{"makespan < 3s over wave 1", Threshold{Selector: Selector{Stat: Makespan, Wave: 1}, Op: "<", Limit: 3e9}},
		{"rate > 30/m", Threshold{Selector: Selector{Stat: RateStat}, Op: ">", Limit: 0.5}},
		{"peak_instances <= 20 as small", Threshold{Selector: Selector{Stat: PeakInstances}, Op: "<=", Limit: 20, As: "small"}},
		{"\twarm.p99.99  <  1h over wave 2 as over", Threshold{Selector: Selector{Start: record.Warm, Q: 0.9999, Wave: 2}, Op: "<", Limit: 3600e9, As: "over"}},
	} {
		got, err := ParseThreshold(row.text)
		row.want.Text = strings.Join(strings.Fields(row.text), " ")
		if err != nil {
			t.Errorf("ParseThreshold(%q): %v", row.text, err)
		} else if diff := cmp.Diff(row.want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) })); diff != "" {
			t.Errorf("ParseThreshold(%q) (-want +got):\n%s", row.text, diff)
		}
	}
}

func TestThresholdErrorsPointAtThePlace(t *testing.T) {
	for _, row := range []struct{ text, part, what string }{
		{"warm.p9x < 60ms", "p9x", `unknown statistic "p9x", did you mean "p90"?`},
		{"warn.p99 < 60ms", "warn", `unknown start kind "warn", did you mean "warm"?`},
		{"warm.errors < 1%", "errors", "one number for all start kinds"},
		{"p0 < 1s", "p0", "between p0 and p100"},
		{"p100 < 1s", "p100", "the largest value is max"},
		{"pNaN < 1s", "pNaN", "between p0 and p100"},
		{"p99 = 60ms", "= 60ms", "expected one of < <= > >="},
		{"p99 =< 60ms", "=<", "expected one of"},
		{"p99 60ms", "60ms", "expected one of"},
		{"p99 < 60", "60", "duration with a unit"},
		{"p99 < -1s", "-1s", "must not be negative"},
		{"errors < 101%", "101%", "a share such as 0.1% or 0.001"},
		{"errors < 0x1p-4", "0x1p-4", "a share"},
		{"rate > 5/", "5/", "a rate such as 50/s"},
		{"rate > 5/d", "5/d", "a rate such as 50/s"},
		{"peak_instances < 2.5", "2.5", "a whole number"},
		{"p99 < 1s over", "", "'phase NAME' or 'wave N'"},
		{"p99 < 1s over waves 1", "waves", `did you mean "wave"?`},
		{"p99 < 1s over wave 0", "0", "from 1 on"},
		{"peak_instances < 9 over wave 1", "wave", "of the whole run"},
		{"p99 < 1s overall", "overall", "expected 'over phase NAME'"},
		{"p99 < 1s as", "", "expected a name"},
		{"p99 < 1s as x y", "y", "or nothing more"},
		{"", "", "expected a statistic"},
		{"größe < 1s", "größe", "unknown statistic"},
		{"p99 <\u00a01s", "\u00a01s", "duration"},
		{strings.Repeat("p", maxPhrase+1), "p", "longer than 500 bytes"},
	} {
		_, err := ParseThreshold(row.text)
		var wrong *SyntaxError
		if !errors.As(err, &wrong) {
			t.Errorf("ParseThreshold(%q): %v, want a syntax error", row.text, err)
			continue
		}
		at := strings.Index(row.text, row.part)
		if row.part == "" {
			at = len(row.text)
		}
		if wrong.Offset != at || !strings.Contains(wrong.What, row.what) {
			t.Errorf("ParseThreshold(%q): offset %d: %s; want offset %d: …%s…", row.text, wrong.Offset, wrong.What, at, row.what)
		}
	}
	_, err := ParseThreshold("warm.p99 < größer")
	var wrong *SyntaxError
	if !errors.As(err, &wrong) || wrong.Detail() != "warm.p99 < größer\n           ^" {
		t.Errorf("the caret stands at\n%s", wrong.Detail())
	}
}

// What is read is printed so that it is read again, and what is refused is refused with a place within the text.
func FuzzParseThreshold(f *testing.F) {
	for _, text := range []string{"warm.p99 < 60ms", "errors < 0.1%", "cold_share <= 5% over phase hold", "makespan < 3s over wave 1 as m",
		"rate >= 6/m", "p99.99 <", "p < 1", "über.p9 <= 1h", "peak_instances>3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseThreshold(text)
		if err != nil {
			var wrong *SyntaxError
			if !errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > len(text) || !strings.HasSuffix(wrong.Detail(), "^") {
				t.Fatalf("ParseThreshold(%q): %#v", text, err)
			}
			if lines := strings.Split(wrong.Detail(), "\n"); len(lines) != 2 {
				t.Fatalf("ParseThreshold(%q): the detail has %d lines", text, len(lines))
			}
			return
		}
		if math.IsNaN(got.Limit) || math.IsInf(got.Limit, 0) || got.Limit < 0 || got.Stat == QuantileStat && !(got.Q > 0 && got.Q < 1) {
			t.Fatalf("ParseThreshold(%q) = %+v", text, got)
		}
		again, err := ParseSelector(got.Selector.String())
		if err != nil || math.Abs(again.Q-got.Q) > 1e-6 || again.Start != got.Start || again.Stat != got.Stat || again.Phase != got.Phase || again.Wave != got.Wave {
			t.Fatalf("%q is read as %q, which is read as %+v (%v)", text, got.Selector, again, err)
		}
		if second, err := ParseThreshold(got.Text); utf8.ValidString(text) && (err != nil || second.Limit != got.Limit) {
			t.Fatalf("%q is kept as %q, which is read as %+v (%v)", text, got.Text, second, err)
		}
	})
}

func TestDefaultYardsticksAreSelectors(t *testing.T) {
	for _, y := range DefaultYardsticks() {
		if s, err := ParseSelector(y.Name); err != nil || s.String() != y.Name || !(y.Margin > 0) {
			t.Errorf("yardstick %q: reads as %q (%v), margin %v", y.Name, s, err, y.Margin)
		}
	}
}

// response makes a run with these response times of warm requests, a second apart.
func response(times ...time.Duration) *Run {
	run := &Run{Summary: Summary{Scheduled: len(times)}}
	for i, d := range times {
		run.Records = append(run.Records, served(i, d))
	}
	return run
}

func served(i int, d time.Duration) record.Record {
	r := record.Record{Seq: int64(i), Wave: -1, Outcome: record.OK, Server: record.Server{Start: record.Warm, Source: record.FromPlatform}}
	r.Intended = r.Intended.Add(time.Duration(i) * time.Second)
	r.Sent, r.Done = r.Intended, r.Intended.Add(d)
	return r
}
