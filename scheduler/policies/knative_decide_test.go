package policies_test

import (
	"math"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler/policies"
)

// kpa is the spec of the examples: threshold 2, up 1000, down 2, a stable window of 60 s, TBC 211.
func kpa(target, total float64) policies.KPASpec {
	return policies.KPASpec{
		Target: target, Total: total, BurstCapacity: 211, PanicThreshold: 2, MaxUp: 1000, MaxDown: 2, StableWindow: time.Minute,
	}
}

func at(s float64) clock.Instant { return clock.Instant(s * float64(time.Second)) }

// TestKnativeDecisions: one decision of a decider that has seen nothing.
func TestKnativeDecisions(t *testing.T) {
	with := func(s policies.KPASpec, change func(*policies.KPASpec)) policies.KPASpec {
		change(&s)
		return s
	}
	tests := []struct {
		name          string
		spec          policies.KPASpec
		stable, panic float64
		ready         int
		want, burst   int
		panics        bool
	}{
		{"KN-a: 50 of 70", kpa(70, 100), 50, 50, 1, 1, -161, false},
		{"KN-b: exactly five targets", kpa(70, 100), 350, 350, 5, 5, -61, false},
		{"KN-c: down by a factor of two at most", kpa(70, 100), 0, 0, 8, 4, 589, false},
		{"KN-c: the last one may go at once", kpa(70, 100), 0, 0, 1, 0, -111, false},
		{"KN-d: 139 are two, and two over one is the threshold", kpa(70, 100), 7, 139, 1, 2, -250, true},
		{"KN-e: from one instance anything over the target is panic", kpa(70, 100), 0, 70.1, 1, 2, -182, true},
		{"KN-f: three over two is none", kpa(7, 10), 10, 20, 2, 2, -211, false},
		{"KN-g: the limit upwards is rounded up", with(kpa(1, 1), func(s *policies.KPASpec) { s.MaxUp = 1.1 }), 3, 3, 2, 3, -212, false},
		{"KN-h: the limit downwards is rounded down", with(kpa(10, 10), func(s *policies.KPASpec) { s.MaxDown = 1.1 }), 1, 1, 100, 90, 788, false},
		{"KN-h: nothing delays what no route leads to", with(kpa(10, 10), func(s *policies.KPASpec) {
			s.MaxDown, s.Unreachable = 1.1, true
		}), 1, 1, 100, 1, 788, false},
		{"KN-11: burst capacity 0, no activator", with(kpa(10, 10), func(s *policies.KPASpec) { s.BurstCapacity = 0 }), 5, 5, 1, 1, 0, false},
		{"KN-11: burst capacity -1, always an activator", with(kpa(10, 10), func(s *policies.KPASpec) { s.BurstCapacity = -1 }), 5, 5, 99, 49, -1, false},
		{"KN-9: a positive count is lifted", with(kpa(10, 10), func(s *policies.KPASpec) { s.Activation = 4 }), 1, 1, 1, 4, -202, false},
		{"KN-9: nothing is not", with(kpa(10, 10), func(s *policies.KPASpec) { s.Activation = 4 }), 0, 0, 1, 0, -201, false},
		{"KN-9: the raw count panics, not the lifted one", with(kpa(10, 10), func(s *policies.KPASpec) { s.Activation = 9 }), 10, 10, 1, 9, -211, false},
		{"KN-6: no instance counts as one", kpa(0.7, 1), 1, 1, 0, 2, -212, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := policies.NewKPADecider(tt.spec, 0, 0)
			got := d.Decide(policies.KPAInput{Now: at(1000), Stable: tt.stable, Panic: tt.panic, Ready: tt.ready})
			if !got.Valid || got.Desired != tt.want || got.ExcessBurst != tt.burst || got.Panicking != tt.panics {
				t.Errorf("Decide(%v, %v, %d ready) = %+v, want %d, excess %d, panic %v",
					tt.stable, tt.panic, tt.ready, got, tt.want, tt.burst, tt.panics)
			}
		})
	}
}

