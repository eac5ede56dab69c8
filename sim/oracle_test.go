package sim_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/sim"
	"coldwave/workload"
)

// bySeqStart is a platform whose starts take what is listed for the arrival that they are for.
type bySeqStart []time.Duration

func (p bySeqStart) StartUp(instance int64, _ workload.Demand) platform.StartUp {
	return platform.StartUp{Total: p[instance-1], Fails: true} // the oracle's starts do not fail
}

func (bySeqStart) RequestFails(seq int64) bool { return seq == 3 }

// small is a random schedule of n short requests on few instants, so that ends and arrivals tie.
func small(seed uint64, n int) (*workload.Schedule, bySeqStart) {
	d := rng.NewKey(seed, "oracle").Draw(0)
	s := &workload.Schedule{Function: workload.Function{Name: "f", Concurrency: 1}}
	starts := bySeqStart{}
	at, span := clock.Instant(0), 1+d.Int64N(12)
	for k := range int64(n) {
		at += clock.Instant(d.Int64N(span))
		s.Arrivals = append(s.Arrivals, workload.Arrival{Seq: k, At: at, Wave: -1, Demand: workload.Demand{
			Exec: time.Duration(1 + d.Int64N(6)), Pre: time.Duration(d.Int64N(3)),
		}})
		starts = append(starts, time.Duration(1+d.Int64N(9)))
	}
	s.Length = time.Duration(at) + 1
	return s, starts
}

