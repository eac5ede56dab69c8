package sim_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/patterns"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/sim"
	"coldwave/workload"
)

// source is a stream of n requests under the default platform.
func source(d platform.Draws, n int64, rate int64, seed uint64) *workload.Source {
	return &workload.Source{
		Process: patterns.Poisson{Rate: patterns.Rate{Count: rate, Per: time.Second}, Requests: n},
		Demands: d, Function: d.Profile().Function, Seed: seed,
	}
}

// TestStreamed: a run of a source is the run of the schedule that is built from it, decision for decision, with and
// without the overhead that lets requests overtake each other on their way to the core.
func TestStreamed(t *testing.T) {
	for seed := range uint64(20) {
		p := platform.Default()
		if seed%2 == 0 {
			p.Overhead = platform.Constant(0)
		}
		d := p.Draws(seed)
		src := source(d, 2000, 50<<(seed%5), seed)
		built, err := workload.Build(*src)
		if err != nil {
			t.Fatal(err)
		}
		cfg := sim.Config{Source: src, Policy: policy(t, "fc-race"), Platform: d, Limits: scheduler.Config{Max: 60}, Trace: sim.Digest}
		streamed := run(t, cfg)
		cfg.Source, cfg.Schedule, cfg.Policy = nil, built, policy(t, "fc-race")
		held := run(t, cfg)
		if streamed.Digest != held.Digest || !slices.Equal(streamed.Records, held.Records) || !slices.Equal(streamed.Instances, held.Instances) {
			t.Errorf("seed %d: the streamed run differs from that of the schedule", seed)
		}
		if streamed.Requests != 2000 || streamed.Length != built.Length || held.Requests != 2000 || held.Length != built.Length {
			t.Errorf("seed %d: %d requests in %v, %d in %v, want 2000 in %v", seed,
				streamed.Requests, streamed.Length, held.Requests, held.Length, built.Length)
		}
	}
}

// TestBadStream: what the stream refuses ends the run with its error, after the requests before it.
func TestBadStream(t *testing.T) {
	d := platform.Default().Draws(1)
	src := source(d, 2000, 50, 1)
	src.Limit = 100
	res, err := sim.Run(sim.Config{Source: src, Policy: policy(t, "fc-race"), Platform: d, Limits: scheduler.Config{Max: 60}})
	if !errors.Is(err, workload.ErrTooMany) || len(res.Records) != 100 {
		t.Errorf("%d records, error %v, want 100 and ErrTooMany", len(res.Records), err)
	}
}

// TestTally: what a tally counts is what the records say, and a run with one keeps no record.
func TestTally(t *testing.T) {
	for seed, spec := range []string{"fc-race:wait_timeout=1s", "fc-bound", "fc-race:wait_timeout=2s"} {
		p := platform.Default()
		p.FailRatio, p.ErrorRatio = 0.3, 0.1
		d := p.Draws(uint64(seed))
		cfg := sim.Config{
			Source: source(d, 3000, 40, uint64(seed)), Policy: policy(t, spec), Platform: d, Limits: scheduler.Config{Max: 4},
			Faults: leaving{},
		}
		kept := run(t, cfg)
		var want sim.Tally
		sum, n := time.Duration(0), int64(0)
		for k := range kept.Records {
			r := &kept.Records[k]
			want.Outcomes[r.Outcome]++
			if r.Outcome == record.Canceled {
				continue // no header tells where it was
			}
			want.Starts[r.Server.Start]++
			want.StartBys[r.Server.StartBy]++
			want.Waited += r.Server.Wait()
			if r.Server.Instance != "" {
				sum, n = sum+r.Response(), n+1
			}
		}
		got := sim.NewTally(time.Minute)
		cfg.Tally, cfg.Policy = got, policy(t, spec)
		if res := run(t, cfg); res.Records != nil || !slices.Equal(res.Instances, kept.Instances) {
			t.Errorf("%s: %d records are kept with a tally, or other instances", spec, len(res.Records))
		}
		canceled := want.Outcomes[record.Canceled]
		if got.Outcomes != want.Outcomes || got.Requests() != 3000 || canceled == 0 || want.Outcomes[record.Rejected] == 0 {
			t.Errorf("%s: outcomes %v, want %v, some canceled and rejected", spec, got.Outcomes, want.Outcomes)
		}
		if got.Response.Count() != n || got.Response.Sum().Int64() != int64(sum) {
			t.Errorf("%s: %d responses in %v, want %d in %v", spec, got.Response.Count(), got.Response.Sum(), n, sum)
		}
		more := int64(0)
		for k := range got.Starts {
			more += got.Starts[k] - want.Starts[k]
		}
		if more != canceled || got.Waited < want.Waited {
			t.Errorf("%s: %d starts beyond the records, waited %v, want %d canceled and at least %v", spec, more, got.Waited, canceled, want.Waited)
		}
	}
}

// leaving lets the client of each seventh request go away after 50 ms.
type leaving struct{ sim.NoFaults }

func (leaving) Leaves(seq int64, at clock.Instant) clock.Instant {
	if seq%7 == 0 {
		return at.Add(50 * ms)
	}
	return clock.Never
}

// TestObserveInstance: instances may be taken as they end instead of being kept; they are the same ones.
func TestObserveInstance(t *testing.T) {
	d := platform.Default().Draws(3)
	cfg := sim.Config{
		Source: source(d, 500, 1, 3), Policy: policy(t, "fc-race:idle_timeout=2s"), Platform: d, Limits: scheduler.Config{Max: 20},
	}
	kept := run(t, cfg).Instances
	seen := make([]record.Instance, len(kept))
	cfg.Policy, cfg.ObserveInstance = policy(t, "fc-race:idle_timeout=2s"), func(in *record.Instance) { seen[in.ID-1] = *in }
	if res := run(t, cfg); res.Instances != nil || !slices.Equal(seen, kept) || len(kept) < 50 {
		t.Errorf("%d instances are kept, the %d observed ones differ from %d", len(res.Instances), len(seen), len(kept))
	}
}

// TestMemory: without records a run allocates nothing for a request, and what it holds is what is under way. With twice
// the requests it allocates no more than the instances that it starts more.
func TestMemory(t *testing.T) {
	allocated := func(n int64) float64 {
		d := platform.Default().Draws(1)
		return testing.AllocsPerRun(1, func() {
			cfg := sim.Config{
				Source: source(d, n, 1000, 1), Policy: policy(t, "fc-race"), Platform: d, Limits: scheduler.Config{Max: 200},
				Tally: sim.NewTally(time.Minute), ObserveInstance: func(*record.Instance) {},
			}
			run(t, cfg)
		})
	}
	once, twice := allocated(20_000), allocated(40_000)
	if more := twice - once; more > 50 {
		t.Errorf("%v allocations for 20000 requests and %v for twice as many, want no more", once, twice)
	}
}
