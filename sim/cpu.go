package sim

import (
	"errors"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/workload"
)

// cpus are the instances of a run whose bodies share CPUs and memory. Then the end of a body depends on what comes after it,
// so it is not planned when it begins: each instance has one wake-up, at which it is looked at again. A run without such a
// model has none of this.
type cpus struct {
	wakes   agenda // by instance id
	sampled bool   // the policy wants samples
	ticking bool   // the next one is planned
	backing *platform.BackingState
}

// machine is one ready instance of cpus.
type machine struct {
	*platform.Instance
	wakes  clock.Instant // its wake-up; Never: none is planned
	before platform.Load // at its last sample
	dead   bool          // it ran out of memory
}

func newCPUs(cfg *Config) *cpus {
	if !cfg.Resources.Modelled() && !cfg.Backing.On() {
		return nil
	}
	c := &cpus{sampled: cfg.Resources.Modelled() && scheduler.WantsSamples(cfg.Policy)}
	if cfg.Backing.On() {
		c.backing = cfg.Backing.Open()
	}
	return c
}

// equip gives an instance that becomes ready its CPUs.
func (s *run) equip(in *life) {
	m := &machine{Instance: s.cfg.Resources.Instance(s.now), wakes: clock.Never}
	m.before = m.Load()
	in.machine = m
	if s.cpus.backing != nil {
		s.cpus.backing.Join(int64(in.inst))
	}
	if s.cpus.sampled && !s.cpus.ticking {
		s.tick()
	}
}

// tick plans the next sample: at full seconds.
func (s *run) tick() {
	const every = clock.Instant(platform.SampleEvery)
	s.cpus.ticking = true
	s.agenda.push(entry{s.now - s.now%every + every, keyOf(scheduler.Sample, 0, 0)})
}

// sample tells the core the load of each instance that serves, in order of id.
func (s *run) sample() {
	s.cpus.ticking = false
	for id, in := range s.lives.All() {
		m := in.machine
		if m == nil {
			continue
		}
		if !s.cpus.ticking {
			s.tick()
		}
		i := scheduler.InstanceID(id)
		if !s.core.Up(i) || m.before.At == s.now {
			continue // it is on its way out, or became ready just now
		}
		m.Advance(s.now)
		now := m.Load()
		used := now.MilliCPUs(m.before)
		m.before = now
		s.tellLoad(i, used)
	}
}

func (s *run) tellLoad(i scheduler.InstanceID, milli int64) {
	s.step.Event = scheduler.Event{Kind: scheduler.Sample, Inst: i, Value: milli}
	acts := s.core.Take(s.acts, s.now, &s.step.Event)
	if s.cfg.Watch != nil {
		s.step.Advance = false
		s.show(acts)
	}
	s.carry(acts)
}

// begin lets the body of a request that was assigned begin. If memory is short the instance fails instead.
func (s *run) begin(a *scheduler.Action, f *flight) {
	f.over, f.fault = clock.Never, noFault
	m := s.lives.Get(int64(a.Inst)).machine
	if m.dead {
		return
	}
	demand := f.arrival.Demand
	if !s.call(a, f, &demand) {
		return
	}
	if m.Arrive(a.At, int64(a.Req), demand) != nil {
		m.dead = true
		s.plan(s.now, keyOf(scheduler.Failed, 0, int64(a.Inst)))
		return
	}
	s.settle(int64(a.Inst), m)
}

// fault is why a body failed that made its call in vain.
type fault uint8

const (
	noFault fault = iota
	noConnection
	noQuota
)

func faultOf(err error) fault {
	if errors.Is(err, platform.ErrConnections) {
		return noConnection
	}
	return noQuota
}

// String is the cause in a record.
func (f fault) String() string {
	return [...]string{noConnection: platform.ErrConnections.Error(), noQuota: platform.ErrQuota.Error()}[f]
}

// call makes the call of a request to the backing service, which may make it longer. If the call fails the body is over.
func (s *run) call(a *scheduler.Action, f *flight, d *workload.Demand) bool {
	if s.cpus.backing == nil {
		return true
	}
	wait, err := s.cpus.backing.Call(a.At, int64(a.Inst))
	if err != nil {
		f.fault, f.over = faultOf(err), a.At
		s.agenda.push(entry{max(a.At+1, a.At.Add(s.cfg.Handover)), keyOf(scheduler.Done, 0, int64(a.Req))})
		return false
	}
	d.Exec += wait
	return true
}

// wakes returns when an instance is to be looked at next, Never if none is.
func (s *run) wakes() clock.Instant {
	if s.cpus == nil {
		return clock.Never
	}
	return s.cpus.wakes.top().at
}

// wake looks at the instance whose wake-up is due.
func (s *run) wake() {
	e := s.cpus.wakes.pop()
	s.now = e.at
	in := s.lives.Get(e.id())
	if in == nil || in.machine == nil || in.machine.dead || in.machine.wakes != e.at {
		return // it has ended, or was looked at
	}
	in.machine.wakes = clock.Never
	in.machine.Advance(s.now)
	s.settle(e.id(), in.machine)
}

// settle plans the end of requests whose bodies are over, and the next wake-up of their instance. One that is planned too
// early stays: an arrival that slows the others down would have each of them planned anew.
func (s *run) settle(id int64, m *machine) {
	for _, e := range m.Take() {
		f := s.flights.Get(e.ID)
		f.over = e.At
		s.agenda.push(entry{max(f.told.At+1, e.At.Add(s.cfg.Handover)), keyOf(scheduler.Done, 0, e.ID)})
	}
	if next := m.Next(); next < m.wakes {
		m.wakes = next
		s.cpus.wakes.push(entry{next, keyOf(0, 0, id)})
	}
}

// over returns when the body of a request that is or was on an instance is over; Never: not yet.
func (s *run) over(f *flight) clock.Instant {
	if s.cpus == nil {
		return f.told.At.Add(f.arrival.Demand.Exec)
	}
	return f.over
}

// cause returns the code of a Failed.
func (in *life) cause() uint8 {
	if in != nil && in.machine != nil && in.machine.dead {
		return scheduler.OutOfMemory
	}
	return scheduler.ByItself
}

// forsake forgets the requests on an instance that has failed whose clients had left: nobody is told of their end, and it
// never comes.
func (s *run) forsake(i scheduler.InstanceID) {
	for id, f := range s.flights.All() {
		if f.told.Inst == i && f.ended && f.over == clock.Never {
			s.flights.Drop(id)
		}
	}
}

// account notes what an instance used that has ended, and gives its connections back.
func (s *run) account(in *life) {
	in.machine.Advance(s.now)
	l := in.machine.Load()
	in.CPU, in.Memory = l.CPU, l.Peak
	if in.machine.dead {
		in.Failure = record.OutOfMemory
	}
	if s.cpus.backing != nil {
		s.cpus.backing.Leave(int64(in.inst))
	}
}
