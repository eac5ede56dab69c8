package gateway

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/patterns"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/sim"
	"coldwave/workload"
)

// paritySeeds is how many seeds each combination is compared on.
const paritySeeds = 5

// TestParityWithTheSimulator runs one schedule in virtual time twice: in the simulator, and over HTTP through the whole
// gateway. Decisions, labels, response times and the lives of the instances must be equal to the nanosecond.
func TestParityWithTheSimulator(t *testing.T) {
	for _, c := range []struct {
		pattern, policy string
		max             int
		fails           float64
		handover        time.Duration
		nodes           scheduler.Nodes
	}{
		{"fc-ramp", "fc-race", scheduler.Unlimited, 0, 0, scheduler.Nodes{}},
		{"fc-ramp", "fc-bound", scheduler.Unlimited, 0, 0, scheduler.Nodes{}},
		{"fc-burst", "fc-race", 10, 0, 2 * time.Millisecond, scheduler.Nodes{}},
		{"fc-burst", "fc-bound", 10, 0, 0, scheduler.Nodes{}},
		{"fc-burst", "fc-race", scheduler.Unlimited, 0.25, 0, scheduler.Nodes{}},
		{"fc-burst", "fc-bound", scheduler.Unlimited, 0.25, 0, scheduler.Nodes{}},
		{"fc-burst", "fc-race:idle_timeout=5s", scheduler.Unlimited, 0, 0, scheduler.Nodes{}},
		{"fc-ramp", "lambda:scaling_rate=5", scheduler.Unlimited, 0.25, 0, scheduler.Nodes{}},
		{"fc-burst", "keepalive:idle_timeout=10s", 10, 0, 0, scheduler.Nodes{}},
		{"fc-burst", "hybrid-histogram:standard_keep_alive=5s", scheduler.Unlimited, 0.25, 0, scheduler.Nodes{}},
		{"fc-burst", "fixed", scheduler.Unlimited, 0.25, 2 * time.Millisecond, scheduler.Nodes{}},
		{"fc-ramp", "fc-race", scheduler.Unlimited, 0, 0, scheduler.Nodes{Count: 9, Slots: 4, Keep: time.Minute, Cache: true}},
		{"fc-burst", "fc-bound:spread=true,idle_timeout=5s", scheduler.Unlimited, 0.25, 0, scheduler.Nodes{Count: 4, Slots: 3, Keep: 3 * time.Second, Cache: true}},
		{"fc-burst", "openwhisk", scheduler.Unlimited, 0.25, 0, scheduler.Nodes{Count: 3, Slots: 4, Keep: time.Second, Cache: true}},
		{"fc-ramp", "openwhisk:fpc=true", scheduler.Unlimited, 0, 2 * time.Millisecond, scheduler.Nodes{Count: 10, Slots: 4}},
	} {
		for seed := uint64(1); seed <= paritySeeds; seed++ {
			t.Run(fmt.Sprintf("%s/%s/max=%d/fails=%v/nodes=%d/seed=%d", c.pattern, c.policy, c.max, c.fails, c.nodes.Count, seed), func(t *testing.T) {
				profile := platform.Default()
				profile.FailRatio = c.fails
				draws := profile.Draws(seed)
				schedule := documentedSchedule(t, c.pattern, draws, seed)
				limits := scheduler.Config{Max: c.max}
				want, err := sim.Run(sim.Config{Schedule: schedule, Policy: mustPolicy(c.policy), Limits: limits, Nodes: c.nodes, Platform: draws,
					Handover: c.handover, Seed: seed, Trace: sim.Actions, Why: why})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Test(t, func(t *testing.T) {
					b := newBubble(t, bubbleConfig{policy: mustPolicy(c.policy), core: limits, nodes: c.nodes, handover: c.handover})
					defer b.end()
					b.fleet.draw = func(r StartRequest) platform.StartUp { return startOn(draws, r) }
					compareRuns(t, b, replay(b, schedule), want)
				})
			})
		}
	}
}

// startOn is the start-up of an instance on its node.
func startOn(draws platform.Draws, r StartRequest) platform.StartUp {
	up := draws.StartUp(int64(r.Instance), r.Demand)
	if r.Cached {
		up = up.Without(platform.StageDownload)
	}
	return up
}

func documentedSchedule(t *testing.T, name string, demands workload.Demands, seed uint64) *workload.Schedule {
	t.Helper()
	p, err := patterns.Load(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := workload.Build(workload.Source{Process: p, Demands: demands, Function: platform.TestFunction(), Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// replay sends the schedule and returns the replies in its order.
func replay(b *bubble, s *workload.Schedule) []reply {
	out := make([]reply, len(s.Arrivals))
	var all sync.WaitGroup
	for k, a := range s.Arrivals {
		all.Go(func() {
			if err := b.clock.WaitUntil(b.t.Context(), a.At); err != nil {
				b.t.Error(err)
			}
			out[k] = b.get(b.t.Context(), fmt.Sprintf("sim-%d", a.Seq), a.Demand)
		})
	}
	all.Wait()
	b.until(s.Length)
	settle()
	return out
}

func compareRuns(t *testing.T, b *bubble, replies []reply, want sim.Result) {
	t.Helper()
	made, _ := b.g.services[0].made.last(1 << 20)
	var got []scheduler.Action
	for _, d := range made {
		got = append(got, d.Action)
	}
	if !slices.Equal(got, want.Actions) {
		t.Errorf("decisions differ (-sim +gateway):\n%s", cmp.Diff(want.Actions, got))
	}
	for k, r := range replies {
		rec := want.Records[k]
		if r.err != nil || r.status != rec.Status || r.took != rec.Response() {
			t.Errorf("request %d: %d after %v %v, the simulator says %d after %v", k, r.status, r.took, r.err, rec.Status, rec.Response())
		}
		server := r.server()
		if rec.Server.Source = record.FromHeader; rec.Outcome == record.OK && server != rec.Server {
			t.Errorf("request %d: labels differ (-sim +gateway):\n%s", k, cmp.Diff(rec.Server, server))
		}
	}
	if d := cmp.Diff(want.Instances, b.g.Instances()); d != "" {
		t.Errorf("instances differ (-sim +gateway):\n%s", d)
	}
	if d := cmp.Diff(want.Nodes, b.g.Nodes()); d != "" {
		t.Errorf("nodes differ (-sim +gateway):\n%s", d)
	}
}