// sight is what a decider sees at one time, and what it must want.
type sight struct {
	at            float64
	stable, panic float64
	ready, want   int
}

// TestKnativeSequences: decisions that depend on earlier ones.
func TestKnativeSequences(t *testing.T) {
	ten := kpa(10, 10)
	ten.MaxUp, ten.MaxDown = 10, 10
	two := ten
	two.MaxDown = 2
	slow := kpa(10, 10)
	slow.ScaleDownDelay = 5 * time.Minute
	tests := []struct {
		name  string
		spec  policies.KPASpec
		ready int // at the beginning
		see   []sight
	}{
		{"KN-i: a panic ends strictly after one stable window", ten, 0,
			[]sight{{0, 0, 1000, 10, 100}, {30, 1, 1, 10, 100}, {60, 1, 1, 10, 100}, {61, 1, 1, 10, 1}}},
		{"KN-i: then down by a factor of two", two, 0, []sight{{0, 0, 1000, 10, 100}, {30, 1, 1, 10, 100}, {61, 1, 1, 10, 5}}},
		{"KN-j: the largest count of the delay", slow, 0, []sight{{2, 40, 40, 4, 4}, {300, 0, 0, 1, 4}, {302, 0, 0, 1, 0}}},
		{"KN-10: a later, larger count begins the delay anew", slow, 0,
			[]sight{{2, 40, 40, 4, 4}, {100, 50, 50, 4, 5}, {302, 0, 0, 1, 5}, {398, 0, 0, 1, 5}, {400, 0, 0, 1, 0}}},
		{"KN-8: with several ready it begins in panic, and keeps them for one stable window", kpa(10, 10), 6,
			[]sight{{0, 1, 1, 6, 6}, {60, 1, 1, 6, 6}, {61, 1, 1, 6, 3}}},
		{"KN-8: with one it does not", kpa(10, 10), 1, []sight{{0, 0, 0, 1, 0}}},
		{"KN-7: in panic the larger of both windows counts", kpa(1, 1), 0, []sight{{0, 0, 4, 2, 4}, {2, 6, 4, 4, 6}, {4, 1, 1, 4, 6}}},
		{"AS-05: growing by one a tick below the threshold does not extend the panic", kpa(1, 1), 0,
			[]sight{{0, 3, 9, 3, 9}, {2, 3, 10, 9, 10}, {30, 3, 11, 10, 11}, {60, 3, 12, 11, 12}, {62, 3, 13, 12, 6}}},
		{"the check value: 0.7 of 1, at 0, 1, 2, 4 … 32 every 10 s", kpa(0.7, 1), 0, []sight{
			{0, 0, 0, 0, 0}, {10, 0, 1, 0, 2}, {20, 0, 2, 2, 3}, {30, 0, 4, 3, 6}, {40, 0, 8, 6, 12}, {50, 0, 16, 12, 23}, {60, 0, 32, 23, 46},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := policies.NewKPADecider(tt.spec, tt.ready, 0)
			for _, s := range tt.see {
				got := d.Decide(policies.KPAInput{Now: at(s.at), Stable: s.stable, Panic: s.panic, Ready: s.ready})
				if got.Desired != s.want {
					t.Errorf("at %v s: Decide(%v, %v, %d ready) = %+v, want %d", s.at, s.stable, s.panic, s.ready, got, s.want)
				}
			}
		})
	}
}

// TestKnativeNoData: missing data is not 0 (R19). No decision is made, and the state stays as it was.
func TestKnativeNoData(t *testing.T) {
	d := policies.NewKPADecider(kpa(10, 10), 0, 0)
	d.Decide(policies.KPAInput{Now: at(0), Panic: 100, Ready: 1})
	if got := d.Decide(policies.KPAInput{Now: at(200), Ready: 10, NoData: true}); got.Valid || got.Desired != 0 {
		t.Errorf("Decide(no data) = %+v, want no decision", got)
	}
	if got := d.Decide(policies.KPAInput{Now: at(60), Panic: 1, Stable: 1, Ready: 10}); got.Desired != 10 {
		t.Errorf("Decide after it = %+v, want the panic of before: 10", got)
	}
}

