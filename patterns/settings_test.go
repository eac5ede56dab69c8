package patterns

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"coldwave/workload"
)

// few is a pattern cut after 200 arrivals.
type few struct{ Pattern }

func (f few) Open(r *rand.Rand) func() (workload.Intent, bool) {
	next, left := f.Pattern.Open(r), 200
	return func() (workload.Intent, bool) {
		if left == 0 {
			return workload.Intent{}, false
		}
		left--
		return next()
	}
}

// settings reads "name=text" pairs as a command line would.
func settings(t *testing.T, text string) Settings {
	t.Helper()
	var s Settings
	for pair := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(pair, "=")
		if err := s.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestOverride(t *testing.T) {
	const c5 = "{kind: constant, rate: 5/s, duration: 10s}"
	for _, c := range []struct{ why, text, set, want string }{
		{"nothing is set", c5, "", c5},
		{"another rate keeps the duration", c5, "rate=6/m", "{kind: constant, rate: 6/m, duration: 10s}"},
		{"another duration keeps the rate", c5, "duration=1m", "{kind: constant, rate: 5/s, duration: 1m}"},
		{"a number replaces the duration", c5, "requests=49", "{kind: constant, rate: 5/s, requests: 49}"},
		{"rate and duration", c5, "rate=6/m duration=60s", "{kind: constant, rate: 6/m, duration: 1m}"},
		{"rate and number", c5, "rate=6/m requests=3", "{kind: constant, rate: 6/m, requests: 3}"},
		{"number and duration are a rate", c5, "requests=401 duration=2s", "{kind: constant, rate: 401/2s, duration: 2s}"},
		{"a duration replaces the number", "{kind: constant, rate: 5/s, requests: 7}", "duration=1s", "{kind: constant, rate: 5/s, duration: 1s}"},
		{"a rate keeps the number", "{kind: constant, rate: 5/s, requests: 7}", "rate=1/s", "{kind: constant, rate: 1/s, requests: 7}"},
		{"poisson: a rate", "{kind: poisson, rate: 5/s, duration: 10s}", "rate=7/s", "{kind: poisson, rate: 7/s, duration: 10s}"},
		{"poisson: a number replaces the duration", "{kind: poisson, rate: 5/s, duration: 10s}", "requests=3", "{kind: poisson, rate: 5/s, requests: 3}"},
		{"ramp: a duration", "{kind: ramp, from: 1/s, to: 2/s, duration: 10s}", "duration=1s", "{kind: ramp, from: 1/s, to: 2/s, duration: 1s}"},
		{"waves: a gap", "{kind: waves, sizes: [1, 2], gap: 10s}", "gap=4s", "{kind: waves, sizes: [1, 2], gap: 4s}"},
		{"burst: a gap, the shift stays", "{kind: burst, steady: 2, burst: 20, before: 3, after: 3, gap: 10s, shift: 42.2ms, shift_after: 2}", "gap=4s",
			"{kind: burst, steady: 2, burst: 20, before: 3, after: 3, gap: 4s, shift: 42.2ms, shift_after: 2}"},
	} {
		base := must(t, c.text)
		got, err := base.Override(settings(t, c.set))
		if err != nil || got.String() != c.want {
			t.Errorf("%s: %s with %q = %v, %v, want %s", c.why, c.text, c.set, got, err, c.want)
		}
		if base.String() != c.text {
			t.Errorf("%s: the pattern itself changed to %v", c.why, base)
		}
	}
}

func TestOverrideRefuses(t *testing.T) {
	for _, c := range []struct{ why, text, set, want string }{
		{"a rate for waves", "{kind: waves, sizes: [1], gap: 1s}", "rate=5/s", "pattern waves has no setting rate; leave it out; what can be set is gap"},
		{"requests for a burst", "{kind: burst, steady: 2, burst: 20, before: 3, after: 3, gap: 1s}", "gap=2s requests=5", "pattern burst has no setting requests; leave it out; what can be set is gap"},
		{"a gap for a rate", "{kind: constant, rate: 5/s, duration: 1s}", "gap=5s", "pattern constant has no setting gap; leave it out; what can be set is rate, duration, requests"},
		{"a rate for a ramp", "{kind: ramp, from: 1/s, to: 2/s, duration: 1s}", "rate=5/s", "pattern ramp has no setting rate; leave it out; what can be set is duration"},
		{"all three", "{kind: constant, rate: 5/s, duration: 1s}", "rate=5/s duration=1s requests=5", "rate, duration and requests are all given; leave one of them out"},
		{"two ends of a random process", "{kind: poisson, rate: 5/s, duration: 1s}", "duration=1s requests=5", "duration and requests are both given; leave one of them out"},
		{"a gap that the shift does not fit in", "{kind: burst, steady: 2, burst: 20, before: 3, after: 3, gap: 1s, shift: 42ms}", "gap=42ms", "shift 42ms must lie between two waves; give a duration from 0 to below the gap of 42ms"},
		{"a rate above the limit", "{kind: constant, rate: 5/s, duration: 1s}", "rate=1000001/s", "rate 1000001/s is above the limit; give at most 1000000/s"},
		{"a number above the limit", "{kind: poisson, rate: 5/s, duration: 1s}", "requests=5000001", "requests 5000001 is above the limit; give at most 5000000"},
	} {
		got, err := must(t, c.text).Override(settings(t, c.set))
		var e *Error
		if got != nil || err == nil || err.Error() != c.want || !errors.As(err, &e) {
			t.Errorf("%s: %s with %q = %v, %v, want %s", c.why, c.text, c.set, got, err, c.want)
		}
	}
	s := Settings{Rate: Rate{Count: 9, Per: second}, Limits: Limits{Rate: 8}}
	if _, err := (Constant{Rate: Rate{5, second}, Duration: second}).Override(s); !errors.Is(err, ErrLimit) {
		t.Errorf("a rate above a lowered limit: %v, want ErrLimit", err)
	}
}

func TestSetRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"rate", "-3/s", `rate "-3/s" is negative; give a rate above 0`},
		{"rate", "0/s", `rate 0/s must be above 0; give a rate above 0, such as 100/s`},
		{"rate", "50", `rate "50" has no unit of time; write 50/s for that many each second`},
		{"duration", "0s", `duration 0s must be above 0; give a duration above 0, such as 10s`},
		{"duration", "-1m", `duration -1m must be above 0; give a duration above 0, such as 10s`},
		{"duration", "60", `duration "60" is no duration; write 60s for seconds`},
		{"gap", "x", `gap "x" is no duration; write it as in 10s, 250ms or 1m30s`},
		{"requests", "0", `requests "0" is no number above 0; give a whole number above 0`},
		{"requests", "-5", `requests "-5" is no number above 0; give a whole number above 0`},
		{"requests", "1e3", `requests "1e3" is no number above 0; give a whole number above 0`},
		{"requests", "1.5", `requests "1.5" is no number above 0; give a whole number above 0`},
		{"ratee", "5/s", `unknown setting "ratee", did you mean "rate"?; the settings are rate, duration, requests, gap`},
	} {
		var s Settings
		if err := s.Set(c.name, c.text); err == nil || err.Error() != c.want {
			t.Errorf("Set(%q, %q) = %v, want %s", c.name, c.text, err, c.want)
		}
	}
}

func TestSpanReadsBack(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1: "1ns", 1500: "1.5us", 42200 * time.Microsecond: "42.2ms", second: "1s", time.Minute: "1m", 90 * second: "1m30s",
		10 * time.Minute: "10m", time.Hour: "1h", time.Hour + second: "1h0m1s", 100 * time.Minute: "1h40m", -time.Minute: "-1m",
	} {
		got := span(d)
		if back, err := time.ParseDuration(got); got != want || err != nil || back != d {
			t.Errorf("span(%d) = %q, which reads as %v, %v, want %q", d, got, back, err, want)
		}
	}
}
