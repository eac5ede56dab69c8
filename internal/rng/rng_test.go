package rng

import (
	"math"
	"testing"
)

// The same seed gives the same bytes on every platform and in every release: published numbers depend on it.
func TestDrawsAreFixed(t *testing.T) {
	d := NewKey(1, "start-ups").Draw(7)
	got := [3]uint64{d.Uint64(), d.Uint64(), d.Uint64()}
	again := NewKey(1, "start-ups").Draw(7)
	if want := [3]uint64{again.Uint64(), again.Uint64(), again.Uint64()}; got != want {
		t.Errorf("two draws of one id: %x and %x, want equal", got, want)
	}
	if want := golden3; got != want {
		t.Errorf("NewKey(1, start-ups).Draw(7) = %#x, want %#x", got, want)
	}
}

func TestNamesSeedsAndIDsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for seed := uint64(0); seed < 50; seed++ {
		for _, name := range []string{"", "a", "b", "ab", "ba", "arrivals", "demands"} {
			for id := int64(-2); id < 50; id++ {
				d := NewKey(seed, name).Draw(id)
				v := d.Uint64()
				if old, ok := seen[v]; ok {
					t.Fatalf("seed %d name %q id %d repeats %s", seed, name, id, old)
				}
				seen[v] = name
			}
		}
	}
}

// Mean and variance of 200,000 numbers lie within 5 standard errors; a law shifted by 1 % would not.
func TestMoments(t *testing.T) {
	const n = 200_000
	key := NewKey(3, "moments")
	for _, c := range []struct {
		name           string
		draw           func(d *Draw) float64
		mean, variance float64
	}{
		{"uniform", (*Draw).Float64, 0.5, 1.0 / 12},
		{"normal", (*Draw).NormFloat64, 0, 1},
		{"int64n", func(d *Draw) float64 { return float64(d.Int64N(1000)) }, 499.5, (1e6 - 1) / 12},
	} {
		sum, sq := 0.0, 0.0
		for i := range int64(n) {
			d := key.Draw(i)
			v := c.draw(&d)
			sum, sq = sum+v, sq+(v-c.mean)*(v-c.mean)
		}
		limit := 5 * math.Sqrt(c.variance/n)
		if got := sum / n; math.Abs(got-c.mean) > limit {
			t.Errorf("%s: mean %g, want %g ± %g", c.name, got, c.mean, limit)
		}
		if shifted := sum/n + 0.05*math.Sqrt(c.variance); math.Abs(shifted-c.mean) <= limit {
			t.Errorf("%s: the limit %g would accept a shifted mean %g", c.name, limit, shifted)
		}
		if got := sq / n; math.Abs(got/c.variance-1) > 0.02 {
			t.Errorf("%s: variance %g, want %g ± 2 %%", c.name, got, c.variance)
		}
	}
}

// golden3 was printed once by this code; it may never change.
var golden3 = [3]uint64{0x640137c49ecb83a2, 0x80117bfeea1994f0, 0x265282097b3cc17d}
