package analysis

import (
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/record"
)

func judged(t *testing.T, r Reading, text string) Gate {
	t.Helper()
	limit, err := ParseThreshold(text)
	if err != nil {
		t.Fatal(err)
	}
	return r.Judge(limit)
}

// evenly makes n response times 1 ms, 2 ms, …
func evenly(n int) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = time.Duration(i+1) * ms
	}
	return out
}

func TestJudge(t *testing.T) {
	thousand := response(evenly(1000)...) // p99 is 990 ms, one-sided 95 % limits 985 ms to 995 ms
	failed := response(evenly(1000)...)
	for i := range 15 {
		failed.Records[i].Outcome = record.HTTPError
	}
	slow := response(evenly(1000)...)
	for i := range 15 {
		slow.Records[985+i].Outcome, slow.Records[985+i].Done = record.Timeout, slow.Records[985+i].Intended.Add(10*time.Second)
	}
	guessed := response(evenly(1000)...)
	guessed.Records[3].Server.Source = record.FromModel
	untold := response(evenly(1000)...)
	for i := range untold.Records {
		untold.Records[i].Server = record.Server{}
	}
	lives := response(evenly(10)...)
	lives.Instances, lives.Summary.Instances.Peak = make([]record.Instance, 20), 12
	for _, row := range []struct {
		why, text string
		run       *Run
		want      Verdict
		reason    string
	}{
		{"the whole interval obeys", "p99 < 1s", thousand, Pass, ""},
		{"the whole interval breaks it", "p99 < 900ms", thousand, Fail, ""},
		{"the limit lies in the interval", "p99 < 991ms", thousand, Inconclusive, "the limit lies within what the run can tell"},
		{"the point obeys, the interval does not", "p99 < 994ms", thousand, Inconclusive, "the limit lies within what the run can tell"},
		{"the other way round", "p99 > 900ms", thousand, Pass, ""},
		{"and broken", "p99 > 1s", thousand, Fail, ""},
		{"1,000 requests say too little of p99.9", "p99.9 < 1h", thousand, Inconclusive, "too few requests for a limit (n=1000)"},
		{"but may break it", "p99.9 < 100ms", thousand, Fail, ""},
		{"no cold request", "cold.p95 < 900ms", thousand, Fail, "no samples"},
		{"no cold request, whatever is asked", "cold.p95 > 0s", thousand, Fail, "no samples"},
		{"no such wave", "p50 < 1h over wave 3", thousand, Fail, "no samples"},
		{"no request at all", "errors < 100%", response(), Fail, "no samples"},
		{"the longest is a fact", "max < 1001ms", thousand, Pass, ""},
		{"a fact breaks a limit", "max < 1s", thousand, Fail, ""},
		{"the mean", "mean < 530ms", thousand, Pass, ""},
		{"the mean, near", "mean < 501ms", thousand, Inconclusive, "the limit lies within what the run can tell"},
		{"15 in 1,000 failed: at most 2.3 %", "errors < 3%", failed, Pass, ""},
		{"15 in 1,000 failed: at least 1 %", "errors < 0.5%", failed, Fail, ""},
		{"15 in 1,000 failed", "errors < 1.6%", failed, Inconclusive, "the limit lies within what the run can tell"},
		{"failures are no fast answers", "p50 < 530ms", failed, Inconclusive, "the limit lies within what the run can tell"},
		{"1.5 % timed out: p99 is not known, but no less than 10 s", "p99 < 20s", slow, Fail, "it reached the time limit"},
		{"the longest timed out", "max < 20s", slow, Fail, "it reached the time limit"},
		{"p95 lies below, with its upper limit", "p95 < 990ms", slow, Pass, ""},
		{"p98.4 lies below, its upper limit does not", "p98.4 < 20s", slow, Inconclusive, "too few requests for a limit (n=1000)"},
		{"a mean with timeouts", "mean < 1h", slow, Fail, "it reached the time limit"},
		{"as long as asked", "p99.9 > 5s", slow, Pass, ""},
		{"a model's label decides nothing", "warm.p99 < 1h", guessed, Fail, "refused: a model guessed 1 of the labels; let the target tell them, or --allow-model-labels"},
		{"nor a share of them", "cold_share < 50%", guessed, Fail, "refused: a model guessed 1 of the labels; let the target tell them, or --allow-model-labels"},
		{"without labels it does not matter", "p50 < 600ms", guessed, Pass, ""},
		{"nobody told", "warm.p50 < 1h", untold, Fail, "no samples"},
		{"nobody told how many were cold", "cold_share < 50%", untold, Inconclusive, "1000 requests do not tell how they were served"},
		{"a thousand answers in a thousand seconds", "rate >= 0.99/s", thousand, Pass, ""},
		{"a thousand answers in a thousand seconds, each", "rate > 2/s", thousand, Fail, ""},
		{"instances", "peak_instances <= 12", lives, Pass, ""},
		{"too many instances", "peak_instances < 12", lives, Fail, ""},
		{"a target that tells of none", "peak_instances < 12", thousand, Fail, "no samples"},
	} {
		got := judged(t, Reading{Run: row.run}, row.text)
		if got.Verdict != row.want || got.Reason != row.reason {
			t.Errorf("%s: %q: %s (%s) with %v in [%v, %v], n=%d; want %s (%s)", row.why, row.text, got.Verdict, got.Reason, got.Value, got.Low, got.High,
				got.N, row.want, row.reason)
		}
	}
	if got := judged(t, Reading{Run: guessed, Models: true}, "warm.p99 < 1h"); got.Verdict != Pass {
		t.Errorf("with the model's labels: %s (%s), want PASS", got.Verdict, got.Reason)
	}
}

