package workload

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

const ms = time.Millisecond

func TestDemandText(t *testing.T) {
	for _, c := range []struct {
		why  string
		d    Demand
		want string
	}{
		{"a documented request", Demand{Exec: 100 * ms, Pre: 6250 * time.Microsecond, Post: 6250 * time.Microsecond}, "exec=100ms;pre=6.25ms;post=6.25ms"},
		{"nothing", Demand{}, "exec=0s;pre=0s;post=0s"},
		{"microseconds stay ASCII", Demand{Exec: 1500}, "exec=1.5us;pre=0s;post=0s"},
		{"a nanosecond", Demand{Post: 1}, "exec=0s;pre=0s;post=1ns"},
		{"the limits", Demand{Exec: 10 * time.Minute, Pre: time.Minute, Post: time.Minute}, "exec=10m0s;pre=1m0s;post=1m0s"},
		{"with CPU time", Demand{Exec: 100 * ms, CPU: 40 * ms}, "exec=100ms;pre=0s;post=0s;cpu=40ms"},
	} {
		if got := c.d.String(); got != c.want {
			t.Errorf("%s: %#v.String() = %q, want %q", c.why, c.d, got, c.want)
		}
		if got, err := ParseDemand(c.want); err != nil || got != c.d {
			t.Errorf("%s: ParseDemand(%q) = %v, %v, want %v", c.why, c.want, got, err, c.d)
		}
	}
}

func TestParseDemand(t *testing.T) {
	for _, c := range []struct {
		why, text string
		want      Demand
	}{
		{"written by hand: a missing part is 0", "exec=250ms", Demand{Exec: 250 * ms}},
		{"any order", "post=1ms;pre=2ms;exec=3ms", Demand{Exec: 3 * ms, Pre: 2 * ms, Post: 1 * ms}},
		{"spaces around the parts", " exec=3ms ; pre=2ms", Demand{Exec: 3 * ms, Pre: 2 * ms}},
	} {
		if got, err := ParseDemand(c.text); err != nil || got != c.want {
			t.Errorf("%s: ParseDemand(%q) = %v, %v, want %v", c.why, c.text, got, err, c.want)
		}
	}
}

func TestParseDemandRefuses(t *testing.T) {
	for _, c := range []struct {
		why, text, want string
		limit           bool
	}{
		{"empty", "", `demand "": part "" has no value: write it as in exec=100ms;pre=6ms;post=6ms`, false},
		{"no value", "exec", `demand "exec": part "exec" has no value: write it as in exec=100ms;pre=6ms;post=6ms`, false},
		{"trailing separator", "exec=1ms;", `demand "exec=1ms;": part "" has no value: write it as in exec=100ms;pre=6ms;post=6ms`, false},
		{"repeated", "exec=1ms;exec=2ms", `demand "exec=1ms;exec=2ms": part "exec" comes twice: give it once`, false},
		{"unknown", "gpu=1ms", `demand "gpu=1ms": unknown part "gpu": the parts are exec, pre, post and cpu`, false},
		{"upper case is another word", "Exec=1ms", `demand "Exec=1ms": unknown part "Exec": the parts are exec, pre, post and cpu`, false},
		{"no unit", "exec=100", `demand "exec=100": exec "100" is no duration: write it as in 6.25ms`, false},
		{"negative", "pre=-1ns", `demand "pre=-1ns": pre -1ns is negative: give 0 or more`, false},
		{"exec above", "exec=10m1ns", `demand "exec=10m1ns": exec 10m0.000000001s: demand above its limit: give at most 10m0s`, true},
		{"cpu above", "cpu=10m1ns", `demand "cpu=10m1ns": cpu 10m0.000000001s: demand above its limit: give at most 10m0s`, true},
		{"pre above", "pre=60001ms", `demand "pre=60001ms": pre 1m0.001s: demand above its limit: give at most 1m0s`, true},
		{"post above", "post=2m", `demand "post=2m": post 2m0s: demand above its limit: give at most 1m0s`, true},
		{"beyond 64 bits", "exec=9999999h", `demand "exec=9999999h": exec "9999999h" is no duration: write it as in 6.25ms`, false},
		{"a header that never ends", strings.Repeat("exec=1ms;", 40), `demand of 360 bytes: demand above its limit: give at most 256 bytes`, true},
		{"a line break is quoted", "exec=1ms\nx", `demand "exec=1ms\nx": exec "1ms\nx" is no duration: write it as in 6.25ms`, false},
	} {
		got, err := ParseDemand(c.text)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: ParseDemand(%q) = %v, error %v, want error %s", c.why, c.text, got, err, c.want)
		}
		if errors.Is(err, ErrDemandLimit) != c.limit {
			t.Errorf("%s: ParseDemand(%q): is ErrDemandLimit = %v, want %v", c.why, c.text, !c.limit, c.limit)
		}
		if got != (Demand{}) {
			t.Errorf("%s: ParseDemand(%q) = %v beside an error, want nothing", c.why, c.text, got)
		}
	}
}

