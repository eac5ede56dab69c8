package reports

import (
	"math"
	"testing"
	"time"
)

func TestDurationHasThreeSignificantDigits(t *testing.T) {
	for _, row := range []struct {
		why  string
		in   time.Duration
		want string
	}{
		{"nothing", 0, "0 s"},
		{"one nanosecond is no fraction of a larger unit", 1, "1.00 ns"},
		{"microseconds in ASCII", 412345, "412 us"},
		{"two digits before the point", 12500 * time.Microsecond, "12.5 ms"},
		{"rounded up to the next width", 9996 * time.Microsecond, "10.0 ms"},
		{"seconds", 2347 * time.Millisecond, "2.35 s"},
		{"digits before the point are never dropped", 71234 * time.Second, "71234 s"},
		{"negative: a clock that stepped must be seen", -12500 * time.Microsecond, "-12.5 ms"},
	} {
		if got := duration(row.in); got != row.want {
			t.Errorf("%s: duration(%d) = %q, want %q", row.why, row.in, got, row.want)
		}
	}
}

func TestNoNumberPrintsAsNaN(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := significant(x); got != "n/a" {
			t.Errorf("significant(%v) = %q, want n/a", x, got)
		}
		if got := tps(x); got != "n/a" {
			t.Errorf("tps(%v) = %q, want n/a", x, got)
		}
	}
}

func TestScaleKeepsOneUnitForAColumn(t *testing.T) {
	ms := time.Millisecond
	for _, row := range []struct {
		why    string
		values []time.Duration
		want   string // of the first value
	}{
		{"hundreds of milliseconds need no point", []time.Duration{112400 * time.Microsecond, 2350 * ms}, "112"},
		{"the smallest value decides the digits", []time.Duration{2350 * ms, 12500 * time.Microsecond}, "2350.0"},
		{"never more than two digits behind the point", []time.Duration{2350 * ms, 400 * time.Microsecond}, "2350.00"},
		{"a column below a millisecond is in microseconds", []time.Duration{412 * time.Microsecond}, "412"},
		{"an empty column", []time.Duration{0}, "0"},
	} {
		if got := scaleOf(row.values...).text(row.values[0]); got != row.want {
			t.Errorf("%s: scaleOf(%v).print = %q, want %q", row.why, row.values, got, row.want)
		}
	}
}
