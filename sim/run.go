package sim

import (
	"cmp"
	"fmt"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/workload"
)

// run is the state of one run.
type run struct {
	cfg    Config
	core   *scheduler.Core
	agenda agenda
	acts   []scheduler.Action // empty: room for those of the next call of the core
	now    clock.Instant

	coming  arrivals
	length  time.Duration
	horizon clock.Instant // with nothing under way the run ends after it; Never while more arrives
	err     error         // of the stream

	early   scheduler.Table[workload.Arrival] // on their way to the core
	flights scheduler.Table[flight]           // by request id, the same as the core's
	subject *flight                           // of the event that is being handled, if one has it
	lives   scheduler.Table[life]             // by instance id, the same as the core's
	number  *int32                            // of instances of all revisions; nil: there is one
	cpus    *cpus                             // nil: bodies share nothing

	step      Step          // Watch sees it
	record    record.Record // Observe sees it
	records   []record.Record
	instances []record.Instance // by ID - 1
	nodes     record.Nodes
	log       log
}

// flight is a request that the core knows, or that is still on an instance.
type flight struct {
	id      int64
	arrival workload.Arrival
	told    scheduler.Dispatch
	over    clock.Instant // with cpus: its body is; Never: not yet
	ended   bool          // its client has gone; it is still on its instance
	fault   fault         // why its call to a backing service failed
}

func newRun(cfg Config) *run {
	cfg.Limits.Limit = cmp.Or(cfg.Limits.Limit, cfg.concurrency())
	cfg.Run = cmp.Or(cfg.Run, "sim")
	cfg.Patience = cmp.Or(cfg.Patience, DefaultPatience)
	s := &run{cfg: cfg, core: scheduler.NewOn(cfg.Policy, cfg.Limits, cfg.Nodes, cfg.Seed), log: newLog(cfg.Trace), horizon: clock.Never}
	s.cpus = newCPUs(&s.cfg)
	if s.keeps() && cfg.Schedule != nil {
		s.records = make([]record.Record, 0, len(cfg.Schedule.Arrivals))
	}
	return s
}

// keeps reports whether the records go to the Result.
func (s *run) keeps() bool { return s.cfg.Observe == nil && s.cfg.Tally == nil }

// writes reports whether records are made at all.
func (s *run) writes() bool { return s.cfg.Observe != nil || s.cfg.Tally == nil }

func (s *run) run() error {
	for k, c := range s.cfg.Changes {
		s.agenda.push(entry{c.At, keyOf(scheduler.Configure, 0, int64(k))})
	}
	s.open()
	s.configure(s.cfg.Limits)
	for {
		at, head := s.soonest()
		due := s.core.Next()
		if next := s.wakes(); next != clock.Never && next <= min(at, due) { // bodies end before anything else happens
			s.wake()
			continue
		}
		if next := min(at, due); next > s.horizon {
			if s.early.Len() == 0 && s.flights.Len() == 0 {
				return s.err
			}
			if next > s.horizon.Add(s.cfg.Patience) {
				return s.stuck()
			}
		}
		switch {
		case due < at: // at equality the core itself puts what is due in its place
			s.advance(due)
		case head:
			s.now = at
			s.arrive(s.coming.head())
			s.draw()
		default:
			s.handle(s.agenda.pop())
		}
	}
}

func (s *run) stuck() error {
	return fmt.Errorf("%w: %d are left at %v, %d of them wait: give the policy a wait limit, or a larger patience than %v",
		ErrStuck, s.early.Len()+s.flights.Len(), s.now, s.core.Waiting(), s.cfg.Patience)
}

// handle tells the core of one planned event.
func (s *run) handle(e entry) {
	s.now = e.at
	id := e.id()
	switch e.kind() {
	case scheduler.Arrival:
		s.arrive(s.early.Get(id))
		s.early.Drop(id)
	case scheduler.Done:
		s.done(id)
	case scheduler.Cancel:
		s.tell(scheduler.Cancel, 0, 0, scheduler.RequestID(id))
	case scheduler.Configure:
		s.configure(s.cfg.Changes[id].Limits)
	case scheduler.Sample:
		s.sample()
	default:
		s.turn(e.kind(), scheduler.InstanceID(id))
	}
}

func (s *run) advance(due clock.Instant) {
	s.now = due
	acts := s.core.Advance(s.acts, due)
	if s.cfg.Watch != nil {
		s.step = Step{Advance: true}
		s.show(acts)
	}
	s.carry(acts)
}

func (s *run) configure(limits scheduler.Config) {
	limits.Limit = cmp.Or(limits.Limit, s.cfg.Limits.Limit)
	acts := s.core.Configure(s.acts, s.now, limits)
	if s.cfg.Watch != nil {
		s.step = Step{Event: scheduler.Event{Kind: scheduler.Configure}}
		s.show(acts)
	}
	s.carry(acts)
}

// tell tells the core of an event.
func (s *run) tell(kind scheduler.Kind, code uint8, i scheduler.InstanceID, r scheduler.RequestID) {
	ev := &s.step.Event
	ev.Kind, ev.Code, ev.Inst, ev.Req, ev.Value = kind, code, i, r, 0
	acts := s.core.Take(s.acts, s.now, ev)
	if s.cfg.Watch != nil {
		s.step.Advance = false
		s.show(acts)
	}
	s.carry(acts)
}

// show lets Watch see what the core decided.
func (s *run) show(acts []scheduler.Action) {
	s.step.At, s.step.Actions, s.step.Core = s.now, acts, s.core
	s.cfg.Watch(&s.step)
}

// carry carries out what the core decided.
func (s *run) carry(acts []scheduler.Action) {
	if cap(acts) > cap(s.acts) {
		s.acts = acts[:0]
	}
	for k := range acts {
		a := &acts[k]
		if s.log.trace != NoTrace {
			s.log.add(*a)
		}
		switch a.Do {
		case scheduler.Assign:
			s.assign(a)
		case scheduler.Start:
			s.start(a)
		case scheduler.Stop:
			s.stop(a)
		case scheduler.Reject, scheduler.Lost, scheduler.End:
			s.finish(a)
		case scheduler.Take:
			s.nodes.Take(int32(a.Status), a.At)
		case scheduler.Reclaim:
			s.nodes.Reclaim(int32(a.Status), a.At)
		case scheduler.Queue, scheduler.Mark:
		}
	}
}

// result closes the books.
func (s *run) result() Result {
	s.endLives()
	if s.cfg.Tally != nil {
		s.cfg.Tally.settle()
	}
	return Result{
		Records: s.records, Instances: s.instances, Nodes: s.nodes.All(), Requests: s.coming.drawn(), Length: s.length, End: s.now,
		Events: s.core.Events(), Stale: s.core.Stale(), Actions: s.log.actions, Digest: s.log.digest(),
	}
}
