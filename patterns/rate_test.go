package patterns

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coldwave/internal/clock"
)

func TestParseRate(t *testing.T) {
	for _, c := range []struct {
		text string
		want Rate
		name string // canonical; empty: the text
	}{
		{"1000/s", Rate{1000, time.Second}, ""},
		{"6/m", Rate{6, time.Minute}, ""},
		{"2/h", Rate{2, time.Hour}, ""},
		{"3/7s", Rate{3, 7 * time.Second}, ""},
		{"1/ms", Rate{1, time.Millisecond}, ""},
		{"1/us", Rate{1, time.Microsecond}, ""},
		{"5/1s", Rate{5, time.Second}, "5/s"},
		{"5/10m", Rate{5, 10 * time.Minute}, ""},
		{"1/1m30s", Rate{1, 90 * time.Second}, ""},
		{"0.5/s", Rate{5, 10 * time.Second}, "5/10s"},
		{"2.50/s", Rate{250, 100 * time.Second}, "250/1m40s"},
		{".5/s", Rate{5, 10 * time.Second}, "5/10s"},
		{"0/s", Rate{0, time.Second}, ""}, // where 0 makes sense is for the pattern to say
	} {
		got, err := ParseRate(c.text)
		if err != nil || got != c.want {
			t.Errorf("ParseRate(%q) = %v, %v, want %v", c.text, got, err, c.want)
		}
		name := c.name
		if name == "" {
			name = c.text
		}
		if got.String() != name {
			t.Errorf("ParseRate(%q).String() = %q, want %q", c.text, got, name)
		}
		if again, err := ParseRate(got.String()); err != nil || again != got {
			t.Errorf("ParseRate(%q) = %v, %v, want %v", got.String(), again, err, got)
		}
	}
}

func TestParseRateRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `rate "" has no unit of time; write it as in 100/s, 6/m or 3/7s`},
		{"100", `rate "100" has no unit of time; write 100/s for that many each second`},
		{"-100", `rate "-100" has no unit of time; write it as in 100/s, 6/m or 3/7s`},
		{"-3/s", `rate "-3/s" is negative; give a rate above 0`},
		{"+3/s", `rate "+3/s" has no number of requests, with at most 9 decimals; write it as in 100/s, 6/m or 3/7s`},
		{"/s", `rate "/s" has no number of requests, with at most 9 decimals; write it as in 100/s, 6/m or 3/7s`},
		{"1e3/s", `rate "1e3/s" has no number of requests, with at most 9 decimals; write it as in 100/s, 6/m or 3/7s`},
		{"NaN/s", `rate "NaN/s" has no number of requests, with at most 9 decimals; write it as in 100/s, 6/m or 3/7s`},
		{"1,5/s", `rate "1,5/s" has no number of requests, with at most 9 decimals; write it as in 100/s, 6/m or 3/7s`},
		{"0.1234567890/s", `rate "0.1234567890/s" has no number of requests, with at most 9 decimals; write it as in 100/s, 6/m or 3/7s`},
		{"99999999999999999999/s", `rate "99999999999999999999/s" has no number of requests, with at most 9 decimals; write it as in 100/s, 6/m or 3/7s`},
		{"5/", `rate "5/" has no unit of time above 0; write it as in 100/s, 6/m or 3/7s`},
		{"5/0s", `rate "5/0s" has no unit of time above 0; write it as in 100/s, 6/m or 3/7s`},
		{"5/-1s", `rate "5/-1s" has no unit of time above 0; write it as in 100/s, 6/m or 3/7s`},
		{"5/day", `rate "5/day" has no unit of time above 0; write it as in 100/s, 6/m or 3/7s`},
		{"0.000000001/1000h", `rate "0.000000001/1000h" has too long a unit of time; use a shorter one or fewer decimals`},
	} {
		got, err := ParseRate(c.text)
		if err == nil || err.Error() != c.want || got != (Rate{}) {
			t.Errorf("ParseRate(%q) = %v, %v, want %s", c.text, got, err, c.want)
		}
	}
}

// at and covers are the floor and the ceiling of k·Per/Count, for numbers whose product has up to 128 bits.
func TestRateArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rate{rapid.Int64Range(1, math.MaxInt64).Draw(t, "count"), time.Duration(rapid.Int64Range(1, maxPer).Draw(t, "per"))}
		k := rapid.Int64Range(0, math.MaxInt64).Draw(t, "k")
		exact := new(big.Int).Mul(big.NewInt(k), big.NewInt(int64(r.Per)))
		floor, rest := exact.QuoRem(exact, big.NewInt(r.Count), new(big.Int))
		limit := time.Duration(math.MaxInt64)
		at, ok := r.at(k, limit)
		if ok != floor.IsInt64() || ok && int64(at) != floor.Int64() {
			t.Fatalf("%v.at(%d) = %d, %v, want %v", r, k, at, ok, floor)
		}
		if !ok && at != clock.Never {
			t.Fatalf("%v.at(%d) = %d beside false, want never", r, k, at)
		}
		ceiling := floor
		if rest.Sign() > 0 {
			ceiling = new(big.Int).Add(floor, big.NewInt(1))
		}
		want := int64(math.MaxInt64)
		if ceiling.IsInt64() {
			want = ceiling.Int64()
		}
		if got := r.covers(k); int64(got) != want {
			t.Fatalf("%v.covers(%d) = %d, want %d", r, k, got, want)
		}
	})
}

func TestRateLimitIsInclusive(t *testing.T) {
	for _, c := range []struct {
		why   string
		rate  Rate
		limit int64
		ok    bool
	}{
		{"at the limit", Rate{1000, time.Second}, 1000, true},
		{"one more", Rate{1001, time.Second}, 1000, false},
		{"the same in other words", Rate{60_000, time.Minute}, 1000, true},
		{"a fraction above", Rate{60_001, time.Minute}, 1000, false},
		{"one per nanosecond", Rate{1, 1}, 1_000_000_000, true},
		{"the default", Rate{1_000_000, time.Second}, 0, true},
		{"above the default", Rate{1_000_001, time.Second}, 0, false},
		{"as many as the number has bits", Rate{math.MaxInt64, time.Second}, 0, false},
	} {
		err := Constant{Rate: c.rate, Duration: time.Second}.Check(Limits{Rate: c.limit})
		if (err == nil) != c.ok || !c.ok && !errors.Is(err, ErrLimit) {
			t.Errorf("%s: rate %v under %d/s: %v, want ok %v", c.why, c.rate, c.limit, err, c.ok)
		}
	}
}

func TestPerSecond(t *testing.T) {
	for _, c := range []struct {
		rate Rate
		want float64
	}{{Rate{1000, time.Second}, 1000}, {Rate{6, time.Minute}, 0.1}, {Rate{3, 6 * time.Second}, 0.5}} {
		if got := c.rate.PerSecond(); got != c.want {
			t.Errorf("%v.PerSecond() = %v, want %v", c.rate, got, c.want)
		}
	}
}
