package policies_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler/policies"
)

var (
	newTolerance = policies.HPATolerance{Down: 0.1, Up: 0.1}
	oldTolerance = policies.HPATolerance{Down: 0.1, Up: 0.1, Old: true}
)

// usage returns the load of instances that request 100 each.
func usage(ignored, missing int, of ...int64) policies.HPALoad {
	l := policies.HPALoad{
		Counted: len(of), Ignored: ignored, Missing: missing, Request: int64(len(of)) * 100,
		IgnoredRequest: int64(ignored) * 100, MissingRequest: int64(missing) * 100,
	}
	for _, u := range of {
		l.Usage += u
	}
	return l
}

// TestHPAMetrics: what one metric of the instances proposes.
func TestHPAMetrics(t *testing.T) {
	tests := []struct {
		name    string
		current int
		load    policies.HPALoad
		target  int64
		cpu     bool
		tol     policies.HPATolerance
		want    int
		reason  policies.HPAReason
	}{
		{"HPA-a: twice the target", 3, usage(0, 0, 200, 200, 200), 100, false, newTolerance, 6, policies.HPAScaled},
		{"HPA-a: half the target", 3, usage(0, 0, 50, 50, 50), 100, false, newTolerance, 2, policies.HPAScaled},
		{"HPA-b: 1.09", 4, usage(0, 0, 109, 109, 109, 109), 100, false, newTolerance, 4, policies.HPAClose},
		{"HPA-b: 1.10 in the old arithmetic", 4, usage(0, 0, 110, 110, 110, 110), 100, false, oldTolerance, 5, policies.HPAScaled},
		{"HPA-b: 1.10 in the new arithmetic", 4, usage(0, 0, 110, 110, 110, 110), 100, false, newTolerance, 4, policies.HPAClose},
		{"HPA-b: 66/60 in the old arithmetic", 4, usage(0, 0, 66, 66, 66, 66), 60, false, oldTolerance, 5, policies.HPAScaled},
		{"HPA-b: 66/60 in the new arithmetic", 4, usage(0, 0, 66, 66, 66, 66), 60, false, newTolerance, 4, policies.HPAClose},
		{"HPA-b: 1.11", 4, usage(0, 0, 111, 111, 111, 111), 100, false, newTolerance, 5, policies.HPAScaled},
		{"HPA-b: 0.90 in the old arithmetic", 4, usage(0, 0, 90, 90, 90, 90), 100, false, oldTolerance, 4, policies.HPAClose},
		{"HPA-b: 0.90 in the new arithmetic", 4, usage(0, 0, 90, 90, 90, 90), 100, false, newTolerance, 4, policies.HPAClose},
		{"HPA-b: 0.89 is outside, but rounds up to 4", 4, usage(0, 0, 89, 89, 89, 89), 100, false, newTolerance, 4, policies.HPAScaled},
		{"HPA-c: 85 % against 70 %", 5, usage(0, 0, 85, 85, 85, 85, 85), 70, true, newTolerance, 7, policies.HPAScaled},
		{"HPA-d: a missing one counts as 0 upwards", 3, usage(0, 1, 80, 80), 50, true, newTolerance, 3, policies.HPAClose},
		{"HPA-e: a missing one counts in full downwards", 3, usage(0, 1, 20, 20), 50, true, newTolerance, 3, policies.HPAClose},
		{"HPA-f: and still allows one fewer", 4, usage(0, 1, 10, 10, 10), 50, true, newTolerance, 3, policies.HPAScaled},
		{"HPA-g: one that is not ready counts as 0 upwards", 3, usage(1, 0, 90, 90), 50, true, newTolerance, 4, policies.HPAScaled},
		{"HPA-7: and not at all downwards", 3, usage(1, 0, 20, 20), 50, true, newTolerance, 1, policies.HPAScaled},
		{"HPA-8: counting turned the direction", 6, usage(4, 0, 90, 90), 50, true, newTolerance, 6, policies.HPAReversed},
		{"HPA-8: with a target above 100 % a missing one counts with the target", 2, usage(0, 1, 100), 200, true, newTolerance, 2, policies.HPAScaled},
		{"HPA-8: a missing one has the target of another metric downwards", 3, usage(0, 1, 20, 20), 50, false, newTolerance, 2, policies.HPAScaled},
		{"HPA-5: percent are truncated before the ratio", 3, policies.HPALoad{Counted: 3, Usage: 1669, Request: 3000}, 50, true, newTolerance, 3, policies.HPAClose},
		{"AS-09: the surge of a rollout that is not ready changes nothing", 4, usage(4, 0, 50, 50, 50, 50), 50, true, newTolerance, 4, policies.HPAClose},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			propose := policies.HPAMean
			if tt.cpu {
				propose = policies.HPAUtilization
			}
			got, err := propose(tt.current, tt.load, tt.target, tt.tol)
			if err != nil || got.Replicas != tt.want || got.Reason != tt.reason {
				t.Errorf("of %+v, target %d = %+v, %v, want %d, reason %d", tt.load, tt.target, got, err, tt.want, tt.reason)
			}
		})
	}
	if _, err := policies.HPAUtilization(3, usage(1, 2), 50, newTolerance); !errors.Is(err, policies.ErrNoMetric) {
		t.Errorf("HPA-9: without a counted instance: %v, want %v", err, policies.ErrNoMetric)
	}
}

