package sim

import (
	"math"

	"coldwave/internal/clock"
	"coldwave/scheduler"
	"coldwave/workload"
)

// arrivals brings the requests of a schedule one by one, from memory or as they are drawn.
type arrivals struct {
	list   []workload.Arrival
	stream *workload.Stream // instead of the list
	head   workload.Arrival // the next one, if there is one
	more   bool
	drawn  int64 // head included
}

func (s *run) open() {
	if s.cfg.Source != nil {
		s.coming.stream = s.cfg.Source.Open()
	} else {
		s.coming.list = s.cfg.Schedule.Arrivals
	}
	s.draw()
}

// draw brings the next arrival to the head. After the last one the length of the schedule is known, and with it how long
// the run may go on.
func (s *run) draw() {
	c := &s.coming
	if c.stream != nil {
		c.more = c.stream.NextTo(&c.head)
	} else if c.more = c.drawn < int64(len(c.list)); c.more {
		c.head = c.list[c.drawn]
	}
	if c.more {
		c.drawn++
		return
	}
	if s.length = 0; c.stream != nil {
		s.length, s.err = c.stream.Length(), c.stream.Err()
	} else {
		s.length = s.cfg.Schedule.Length
	}
	s.horizon = clock.Instant(s.length)
}

// last is the id of an arrival that comes after all that are planned.
const last = math.MaxInt64 & idMask

// soonest returns the instant of the next event that is not the core's own, and whether that event is the head. The core
// sees an arrival Pre after its intended start, so all with an intended start up to the next event are planned first.
// One without Pre needs no plan.
func (s *run) soonest() (at clock.Instant, head bool) {
	next := s.agenda.top()
	for c := &s.coming; c.more && c.head.At <= next.at; next = s.agenda.top() {
		if c.head.Demand.Pre == 0 && less(entry{c.head.At, keyOf(scheduler.Arrival, 0, last)}, next) == 1 {
			return c.head.At, true
		}
		id, early := s.early.New()
		*early = c.head
		s.agenda.push(entry{c.head.At.Add(c.head.Demand.Pre), keyOf(scheduler.Arrival, 0, id)})
		s.draw()
	}
	return next.at, false
}
