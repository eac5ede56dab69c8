package analysis

import (
	"math"
	"slices"
	"testing"

	"coldwave/internal/rng"
)

func ratioOf(name string, margin float64) Yardstick { return Yardstick{Name: name, Margin: margin} }

// runsOf makes runs that have one number.
func runsOf(name string, values ...float64) []RunStats {
	var out []RunStats
	for _, v := range values {
		out = append(out, RunStats{name: {X: v}})
	}
	return out
}

func oneOf(t *testing.T, y Yardstick, a, b []RunStats) Comparison {
	t.Helper()
	got := Compare(a, b, Versus{Yardsticks: []Yardstick{y}})
	if len(got) != 1 {
		t.Fatalf("Compare of one yardstick = %d comparisons", len(got))
	}
	return got[0]
}

// Four runs a side, worked by hand: A 100 102 104 106, B 150 153 156 159. All 16 ratios lie between 150/106 and 159/100,
// which is the interval (c = 1), and the median of the ratios is near 1.5.
func TestCompareWorkedExample(t *testing.T) {
	c := oneOf(t, ratioOf("p99", 0.1), runsOf("p99", 100, 102, 104, 106), runsOf("p99", 150, 153, 156, 159))
	if c.RunsA != 4 || c.RunsB != 4 || c.MedianA != 103 || c.MedianB != 154.5 {
		t.Errorf("runs %d and %d, medians %v and %v, want 4, 4, 103, 154.5", c.RunsA, c.RunsB, c.MedianA, c.MedianB)
	}
	if math.Abs(c.Effect-0.5) > 0.005 || math.Abs(c.In.Low-(150.0/106-1)) > 1e-12 || math.Abs(c.In.High-0.59) > 1e-12 || !c.In.OK {
		t.Errorf("effect %v in %v, want about 0.5 in [150/106 − 1, 0.59]", c.Effect, c.In)
	}
	if want := 2.0 / 70; math.Abs(c.P-want) > 1e-12 || math.Abs(c.Adjusted-want) > 1e-12 {
		t.Errorf("p %v, adjusted %v, want 2/70", c.P, c.Adjusted)
	}
	if c.Change != Regressed || c.Reason != "" {
		t.Errorf("change %q (%s), want REGRESSION", c.Change, c.Reason)
	}
}

func TestChange(t *testing.T) {
	eight := func(x float64) []RunStats {
		return runsOf("m", x, x*1.001, x*1.002, x*1.003, x*0.999, x*0.998, x*0.997, x*0.996)
	}
	wide := func(x float64) []RunStats {
		return runsOf("m", x, x*1.1, x*1.2, x*1.3, x*0.9, x*0.8, x*0.7, x*0.6)
	}
	lower, higher := ratioOf("m", 0.05), Yardstick{Name: "m", Margin: 0.05, Better: HigherIsBetter}
	share := Yardstick{Name: "m", Margin: 0.005, Scale: Difference}
	timedOut := func(runs []RunStats) []RunStats {
		out := slices.Clone(runs)
		out[0] = RunStats{"m": {X: out[0]["m"].X, AtLeast: true}}
		return out
	}
	for _, row := range []struct {
		why  string
		y    Yardstick
		a, b []RunStats
		want Change
	}{
		{"20 % more", lower, eight(100), eight(120), Regressed},
		{"20 % less", lower, eight(100), eight(80), Improved},
		{"2 % more is within the margin", lower, eight(100), eight(102), NoRegression},
		{"2 % less is within the margin too", lower, eight(100), eight(98), NoRegression},
		{"5 % more: the interval holds the margin", lower, eight(100), eight(105), Unclear},
		{"noise", lower, wide(100), wide(101), Unclear},
		{"20 % more of what should be more", higher, eight(100), eight(120), Improved},
		{"20 % less of what should be more", higher, eight(100), eight(80), Regressed},
		{"2 % less of what should be more", higher, eight(100), eight(98), NoRegression},
		{"the same, to the bit", lower, eight(100), eight(100), NoRegression},
		{"no errors on either side", share, runsOf("m", 0, 0, 0, 0), runsOf("m", 0, 0, 0, 0), NoRegression},
		{"one percentage point more errors", share, runsOf("m", 0, 0, 0, 0), runsOf("m", 0.01, 0.01, 0.01, 0.01), Regressed},
		{"three runs a side give no interval at 95 %", lower, eight(100)[:3], eight(200)[:3], Unclear},
		{"no runs at all is no statement", lower, nil, nil, Unclear},
		{"a number that one side lacks", lower, eight(100), runsOf("other", 1, 1, 1, 1), Unclear},
		{"zero has no ratio", lower, runsOf("m", 0, 0, 0, 0), eight(1), Unclear},
		{"B timed out: it is worse all the same", lower, eight(100), timedOut(eight(120)), Regressed},
		{"A timed out: nobody knows how bad A was", lower, timedOut(eight(100)), eight(120), Unclear},
		{"A timed out: B is better all the same", lower, timedOut(eight(100)), eight(80), Improved},
		{"B timed out: it may be worse", lower, eight(100), timedOut(eight(80)), Unclear},
	} {
		got := oneOf(t, row.y, row.a, row.b)
		if got.Change != row.want || got.Change == Unclear && got.Reason == "" || got.Change == Regressed && got.Reason != "" {
			t.Errorf("%s: %q (%s) in %v, want %q", row.why, got.Change, got.Reason, got.In, row.want)
		}
	}
}

