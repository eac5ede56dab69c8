package policies_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/sim"
	"coldwave/workload"
)

const (
	ms   = time.Millisecond
	h    = 12500 * time.Microsecond // overhead of the golden numbers
	warm = 100*ms + h               // a request that finds an idle instance
)

// wave is a number of requests at one instant.
type wave struct {
	at   time.Duration
	size int
}

// every returns waves of the sizes, a gap apart.
func every(gap time.Duration, sizes ...int) []wave {
	var waves []wave
	for k, n := range sizes {
		waves = append(waves, wave{time.Duration(k) * gap, n})
	}
	return waves
}

// fixed is the platform of the golden numbers: C and h do not vary.
func fixed(c time.Duration) platform.Profile {
	p := platform.Default()
	p.Cold, p.Overhead = platform.Constant(c), platform.Constant(h)
	return p
}

// scheduleOf draws the demands of the waves.
func scheduleOf(d platform.Draws, length time.Duration, waves []wave) *workload.Schedule {
	s := &workload.Schedule{Pattern: "test", Function: d.Profile().Function, Length: length}
	for k, w := range waves {
		for range w.size {
			seq := int64(len(s.Arrivals))
			s.Arrivals = append(s.Arrivals, workload.Arrival{
				Seq: seq, At: clock.Instant(w.at), Wave: int32(k), Demand: d.Demand(seq),
			})
		}
	}
	return s
}

// play runs the waves under the policy.
func play(t *testing.T, spec string, p platform.Profile, seed uint64, quota int, length time.Duration, waves []wave) sim.Result {
	t.Helper()
	d := p.Draws(seed)
	return playOn(t, spec, d, scheduleOf(d, length, waves), p.Handover, quota)
}

func playOn(t *testing.T, spec string, on sim.Platform, s *workload.Schedule, handover time.Duration, quota int) sim.Result {
	t.Helper()
	policy, err := policies.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	res, err := sim.Run(sim.Config{
		Schedule: s, Policy: policy, Platform: on, Handover: handover,
		Limits: scheduler.Config{Max: quota}, Trace: sim.Digest,
	})
	if err != nil {
		t.Fatalf("sim.Run(%s) = %v", spec, err)
	}
	return res
}

// responses returns the sorted response times of a wave's requests.
func responses(res sim.Result, wave int32) []time.Duration {
	var out []time.Duration
	for k := range res.Records {
		if r := &res.Records[k]; r.Wave == wave {
			out = append(out, r.Response())
		}
	}
	slices.Sort(out)
	return out
}

// ofWaves returns the sorted response times of the waves from … to.
func ofWaves(res sim.Result, from, to int32) []time.Duration {
	var out []time.Duration
	for w := from; w <= to; w++ {
		out = append(out, responses(res, w)...)
	}
	slices.Sort(out)
	return out
}

func mean(d []time.Duration) time.Duration {
	var sum time.Duration
	for _, x := range d {
		sum += x
	}
	return sum / time.Duration(len(d))
}

// quantile is the nearest rank at a per-mille value.
func quantile(sorted []time.Duration, mille int) time.Duration {
	return sorted[(mille*len(sorted)+999)/1000-1]
}

func countOutcome(res sim.Result, o record.Outcome) int {
	n := 0
	for k := range res.Records {
		if res.Records[k].Outcome == o {
			n++
		}
	}
	return n
}

// startsIn counts the starts decided in [from, to).
func startsIn(res sim.Result, from, to time.Duration) int {
	n := 0
	for _, in := range res.Instances {
		if in.Started >= clock.Instant(from) && in.Started < clock.Instant(to) {
			n++
		}
	}
	return n
}

// instanceTime sums what the instances held in [0, end).
func instanceTime(res sim.Result, end time.Duration) (allocated, ready, busy time.Duration) {
	e := clock.Instant(end)
	for _, in := range res.Instances {
		stop := min(in.Stopped, e)
		allocated += max(0, stop.Sub(in.Started))
		ready += max(0, stop.Sub(min(in.Ready, e)))
		busy += in.Busy
	}
	return allocated, ready, busy
}

func waited(res sim.Result) time.Duration {
	var sum time.Duration
	for k := range res.Records {
		sum += res.Records[k].Server.Wait()
	}
	return sum
}

func must[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func instanceOf(t *testing.T, r *record.Record) int64 {
	t.Helper()
	id, err := strconv.ParseInt(r.Server.Instance, 10, 32)
	if err != nil {
		t.Fatalf("request %d names no instance: %v", r.Seq, err)
	}
	return id
}
