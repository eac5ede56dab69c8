package experiment

import (
	"coldwave/references"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/sim"
)

// witness notes what becomes of the instances of a run in virtual time.
type witness struct {
	events         []references.Event
	alive, present int
}

// see notes one step.
func (w *witness) see(s *sim.Step) {
	for _, a := range s.Actions {
		e := references.Event{At: a.At, Instance: int32(a.Inst)}
		switch a.Do {
		case scheduler.Start:
			e.What, e.Text = references.Start, why(a.Code)
		case scheduler.Stop:
			e.What = references.Stop
		case scheduler.Mark:
			e.What, e.Text = references.Mark, policies.MarkName(a.Code)
		case scheduler.Assign, scheduler.Queue, scheduler.Reject, scheduler.Lost, scheduler.End, scheduler.Take, scheduler.Reclaim:
			continue // the records tell of requests, and no example is about nodes
		}
		w.events = append(w.events, e)
	}
	if s.Event.Kind == scheduler.Failed && !s.Advance {
		w.events = append(w.events, references.Event{At: s.At, What: references.Stop, Instance: int32(s.Event.Inst), Text: "failed"})
	}
	w.count(s, references.Alive, &w.alive, s.Core.Alive())
	w.count(s, references.Present, &w.present, s.Core.Alive()+s.Core.Draining())
}

// count notes a number that has changed.
func (w *witness) count(s *sim.Step, what references.What, was *int, is int) {
	if *was != is {
		*was = is
		w.events = append(w.events, references.Event{At: s.At, What: what, Count: is})
	}
}
