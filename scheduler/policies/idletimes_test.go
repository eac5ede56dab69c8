package policies

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestIdleTimesFade: counts are halved when there are very many, so what is new shows although it is a small part of all.
func TestIdleTimesFade(t *testing.T) {
	times := newIdleTimes(10)
	add := func(n int, idle time.Duration) {
		for range n {
			times.add(idle)
		}
	}
	add(60_000, 10*time.Second)
	if got := times.percentile(5); got != 0 {
		t.Errorf("percentile(5) = %d, want 0", got)
	}
	add(180_000, 90*time.Second) // of all a quarter lies in bin 0, after six halvings less than 5 %
	if got := times.percentile(5); got != 1 {
		t.Errorf("percentile(5) = %d, want 1: bin 0 has %d of %d", got, times.counts[0], times.total)
	}
	add(40_000, 5*time.Hour)
	if most := times.total + times.out; most > idleMost {
		t.Errorf("%d idle times are held, want at most %d", most, idleMost)
	}
}

// TestIdleTimesAddUp: the sums that are kept are those of the bins, and the test of the coefficient of variation agrees
// with its definition in floating point (AZ-4).
func TestIdleTimesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := newIdleTimes(3)
		bins := rapid.IntRange(1, 300).Draw(t, "bins")
		for range rapid.IntRange(1, 400).Draw(t, "n") {
			times.add(time.Duration(rapid.IntRange(0, bins-1).Draw(t, "bin")) * idleBin)
		}
		if rapid.Bool().Draw(t, "halve") {
			times.halve()
		}
		var total, squares int64
		for _, n := range times.counts {
			total, squares = total+n, squares+n*n
		}
		if total != times.total || squares != times.squares {
			t.Fatalf("total %d, squares %d, want %d, %d", times.total, times.squares, total, squares)
		}
		sample := rapid.Bool().Draw(t, "sample")
		if cv := variation(&times, sample); total > 0 {
			for _, mille := range []int64{int64(cv*1000) - 1, int64(cv*1000) + 1} {
				if got, want := times.representative(mille, sample), cv*1000 > float64(mille); mille >= 0 && got != want {
					t.Errorf("representative(%d, %v) = %v, want %v: the CV is %v", mille, sample, got, want, cv)
				}
			}
		}
	})
}

// variation is the coefficient of variation by its definition.
func variation(times *idleTimes, sample bool) float64 {
	mean, sum, n := float64(times.total)/idleBins, 0.0, float64(idleBins)
	for _, c := range times.counts {
		sum += (float64(c) - mean) * (float64(c) - mean)
	}
	if sample {
		n--
	}
	return math.Sqrt(sum/n) / mean
}
