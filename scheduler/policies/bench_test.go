package policies_test

import (
	"fmt"
	"testing"

	"coldwave/internal/clock"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
)

// loaded returns a core of the policy with that many instances, all busy, and that many requests in the queue, and the
// number of its requests.
func loaded(tb testing.TB, spec string, instances, waiting int) (*scheduler.Core, scheduler.RequestID) {
	tb.Helper()
	policy, err := policies.New(spec)
	if err != nil {
		tb.Fatal(err)
	}
	limits := scheduler.Config{Max: instances}
	core := scheduler.New(policy, limits, 1)
	core.Configure(nil, 0, limits)
	last := scheduler.RequestID(instances + waiting)
	for r := range last {
		core.Step(nil, 1, scheduler.Event{Kind: scheduler.Arrival, Req: r + 1})
	}
	for i := range instances {
		core.Step(nil, 2, scheduler.Event{Kind: scheduler.Ready, Inst: scheduler.InstanceID(i + 1)})
	}
	return core, last
}

// BenchmarkPolicy measures one event under each policy: an end and an arrival in turn, the oldest request ends first.
// The warm arrival takes the instance that has just become idle; the queued one goes to the end of the queue.
func BenchmarkPolicy(b *testing.B) {
	loads := []struct {
		name, spec         string
		instances, waiting int
	}{
		{"cloudrun/warm", "cloudrun", 10, 0},
		{"cloudrun/warm", "cloudrun", 1000, 0},
		{"cloudrun/warm", "cloudrun", 100_000, 0},
		{"cloudrun/queued", "cloudrun", 100, 10},
		{"fc-bound/warm", "fc-bound", 10, 0},
		{"fc-bound/warm", "fc-bound", 1000, 0},
		{"fc-bound/warm", "fc-bound", 100_000, 0},
		{"fc-race/warm", "fc-race", 10, 0},
		{"fc-race/warm", "fc-race", 1000, 0},
		{"fc-race/warm", "fc-race", 100_000, 0},
		{"fc-race/queued", "fc-race", 100, 10},
		{"fc-race/queued", "fc-race", 100, 100_000},
	}
	for _, l := range loads {
		b.Run(fmt.Sprintf("%s/instances=%d/waiting=%d", l.name, l.instances, l.waiting), func(b *testing.B) {
			core, last := loaded(b, l.spec, l.instances, l.waiting)
			if core.Running() != l.instances || core.Waiting() != l.waiting {
				b.Fatalf("%d run and %d wait", core.Running(), core.Waiting())
			}
			b.ReportAllocs()
			now, oldest, acts := clock.Instant(10), scheduler.RequestID(0), make([]scheduler.Action, 0, 16)
			for k := 0; b.Loop(); k++ {
				now += 1000
				if k%2 == 0 {
					oldest++
					acts = core.Step(acts[:0], now, scheduler.Event{Kind: scheduler.Done, Req: oldest})
				} else {
					last++
					acts = core.Step(acts[:0], now, scheduler.Event{Kind: scheduler.Arrival, Req: last})
				}
			}
		})
	}
}
