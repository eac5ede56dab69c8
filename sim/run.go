package sim

import (
	"cmp"
	"fmt"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/workload"
)

// run is the state of one run.
type run struct {
	cfg     Config
	core    *scheduler.Core
	agenda  agenda
	acts    []scheduler.Action // of the last call of the core
	now     clock.Instant
	fed     int                     // arrivals that are on the agenda or were
	open    int                     // of these, not ended
	flights scheduler.Table[flight] // by request id, the same as the core's
	names   []string                // of the instances
	lives   []record.Instance       // by instance id - 1
	record  record.Record           // being written; Observe sees it
	records []record.Record         // by Seq
	log     log
}

// flight is a request that the core knows.
type flight struct {
	seq     int64 // of its arrival
	account scheduler.Dispatch
}

func newRun(cfg Config) *run {
	cfg.Limits.Limit = cmp.Or(cfg.Limits.Limit, int32(cfg.Schedule.Function.Concurrency))
	cfg.Run = cmp.Or(cfg.Run, "sim")
	cfg.Patience = cmp.Or(cfg.Patience, DefaultPatience)
	s := &run{cfg: cfg, core: scheduler.New(cfg.Policy, cfg.Limits, cfg.Seed), log: newLog(cfg.Trace)}
	if cfg.Observe == nil {
		s.records = make([]record.Record, len(cfg.Schedule.Arrivals))
	}
	return s
}

func (s *run) run() error {
	end := clock.Instant(s.cfg.Schedule.Length)
	last := end.Add(s.cfg.Patience)
	s.do(s.core.Configure(s.acts[:0], 0, s.cfg.Limits))
	for {
		s.feed()
		at, due := s.agenda.top().at, s.core.Next()
		next := min(at, due)
		done := s.open == 0 && s.fed == len(s.cfg.Schedule.Arrivals)
		switch {
		case next == clock.Never && done, next > end && done:
			return nil
		case next > last:
			return fmt.Errorf("%w: %d are left at %v, %d of them wait: give the policy a wait limit, or a larger patience than %v",
				ErrStuck, s.open, s.now, s.core.Waiting(), s.cfg.Patience)
		case due < at: // at equality the core itself puts what is due in its place
			s.now = due
			s.do(s.core.Advance(s.acts[:0], due))
		default:
			s.handle(s.agenda.pop())
		}
	}
}

// feed plans the arrivals that may be the next event. The core sees an arrival Pre after its intended start, so all with
// an intended start up to the next event must be planned.
func (s *run) feed() {
	arrivals := s.cfg.Schedule.Arrivals
	for s.fed < len(arrivals) && arrivals[s.fed].At <= s.agenda.top().at {
		a := &arrivals[s.fed]
		s.agenda.push(entry{a.At.Add(a.Demand.Pre), keyOf(scheduler.Arrival, 0, int64(s.fed))})
		s.fed++
		s.open++
	}
}

// handle tells the core of one event.
func (s *run) handle(e entry) {
	s.now = e.at
	ev := scheduler.Event{Kind: e.kind()}
	switch ev.Kind {
	case scheduler.Arrival:
		ev.Req = scheduler.RequestID(s.flights.Add(flight{seq: e.id()}))
	case scheduler.Done:
		ev.Req = scheduler.RequestID(e.id())
		ev.Code = uint8(s.outcome(s.flights.Get(e.id()).seq))
	default:
		ev.Inst = scheduler.InstanceID(e.id())
	}
	s.do(s.core.Step(s.acts[:0], e.at, ev))
	switch ev.Kind {
	case scheduler.Ready:
		s.lives[ev.Inst-1].Ready = e.at
	case scheduler.Failed, scheduler.Stopped:
		s.gone(ev)
	default:
	}
}

// outcome returns how the body of an arrival ends.
func (s *run) outcome(seq int64) record.Outcome {
	if s.cfg.Platform.RequestFails(seq) {
		return record.HTTPError
	}
	return record.OK
}

// do carries out what the core decided.
func (s *run) do(acts []scheduler.Action) {
	s.acts = acts
	for _, a := range acts {
		s.log.add(a)
		switch a.Do {
		case scheduler.Assign:
			s.assign(a)
		case scheduler.Start:
			s.start(a)
		case scheduler.Stop:
			s.agenda.push(entry{a.At, keyOf(scheduler.Stopped, 0, int64(a.Inst))})
		case scheduler.Reject, scheduler.Lost, scheduler.End:
			s.finish(a)
		case scheduler.Queue, scheduler.Mark:
		}
	}
}

// assign plans the end of a request. No delay is zero: what follows at the very instant of its cause would have an order
// that a real host cannot keep.
func (s *run) assign(a scheduler.Action) {
	f := s.flights.Get(int64(a.Req))
	f.account = s.core.Account(a)
	if life := &s.lives[a.Inst-1]; life.First == "" {
		life.First = s.name(f.seq)
	}
	held := max(1, s.demand(f.seq).Exec+s.cfg.Handover)
	s.agenda.pushRising(entry{a.At.Add(held), keyOf(scheduler.Done, 0, int64(a.Req))})
}

func (s *run) demand(seq int64) workload.Demand { return s.cfg.Schedule.Arrivals[seq].Demand }
