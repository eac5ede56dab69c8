package experiment

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"coldwave/analysis"
	"coldwave/scheduler/policies"
)

func TestParseAxis(t *testing.T) {
	for _, row := range []struct {
		spec, text string
		limit      bool
		want       string
	}{
		{"cloudrun", "concurrency_target=0.3..0.9:0.1", false, "0.3 0.4 0.5 0.6 0.7 0.8 0.9"}, // steps are exact: seven values
		{"cloudrun", "concurrency_target=0.6", false, "0.6"},
		{"cloudrun", "concurrency_target=0.1..0.95:0.2", false, "0.1 0.3 0.5 0.7 0.9"}, // the last step would go beyond
		{"cloudrun", "cpu=true,false", false, "true false"},
		{"cloudrun:reserve=0.4", "metric_tick=5s..15s:5s", false, "5s 10s 15s"},
		{"fc-race", "idle_timeout=10s,1m,5m", false, "10s 1m0s 5m0s"},
		{"fc-race", "idle_timeout=1m..1m:1ns", false, "1m0s"},
		{"fixed", "instances=1..4", false, "1 2 3 4"},
		{"fixed", "instances=1..7:2,8,10", false, "1 3 5 7 8 10"},
		{"fixed", "max=1..3,unlimited", true, "1 2 3 unlimited"},
		{"fixed", "min=0,2", true, "0 2"},
		{"fixed", "concurrency=1,80", true, "1 80"},
		{"cloudrun", "limit.concurrency=10,20", true, "10 20"},
		{"cloudrun", "policy.concurrency=true,false", false, "true false"},
		{"fixed", "policy.instances=3", false, "3"},
		{"fixed", "limit.max=0", true, "0"},
	} {
		a, err := ParseAxis(row.spec, row.text)
		if got := strings.Join(a.Texts(), " "); err != nil || got != row.want || a.Limit != row.limit {
			t.Errorf("ParseAxis(%q, %q) = %q, limit %v, %v; want %q, limit %v", row.spec, row.text, got, a.Limit, err, row.want, row.limit)
		}
	}
}

func TestParseAxisRefuses(t *testing.T) {
	for _, row := range []struct {
		spec, text string
		column     int
		want       string
	}{
		{"fixed", "", 1, "expected = and values"},
		{"fixed", "max", 4, "expected = and values"},
		{"fixed", "max=", 5, "expected a value"},
		{"fixed", "max=1,,2", 7, "expected a value"},
		{"fixed", "max=1,", 7, "expected a value"},
		{"fixed", "mix=1", 1, `unknown parameter "mix", did you mean "max"?`},
		{"fixed", "limit.instances=1", 1, "unknown parameter"},
		{"fixed", "policy.max=1", 1, "unknown parameter"},
		{"cloudrun", "concurrency=1,2", 1, "write policy.concurrency or limit.concurrency"},
		{"fixed", "max=1..x", 8, "max want a whole number"},
		{"fixed", "max=x..2", 5, "max want a whole number"},
		{"fixed", "instances=-1", 11, "must lie in 0 … 1048576"},
		{"fixed", "instances=1.5", 11, "want a whole number"},
		{"fixed", "concurrency=0", 13, "must lie in 1"},
		{"fixed", "max=3..1", 8, "1 is below 3"},
		{"fixed", "max=1..3:0", 10, "step: must be above 0"},
		{"fixed", "max=1..3:-1", 10, "step: must be above 0"},
		{"fixed", "max=1..3:", 10, "step: want a whole number"},
		{"fixed", "max=1..3:9223372036854775807,1", 30, "1 is there twice"},
		{"fixed", "max=1..10001", 5, "more than 10000 values"},
		{"fixed", "max=1..9999,20000..20002", 13, "more than 10000 values"},
		{"fixed", "max=1,2,1", 9, "1 is there twice"},
		{"fixed", "max=unlimited..3", 16, "3 is below unlimited"},
		{"cloudrun", "concurrency_target=0.3..0.9", 28, "expected : and a step"},
		{"cloudrun", "concurrency_target=0.3..0.9:x", 29, "step: want a ratio"},
		{"cloudrun", "concurrency_target=0.05..0.9:0.1", 20, "must lie in 0.1 … 0.95"},
		{"cloudrun", "cpu=false..true", 5, "cpu is true or false and has no range"},
		{"fc-race", "idle_timeout=10..60:1", 14, "want a duration"},
		{"fc-race", "idle_timeout=10s..1m:0s", 22, "step: must be above 0"},
	} {
		_, err := ParseAxis(row.spec, row.text)
		var wrong *analysis.SyntaxError
		if !errors.As(err, &wrong) || !strings.Contains(wrong.What, row.want) || wrong.Offset != row.column-1 {
			t.Errorf("ParseAxis(%q, %q) = %v, want column %d and %q", row.spec, row.text, err, row.column, row.want)
		}
	}
	if _, err := ParseAxis("fixt", "max=1"); !errors.Is(err, policies.ErrUnknown) {
		t.Errorf("an unknown policy: %v", err)
	}
}

// FuzzParseAxis: no text makes it panic; what it reads is in range, each value once, and reads the same again when it is
// written out value by value.
func FuzzParseAxis(f *testing.F) {
	for _, seed := range []string{"max=1..4,8", "concurrency_target=0.3..0.9:0.1", "metric_tick=5s..1m:5s", "cpu=true,false", "limit.concurrency=1..80:7",
		"policy.concurrency=true", "max=unlimited", "max=1..9223372036854775807:9223372036854775807", "max=..", "=", "idle_timeout=1h..2h:1ns", "é=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAxis("cloudrun", text)
		if err != nil {
			var wrong *analysis.SyntaxError
			if !errors.As(err, &wrong) || wrong.Offset < 0 || wrong.Offset > len(text) {
				t.Fatalf("ParseAxis(%q) = %v, want a place in the text", text, err)
			}
			return
		}
		for _, v := range a.Values {
			if v < a.Param.Min || v > a.Param.Max {
				t.Fatalf("ParseAxis(%q): %d is out of range", text, v)
			}
		}
		if len(a.Values) == 0 || len(a.Values) > maxAxis {
			t.Fatalf("ParseAxis(%q): %d values", text, len(a.Values))
		}
		again, err := ParseAxis("cloudrun", a.Name+"="+strings.Join(a.Texts(), ","))
		if err != nil || !slices.Equal(again.Values, a.Values) {
			t.Fatalf("ParseAxis(%q) written out gives %v, %v; want %v", text, again.Values, err, a.Values)
		}
	})
}
