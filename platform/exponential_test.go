package platform

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"
)

func exponentialShare(mean time.Duration) func(time.Duration) float64 {
	return func(v time.Duration) float64 {
		if v < 0 {
			return 0
		}
		return -math.Expm1(-float64(v+1) / float64(mean))
	}
}

// The law draws what it says; a mean 3 % longer and a law with memory of the same mean are noticed.
func TestExponential(t *testing.T) {
	const n = 20_000
	limit := ksFactor / math.Sqrt(n)
	values := sample(Exponential(100*ms), n)
	shortest, longest := Exponential(100 * ms).Range()
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
		if v < shortest || v > longest {
			t.Fatalf("draw %v is out of %v to %v", v, shortest, longest)
		}
	}
	// The standard deviation of an exponential law is its mean.
	want, five := float64(Exponential(100*ms).Mean()), 5*float64(100*ms)/math.Sqrt(n)
	if mean := sum / n; math.Abs(mean-want) > five || math.Abs(mean-1.05*want) <= five {
		t.Errorf("mean of %d draws = %.0f, want %.0f ± %.0f and not 5 %% more", n, mean, want, five)
	}
	slices.Sort(values)
	for _, c := range []struct {
		why   string
		share func(time.Duration) float64
		right bool
	}{
		{"the law itself", exponentialShare(100 * ms), true},
		{"a mean 3 % longer", exponentialShare(103 * ms), false},
		{"a mean 3 % shorter", exponentialShare(97 * ms), false},
		{"uniform of the same mean", uniformShare(0, 200*ms), false},
	} {
		if got := distance(values, c.share); (got <= limit) != c.right {
			t.Errorf("%s: distance %.4f, limit %.4f, want within it: %v", c.why, got, limit, c.right)
		}
	}
}

func TestExponentialReadsBack(t *testing.T) {
	for _, c := range []struct{ why, text, want string }{
		{"milliseconds", "exponential:100ms", "exponential:100ms"},
		{"the canonical form", "exponential:0.1s", "exponential:100ms"},
		{"no mean", "exponential", ""},
		{"zero: every draw would be", "exponential:0s", ""},
		{"negative", "exponential:-1s", ""},
		{"its longest draw has no 64-bit number", "exponential:100000h", ""},
	} {
		law, err := ParseLaw(c.text)
		switch {
		case c.want == "" && !errors.Is(err, ErrLaw):
			t.Errorf("%s: ParseLaw(%q) = %v, %v, want ErrLaw", c.why, c.text, law, err)
		case c.want != "" && (err != nil || law.Name() != c.want):
			t.Errorf("%s: ParseLaw(%q) = %v, %v, want %s", c.why, c.text, law, err, c.want)
		}
	}
}