// TestHPATotals: metrics that are not of one instance.
func TestHPATotals(t *testing.T) {
	tests := []struct {
		name string
		got  policies.HPAProposal
		want int
	}{
		{"HPA-l: 15 rps on 2 of 7 is 1.071", policies.HPATotal(2, 15, 7, newTolerance), 2},
		{"HPA-l: 15.41 rps is 1.1007", policies.HPATotal(2, 15.41, 7, newTolerance), 3},
		{"HPA-2: a total needs ceil of itself by the target", policies.HPATotal(1, 40, 7, newTolerance), 6},
		{"HPA-10: a total from 0", policies.HPATotal(0, 0.1, 7, newTolerance), 1},
		{"HPA-10: no total from 0", policies.HPATotal(0, 0, 7, newTolerance), 0},
		{"HPA-10: a value from 0 has no tolerance", policies.HPAValue(0, 0, 105, 100, newTolerance), 2},
		{"HPA-3: from 1 it has", policies.HPAValue(1, 1, 105, 100, newTolerance), 1},
		{"HPA-7: a value counts for the ready ones", policies.HPAValue(4, 3, 200, 100, newTolerance), 6},
	}
	for _, tt := range tests {
		if tt.got.Replicas != tt.want {
			t.Errorf("%s: %+v, want %d", tt.name, tt.got, tt.want)
		}
	}
}

// TestHPASeveralMetrics is HPA-9.
func TestHPASeveralMetrics(t *testing.T) {
	tests := []struct {
		name   string
		of     []int // -1: it failed
		want   int
		change bool
	}{
		{"the largest", []int{2, 7, 3}, 7, true},
		{"one failed: up is allowed", []int{7, -1}, 7, true},
		{"one failed: down is not", []int{-1, 3}, 5, false},
		{"one failed: the present number is no reduction", []int{5, -1}, 5, true},
		{"none failed: down", []int{1, 3}, 3, true},
		{"all failed", []int{-1, -1}, 5, false},
	}
	for _, tt := range tests {
		var all policies.HPALargest
		for _, n := range tt.of {
			if n < 0 {
				all.Add(policies.HPAProposal{Replicas: 99}, policies.ErrNoMetric)
			} else {
				all.Add(policies.HPAProposal{Replicas: n}, nil)
			}
		}
		if n, ok := all.Replicas(5); n != tt.want || ok != tt.change {
			t.Errorf("HPA-9, %s: Replicas(5) of %v = %d, %v, want %d, %v", tt.name, tt.of, n, ok, tt.want, tt.change)
		}
	}
}

// TestHPAGroups is HPA-6.
func TestHPAGroups(t *testing.T) {
	times := policies.HPATimes{Initialization: 5 * time.Minute, Readiness: 30 * time.Second}
	tests := []struct {
		name string
		now  float64
		pod  policies.HPAPod
		want policies.HPAGroup
	}{
		{"being deleted", 400, policies.HPAPod{Gone: true, Ready: true}, policies.HPAGone},
		{"pending", 10, policies.HPAPod{Pending: true, Sampled: clock.Never}, policies.HPAIgnored},
		{"without a sample", 400, policies.HPAPod{Ready: true, Sampled: clock.Never}, policies.HPAMissing},
		{"in its first five minutes, not ready", 299, policies.HPAPod{Sampled: at(290)}, policies.HPAIgnored},
		{"its sample began before it was ready", 100, policies.HPAPod{Ready: true, Changed: at(50), Sampled: at(79), Window: 30 * time.Second}, policies.HPAIgnored},
		{"its sample began when it was ready", 100, policies.HPAPod{Ready: true, Changed: at(50), Sampled: at(80), Window: 30 * time.Second}, policies.HPACounted},
		{"after them such a sample counts", 300, policies.HPAPod{Ready: true, Changed: at(290), Sampled: at(295), Window: 30 * time.Second}, policies.HPACounted},
		{"after them one that was never ready is ignored", 400, policies.HPAPod{Changed: at(29), Sampled: at(399)}, policies.HPAIgnored},
		{"after them one that lost its readiness counts", 400, policies.HPAPod{Changed: at(30), Sampled: at(399)}, policies.HPACounted},
	}
	for _, tt := range tests {
		if got := times.Group(at(tt.now), tt.pod); got != tt.want {
			t.Errorf("HPA-6, %s: Group(%+v) = %d, want %d", tt.name, tt.pod, got, tt.want)
		}
	}
}

