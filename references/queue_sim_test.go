package references

import (
	"math"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"coldwave/analysis"
	"coldwave/patterns"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/sim"
	"coldwave/workload"
)

// always runs a pattern on n instances that are always there, under fc-race. A start takes a nanosecond and happens at 0;
// the first arrival of a random pattern is later.
func always(t *testing.T, n int, process patterns.Pattern, body platform.Law, seed uint64) []record.Record {
	t.Helper()
	p := platform.Default()
	p.Cold, p.Overhead, p.Body = platform.Constant(1), platform.Constant(0), body
	policy, err := policies.New("fc-race:wait_timeout=0s")
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := workload.Build(workload.Source{Process: process, Demands: p.Draws(seed), Function: p.Function, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	result, err := sim.Run(sim.Config{
		Schedule: schedule, Policy: policy, Platform: p.Draws(seed), Seed: seed, Limits: scheduler.Config{Min: n, Max: n},
	})
	if err != nil {
		t.Fatal(err)
	}
	return result.Records
}

// D/D/c, exactly: requests g apart take s on c instances. If s > c·g the k-th one waits floor(k/c)·(s − c·g), else none
// waits. No start takes less than 1 ns: the request at 0 waits so long, and so do those behind it on an instance without
// a pause.
func TestConstantQueueIsExact(t *testing.T) {
	for _, c := range []struct {
		why       string
		instances int
		gap, body time.Duration
	}{
		{"one instance keeps up", 1, 100 * ms, 100 * ms},
		{"one instance falls behind by 30 ms a request", 1, 100 * ms, 130 * ms},
		{"three instances keep up", 3, 50 * ms, 150 * ms},
		{"two instances with pauses", 2, 100 * ms, 130 * ms},
		{"three instances fall behind by 1 ns a round", 3, 50 * ms, 150*ms + 1},
		{"seven instances fall behind by half", 7, 10 * ms, 105 * ms},
	} {
		process := patterns.Constant{Rate: patterns.Rate{Count: 1, Per: c.gap}, Requests: 1000}
		for k, r := range always(t, c.instances, process, platform.Constant(c.body), 1) {
			behind := c.body - time.Duration(c.instances)*c.gap // a round
			want := time.Duration(k/c.instances) * max(0, behind)
			if k == 0 || k%c.instances == 0 && behind >= 0 {
				want++
			}
			if got := r.Server.Wait(); got != want || r.Response() != want+c.body {
				t.Fatalf("%s: request %d waits %v and takes %v, want %v and %v", c.why, k, got, r.Response(), want, want+c.body)
			}
		}
	}
}

// Replications of the random queue: each its own seed, the first requests of each left out, because it begins empty.
const (
	replications = 30
	queued       = 8_000 // requests of one replication
	leadIn       = 1_000
)

// estimate is the mean over independent replications with a symmetric interval. Student's t at 1 − 6e-7 corresponds to
// five standard deviations, so a correct simulator fails one in 1.7 million times; the seeds are fixed besides.
type estimate struct{ mean, half float64 }

func estimated(sample []float64) estimate {
	mean, dev := stat.MeanStdDev(sample, nil)
	n := float64(len(sample))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(1 - 3e-7)
	return estimate{mean, t * dev / math.Sqrt(n)}
}

func (e estimate) holds(want float64) bool { return math.Abs(e.mean-want) <= e.half }

// simulated estimates the share that waits and the mean wait in seconds.
func simulated(t *testing.T, q Queue) (waits, mean estimate) {
	t.Helper()
	shares, means := make([]float64, replications), make([]float64, replications)
	process := patterns.Poisson{Rate: patterns.Rate{Count: int64(q.Rate * 1000), Per: 1000 * time.Second}, Requests: queued}
	for i := range shares {
		records := always(t, q.Instances, process, platform.Exponential(q.Service), uint64(i))[leadIn:]
		s := analysis.Summarize(analysis.Input{Schedule: &workload.Schedule{}, Records: records})
		shares[i] = 1 - float64(s.ByStart[record.Warm].N)/float64(s.OK.N)
		means[i] = s.Waiting.Seconds() / float64(s.OK.N)
	}
	return estimated(shares), estimated(means)
}

// M/M/c against Erlang's C: simulator, records and analysis together. A queue of one instance more or less, or of a rate
// 4 % higher, must fail the same intervals.
func TestRandomQueueAgreesWithErlang(t *testing.T) {
	for _, c := range []struct {
		why   string
		queue Queue
	}{
		{"one instance, 70 % busy", Queue{7, 100 * ms, 1}},
		{"three instances, 80 % busy", Queue{24, 100 * ms, 3}},
		{"twenty instances, 85 % busy", Queue{170, 100 * ms, 20}},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			q := c.queue
			waits, mean := simulated(t, q)
			if !waits.holds(q.Waits()) || !mean.holds(q.MeanWait().Seconds()) {
				t.Errorf("waits %.4f ± %.4f, mean %.5f ± %.5f s, want %.4f and %.5f s", waits.mean, waits.half, mean.mean, mean.half, q.Waits(), q.MeanWait().Seconds())
			}
			for name, wrong := range map[string]Queue{
				"an instance more": {q.Rate, q.Service, q.Instances + 1},
				"a higher rate":    {1.04 * q.Rate, q.Service, q.Instances},
				"longer bodies":    {q.Rate, q.Service * 104 / 100, q.Instances},
			} {
				if waits.holds(wrong.Waits()) || mean.holds(wrong.MeanWait().Seconds()) {
					t.Errorf("%s: %.4f and %.5f s lie within %.4f ± %.4f and %.5f ± %.5f s: the test does not bite", name,
						wrong.Waits(), wrong.MeanWait().Seconds(), waits.mean, waits.half, mean.mean, mean.half)
				}
			}
		})
	}
}
