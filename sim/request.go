package sim

import (
	"slices"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/workload"
)

// arrive tells the core of a request.
func (s *run) arrive(a *workload.Arrival) {
	id, f := s.flights.New()
	f.id, f.arrival, f.told, f.ended = id, *a, scheduler.Dispatch{}, false
	s.subject = f
	if s.cfg.Faults != nil {
		s.plan(s.cfg.Faults.Leaves(a.Seq, s.now), keyOf(scheduler.Cancel, 0, id))
	}
	s.tell(scheduler.Arrival, 0, 0, scheduler.RequestID(id))
}

// plan puts a consequence on the agenda, if it is to come. No delay is zero: what follows at the very instant of its
// cause would have an order that a real host cannot keep.
func (s *run) plan(at clock.Instant, key uint64) {
	if at != clock.Never {
		s.agenda.push(entry{max(at, s.now+1), key})
	}
}

// flight returns the flight that a decision is about. It is nearly always that of the event, and then found without the
// table.
func (s *run) flight(id scheduler.RequestID) *flight {
	if f := s.subject; f != nil && f.id == int64(id) {
		return f
	}
	return s.flights.Get(int64(id))
}

// assign plans the end of a request.
func (s *run) assign(a *scheduler.Action) {
	f := s.flight(a.Req)
	s.core.AccountTo(&f.told, a)
	if f.told.First {
		s.lives.Get(int64(a.Inst)).First = s.name(f.arrival.Seq)
	}
	over := a.At.Add(f.arrival.Demand.Exec)
	if s.cpus != nil {
		s.begin(a, f)
	} else {
		s.agenda.pushRising(entry{max(a.At+1, over.Add(s.cfg.Handover)), keyOf(scheduler.Done, 0, int64(a.Req))})
	}
	if s.cfg.Faults != nil {
		s.plan(s.cfg.Faults.Breaks(f.arrival.Seq, over), keyOf(scheduler.Failed, 0, int64(a.Inst)))
	}
}

// done tells the core that a request has left its instance. It may have been lost with it.
func (s *run) done(id int64) {
	f := s.flights.Get(id)
	how := record.Unknown
	if s.subject = f; f != nil {
		how = s.outcome(f)
	}
	left := f != nil && f.ended // its client has: nobody waits for the answer any more
	if left {
		if in := s.lives.Get(int64(f.told.Inst)); in != nil {
			in.answered--
		}
	}
	s.tell(scheduler.Done, uint8(how), 0, scheduler.RequestID(id))
	if left {
		s.flights.Drop(id)
	}
}

// outcome returns how a body ends.
func (s *run) outcome(f *flight) record.Outcome {
	if f.fault != noFault || s.cfg.Platform.RequestFails(f.arrival.Seq) {
		return record.HTTPError
	}
	return record.OK
}

// fate is what the client of a request sees.
type fate struct {
	outcome record.Outcome
	status  int
	done    clock.Instant
}

const (
	statusClientGone = 499 // of the core's End for a client that went away
	statusBodyFailed = 500

	statusTooMany     = 429
	statusUnavailable = 503
)

// finish ends a request. One that its client has left stays on its instance.
func (s *run) finish(a *scheduler.Action) {
	f := s.flight(a.Req)
	end := s.fate(a, f)
	if s.cfg.Tally != nil {
		s.cfg.Tally.add(end, f, s.waited(a, f))
	}
	if s.writes() {
		s.write(a, f, end)
	}
	if f.ended = end.outcome == record.Canceled && f.told.Inst != 0; !f.ended {
		s.flights.Drop(f.id)
	}
}

func (s *run) fate(a *scheduler.Action, f *flight) fate {
	switch {
	case a.Do == scheduler.Reject:
		return fate{turnedAway(a.Status), int(a.Status), a.At}
	case a.Do == scheduler.End && a.Status == statusClientGone:
		return fate{record.Canceled, 0, a.At}
	case a.Do == scheduler.Lost && a.At < s.over(f):
		return fate{record.HTTPError, int(a.Status), a.At}
	}
	how := record.Outcome(a.Code)
	if a.Do == scheduler.Lost { // after its body: it has its answer, though the core does not know
		how = s.outcome(f)
		s.lives.Get(int64(f.told.Inst)).answered++
	}
	end := fate{how, statusOK, s.over(f).Add(f.arrival.Demand.Post)}
	if how == record.HTTPError {
		end.status = statusBodyFailed
	}
	return end
}

const statusOK = 200

// turnedAway is how a client counts the scheduler's own answer: on the wire a status other than 429 and 503 is an error.
func turnedAway(status int16) record.Outcome {
	if status == statusTooMany || status == statusUnavailable {
		return record.Rejected
	}
	return record.HTTPError
}

// waited returns how long a request waited for its instance, or for its end if it never had one.
func (s *run) waited(a *scheduler.Action, f *flight) time.Duration {
	if f.told.Inst == 0 {
		return a.At.Sub(s.core.Since(a.Req))
	}
	return f.told.Queue + f.told.Init
}

// write makes the record of a request that has ended.
func (s *run) write(a *scheduler.Action, f *flight, end fate) {
	arrival := &f.arrival
	rec := &s.record
	*rec = record.Record{
		Seq: arrival.Seq, Wave: arrival.Wave, Intended: arrival.At, Sent: arrival.At, FirstByte: end.done, Done: end.done,
		Outcome: end.outcome, Status: end.status, Attempt: 1,
	}
	if f.told.Inst != 0 && end.outcome == record.HTTPError {
		rec.Cause = f.fault.String()
	}
	if end.outcome == record.Canceled {
		rec.FirstByte = clock.Never // and no header told anything
	} else {
		rec.Server = s.server(a, f)
	}
	if s.cfg.Observe != nil {
		s.cfg.Observe(rec)
		return
	}
	if len(s.records) == cap(s.records) {
		s.records = slices.Grow(s.records, max(64, len(s.records))) // twice as many: records are large, and copying them shows
	}
	for int64(len(s.records)) <= rec.Seq {
		s.records = append(s.records, record.Record{})
	}
	s.records[rec.Seq] = *rec
}

// server is what the answer's headers say of the request on the wire.
func (s *run) server(a *scheduler.Action, f *flight) record.Server {
	if f.told.Inst == 0 {
		return record.Server{Queue: s.waited(a, f), Revision: s.cfg.Revision, Start: record.Edge, StartBy: record.ByNone, Source: record.FromPlatform}
	}
	return record.Server{
		Queue: f.told.Queue, Init: f.told.Init, Exec: min(s.over(f), a.At).Sub(f.told.At),
		Instance: s.lives.Get(int64(f.told.Inst)).name, Revision: s.cfg.Revision,
		Start: f.told.Start, StartBy: f.told.StartBy, Source: record.FromPlatform,
	}
}