// The limits can be set, both ways, and each for itself.
func TestDemandLimitIsSet(t *testing.T) {
	tight := DemandLimit{Exec: ms, Overhead: 2 * ms}
	if _, err := tight.Parse("exec=1ms;pre=2ms;post=2ms;cpu=1ms"); err != nil {
		t.Errorf("at the limits: %v, want none", err)
	}
	for _, text := range []string{"exec=1.000001ms", "cpu=1.000001ms", "pre=2.000001ms", "post=2.000001ms"} {
		if _, err := tight.Parse(text); !errors.Is(err, ErrDemandLimit) {
			t.Errorf("%+v.Parse(%q) = %v, want ErrDemandLimit", tight, text, err)
		}
	}
	if _, err := (DemandLimit{Exec: time.Hour}).Parse("exec=1h"); err != nil {
		t.Errorf("a raised limit: %v, want none", err)
	}
}

// FuzzParseDemand: what is read is within its limits, and its text reads back to the same.
func FuzzParseDemand(f *testing.F) {
	for _, s := range []string{"exec=100ms;pre=6.25ms;post=6.25ms", "exec=1us", "pre=.5s;exec=1h", "exec=1ms;exec=1ms", ";", "post=-0s", "exec=+1µs", "cpu=40ms;exec=100ms"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDemand(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("ParseDemand(%q): error of several lines: %q", text, err)
			}
			return
		}
		if d.Exec < 0 || d.Pre < 0 || d.Post < 0 || d.CPU < 0 || max(d.Exec, d.CPU) > DefaultExecLimit || d.Pre > DefaultOverheadLimit || d.Post > DefaultOverheadLimit {
			t.Errorf("ParseDemand(%q) = %v, out of limits", text, d)
		}
		again, err := ParseDemand(d.String())
		if err != nil || again != d {
			t.Errorf("ParseDemand(%q) = %v, %v, want %v", d, again, err, d)
		}
		for _, c := range []byte(d.String()) {
			if c >= 0x80 {
				t.Errorf("%q is not ASCII", d)
			}
		}
	})
}

// FuzzDemandText: every demand within the limits survives its text.
func FuzzDemandText(f *testing.F) {
	f.Add(int64(0), int64(0), int64(0), int64(0))
	f.Add(int64(100*ms), int64(6250001), int64(math.MaxInt64), int64(40*ms))
	f.Fuzz(func(t *testing.T, exec, pre, post, cpu int64) {
		fit := func(v int64, limit time.Duration) time.Duration { return time.Duration(uint64(v) % uint64(limit+1)) }
		d := Demand{
			Exec: fit(exec, DefaultExecLimit), Pre: fit(pre, DefaultOverheadLimit), Post: fit(post, DefaultOverheadLimit),
			CPU: fit(cpu, DefaultExecLimit),
		}
		if got, err := ParseDemand(d.String()); err != nil || got != d {
			t.Errorf("ParseDemand(%q) = %v, %v, want %v", d, got, err, d)
		}
	})
}
