package policies_test

import (
	"testing"
	"time"

	"coldwave/platform"
	"coldwave/scheduler"
)

// rampMeans returns the mean of each wave of a ramp under the uniform law.
func rampMeans(t *testing.T, policy string, seed uint64) (means []time.Duration, p99 []time.Duration) {
	t.Helper()
	res := play(t, policy, platform.Default(), seed, scheduler.Unlimited, 0, ramp)
	for w := range int32(len(ramp)) {
		got := responses(res, w)
		means, p99 = append(means, mean(got)), append(p99, quantile(got, 990))
	}
	return means, p99
}

// near reports whether got lies within a tolerance of want.
func near(got, want, tolerance time.Duration) bool { return (got - want).Abs() <= tolerance }

// TestSpread is FA-5: the mean of 200 means of the wave of 32 lies within three standard deviations of the model's, and
// so do the single ones: three deviations leave out 0.27 %, so 0.5 of 200 are expected outside and more than 3 have a
// probability of 0.2 %. The race's mean must fail the same test.
func TestSpread(t *testing.T) {
	const seeds = 200
	var bound, race time.Duration
	outside := 0
	for seed := range uint64(seeds) {
		b, _ := rampMeans(t, "fc-bound", seed)
		if !near(b[5], 1231*ms, 141*ms) {
			outside++
		}
		r, _ := rampMeans(t, "fc-race", seed)
		bound, race = bound+b[5]/seeds, race+r[5]/seeds
	}
	if !near(bound, 1231*ms, 12*ms) {
		t.Errorf("FA-5: mean of %d means = %v, want 1.231s ± 12ms", seeds, bound)
	}
	if outside > 3 {
		t.Errorf("FA-5: %d of %d single means lie outside 1.231s ± 141ms, want ≤ 3", outside, seeds)
	}
	if near(race, 1231*ms, 141*ms) {
		t.Errorf("FA-5: the race's mean %v passes for fc-bound's: the check does not bite", race)
	}
}

// TestDocumentedFigures is FA-6 and FA-11: what the source says of its ramp holds for any seed. Bound fails FA-6 and the
// race fails FA-11.
func TestDocumentedFigures(t *testing.T) {
	for seed := range uint64(100) {
		means, p99 := rampMeans(t, "fc-race", seed)
		for w := 1; w < len(ramp); w++ {
			if means[w] >= 200*ms || p99[w] >= 230*ms {
				t.Errorf("FA-6: seed %d, wave %d: mean %v, p99 %v, want below 200ms and 230ms", seed, w, means[w], p99[w])
			}
			if p99[w] >= 1700*ms {
				t.Errorf("FA-11: seed %d: the race's p99 %v passes for fc-bound's", seed, p99[w])
			}
		}
		means, p99 = rampMeans(t, "fc-bound", seed)
		for w := 1; w < len(ramp); w++ {
			if low := map[bool]time.Duration{false: 1700 * ms, true: 1800 * ms}[w >= 3]; p99[w] < low {
				t.Errorf("FA-11: seed %d, wave %d: p99 %v, want ≥ %v", seed, w, p99[w], low)
			}
			if means[w] < 200*ms {
				t.Errorf("FA-6: seed %d: fc-bound's mean %v passes for the race's", seed, means[w])
			}
		}
	}
}
