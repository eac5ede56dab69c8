package analysis

import (
	"math"
	"strings"
	"testing"
	"time"

	"coldwave/internal/rng"
	"coldwave/record"
)

// A worked example: ten runs 1 … 10. Mean 5.5, standard deviation √(82.5/9) = 3.0277; t₉(0.975) = 2.2622, so the mean
// lies in 5.5 ± 2.166. The exact interval of the median of n = 10 is [x₂, x₉]: P(B ≤ 1) = 11/1024 ≤ 0.025 < 56/1024.
func TestSpreadWorkedExample(t *testing.T) {
	s := SpreadOf(anyMetric, Sample{7, 1, 9, 3, Missing, 5, 10, 2, 8, 4, 6}, 0.95)
	if s.N != 10 || s.Min != 1 || s.Max != 10 || s.P5 != 1 || s.Median != 5 || s.P95 != 10 {
		t.Errorf("n %d, min %d, p5 %d, median %d, p95 %d, max %d, want 10, 1, 1, 5, 10, 10", s.N, s.Min, s.P5, s.Median, s.P95, s.Max)
	}
	for _, row := range []struct {
		name      string
		got, want float64
	}{
		{"mean", s.Mean, 5.5}, {"standard deviation", s.Deviation, 3.02765}, {"low end of the mean", s.MeanSpan.Low, 3.33415},
		{"high end of the mean", s.MeanSpan.High, 7.66585}, {"low end of the median", s.MedianIn.Low, 2},
		{"high end of the median", s.MedianIn.High, 9},
	} {
		if math.Abs(row.got-row.want) > 1e-5 {
			t.Errorf("%s = %v, want %v", row.name, row.got, row.want)
		}
	}
}

func TestSpreadOfFewRuns(t *testing.T) {
	for _, row := range []struct {
		n            int
		mean, median bool // there is an interval
	}{{0, false, false}, {1, false, false}, {2, true, false}, {5, true, false}, {6, true, true}} {
		s := make(Sample, row.n)
		for i := range s {
			s[i] = int64(i)
		}
		got := SpreadOf(anyMetric, s, 0.95)
		if got.N != row.n || got.MeanSpan.OK != row.mean || got.MedianIn.OK != row.median {
			t.Errorf("%d runs: n %d, interval of the mean %v, of the median %v, want %v, %v", row.n, got.N, got.MeanSpan.OK, got.MedianIn.OK, row.mean, row.median)
		}
	}
}

// Sums of nanoseconds over long runs must not lose the differences between them.
func TestMomentsKeepSmallDifferences(t *testing.T) {
	const base = int64(1) << 52
	mean, deviation := moments([]int64{base, base + 1, base + 2})
	if mean != float64(base+1) || deviation != 1 {
		t.Errorf("moments = %v, %v, want %v, 1", mean, deviation, float64(base+1))
	}
}

// The t interval covers the mean of uniform runs; the normal quantile instead of Student's, which forgets that the
// deviation is estimated, does not at five runs. Tolerance: 3 standard deviations of 4,000 trials.
func TestMeanIntervalCovers(t *testing.T) {
	const n, trials, slack = 5, 4000, 0.0103
	r := rng.Stream(5, "mean")
	student, normal := 0, 0
	for range trials {
		s := make(Sample, n)
		for i := range s {
			s[i] = r.Int64N(1_000_001)
		}
		got := SpreadOf(anyMetric, s, 0.95)
		if got.MeanSpan.Low <= 500_000 && 500_000 <= got.MeanSpan.High {
			student++
		}
		if math.Abs(got.Mean-500_000) <= 1.96*got.Deviation/math.Sqrt(n) {
			normal++
		}
	}
	// Uniform runs are not normal: at five of them Student's interval loses about one point.
	if got := float64(student) / trials; got < 0.935-slack {
		t.Errorf("t interval covers %.3f, want 0.95 less one and a half points", got)
	}
	if got := float64(normal) / trials; got >= 0.935-slack {
		t.Errorf("the normal interval covers %.3f: the check cannot fail", got)
	}
}

func TestMetricsOfARun(t *testing.T) {
	s := Summarize(example())
	s.Waves[1].Response.Mean = 150 * ms
	want := map[string]int64{
		"response_max": int64(2 * time.Second), "ok": 4, "not_ok": 3, "warm": 2, "queued": 1, "cold": 1, "starts": 0,
		"waiting": int64(18 * ms), "wave_2_mean": int64(150 * ms),
	}
	seen := map[string]bool{}
	for _, m := range append(Metrics(), WaveMetrics(3)...) {
		if seen[m.Name] || m.Doc == "" {
			t.Errorf("metric %q is there twice or without a word about it", m.Name)
		}
		seen[m.Name] = true
		got, ok := m.Of(&s)
		if w, asked := want[m.Name]; asked && (!ok || got != w) {
			t.Errorf("%s = %d, %v, want %d", m.Name, got, ok, w)
		}
	}
	for name := range want {
		if !seen[name] {
			t.Errorf("no metric %q", name)
		}
	}
}

// A run without an answer has no response time: a zero would be taken for a fast one.
func TestMetricsOfNothingAreMissing(t *testing.T) {
	empty := Summary{Waves: []Wave{{}}, Outcomes: [record.Outcomes]int{record.Timeout: 1}, Scheduled: 1}
	for _, m := range append(Metrics(), WaveMetrics(2)...) {
		want := m.Unit != Latency && !strings.HasPrefix(m.Name, "billed_")                    // a bill needs a tariff
		want = want && m.Unit != Nodes && m.Unit != NodeTime && m.Name != "downloads_skipped" // these need nodes
		if _, ok := m.Of(&empty); ok != want {
			t.Errorf("%s of a run without an answer: there %v, want %v", m.Name, ok, want)
		}
	}
	if got := SampleOf(Metrics()[0], []Summary{empty, Summarize(example())}); got[0] != Missing || got[1] == Missing {
		t.Errorf("SampleOf = %v, want a missing one and a number", got)
	}
}