// TestKnativeReplay: a decision is a function of the series, and reading has no effect (R19).
func TestKnativeReplay(t *testing.T) {
	one, two := policies.NewKPADecider(kpa(0.7, 1), 0, 0), policies.NewKPADecider(kpa(0.7, 1), 0, 0)
	w, read := policies.NewKPAWindow(time.Minute), policies.NewKPAWindow(time.Minute)
	for s := range int64(300) {
		load := float64(s * s % 37)
		w.Record(s, load)
		read.Record(s, load)
		for k := range int64(5) {
			read.Mean(s + k)
			read.Weighted(s + k)
			read.Empty(s + k)
		}
		a := one.Decide(policies.KPAInput{Now: at(float64(s)), Stable: w.Mean(s), Panic: load, Ready: 3})
		b := two.Decide(policies.KPAInput{Now: at(float64(s)), Stable: read.Mean(s), Panic: load, Ready: 3})
		if a != b {
			t.Fatalf("at %d s: %+v and %+v, want the same", s, a, b)
		}
	}
}

// TestKnativeTargets is KN-5.
func TestKnativeTargets(t *testing.T) {
	tests := []struct {
		name                    string
		annotation, concurrency float64
		rate                    bool
		target, total           float64
	}{
		{"the container concurrency", 0, 10, false, 7, 10},
		{"an unlimited one is 100", 0, 0, false, 70, 100},
		{"an annotation", 5, 10, false, 3.5, 5},
		{"an annotation is capped", 50, 10, false, 7, 10},
		{"requests per second", 0, 10, true, 140, 200},
		{"requests per second are not capped", 50, 10, true, 35, 50},
		{"never below a hundredth", 0.001, 0, false, 0.01, 0.001},
	}
	for _, tt := range tests {
		target, total := policies.KPATarget(tt.annotation, tt.concurrency, 0.7, tt.rate)
		if math.Abs(target-tt.target) > 1e-12 || total != tt.total {
			t.Errorf("KN-5, %s: KPATarget(%v, %v) = %v, %v, want %v, %v", tt.name, tt.annotation, tt.concurrency, target, total, tt.target, tt.total)
		}
	}
}

// TestKnativeWindows is KN-k to KN-o.
func TestKnativeWindows(t *testing.T) {
	for _, tt := range []struct{ stable, want int }{{60, 6}, {6, 1}, {15, 2}, {65, 7}} {
		if got := policies.KPAPanicWindow(time.Duration(tt.stable)*time.Second, 10); got != time.Duration(tt.want)*time.Second {
			t.Errorf("KN-k: panic window of %d s = %v, want %d s", tt.stable, got, tt.want)
		}
	}
	tests := []struct {
		name     string
		from, to int64 // seconds with 10 each
		now      int64
		want     float64
		empty    bool
	}{
		{"KN-l: six buckets are all there are", 0, 5, 5, 10, false},
		{"KN-m: a silence of 5 s leaves 55 buckets", 0, 60, 65, 10, false},
		{"KN-m: nor does it add zeros to a short history", 0, 5, 8, 10, false},
		{"KN-n: just before a window of silence", 0, 0, 59, 10, false},
		{"KN-n: after a window of silence it is 0", 0, 0, 60, 0, false},
		{"KN-n: and then there is no data", 0, 0, 61, 0, true},
	}
	for _, tt := range tests {
		w := policies.NewKPAWindow(time.Minute)
		for s := tt.from; s <= tt.to; s++ {
			w.Record(s, 10)
		}
		if got, empty := w.Mean(tt.now), w.Empty(tt.now); got != tt.want || empty != tt.empty {
			t.Errorf("%s: mean %v, empty %v, want %v, %v", tt.name, got, empty, tt.want, tt.empty)
		}
	}
}

