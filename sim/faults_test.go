package sim_test

import (
	"errors"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/sim"
	"coldwave/workload"
)

// scripted are faults as told, relative to the instant that each method is given.
type scripted struct {
	sim.NoFaults
	leaves  map[int64]time.Duration
	breaks  map[int64]time.Duration
	crashes map[int64]time.Duration
	slower  map[int64]time.Duration
	fails   map[int64]bool
	lingers time.Duration
}

func after(of map[int64]time.Duration, id int64, at clock.Instant) clock.Instant {
	if d, ok := of[id]; ok {
		return at.Add(d)
	}
	return clock.Never
}

func (f scripted) Leaves(seq int64, at clock.Instant) clock.Instant { return after(f.leaves, seq, at) }
func (f scripted) Breaks(seq int64, at clock.Instant) clock.Instant { return after(f.breaks, seq, at) }
func (f scripted) Crashes(id int64, at clock.Instant) clock.Instant { return after(f.crashes, id, at) }

func (f scripted) StartUp(id int64, _ clock.Instant, up platform.StartUp) platform.StartUp {
	up.Total += f.slower[id]
	up.Fails = up.Fails || f.fails[id]
	return up
}

func (f scripted) Stopped(_ int64, at clock.Instant) clock.Instant { return at.Add(f.lingers) }

// TestFaultsOfRequests: what the client of a request sees of each fault. The instance is ready at 500 ms, the body ends at
// 600 ms, its slot is free at 610 ms.
func TestFaultsOfRequests(t *testing.T) {
	mapped := func(d time.Duration) map[int64]time.Duration { return map[int64]time.Duration{0: d} }
	tests := []struct {
		name    string
		faults  scripted
		outcome record.Outcome
		status  int
		done    time.Duration
		served  int
		stale   int64
	}{
		{"none", scripted{}, record.OK, 200, 600 * ms, 1, 0},
		{"the client leaves while it waits", scripted{leaves: mapped(400 * ms)}, record.Canceled, 0, 400 * ms, 0, 0},
		{"the client leaves at the instant of its dispatch", scripted{leaves: mapped(500 * ms)}, record.Canceled, 0, 500 * ms, 0, 0},
		{"the client leaves while its request runs", scripted{leaves: mapped(550 * ms)}, record.Canceled, 0, 550 * ms, 0, 0},
		{"the client leaves after its answer", scripted{leaves: mapped(700 * ms)}, record.OK, 200, 600 * ms, 1, 1},
		{"the instance breaks a nanosecond before the answer", scripted{breaks: mapped(-1)}, record.HTTPError, 502, 600*ms - 1, 0, 1},
		{"the instance breaks just after the answer, before its slot is free", scripted{breaks: mapped(0)}, record.OK, 200, 600 * ms, 1, 1},
		{"the instance breaks when its slot is free", scripted{breaks: mapped(10 * ms)}, record.OK, 200, 600 * ms, 1, 0},
		{"the instance crashes while the request runs", scripted{crashes: map[int64]time.Duration{1: 20 * ms}},
			record.HTTPError, 502, 520 * ms, 0, 1},
		{"the client leaves and then the instance crashes", scripted{leaves: mapped(520 * ms), crashes: map[int64]time.Duration{1: 30 * ms}},
			record.Canceled, 0, 520 * ms, 0, 1},
		{"a slow start", scripted{slower: map[int64]time.Duration{1: time.Second}}, record.OK, 200, 1600 * ms, 1, 0},
		{"a start that fails, and another", scripted{fails: map[int64]bool{1: true}}, record.OK, 200, 1100 * ms, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := schedule(workload.Demand{Exec: 100 * ms}, 0)
			s.Length = 2 * time.Second // late events come too
			res := run(t, sim.Config{
				Schedule: s, Policy: policy(t, "fc-race"), Platform: simple{start: 500 * ms},
				Faults: tt.faults, Handover: 10 * ms, Limits: scheduler.Config{Max: 1},
			})
			got := res.Records[0]
			if got.Outcome != tt.outcome || got.Status != tt.status || got.Done != clock.Instant(tt.done) {
				t.Errorf("%v %d at %v, want %v %d at %v", got.Outcome, got.Status, got.Done, tt.outcome, tt.status, tt.done)
			}
			served := 0
			for _, in := range res.Instances {
				served += in.Served
			}
			if served != tt.served || res.Stale != tt.stale {
				t.Errorf("instances served %d, %d events were late; want %d and %d", served, res.Stale, tt.served, tt.stale)
			}
			if canceled := got.Outcome == record.Canceled; canceled != (got.FirstByte == clock.Never) || canceled && got.Server != (record.Server{}) {
				t.Errorf("first byte %v, server %+v: a client that left was told nothing", got.FirstByte, got.Server)
			}
		})
	}
}

