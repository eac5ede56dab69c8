package sim_test

import (
	"fmt"
	"testing"
	"time"

	"coldwave/internal/rng"
	"coldwave/patterns"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/sim"
	"coldwave/workload"
)

// The speed of the simulator is told as a ratio to the least that any simulation of this load must do: an event heap, a
// queue and a list of idle instances, without a policy, without checks and without records. The two run in turn on one
// machine, so that its moods touch both.

// bareLoad is a Poisson load of bodies of 100 ms on instances that take 1.7–3 s to start.
type bareLoad struct {
	requests int
	rate     int64 // per second
	seed     uint64
}

const (
	bareBody   = int64(100 * time.Millisecond)
	bareStart  = int64(1700 * time.Millisecond)
	bareSpread = int64(1300 * time.Millisecond)
	bareBucket = int64(100 * time.Microsecond)
)

// bareEvent is the end of a start-up or of a body.
type bareEvent struct {
	at   int64
	inst int32
	done bool
}

// bareHeap is a heap of four children each, the earliest first.
type bareHeap struct{ events []bareEvent }

func (h *bareHeap) push(e bareEvent) {
	k := len(h.events)
	h.events = append(h.events, e)
	for k > 0 {
		parent := (k - 1) / 4
		if h.events[parent].at <= e.at {
			break
		}
		h.events[k] = h.events[parent]
		k = parent
	}
	h.events[k] = e
}

func (h *bareHeap) pop() bareEvent {
	events := h.events
	first, last := events[0], events[len(events)-1]
	events = events[:len(events)-1]
	h.events = events
	if len(events) == 0 {
		return first
	}
	k := 0
	for child := 1; child < len(events); child = 4*k + 1 {
		best := child
		for other := child + 1; other < min(child+4, len(events)); other++ {
			if events[other].at < events[best].at {
				best = other
			}
		}
		if events[best].at >= last.at {
			break
		}
		events[k] = events[best]
		k = best
	}
	events[k] = last
	return first
}

// bareQueue is a ring of arrival instants.
type bareQueue struct {
	ring       []int64 // its length is a power of two
	head, tail int
}

// run returns how many requests it has served and how many instances it has started.
func (l bareLoad) run() (served int, started int32) {
	r := rng.Stream(l.seed, "arrivals")
	gap := func() int64 { return int64(r.ExpFloat64() / float64(l.rate) * 1e9) }
	var h bareHeap
	var idle []int32
	queue := bareQueue{ring: make([]int64, 1<<20)}
	latencies := make([]uint32, 1<<16)
	arrived, arrival := 0, gap()
	serve := func(inst int32, since, now int64) {
		latencies[min((now-since+bareBody)/bareBucket, int64(len(latencies)-1))]++
		h.push(bareEvent{now + bareBody, inst, true})
	}
	for served < l.requests {
		if arrived < l.requests && (len(h.events) == 0 || arrival <= h.events[0].at) {
			now := arrival
			arrived++
			arrival = now + gap()
			if n := len(idle); n > 0 {
				serve(idle[n-1], now, now)
				idle = idle[:n-1]
				continue
			}
			queue.ring[queue.tail&(len(queue.ring)-1)] = now
			queue.tail++
			started++
			h.push(bareEvent{now + bareStart + r.Int64N(bareSpread), started, false})
			continue
		}
		e := h.pop()
		if e.done {
			served++
		}
		if queue.head < queue.tail {
			serve(e.inst, queue.ring[queue.head&(len(queue.ring)-1)], e.at)
			queue.head++
		} else {
			idle = append(idle, e.inst)
		}
	}
	return served, started
}

// config is the same load for the simulator.
func (l bareLoad) config(b testing.TB, spec string) sim.Config {
	b.Helper()
	p, err := policies.New(spec)
	if err != nil {
		b.Fatal(err)
	}
	profile := platform.Default()
	profile.Overhead = platform.Constant(0)
	draws := profile.Draws(l.seed)
	return sim.Config{
		Source: &workload.Source{
			Process: patterns.Poisson{Rate: patterns.Rate{Count: l.rate, Per: time.Second}, Requests: int64(l.requests)},
			Demands: draws, Function: profile.Function, Seed: l.seed,
		},
		Policy: p, Platform: draws, Limits: scheduler.Config{Max: scheduler.Unlimited},
	}
}

// BenchmarkRun compares the simulator with the bare heap in turn. All figures are of the quickest turn of each: what another
// turn takes longer is the machine's doing. x-heap is the ratio of the two speeds.
func BenchmarkRun(b *testing.B) {
	modes := []struct {
		name, spec string
		prepare    func(*sim.Config)
	}{
		{"fc-race/records=off", "fc-race", func(c *sim.Config) { c.Tally = sim.NewTally(time.Minute) }},
		{"fc-race/records=observed", "fc-race", func(c *sim.Config) { c.Observe = func(*record.Record) {} }},
		{"fc-race/records=kept", "fc-race", func(*sim.Config) {}},
		{"fc-bound/records=off", "fc-bound", func(c *sim.Config) { c.Tally = sim.NewTally(time.Minute) }},
	}
	for _, mode := range modes {
		for _, rate := range []int64{20, 1000, 20_000} {
			b.Run(fmt.Sprintf("%s/rate=%d", mode.name, rate), func(b *testing.B) {
				load := bareLoad{requests: max(200_000, 50*int(rate)), rate: rate, seed: 1} // most of it after the first starts
				b.ReportAllocs()
				bare, ours := time.Hour, time.Hour
				for b.Loop() {
					cfg := load.config(b, mode.spec)
					mode.prepare(&cfg)
					begin := b.Elapsed()
					load.run()
					middle := b.Elapsed()
					if _, err := sim.Run(cfg); err != nil {
						b.Fatal(err)
					}
					end := b.Elapsed()
					bare, ours = min(bare, middle-begin), min(ours, end-middle)
				}
				b.ReportMetric(float64(bare)/float64(ours), "x-heap")
				b.ReportMetric(float64(load.requests)/ours.Seconds(), "requests/s")
				b.ReportMetric(float64(load.requests)/bare.Seconds(), "heap-requests/s")
			})
		}
	}
}

// TestBareLoad keeps the comparison honest: the two serve the same requests, and the simulator starts no more than the
// bare heap, whose every arrival that finds nothing starts one.
func TestBareLoad(t *testing.T) {
	load := bareLoad{requests: 5000, rate: 1000, seed: 1}
	served, started := load.run()
	cfg := load.config(t, "fc-race")
	cfg.Tally = sim.NewTally(time.Minute)
	res := run(t, cfg)
	if served != load.requests || res.Requests != int64(served) || cfg.Tally.Outcomes[record.OK] != res.Requests {
		t.Errorf("served %d by the bare heap, %d of %d by the simulator, want %d", served, cfg.Tally.Outcomes[record.OK], res.Requests, load.requests)
	}
	if n := len(res.Instances); started == 0 || n == 0 || n > int(started) {
		t.Errorf("%d starts of the bare heap, %d of the simulator", started, n)
	}
}
