package references

import (
	"math"
	"slices"
	"testing"
	"time"

	"coldwave/platform"
)

// rampMeans returns the pooled mean of waves 2 to 32 before for the seeds 1 to n, with cold starts longer by the factor.
func rampMeans(t *testing.T, law string, n uint64, factor float64) []time.Duration {
	t.Helper()
	out := make([]time.Duration, 0, n)
	for seed := uint64(1); seed <= n; seed++ {
		run := model{pattern: "fc-ramp", role: Before, law: law, seed: seed, coldTimes: factor}.run(t)
		out = append(out, newSide(Cell{Run: run}).pooled().stats().Mean)
	}
	return out
}

func outside(means []time.Duration, low, high time.Duration) (n int) {
	for _, m := range means {
		if m < low || m > high {
			n++
		}
	}
	return n
}

// The limits of the mean hold for each of 1,000 seeds under each law, with room for what the wire adds. The narrower ones
// of FR-10 do not: ± 65 ms under documented fails in about 6 of 1,000.
func TestMeanBeforeHoldsForAnySeed(t *testing.T) {
	c := resultOf(t, Check(load(t), Evidence{}), "fc-ramp-before-mean").Claim
	for _, law := range coldLaws {
		means := rampMeans(t, law, 1000, 0)
		low, high := c.ms("mean_min_ms", law), c.ms("mean_max_ms", law)
		if n := outside(means, low, high-15*ms); n != 0 {
			t.Errorf("law %s: %d of 1000 seeds outside %v to %v, want none", law, n, low, high)
		}
		if wrong := rampMeans(t, law, 100, 1.5); outside(wrong, low, high) != 100 {
			t.Errorf("law %s: %d of 100 seeds with cold starts half as long again are found, want all", law, outside(wrong, low, high))
		}
	}
	if n := outside(rampMeans(t, "documented", 1000, 0), 998*ms, 1128*ms); n < 1 || n > 20 {
		t.Errorf("± 65 ms fails in %d of 1000 seeds, want about 6: the reason for the wider limit", n)
	}
}

// atMost is the probability that each of n draws of the law is at most d.
func atMost(d time.Duration, law string, n int) float64 {
	p := 0.0
	if law == "uniform" {
		p = float64(d-1700*ms) / float64(1300*ms)
	} else {
		cold := platform.Documented().Values
		for _, v := range cold {
			if v <= d {
				p += 1 / float64(len(cold))
			}
		}
	}
	return math.Pow(p, float64(n))
}

// The false-alarm probabilities that the claims state, computed. A ratio is judged against the slowest that is allowed
// after: 245 ms in the ramp, 1062 ms in the burst.
func TestStatedFalseAlarms(t *testing.T) {
	for _, c := range []struct {
		name  string
		p     float64
		limit float64
	}{
		{"fc-ramp-before-p99, uniform: four cold starts below 1800 ms", atMost(1800*ms, "uniform", 4), 3.6e-5},
		{"fc-ramp-before-p99, documented", atMost(1800*ms, "documented", 4), 9.6e-6},
		{"fc-ramp-p99-change: 31 cold starts below ten times 245 ms", atMost(2450*ms, "uniform", 31), 4e-8},
		{"fc-burst-p99-change: 18 cold starts below twice 1062 ms", atMost(2124*ms, "uniform", 18), 2e-9},
		{"fc-ramp-before-mean, documented: 13 of 31 draws are the largest", atLeast(13, 31, 1.0/18), 1e-7},
		{"fc-ramp-before-mean, uniform: five standard deviations", math.Erfc((1400-1231.25)/33.7/math.Sqrt2) / 2, 3e-7},
	} {
		if c.p > c.limit || c.p < c.limit/1000 {
			t.Errorf("%s: false alarm %.2g, stated %.2g", c.name, c.p, c.limit)
		}
	}
}

// Why the two ratios are not judged under documented: these are no rare events.
func TestRatiosCannotBeJudgedUnderDocumented(t *testing.T) {
	if p := atMost(2449*ms, "documented", 31); math.Abs(p-0.17) > 0.005 {
		t.Errorf("P(no draw of 2962 ms in the ramp) = %.3f, stated 17 %%", p)
	}
	if p := atMost(2040*ms, "documented", 18); math.Abs(p-0.011) > 0.0005 {
		t.Errorf("P(no draw above 2040 ms in the burst) = %.4f, stated 1.1 %%", p)
	}
}

// atLeast is P(B ≥ k) for B ~ Bin(n, p).
func atLeast(k, n int, p float64) (sum float64) {
	for ; k <= n; k++ {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		sum += math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	return sum
}

// What FR-3 states of the steps: the median is 100 to 101.5 ms and none is shorter than 100 ms, for any draw.
func TestStepsForAnyDraw(t *testing.T) {
	for seed := range uint64(1000) {
		s := newSide(Cell{Run: model{pattern: "fc-burst", role: After, law: "uniform", seed: seed}.run(t)})
		groups := groupLevels(s.burst())
		steps := make([]time.Duration, len(groups)-1)
		for i := range steps {
			steps[i] = groups[i+1] - groups[i]
		}
		slices.Sort(steps)
		// Overhead before and after differ by a nanosecond where they do not divide evenly.
		if median := steps[len(steps)/2]; steps[0] < 100*ms-1 || median > 101500*time.Microsecond {
			t.Fatalf("seed %d: steps %v, want none below 100 ms and a median of at most 101.5 ms", seed, steps)
		}
	}
}