func oracle(t *testing.T, cfg sim.OracleConfig) sim.Result {
	t.Helper()
	res, err := sim.Oracle(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// least is the least of instance time over all ways to serve every request at once: each request in turn follows any one
// whose slot is free and has no other follower, or has its own start.
func least(s *workload.Schedule, starts bySeqStart, handover time.Duration) time.Duration {
	n := len(s.Arrivals)
	from, till, order := make([]clock.Instant, n), make([]clock.Instant, n), make([]int, n)
	for k, a := range s.Arrivals {
		from[k], order[k] = a.At.Add(a.Demand.Pre), k
		till[k] = from[k].Add(a.Demand.Exec + handover)
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(from[a] - from[b]) })
	followed := make([]bool, n)
	var try func(k int) time.Duration
	try = func(k int) time.Duration {
		if k == n {
			return 0
		}
		r := order[k]
		best := starts[r] + try(k+1)
		for _, p := range order[:k] {
			if till[p] <= from[r] && !followed[p] {
				followed[p] = true
				best = min(best, from[r].Sub(till[p])+try(k+1))
				followed[p] = false
			}
		}
		return best
	}
	total := try(0)
	for k := range from {
		total += till[k].Sub(from[k])
	}
	return total
}

// allocated is the instance time of a run, from the decisions to start.
func allocated(instances []record.Instance) time.Duration {
	sum := time.Duration(0)
	for _, in := range instances {
		sum += in.Stopped.Sub(in.Started)
	}
	return sum
}

// sound checks that a result serves every request at once, one at a time on each instance, from its ready instant on.
func sound(s *workload.Schedule, starts bySeqStart, handover time.Duration, res sim.Result) error {
	busy := map[string]clock.Instant{}
	for _, in := range res.Instances {
		busy[fmt.Sprint(in.ID)] = in.Ready
		var seq int
		if _, err := fmt.Sscanf(in.Cause, "sim-%d", &seq); err != nil || in.Ready.Sub(in.Started) != starts[seq] {
			return fmt.Errorf("instance %+v does not take the %v of its cause", in, starts[seq])
		}
	}
	order := slices.Clone(res.Records)
	pre := func(r *record.Record) clock.Instant { return r.Intended.Add(s.Arrivals[r.Seq].Demand.Pre) }
	slices.SortStableFunc(order, func(a, b record.Record) int { return int(pre(&a) - pre(&b)) })
	for k := range order {
		r := &order[k]
		free, known := busy[r.Server.Instance]
		if from := pre(r); !known || free > from || r.Server.Wait() != 0 {
			return fmt.Errorf("request %d at %v goes to instance %s, which is free at %v", r.Seq, from, r.Server.Instance, free)
		}
		busy[r.Server.Instance] = pre(r).Add(s.Arrivals[r.Seq].Demand.Exec + handover)
	}
	for _, in := range res.Instances {
		if free := busy[fmt.Sprint(in.ID)]; free != in.Stopped {
			return fmt.Errorf("instance %d is stopped at %v, want %v", in.ID, in.Stopped, free)
		}
	}
	return record.Account(res.Records, len(s.Arrivals))
}

// TestOracleIsLeast compares with all ways there are, on small schedules. A greedy choice that is never taken back is not
// always the least, so the comparison bites.
func TestOracleIsLeast(t *testing.T) {
	for seed := range uint64(3000) {
		handover := time.Duration(seed % 3)
		s, starts := small(seed, 1+int(seed%8))
		res := oracle(t, sim.OracleConfig{Schedule: s, Platform: starts, Handover: handover})
		if err := sound(s, starts, handover, res); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if got, want := allocated(res.Instances), least(s, starts, handover); got != want {
			t.Fatalf("seed %d: %v of instance time, want %v", seed, got, want)
		}
		if len(res.Records) > 3 && (res.Records[3].Outcome != record.HTTPError || res.Records[3].Status != 500) {
			t.Fatalf("seed %d: a body that fails is %v", seed, res.Records[3].Outcome)
		}
	}
}

// TestOracleOverGaps: an idle gap that is not longer than a start is kept, a longer one is not.
func TestOracleOverGaps(t *testing.T) {
	const start, body = 500 * ms, 100 * ms
	for _, gap := range []time.Duration{0, start - 1, start, start + 1} {
		s := schedule(workload.Demand{Exec: body}, 0, body+gap)
		res := oracle(t, sim.OracleConfig{Schedule: s, Platform: simple{start: start}, Run: "r"})
		starts := 1
		if gap > start {
			starts = 2
		}
		if want := 2*body + start + min(gap, start); len(res.Instances) != starts || allocated(res.Instances) != want {
			t.Errorf("gap %v: %d starts and %v, want %d and %v", gap, len(res.Instances), allocated(res.Instances), starts, want)
		}
		want := record.Instance{
			ID: 1, Cause: "r-0", First: "r-0", Started: clock.Instant(-start), Stopped: res.Instances[0].Stopped,
			Served: 3 - starts, Busy: time.Duration(3-starts) * body,
		}
		if res.Instances[0] != want {
			t.Errorf("gap %v: instance = %+v, want %+v", gap, res.Instances[0], want)
		}
	}
}

// TestOracleIsABound: no policy that lets nobody wait uses less instance time. Here a pool is large enough from the start.
func TestOracleIsABound(t *testing.T) {
	p := platform.Default()
	p.Cold = platform.Constant(2350 * ms)
	for seed := range uint64(20) {
		d := p.Draws(seed)
		s := poisson(d, 300, 200*ms)
		bound := oracle(t, sim.OracleConfig{Schedule: s, Platform: d})
		res := run(t, sim.Config{
			Schedule: s, Policy: policy(t, "fc-race"), Platform: d, Limits: scheduler.Config{Min: 20, Max: scheduler.Unlimited},
		})
		pool := time.Duration(0)
		for _, in := range res.Instances {
			pool += min(in.Stopped, res.End).Sub(in.Started)
		}
		if low := allocated(bound.Instances); low > pool || low < time.Duration(300)*100*ms {
			t.Errorf("seed %d: the oracle uses %v, a pool %v: want less, and at least the bodies", seed, low, pool)
		}
	}
}

// TestOracleRefuses: what it does not know is refused.
func TestOracleRefuses(t *testing.T) {
	several := schedule(demand, 0)
	several.Function.Concurrency = 2
	for name, cfg := range map[string]sim.OracleConfig{
		"no schedule":                {Platform: simple{}},
		"no platform":                {Schedule: schedule(demand, 0)},
		"several requests at once":   {Schedule: several, Platform: simple{}},
		"a handover that is no time": {Schedule: schedule(demand, 0), Platform: simple{}, Handover: math.MinInt64},
	} {
		if _, err := sim.Oracle(cfg); !errors.Is(err, sim.ErrConfig) {
			t.Errorf("%s: Oracle = %v, want ErrConfig", name, err)
		}
	}
}
