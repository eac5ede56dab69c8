package sim

import (
	"strconv"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/workload"
)

// start opens the life of an instance and plans how its start-up ends.
func (s *run) start(a scheduler.Action) {
	life := record.Instance{ID: int32(a.Inst), Started: a.At, Ready: clock.Never, Stopped: clock.Never}
	var cause workload.Demand
	if f := s.flights.Get(int64(a.Req)); f != nil { // a cause that has ended is forgotten
		cause = s.demand(f.seq)
		life.Cause = s.name(f.seq)
	}
	s.lives = append(s.lives, life)
	s.names = append(s.names, strconv.Itoa(int(a.Inst)))
	up := s.cfg.Platform.StartUp(int64(a.Inst), cause)
	kind := scheduler.Ready
	if up.Fails {
		kind = scheduler.Failed
	}
	s.agenda.push(entry{a.At.Add(max(1, up.Total)), keyOf(kind, 0, int64(a.Inst))})
}

// name is the request id of an arrival.
func (s *run) name(seq int64) string { return s.cfg.Run + "-" + strconv.FormatInt(seq, 10) }

// gone closes the life of an instance.
func (s *run) gone(ev scheduler.Event) {
	life := &s.lives[ev.Inst-1]
	life.Stopped, life.Failed = s.now, ev.Kind == scheduler.Failed
	if in, ok := s.core.Instance(ev.Inst); ok {
		life.Busy = in.Busy
	}
}

// finish writes the record of a request that has ended.
func (s *run) finish(a scheduler.Action) {
	f := s.flights.Get(int64(a.Req))
	arrival := &s.cfg.Schedule.Arrivals[f.seq]
	rec := &s.record
	*rec = record.Record{
		Seq: arrival.Seq, Wave: arrival.Wave, Intended: arrival.At, Sent: arrival.At, Attempt: 1,
		Done: a.At, Status: int(a.Status), Server: s.told(a, f),
	}
	switch a.Do {
	case scheduler.Reject:
		rec.Outcome = record.Rejected
	case scheduler.Lost:
		rec.Outcome = record.HTTPError
	default:
		s.lives[f.account.Inst-1].Served++
		rec.Done = f.account.At.Add(arrival.Demand.Exec + arrival.Demand.Post)
		if rec.Outcome = record.Outcome(a.Code); rec.Outcome == record.HTTPError {
			rec.Status = statusBodyFailed
		}
	}
	rec.FirstByte = rec.Done
	s.keep(rec)
	s.flights.Drop(int64(a.Req))
	s.open--
}

const statusBodyFailed = 500

// told is what the answer's headers say of the request on the wire.
func (s *run) told(a scheduler.Action, f *flight) record.Server {
	if f.account.Inst == 0 {
		return record.Server{
			Queue: a.At.Sub(s.core.Since(a.Req)), Start: record.Edge, StartBy: record.ByNone, Source: record.FromPlatform,
		}
	}
	return record.Server{
		Queue: f.account.Queue, Init: f.account.Init, Exec: min(s.demand(f.seq).Exec, a.At.Sub(f.account.At)),
		Instance: s.names[f.account.Inst-1],
		Start:    f.account.Start, StartBy: f.account.StartBy, Source: record.FromPlatform,
	}
}

func (s *run) keep(rec *record.Record) {
	if s.cfg.Observe != nil {
		s.cfg.Observe(rec)
		return
	}
	s.records[rec.Seq] = *rec
}

// result closes the books.
func (s *run) result() Result {
	for _, in := range s.core.Instances(nil) {
		s.lives[in.ID-1].Busy = in.Busy
	}
	return Result{
		Records: s.records, Instances: s.lives, End: s.now, Events: s.core.Events(),
		Actions: s.log.actions, Digest: s.log.digest(),
	}
}
