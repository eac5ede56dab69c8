package sim_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/sim"
	"coldwave/workload"
)

// TestNodes: instances tell their node, a start where the code is skips the download and nothing else (PL-5, FC-3), and
// the uses of nodes are told.
func TestNodes(t *testing.T) {
	profile := platform.Default()
	profile.Cold = platform.Constant(2000 * ms)
	draws := profile.Draws(1)
	for _, tt := range []struct {
		name    string
		cache   bool
		later   time.Duration // start-up of the third instance, on the first node again
		skipped bool
	}{
		{"with the code", true, 1390 * ms, true},
		{"the download is not skipped unless asked", false, 1890 * ms, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := run(t, sim.Config{
				// Two at once, one while both nodes are empty, and one long after they have been given back.
				Schedule: schedule(demand, 0, 0, 8*time.Second, time.Minute), Policy: policy(t, "fc-race:idle_timeout=1s"), Platform: draws,
				Limits: scheduler.Config{Max: scheduler.Unlimited}, Nodes: scheduler.Nodes{Count: 2, Slots: 1, Keep: 10 * time.Second, Cache: tt.cache},
			})
			wantNodes := []record.Node{
				{ID: 1, Taken: clock.Instant(6 * ms), Reclaimed: res.Instances[2].Stopped.Add(10 * time.Second)},
				{ID: 2, Taken: clock.Instant(6 * ms), Reclaimed: res.Instances[1].Stopped.Add(10 * time.Second)},
				{ID: 1, Taken: clock.Instant(60006 * ms), Reclaimed: clock.Never},
			}
			if d := cmp.Diff(wantNodes, res.Nodes); d != "" {
				t.Errorf("nodes (-want +got):\n%s", d)
			}
			want := []struct {
				node   int32
				cached bool
				takes  time.Duration
			}{{1, false, 1890 * ms}, {2, false, 1890 * ms}, {1, tt.skipped, tt.later}, {1, false, 1890 * ms}}
			for k, in := range res.Instances {
				if w := want[k]; in.Node != w.node || in.Cached != w.cached || in.Ready.Sub(in.Started) != w.takes {
					t.Errorf("instance %d: node %d, cached %t, ready after %v, want %+v", in.ID, in.Node, in.Cached, in.Ready.Sub(in.Started), w)
				}
			}
		})
	}
}

// TestNodesChangeNothing: with room for all, and without the cache, nodes change no time of any request.
func TestNodesChangeNothing(t *testing.T) {
	draws := platform.Default().Draws(3)
	s := poisson(draws, 500, 50*ms)
	runOn := func(on scheduler.Nodes) sim.Result {
		return run(t, sim.Config{Schedule: s, Policy: policy(t, "fc-race"), Platform: draws, Limits: scheduler.Config{Max: scheduler.Unlimited}, Nodes: on})
	}
	without, with := runOn(scheduler.Nodes{}), runOn(scheduler.Nodes{Count: 100, Slots: 4})
	if d := cmp.Diff(without.Records, with.Records); d != "" {
		t.Errorf("records (-without +with nodes):\n%s", d)
	}
	if len(with.Nodes) == 0 || len(without.Nodes) != 0 {
		t.Errorf("%d nodes with, %d without, want some and none", len(with.Nodes), len(without.Nodes))
	}
}

// TestBadNodes: nodes without room are refused.
func TestBadNodes(t *testing.T) {
	_, err := sim.Run(sim.Config{
		Schedule: &workload.Schedule{}, Policy: policy(t, "fc-race"), Platform: simple{}, Nodes: scheduler.Nodes{Count: 1},
	})
	if !errors.Is(err, sim.ErrConfig) || !errors.Is(err, scheduler.ErrNodes) {
		t.Errorf("Run = %v, want ErrConfig and ErrNodes", err)
	}
}