// Swapping the sides turns an improvement of what should be low into a regression, and the interval round.
func TestCompareIsAntisymmetric(t *testing.T) {
	r := rng.Stream(3, "swap")
	for range 200 {
		a, b := make([]float64, 5+r.IntN(6)), make([]float64, 5+r.IntN(6))
		for i := range a {
			a[i] = float64(90 + r.IntN(20))
		}
		for i := range b {
			b[i] = float64(90 + r.IntN(20))
		}
		y := ratioOf("m", 0.01)
		p, q := oneOf(t, y, runsOf("m", a...), runsOf("m", b...)), oneOf(t, y, runsOf("m", b...), runsOf("m", a...))
		near := func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }
		if !near((1+p.Effect)*(1+q.Effect), 1) || p.In.OK && !near((1+p.In.Low)*(1+q.In.High), 1) || !near(p.P, q.P) {
			t.Errorf("%v against %v: %+v, swapped %+v", a, b, p, q)
		}
	}
}

// Only what lies beyond the margin after Holm's correction is a change: one of three at p = 0.029 · 3 is none.
func TestHolm(t *testing.T) {
	both := func(x, y, z float64) RunStats { return RunStats{"x": {X: x}, "y": {X: y}, "z": {X: z}} }
	a := []RunStats{both(100, 1, 1), both(101, 2, 2), both(102, 3, 3), both(103, 4, 4)}
	b := []RunStats{both(200, 1, 1), both(201, 2, 2), both(202, 3, 3), both(203, 4, 4)}
	ys := []Yardstick{ratioOf("x", 0.05), ratioOf("y", 0.05), ratioOf("z", 0.05)}
	if got := Compare(a, b, Versus{Yardsticks: ys[:1]})[0]; got.Change != Regressed {
		t.Errorf("alone: %q (%s), want REGRESSION", got.Change, got.Reason)
	}
	got := Compare(a, b, Versus{Yardsticks: ys})[0]
	if want := 3 * 2.0 / 70; got.Change != Unclear || math.Abs(got.Adjusted-want) > 1e-12 {
		t.Errorf("among three: %q, adjusted p %v, want inconclusive, %v", got.Change, got.Adjusted, want)
	}
	ys[1].Name, ys[2].Name = "absent", "missing"
	if got := Compare(a, b, Versus{Yardsticks: ys})[0]; got.Change != Regressed {
		t.Errorf("beside yardsticks without a number: %q (%s), want REGRESSION", got.Change, got.Reason)
	}
}

// requests are the response times of a run: a common law, times what this run's minute on this host does to all of them.
func requests(n int, effect float64, draw func() float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Exp(effect + 0.21*draw())
	}
	return out
}