// TestSlotOfLeaver: a request whose client has left keeps its slot until its body ends; the next one waits for it.
func TestSlotOfLeaver(t *testing.T) {
	res := run(t, sim.Config{
		Schedule: schedule(workload.Demand{Exec: 100 * ms}, 0, 530*ms), Policy: policy(t, "fc-race"), Platform: simple{start: 500 * ms},
		Faults: scripted{leaves: map[int64]time.Duration{0: 510 * ms}}, Limits: scheduler.Config{Max: 1},
	})
	if got := res.Records[1].Server.Queue; got != 70*ms {
		t.Errorf("the next request waited %v, want 70ms: until the body that nobody waits for has ended", got)
	}
	if in := res.Instances[0]; in.Served != 1 || in.Busy != 200*ms {
		t.Errorf("the instance served %d and was busy for %v, want 1 and 200ms", in.Served, in.Busy)
	}
}

// TestChanges: limits that change during a run take effect at their instants; what runs is finished first.
func TestChanges(t *testing.T) {
	s := schedule(workload.Demand{Exec: 100 * ms}, 0, 0, 0, 1000*ms, 2000*ms)
	s.Length = 3 * time.Second
	res := run(t, sim.Config{
		Schedule: s, Policy: policy(t, "fc-race"), Platform: simple{start: 500 * ms}, Limits: scheduler.Config{Max: 3},
		Faults: scripted{lingers: 30 * ms},
		Changes: []sim.Change{
			{At: clock.Instant(550 * ms), Limits: scheduler.Config{Max: 1}},
			{At: clock.Instant(1500 * ms), Limits: scheduler.Config{Max: 0}},
			{At: clock.Instant(2500 * ms), Limits: scheduler.Config{Min: 2, Max: 2}},
		},
	})
	stops := []time.Duration{630 * ms, 630 * ms, 1530 * ms}
	for k, want := range stops {
		if got := res.Instances[k].Stopped; got != clock.Instant(want) {
			t.Errorf("instance %d stopped at %v, want %v", k+1, got, want)
		}
	}
	if got := res.Records[4]; got.Outcome != record.Rejected {
		t.Errorf("the request at max 0 is %v, want rejected", got.Outcome)
	}
	if len(res.Instances) != 5 || res.Instances[4].Started != clock.Instant(2500*ms) {
		t.Errorf("instances = %+v, want two more at 2.5s", res.Instances)
	}
}

// TestBadChanges: changes that are out of order or no limits are refused.
func TestBadChanges(t *testing.T) {
	for _, changes := range [][]sim.Change{
		{{At: 0}},
		{{At: 2}, {At: 2}},
		{{At: 1, Limits: scheduler.Config{Min: 1}}},
	} {
		_, err := sim.Run(sim.Config{Schedule: schedule(demand, 0), Policy: deaf{}, Platform: simple{}, Changes: changes})
		if !errors.Is(err, sim.ErrConfig) {
			t.Errorf("changes %+v: Run = %v, want ErrConfig", changes, err)
		}
	}
}
