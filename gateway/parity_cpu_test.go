package gateway

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/workload"
)

// machines are the ready instances of a fleet in memory whose bodies share CPU. The lock is taken by the loop and by the
// timers; what follows from a look is told after it is given back.
type machines struct {
	mu sync.Mutex
	of map[scheduler.InstanceID]*machine
}

type machine struct {
	*platform.Instance
	bodies map[int64]body
	before platform.Load // at the last sample
	dead   bool          // it ran out of memory
}

type body struct {
	began clock.Instant
	how   record.Outcome
}

// equip gives an instance that becomes ready its CPUs.
func (f *memoryFleet) equip(at clock.Instant, i scheduler.InstanceID) {
	if !f.w.shared.Modelled() {
		return
	}
	m := &machine{Instance: f.w.shared.Instance(at), bodies: map[int64]body{}}
	m.before = m.Load()
	f.machines.mu.Lock()
	defer f.machines.mu.Unlock()
	f.machines.of[i] = m
}

// gone takes away an instance that has ended, and what it still computes.
func (f *memoryFleet) gone(_ clock.Instant, ev *scheduler.Event) bool {
	f.machines.mu.Lock()
	defer f.machines.mu.Unlock()
	delete(f.machines.of, ev.Inst)
	return true
}

// begin lets the body of a request begin.
func (f *memoryFleet) begin(a scheduler.Action, d workload.Demand, how record.Outcome) {
	f.machines.mu.Lock()
	m := f.machines.of[a.Inst]
	dies := false
	if !m.dead {
		m.bodies[int64(a.Req)] = body{a.At, how}
		dies = m.Arrive(a.At, int64(a.Req), d) != nil
		m.dead = dies
	}
	f.machines.mu.Unlock()
	if dies {
		f.consequence(a.At, a.At, scheduler.Event{Kind: scheduler.Failed, Code: scheduler.OutOfMemory, Inst: a.Inst})
		return
	}
	f.look(a.Inst, m)
}

// look tells which bodies on an instance are over, and looks again when something happens there next.
func (f *memoryFleet) look(i scheduler.InstanceID, m *machine) {
	f.machines.mu.Lock()
	if f.machines.of[i] != m || m.dead {
		f.machines.mu.Unlock()
		return
	}
	m.Advance(f.clock.Now())
	var over []platform.Ended
	var of []body
	for _, e := range m.Take() {
		over, of = append(over, e), append(of, m.bodies[e.ID])
		delete(m.bodies, e.ID)
	}
	next := m.Next()
	f.machines.mu.Unlock()
	for k, e := range over {
		f.consequence(of[k].began, e.At.Add(f.w.handover), scheduler.Event{Kind: scheduler.Done, Code: uint8(of[k].how), Req: scheduler.RequestID(e.ID)})
	}
	if next != clock.Never {
		time.AfterFunc(next.Sub(f.clock.Now()), func() { f.look(i, m) })
	}
}

// sample tells the load of each ready instance at full seconds, if the policy wants to know.
func (f *memoryFleet) sample(t *testing.T) {
	if !f.w.shared.Modelled() || !scheduler.WantsSamples(f.policy) {
		return
	}
	for at := clock.Instant(time.Second); at < clock.Instant(f.w.schedule.Length); at = at.Add(time.Second) {
		if err := f.clock.WaitUntil(t.Context(), at); err != nil {
			t.Error(err)
			return
		}
		f.machines.mu.Lock()
		var all []scheduler.InstanceID
		for i := range f.machines.of {
			all = append(all, i)
		}
		f.machines.mu.Unlock()
		for _, i := range all { // in any order: the loop puts it right
			f.loop.Post(Message{Event: scheduler.Event{Kind: scheduler.Sample, Inst: i}, Admit: f.measure})
		}
	}
}

// measure completes a sample at its turn: what happened at that instant before it does not count into it.
func (f *memoryFleet) measure(at clock.Instant, ev *scheduler.Event) bool {
	f.machines.mu.Lock()
	defer f.machines.mu.Unlock()
	m := f.machines.of[ev.Inst]
	if m == nil || !f.core.Up(ev.Inst) || m.before.At == at {
		return false
	}
	m.Advance(at)
	now := m.Load()
	ev.Value = now.MilliCPUs(m.before)
	m.before = now
	return true
}

// TestLoopParityNoticesShares: a fleet whose instances have a thousandth of a CPU less, a peak that lasts a nanosecond longer,
// or room for one request more, is told from the simulator's within a few worlds.
func TestLoopParityNoticesShares(t *testing.T) {
	tests := []struct {
		why   string
		such  func(*platform.Resources) bool
		spoil func(*platform.Resources)
	}{
		{"a thousandth of a CPU", func(*platform.Resources) bool { return true }, func(r *platform.Resources) { r.MilliCPUs-- }},
		{"a nanosecond of a peak", func(r *platform.Resources) bool { return r.Background.For > 0 }, func(r *platform.Resources) { r.Background.For++ }},
		{"a byte", func(r *platform.Resources) bool { return r.Memory.Limit > 0 }, func(r *platform.Resources) { r.Memory.Limit++ }},
	}
	for _, e := range policies.All() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			for _, c := range tests {
				if c.why == "a byte" && !slices.Contains([]string{"cloudrun", "fixed", "hpa", "knative"}, e.Name) {
					continue // it uses one slot of an instance at a time
				}
				found := false
				for seed := uint64(1); seed <= 60 && !found; seed++ {
					w := worldOf(seed)
					if !w.shared.Modelled() || !c.such(&w.shared) {
						continue
					}
					other := *w
					c.spoil(&other.shared)
					synctest.Test(t, func(t *testing.T) { found = w.compare(e, w.simulate(t, e, nil), other.loop(t, e, nil)) != nil })
				}
				if !found {
					t.Errorf("%s makes no difference in 60 worlds", c.why)
				}
			}
		})
	}
}