// The same build on both sides, and runs that differ by 1 % or 3 %: pooling the requests of one run a side calls that a
// change in every fourth or in two of three cases; comparing runs does so in at most 5 %. Tolerance: 3 standard deviations
// of 120 trials.
func TestPoolingRequestsCriesWolf(t *testing.T) {
	const trials, size = 120, 1000
	r := rng.Stream(23, "a/a")
	alarms := func(sd float64, alarm func(sd float64) bool) float64 {
		n := 0
		for range trials {
			if alarm(sd) {
				n++
			}
		}
		return float64(n) / trials
	}
	pooled := func(sd float64) bool {
		return differ(requests(size, sd*r.NormFloat64(), r.NormFloat64), requests(size, sd*r.NormFloat64(), r.NormFloat64)) < 0.05
	}
	perRun := func(sd float64) bool {
		side := func() []RunStats {
			var values []float64
			for range 6 {
				one := requests(40, sd*r.NormFloat64(), r.NormFloat64)
				slices.Sort(one)
				values = append(values, one[19])
			}
			return runsOf("p50", values...)
		}
		return oneOf(t, ratioOf("p50", 0.03), side(), side()).P < 0.05
	}
	if got := alarms(0.01, pooled); got < 0.14 {
		t.Errorf("pooled requests, runs 1 %% apart: %.2f false alarms, want about a quarter: the wrong method must show", got)
	}
	if got := alarms(0.03, pooled); got < 0.54 {
		t.Errorf("pooled requests, runs 3 %% apart: %.2f false alarms, want about two thirds: the wrong method must show", got)
	}
	for _, sd := range []float64{0.01, 0.03} {
		if got := alarms(sd, perRun); got > 0.05+3*math.Sqrt(0.05*0.95/trials) {
			t.Errorf("per run, runs %.0f %% apart: %.3f false alarms, want at most 0.05", 100*sd, got)
		}
	}
}

// A host that gets 1 % slower with each run: all A and then all B is a change in every case, ABBA is none, and comparing
// within the pairs stays sharp.
func TestDriftNeedsInterleaving(t *testing.T) {
	r := rng.Stream(29, "drift")
	session := func(order string) (a, b []RunStats) {
		for i, side := range order {
			run := RunStats{"m": {X: math.Exp(0.01*float64(i) + 0.002*r.NormFloat64())}}
			if side == 'A' {
				a = append(a, run)
			} else {
				b = append(b, run)
			}
		}
		return a, b
	}
	alarms := func(order string) (n int) {
		for range 100 {
			if a, b := session(order); oneOf(t, ratioOf("m", 0.001), a, b).P < 0.05 {
				n++
			}
		}
		return n
	}
	if got := alarms("AAAAABBBBB"); got < 95 {
		t.Errorf("one side after the other: %d of 100 false alarms, want nearly all: the wrong order must show", got)
	}
	if got := alarms("ABBAABBAABBA"); got > 5 {
		t.Errorf("interleaved: %d of 100 false alarms, want hardly any", got)
	}
	a, b := session("ABBAABBAABBAABBA")
	v := Versus{Yardsticks: []Yardstick{ratioOf("m", 0.03)}}
	alone := Compare(a, b, v)[0]
	v.Paired = true
	if paired := Compare(a, b, v)[0]; paired.In.High-paired.In.Low > (alone.In.High-alone.In.Low)/2 {
		t.Errorf("under a drift pairs give %v, independent runs %v: want less than half as wide", paired.In, alone.In)
	}
}

// The plan keeps its word: as many runs as RunsFor says find the change in about 80 % of the cases, half as many do not.
func TestPlannedRunsFindTheChange(t *testing.T) {
	const trials, noise, change = 400, 0.03, 0.08
	y := ratioOf("m", 0.03)
	worst, _ := y.bounds()
	n := RunsFor(change-worst, noise)
	found := func(n int) float64 {
		r, hits := rng.Stream(31, "power"), 0
		for range trials {
			var a, b []float64
			for range n {
				a, b = append(a, math.Exp(noise*r.NormFloat64())), append(b, math.Exp(change+noise*r.NormFloat64()))
			}
			if oneOf(t, y, runsOf("m", a...), runsOf("m", b...)).Change == Regressed {
				hits++
			}
		}
		return float64(hits) / trials
	}
	if got := found(n); got < 0.72 || got > 0.92 {
		t.Errorf("%d runs a side find %.2f, want about 0.80", n, got)
	}
	if got := found(n / 2); got > 0.65 {
		t.Errorf("%d runs a side find %.2f: the plan asks for more than is needed", n/2, got)
	}
	if got, want := HalfWidth(noise, n), Detectable(noise, n)*halfWidth/decides; math.Abs(got-want) > 1e-12 {
		t.Errorf("HalfWidth = %v, want %v", got, want)
	}
	if d := Detectable(noise, n); math.Abs(d-(change-worst)) > 0.15*d {
		t.Errorf("Detectable(%v, %d) = %v, want about %v", noise, n, d, change-worst)
	}
}