// Waves and phases are read alone. The makespan of a run is the longest of its waves, and no fact where one timed out.
func TestJudgeWithinWavesAndPhases(t *testing.T) {
	run := response(100*ms, 200*ms, 300*ms, 400*ms)
	for i := range run.Records {
		run.Records[i].Wave = int32(i / 2)
	}
	r := Reading{Run: run, Phases: []Phase{{"hold", 2e9, 3e9}}}
	for text, want := range map[string]float64{
		"max < 1h over wave 1": 200e6, "max < 1h over wave 2": 400e6, "max < 1h over phase hold": 300e6, "makespan < 1h over wave 1": 1.2e9,
		"makespan < 1h": 1.4e9, "rate > 0/s over phase hold": 1,
	} {
		if got := judged(t, r, text); got.Value != want || got.Verdict != Pass {
			t.Errorf("%q: %v, %s, want %v, PASS", text, got.Value, got.Verdict, want)
		}
	}
	run.Records[3].Outcome = record.Timeout
	if got := judged(t, r, "makespan < 1h"); got.Verdict != Fail || !got.AtLeast {
		t.Errorf("a wave whose last request timed out: makespan %v, %s, want FAIL", got.Value, got.Verdict)
	}
	for text, found := range map[string]bool{"p50 < 1s over phase hold": true, "p50 < 1s over phase held": false} {
		limit, err := ParseThreshold(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Find(limit.Selector); (err == nil) != found {
			t.Errorf("Find(%q) = %v", text, err)
		}
	}
}

// The smallest samples that can pass a limit, as published: one-sided 95 %.
func TestSmallestSampleThatCanPass(t *testing.T) {
	for q, n := range map[float64]int{0.50: 5, 0.90: 29, 0.95: 59, 0.99: 299, 0.999: 2995, 0.9999: 29956} {
		if got := leastSample(q); got != n {
			t.Errorf("leastSample(%v) = %d, want %d", q, got, n)
		}
		values := make([]float64, n)
		if e := quantileOf(values, 0, q, 0.05); math.IsInf(e.High, 1) {
			t.Errorf("%d values have no upper limit of the %v quantile", n, q)
		}
		if e := quantileOf(values[1:], 0, q, 0.05); !math.IsInf(e.High, 1) {
			t.Errorf("%d values have an upper limit %v of the %v quantile, want none", n-1, e.High, q)
		}
	}
}

// A system whose true p99 is exactly the limit passes in at most 5 % of the runs and fails in at most 5 %. Judging by the
// point passes it in half of them. Tolerance: 3 standard deviations of 600 trials, 2.7 percentage points.
func TestThresholdsErrRarely(t *testing.T) {
	const trials, n, slack = 600, 1000, 0.027
	r := rng.Stream(41, "threshold")
	limit := Threshold{Selector: Selector{Q: 0.99}, Op: "<", Limit: -math.Log(0.01) * 1e9} // of exponential response times
	passed, failed, points := 0, 0, 0
	for range trials {
		times := make([]time.Duration, n)
		for i := range times {
			times[i] = time.Duration(1e9 * r.ExpFloat64())
		}
		g := Reading{Run: response(times...)}.Judge(limit)
		if g.Verdict == Pass {
			passed++
		}
		if g.Verdict == Fail {
			failed++
		}
		if limit.holds(g.Value) {
			points++
		}
	}
	if p, f := float64(passed)/trials, float64(failed)/trials; p > 0.05+slack || f > 0.05+slack {
		t.Errorf("on the limit: %.3f pass, %.3f fail, want at most 0.05 each", p, f)
	}
	if p := float64(points) / trials; p < 0.3 {
		t.Errorf("judged by the point %.3f pass: the wrong method must show", p)
	}
}

// As many more requests as are named decide the threshold in about 80 % of the cases.
func TestMoreRequestsDecide(t *testing.T) {
	draw := func(name string, n int) *Run {
		r, times := rng.Stream(43, name), make([]time.Duration, n)
		for i := range times {
			times[i] = time.Duration(1e9 * r.ExpFloat64())
		}
		return response(times...)
	}
	run := draw("first", 500)
	g := judged(t, Reading{Run: run}, "p90 < 2400ms") // the true one is 2303 ms
	if g.Verdict != Inconclusive || g.More < 100 || g.More > 30000 {
		t.Fatalf("500 requests: %s, %d more", g.Verdict, g.More)
	}
	truth := wantedShare(1-math.Exp(-2.6), 0.9)
	decided := 0
	for i := range 200 {
		if judged(t, Reading{Run: draw(string(rune('a'+i)), truth)}, "p90 < 2600ms").Verdict == Pass {
			decided++
		}
	}
	if decided < 140 || decided > 190 {
		t.Errorf("%d requests decide %d of 200, want about 160", truth, decided)
	}
	cold := response(evenly(1000)...)
	for i := range 100 {
		cold.Records[i].Server.Start = record.Cold // a tenth of the requests, so ten times as many are needed
	}
	part := judged(t, Reading{Run: cold}, "cold.p50 < 56ms")
	alone := judged(t, Reading{Run: response(evenly(100)...)}, "warm.p50 < 56ms")
	if want := 10*(alone.More+100) - 1000; part.Verdict != Inconclusive || part.More != want {
		t.Errorf("a tenth of the requests: %s, %d more, want %d", part.Verdict, part.More, want)
	}
}

// wantedShare is what wanted says of a sample whose share below the limit is known.
func wantedShare(below, q float64) int {
	g := Gate{Threshold: Threshold{Limit: 1}, Estimate: Estimate{share: func(float64) float64 { return below }, q: q}}
	return g.wanted()
}

// Several runs are judged by their median run.
func TestJudgeRuns(t *testing.T) {
	limit := Threshold{Selector: Selector{Q: 0.5}, Op: "<", Limit: 1e8}
	runs := func(times ...time.Duration) (out []Estimate) {
		for _, d := range times {
			out = append(out, Reading{Run: response(d)}.Of(limit.Selector).Alone())
		}
		return out
	}
	for _, row := range []struct {
		why  string
		runs []Estimate
		want Verdict
		more int
	}{
		{"five runs below", runs(50*ms, 60*ms, 70*ms, 80*ms, 90*ms), Pass, 0},
		{"four runs below are too few", runs(50*ms, 60*ms, 70*ms, 80*ms), Inconclusive, 1},
		{"five runs above", runs(150*ms, 160*ms, 170*ms, 180*ms, 190*ms), Fail, 0},
		{"half of them", runs(50*ms, 60*ms, 70*ms, 180*ms, 190*ms, 200*ms), Inconclusive, 0},
		{"a run without samples", append(runs(50*ms, 60*ms, 70*ms, 80*ms, 90*ms), Estimate{}), Fail, 0},
		{"no runs", nil, Fail, 0},
	} {
		if got := JudgeRuns(limit, row.runs, 0); got.Verdict != row.want || got.More != row.more {
			t.Errorf("%s: %s (%s), %d more, want %s, %d more", row.why, got.Verdict, got.Reason, got.More, row.want, row.more)
		}
	}
}

// Wilson's interval as published for 15 in 12,000, and its coverage of small shares; Wald's interval does not cover.
func TestWilson(t *testing.T) {
	if s := Wilson(15, 12000, 0.025); math.Abs(s.Low-0.00076) > 1e-5 || math.Abs(s.High-0.00206) > 1e-5 {
		t.Errorf("Wilson(15, 12000) = %v, want 0.08 %% to 0.21 %%", s)
	}
	if s := Wilson(0, 0, 0.025); s.OK {
		t.Errorf("Wilson of nothing = %v", s)
	}
	if s := Wilson(0, 10, 0.025); s.Low != 0 {
		t.Errorf("Wilson(0, 10) = %v, want 0 to …", s)
	}
	wald := func(k, n int, _ float64) Span {
		p := float64(k) / float64(n)
		half := 1.96 * math.Sqrt(p*(1-p)/float64(n))
		return Span{p - half, p + half, true}
	}
	for _, p := range []float64{0.01, 0.05, 0.3} {
		if got := shareCoverage(200, p, Wilson); got < 0.93 {
			t.Errorf("Wilson covers %.3f at %v, want about 0.95", got, p)
		}
		if got := shareCoverage(200, p, ClopperPearson); got < 0.95 {
			t.Errorf("Clopper-Pearson covers %.4f at %v, want at least 0.95", got, p)
		}
	}
	if got := shareCoverage(200, 0.01, wald); got > 0.9 {
		t.Errorf("Wald's interval covers %.3f: the check cannot fail", got)
	}
}

// shareCoverage sums the probabilities of the counts whose interval holds the share.
func shareCoverage(n int, p float64, interval func(int, int, float64) Span) (sum float64) {
	b := distuv.Binomial{N: float64(n), P: p}
	for k := range n + 1 {
		if s := interval(k, n, 0.025); s.Low <= p && p <= s.High {
			sum += b.Prob(float64(k))
		}
	}
	return sum
}

// What a run is compared by is what its thresholds are judged by.
func TestStatsOfARun(t *testing.T) {
	run := response(evenly(100)...)
	run.Summary.Instances.Peak = 3
	got := Reading{Run: run}.Stats(DefaultYardsticks())
	if got["p99"].X != 99e6 || got["warm.p50"].X != 50e6 || got["errors"].X != 0 || got["cold_share"].X != 0 {
		t.Errorf("Stats = %v", got)
	}
	for _, name := range []string{"cold.p95", "peak_instances"} {
		if v, ok := got[name]; ok {
			t.Errorf("%s = %v, want none", name, v)
		}
	}
	run.Records[99].Outcome, run.Records[99].Done = record.Timeout, clock.Instant(200e9)
	run.Records[98].Outcome, run.Records[98].Done = record.Timeout, clock.Instant(200e9)
	if got := (Reading{Run: run}).Stats(DefaultYardsticks())["p99"]; !got.AtLeast {
		t.Errorf("p99 of a run that timed out = %v, want a lower bound", got)
	}
}