// TestKnativeWindowAgainstSum compares the running sum with the sum of the definition, over gaps and silences.
func TestKnativeWindowAgainstSum(t *testing.T) {
	const n = 6
	w, all := policies.NewKPAWindow(n*time.Second), map[int64]float64{}
	var first, last int64
	for k := range int64(2000) {
		s := last + k*k%4 + k%50/49*9 // mostly near, at times beyond the window
		if k == 0 || s-last > n {
			first, all = s, map[int64]float64{}
		}
		all[s] += float64(k%11) / 8
		w.Record(s, float64(k%11)/8)
		last = s
		for now := s; now < s+n; now++ {
			sum := 0.0
			for b := now - n + 1; b <= last; b++ {
				sum += all[b]
			}
			want := math.Floor(sum/float64(min(last-first+1, n-(now-last)))*1e6) / 1e6
			if got := w.Mean(now); math.Abs(got-want) > 1.5e-6 {
				t.Fatalf("after %d writes, at second %d: Mean = %v, want %v", k+1, now, got, want)
			}
		}
	}
}

// TestKnativeLateReports: what comes late goes to its own second.
func TestKnativeLateReports(t *testing.T) {
	w := policies.NewKPAWindow(6 * time.Second)
	w.Record(10, 4)
	w.Record(12, 4)
	w.Record(11, 1)
	if got := w.Mean(12); got != 3 {
		t.Errorf("KN-4: a late report: mean %v, want 9 in 3 buckets", got)
	}
	w.Record(9, 7)
	if got := w.Mean(12); got != 4 {
		t.Errorf("KN-4: one before the first: mean %v, want 16 in 4 buckets", got)
	}
	w.Record(6, 100)
	if got := w.Mean(12); got != 4 {
		t.Errorf("KN-4: one that has left the window: mean %v, want 4", got)
	}
}

// TestKnativeWeights is KN-o.
func TestKnativeWeights(t *testing.T) {
	for _, tt := range []struct {
		n    int
		want float64
	}{{60, 0.2}, {6, 0.78456}} {
		if got := policies.KPADecay(tt.n); math.Abs(got-tt.want) > 5e-6 {
			t.Errorf("KN-o: KPADecay(%d) = %v, want %v", tt.n, got, tt.want)
		}
	}
	// 0.6 is the weight of no window, so the examples are taken with the window's own.
	w := policies.NewKPAWindow(6 * time.Second)
	for s, v := range []float64{10, 10, 5, 5} {
		w.Record(int64(s), v)
	}
	c := policies.KPADecay(6)
	want := c * (5 + (1-c)*(5+(1-c)*(10+(1-c)*10)))
	if got := w.Weighted(3); math.Abs(got-want) > 1e-9 {
		t.Errorf("KN-4: Weighted = %v, want %v", got, want)
	}
	if got := w.Weighted(5); math.Abs(got-want*(1-c)*(1-c)) > 1e-9 {
		t.Errorf("KN-4: Weighted after 2 s = %v, want %v", got, want*(1-c)*(1-c))
	}
	if got := w.Weighted(10); got != 0 {
		t.Errorf("KN-4: Weighted of an empty window = %v, want 0", got)
	}
}

// TestKnativeCounts is KN-p and KN-q.
func TestKnativeCounts(t *testing.T) {
	for _, tt := range [][2]int{{1, 1}, {3, 3}, {4, 4}, {5, 4}, {10, 7}, {20, 9}, {50, 12}, {100, 14}, {1000, 16}} {
		if got := policies.KPASample(tt[0]); got != tt[1] {
			t.Errorf("KN-p: KPASample(%d) = %d, want %d", tt[0], got, tt[1])
		}
	}
	for _, tt := range [][2]int{{1, 4}, {10, 13}, {50, 53}} {
		if got := policies.KPAActivators(tt[0], 100, 211); got != tt[1] {
			t.Errorf("KN-q: KPAActivators(%d) = %d, want %d", tt[0], got, tt[1])
		}
	}
	if got := policies.KPAActivators(0, 100, 0); got != 2 {
		t.Errorf("KN-11: KPAActivators(0) = %d, want at least 2", got)
	}
}