// What LeastRuns promises is so: as many runs apart show a change in one of so many, one less cannot.
func TestLeastRuns(t *testing.T) {
	for _, v := range []Versus{{}, {Paired: true}, {Level: 0.99}} {
		for _, metrics := range []int{1, 3, 11} {
			n := LeastRuns(metrics, v)
			if !shows(n, metrics, v) || shows(n-1, metrics, v) {
				t.Errorf("%+v: LeastRuns(%d) = %d: %d show it: %v, %d: %v", v, metrics, n, n, shows(n, metrics, v), n-1, shows(n-1, metrics, v))
			}
		}
	}
	if got := LeastRuns(11, Versus{}); got != 6 {
		t.Errorf("LeastRuns(11) = %d, want 6: 11 · 2 ÷ 924 ≤ 0.05 < 11 · 2 ÷ 252", got)
	}
}

// shows compares n runs a side of which one yardstick lies apart and the others are alike.
func shows(n, metrics int, v Versus) bool {
	var a, b []RunStats
	for i := range n {
		x, y := RunStats{}, RunStats{}
		for k := range metrics {
			name := string(rune('a' + k))
			x[name], y[name] = Value{X: 100 + float64(i)}, Value{X: 100 + float64(i)}
		}
		y["a"] = Value{X: 200 + 2*float64(i)}
		a, b = append(a, x), append(b, y)
	}
	v.Yardsticks = nil
	for k := range metrics {
		v.Yardsticks = append(v.Yardsticks, ratioOf(string(rune('a'+k)), 0.05))
	}
	return Compare(a, b, v)[0].Change == Regressed
}

func TestRunsFor(t *testing.T) {
	for _, row := range []struct {
		why             string
		distance, noise float64
		want            int
	}{
		{"no noise: what an interval needs", 0.05, 0, 4},
		{"little noise too", 0.05, 0.001, 4},
		{"5 % at 3 %", 0.05, 0.03, 7},
		{"the limit itself cannot be decided", 0, 0.03, MaxNeeded + 1},
		{"nor at any price", 0.0001, 0.03, MaxNeeded + 1},
	} {
		if got := RunsFor(row.distance, row.noise); got != row.want {
			t.Errorf("%s: RunsFor(%v, %v) = %d, want %d", row.why, row.distance, row.noise, got, row.want)
		}
	}
}

// Equal medians and another tail: the shift function shows it.
func TestDecilesShowTheTail(t *testing.T) {
	side := func(tail float64) (runs []RunStats) {
		for run := range 8 {
			r := RunStats{}
			for _, y := range DecileYardsticks() {
				r[y.Name] = Value{X: 100 + float64(run)}
			}
			for _, name := range []string{"p95", "p99"} {
				r[name] = Value{X: tail * (100 + float64(run))}
			}
			runs = append(runs, r)
		}
		return runs
	}
	for _, d := range Deciles(side(1), side(0.8), Versus{}) {
		want := 1.0
		if d.Q > 0.9 {
			want = 0.8
		}
		if !d.OK || math.Abs(d.Ratio-want) > 1e-9 || !(d.In.Low < want && want < d.In.High) {
			t.Errorf("q %v: B ÷ A %v in %v, want %v", d.Q, d.Ratio, d.In, want)
		}
	}
	if d := Deciles(side(1), nil, Versus{})[0]; d.OK {
		t.Errorf("without B: %+v", d)
	}
}
