package policies

import (
	"math"
	"testing"
	"time"

	"coldwave/internal/clock"
)

// TestExponential is KN-o: the weights of a coefficient of 0.6, oldest first.
func TestExponential(t *testing.T) {
	tests := []struct {
		oldestFirst []float64
		want        float64
	}{
		{[]float64{10, 10, 5, 5}, 5.544},
		{[]float64{5, 5, 10, 10}, 9.072},
	}
	for _, tt := range tests {
		n := len(tt.oldestFirst)
		got := exponential(0.6, 0, n, func(age int) float64 { return tt.oldestFirst[n-1-age] })
		if math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("KN-o: weights 0.6 of %v = %v, want %v", tt.oldestFirst, got, tt.want)
		}
	}
}

// step is one step of the way to zero: at second s so many are wanted and ready.
type step struct {
	s           float64
	want, ready int
	proxy       bool
	n           int
	apply       bool
}

// TestWayToZero is KN-14, step by step.
func TestWayToZero(t *testing.T) {
	defaults := kpaZeroOptions{Stable: time.Minute, Grace: 30 * time.Second, Progress: 600 * time.Second}
	with := func(change func(*kpaZeroOptions)) kpaZeroOptions {
		o := defaults
		change(&o)
		return o
	}
	tests := []struct {
		name  string
		o     kpaZeroOptions
		steps []step
	}{
		{"active for less than the stable window: one for the rest", defaults, []step{
			{0, 2, 1, true, 2, true}, {20, 0, 1, true, 1, true}, {58, 0, 1, true, 1, true}, {60, 0, 1, true, 0, false}, {62, 0, 1, true, 0, true},
		}},
		{"the activator was in the path already: zero at once", defaults, []step{
			{0, 1, 1, true, 1, true}, {100, 0, 1, true, 0, false}, {102, 0, 1, true, 0, true},
		}},
		{"it enters when nothing is wanted: after the grace time", defaults, []step{
			{0, 1, 1, false, 1, true}, {100, 0, 1, true, 0, false}, {128, 0, 1, true, 0, false}, {130, 0, 1, true, 0, true},
		}},
		{"the retention always holds", with(func(o *kpaZeroOptions) { o.Retention = 50 * time.Second }), []step{
			{0, 1, 1, true, 1, true}, {100, 0, 1, true, 0, false}, {130, 0, 1, true, 0, false}, {148, 0, 1, true, 0, false}, {150, 0, 1, true, 0, true},
		}},
		{"a request in between begins anew", defaults, []step{
			{0, 1, 1, false, 1, true}, {100, 0, 1, true, 0, false}, {110, 1, 1, true, 1, true}, {112, 0, 1, true, 1, true}, {170, 0, 1, true, 0, false}, {172, 0, 1, true, 0, true},
		}},
		{"switched off: one", with(func(o *kpaZeroOptions) { o.Disabled = true }), []step{
			{0, 1, 1, true, 1, true}, {500, 0, 1, true, 1, true},
		}},
		{"an activation has its deadline and 30 s", defaults, []step{
			{0, 1, 0, true, 1, true}, {100, 0, 0, true, 0, false}, {628, 0, 0, true, 0, false}, {630, 0, 0, true, 0, true},
		}},
		{"AS-07: an activation that nobody waits for ends after the grace time", with(func(o *kpaZeroOptions) { o.GiveUp = true }), []step{
			{0, 1, 0, true, 1, true}, {100, 0, 0, true, 0, false}, {128, 0, 0, true, 0, false}, {130, 0, 0, true, 0, true},
		}},
		{"what was never wanted may be 0 at once", defaults, []step{{0, 0, 0, true, 0, true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			z := newKPAZero(tt.o)
			for _, s := range tt.steps {
				now := clock.Instant(s.s * float64(time.Second))
				z.route(now, s.proxy)
				if n, apply := z.scale(now, s.want, s.ready); n != s.n || apply != s.apply {
					t.Errorf("at %v s: scale(%d wanted, %d ready) = %d, %v, want %d, %v", s.s, s.want, s.ready, n, apply, s.n, s.apply)
				}
			}
		})
	}
}
