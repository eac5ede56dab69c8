package sim_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

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
// machine, so that its moods touch both. What the bare heap needs in memory is made before it is timed.

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

type bareKind uint8

const (
	bareReady bareKind = iota
	bareDone
)

// bareEvent is the end of a start-up or of a body: 16 bytes.
type bareEvent struct {
	at   int64
	kind bareKind
	inst int32
}

// bareHeap is a heap of four children each, the earliest first.
type bareHeap []bareEvent

func (h *bareHeap) push(e bareEvent) {
	*h = append(*h, e)
	events := *h
	k := len(events) - 1
	for k > 0 {
		parent := (k - 1) / 4
		if events[parent].at <= e.at {
			break
		}
		events[k] = events[parent]
		k = parent
	}
	events[k] = e
}

func (h *bareHeap) pop() bareEvent {
	events := *h
	first, last := events[0], events[len(events)-1]
	events = events[:len(events)-1]
	*h = events
	if len(events) == 0 {
		return first
	}
	k := 0
	for child := 1; child < len(events); child = 4*k + 1 {
		best := child
		for other := child + 1; other < child+4 && other < len(events); other++ {
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

// bareRun is what the bare heap works with.
type bareRun struct {
	load       bareLoad
	random     *rand.Rand
	events     bareHeap
	idle       []int32
	queue      []int64 // arrival instants, a ring: its length is a power of two
	head, tail int     // of the queue, taken modulo its length
	latencies  []uint32
}

func (l bareLoad) open() *bareRun {
	return &bareRun{
		load: l, random: rand.New(rand.NewPCG(l.seed, 2)), idle: make([]int32, 0, 1024),
		queue: make([]int64, 1<<20), latencies: make([]uint32, 1<<16),
	}
}

func (b *bareRun) gap() int64 { return int64(b.random.ExpFloat64() / float64(b.load.rate) * 1e9) }

// count counts a response time. It is compiled in line, so that the constant one of a warm request costs no division.
func (b *bareRun) count(response int64) {
	b.latencies[min(response/bareBucket, int64(len(b.latencies)-1))]++
}

// run returns how many requests it has served and how many instances it has started.
func (b *bareRun) run() (served int, started int32) {
	arrived, arrival := 0, b.gap()
	for served < b.load.requests {
		if arrived < b.load.requests && (len(b.events) == 0 || arrival <= b.events[0].at) {
			now := arrival
			arrived++
			arrival = now + b.gap()
			if n := len(b.idle); n > 0 {
				inst := b.idle[n-1]
				b.idle = b.idle[:n-1]
				b.count(bareBody)
				b.events.push(bareEvent{now + bareBody, bareDone, inst})
				continue
			}
			b.queue[b.tail&(len(b.queue)-1)] = now
			b.tail++
			started++
			b.events.push(bareEvent{now + bareStart + b.random.Int64N(bareSpread), bareReady, started})
			continue
		}
		e := b.events.pop()
		if e.kind == bareDone {
			served++
		}
		if b.head < b.tail {
			b.count(e.at - b.queue[b.head&(len(b.queue)-1)] + bareBody)
			b.head++
			b.events.push(bareEvent{e.at + bareBody, bareDone, e.inst})
		} else {
			b.idle = append(b.idle, e.inst)
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

// turns are the times of one side's turns.
type turns []time.Duration

// of returns the requests per second of the quickest turn and of the middle one. What a turn takes longer than another is
// the machine's doing.
func (t turns) of(requests int) (best, median float64) {
	slices.Sort(t)
	return float64(requests) / t[0].Seconds(), float64(requests) / t[len(t)/2].Seconds()
}

// BenchmarkRun compares the simulator with the bare heap in turn. x-heap is the ratio of the two speeds, of the quickest
// turns and of the middle ones.
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
				var bare, ours turns
				for b.Loop() {
					cfg, heap := load.config(b, mode.spec), load.open()
					mode.prepare(&cfg)
					begin := b.Elapsed()
					heap.run()
					middle := b.Elapsed()
					if _, err := sim.Run(cfg); err != nil {
						b.Fatal(err)
					}
					bare, ours = append(bare, middle-begin), append(ours, b.Elapsed()-middle)
				}
				best, median := ours.of(load.requests)
				heap, heapMedian := bare.of(load.requests)
				b.ReportMetric(best/heap, "x-heap")
				b.ReportMetric(median/heapMedian, "x-heap-median")
				b.ReportMetric(best, "requests/s")
				b.ReportMetric(median, "requests/s-median")
				b.ReportMetric(heap, "heap-requests/s")
				b.ReportMetric(heapMedian, "heap-requests/s-median")
			})
		}
	}
}

// TestBareLoad keeps the comparison honest: the two serve the same requests, and the simulator starts no more than the
// bare heap, whose every arrival that finds nothing starts one.
func TestBareLoad(t *testing.T) {
	load := bareLoad{requests: 5000, rate: 1000, seed: 1}
	served, started := load.open().run()
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
