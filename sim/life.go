package sim

import (
	"strconv"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/workload"
)

// life is an instance that has not ended.
type life struct {
	record.Instance
	inst     scheduler.InstanceID
	name     string // what records call it
	stopping bool   // told to stop
	answered int    // requests that it answered, less those that it finished as the core counts them
	machine  *machine
}

// name is the request id of an arrival.
func (s *run) name(seq int64) string { return s.cfg.Run + "-" + strconv.FormatInt(seq, 10) }

// numberOf returns the number by which everybody but the core knows an instance that is being started: that of the core, or
// the next of all revisions.
func (s *run) numberOf(i scheduler.InstanceID) int32 {
	if s.number == nil {
		return int32(i)
	}
	*s.number++
	return *s.number
}

// start opens the life of an instance and plans how its start-up ends.
func (s *run) start(a *scheduler.Action) {
	in, number := life{inst: a.Inst}, s.numberOf(a.Inst)
	if s.writes() {
		in.name = strconv.Itoa(int(number))
	}
	in.Instance = record.Instance{ID: number, Revision: s.cfg.Revision, Node: int32(a.Status), Started: a.At, Ready: clock.Never, Stopped: clock.Never}
	if s.cfg.Why != nil {
		in.Reason = s.cfg.Why(a.Code)
	}
	in.Cached = a.Status != 0 && s.core.Cached(a.Inst)
	var cause workload.Demand
	if f := s.flights.Get(int64(a.Req)); f != nil { // a cause that has ended is forgotten
		cause, in.Cause = f.arrival.Demand, s.name(f.arrival.Seq)
	}
	up := s.cfg.Platform.StartUp(int64(number), cause)
	if in.Cached {
		up = up.Without(platform.StageDownload)
	}
	s.lives.Add(in)
	if s.cfg.ObserveInstance == nil {
		s.instances = append(s.instances, record.Instance{})
	}
	if s.cfg.Faults != nil {
		up = s.cfg.Faults.StartUp(int64(number), a.At, up)
	}
	kind := scheduler.Ready
	if up.Fails {
		kind = scheduler.Failed
	}
	s.agenda.push(entry{a.At.Add(max(1, up.Total)), keyOf(kind, 0, int64(a.Inst))})
}

// stop plans the end of an instance that was told to stop. It may be gone at the same instant if no policy reads that. On
// a node one does: there is room again.
func (s *run) stop(a *scheduler.Action) {
	in := s.lives.Get(int64(a.Inst))
	in.stopping = true
	at := a.At
	if s.cfg.Faults != nil {
		at = max(at, s.cfg.Faults.Stopped(int64(in.ID), at))
	}
	if s.cfg.Nodes.On() {
		at = max(at, a.At+1)
	}
	s.agenda.push(entry{at, keyOf(scheduler.Stopped, 0, int64(a.Inst))})
}

// turn tells the core of a turn in the life of an instance.
func (s *run) turn(kind scheduler.Kind, i scheduler.InstanceID) {
	in := s.lives.Get(int64(i))
	late := in == nil || kind == scheduler.Ready && in.stopping
	code := uint8(0)
	switch {
	case s.cpus == nil || late:
	case kind == scheduler.Ready:
		s.equip(in)
	case kind == scheduler.Failed:
		code = in.cause()
	}
	s.tell(kind, code, i, 0)
	if s.cpus != nil && kind == scheduler.Failed {
		s.forsake(i)
	}
	switch {
	case late: // it had ended, or must
	case kind != scheduler.Ready:
		in.Stopped, in.Failed = s.now, kind == scheduler.Failed
		s.bury(in)
	default:
		in.Ready = s.now
		if s.cfg.Faults != nil {
			s.plan(s.cfg.Faults.Crashes(int64(in.ID), s.now), keyOf(scheduler.Failed, 0, int64(i)))
		}
	}
}

// bury closes the life of an instance.
func (s *run) bury(in *life) {
	if known, ok := s.core.Instance(in.inst); ok {
		in.Busy, in.Served = known.Busy, known.Served+in.answered
	}
	if in.machine != nil {
		s.account(in)
	}
	if s.cfg.ObserveInstance != nil {
		s.cfg.ObserveInstance(&in.Instance)
	} else {
		s.instances[in.ID-1] = in.Instance
	}
	s.lives.Drop(int64(in.inst))
}

// endLives closes the books of the instances that are left.
func (s *run) endLives() {
	for _, in := range s.lives.All() {
		s.bury(in)
	}
}