// TestHPARates is HPA-h and HPA-i: 100 are wanted.
func TestHPARates(t *testing.T) {
	from := []int{1, 2, 3, 5, 10}
	tests := []struct {
		name string
		b    policies.HPABehavior
		want []int
	}{
		{"HPA-h: without behavior", policies.HPABehavior{Without: true}, []int{4, 4, 6, 10, 20}},
		{"HPA-i: with the default", policies.HPADefault(), []int{5, 6, 7, 10, 20}},
		{"HPA-12: the smaller change", up(policies.HPALeast), []int{2, 4, 6, 9, 14}},
		{"HPA-12: disabled", up(policies.HPADisabled), from},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []int
			for _, n := range from {
				got = append(got, policies.NewHPARecommender(tt.b).Recommend(at(100), n, 100, 0, 1000).Replicas)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("from %v = %v, want %v", from, got, tt.want)
			}
		})
	}
}

func up(s policies.HPASelect) policies.HPABehavior {
	b := policies.HPADefault()
	b.Up.Select = s
	return b
}

// TestHPAPeriods: rules are measured from the number at the beginning of their period (HPA-12).
func TestHPAPeriods(t *testing.T) {
	r := policies.NewHPARecommender(policies.HPADefault())
	got := []int{}
	for k, s := range []float64{0, 5, 14, 15, 29, 30} {
		from := 10
		if k > 0 {
			from = got[k-1]
		}
		n := r.Recommend(at(s), from, 1000, 0, 1000).Replicas
		r.Scaled(at(s), from, n)
		got = append(got, n)
	}
	if want := []int{20, 20, 20, 40, 40, 80}; !slices.Equal(got, want) {
		t.Errorf("HPA-12: 10 → 1000 = %v, want %v: no more in one period", got, want)
	}
}

// TestHPADown is HPA-j: 80 → 10 with 10 % and 4 a minute, the larger change.
func TestHPADown(t *testing.T) {
	b := policies.HPABehavior{Down: policies.HPARules{Rules: []policies.HPARule{{10, true, time.Minute}, {4, false, time.Minute}}}}
	r, n := policies.NewHPARecommender(b), 80
	var got []int
	for k := range 14 {
		now := at(float64(60 * k))
		next := r.Recommend(now, n, 10, 0, 1000).Replicas
		r.Scaled(now, n, next)
		n = next
		got = append(got, n)
		if again := r.Recommend(now+1, n, 10, 0, 1000).Replicas; again != n {
			t.Errorf("HPA-12: at %v once more: %d, want %d", now+1, again, n)
		}
	}
	if want := []int{72, 64, 57, 51, 45, 40, 36, 32, 28, 24, 20, 16, 12, 10}; !slices.Equal(got, want) {
		t.Errorf("HPA-j: %v, want %v", got, want)
	}
}

// TestHPAStabilization is HPA-k: 10 are recommended at 0, then 4 every 15 s.
func TestHPAStabilization(t *testing.T) {
	without := policies.HPABehavior{Without: true, Down: policies.HPARules{Stabilization: 300 * time.Second}}
	for _, tt := range []struct {
		name  string
		b     policies.HPABehavior
		first float64 // when 4 is taken
	}{{"HPA-k: without behavior", without, 315}, {"HPA-k: with the default", policies.HPADefault(), 300}} {
		t.Run(tt.name, func(t *testing.T) {
			r := policies.NewHPARecommender(tt.b)
			r.Recommend(0, 10, 10, 0, 100)
			for s := 15.0; s <= 330; s += 15 {
				want := 10
				if s >= tt.first {
					want = 4
				}
				if got := r.Recommend(at(s), 10, 4, 0, 100); got.Replicas != want {
					t.Errorf("at %v s: %+v, want %d", s, got, want)
				}
			}
		})
	}
}

// TestHPAUpStabilization: more only after they were recommended for the whole window (HPA-11).
func TestHPAUpStabilization(t *testing.T) {
	b := policies.HPADefault()
	b.Up.Stabilization = time.Minute
	r := policies.NewHPARecommender(b)
	r.Recommend(0, 2, 2, 0, 100)
	for s := 15.0; s <= 75; s += 15 {
		want := 2
		if s >= 60 {
			want = 4
		}
		if got := r.Recommend(at(s), 2, 4, 0, 100).Replicas; got != want {
			t.Errorf("HPA-11: at %v s: %d, want %d", s, got, want)
		}
	}
	if got := r.Recommend(at(90), 4, 4, 5, 100).Replicas; got != 5 {
		t.Errorf("HPA-13: the bounds come last: %d, want 5", got)
	}
}
