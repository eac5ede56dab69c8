package sim

import (
	"coldwave/internal/clock"
	"coldwave/scheduler"
	"coldwave/workload"
)

// blockSize is how many arrivals are drawn at once: few enough to stay near, enough that a draw finds its tables there.
const blockSize = 64

// arrivals brings the requests of a schedule one by one, from memory or as they are drawn.
type arrivals struct {
	block  []workload.Arrival // those at hand
	next   int                // of the block; at its end: no more come
	at     clock.Instant      // of the next one
	before int64              // drawn before the block
	stream *workload.Stream   // it fills the block again; nil: the block is the whole schedule
}

func (s *run) open() {
	if c := &s.coming; s.cfg.Source != nil {
		c.stream, c.block = s.cfg.Source.Open(), make([]workload.Arrival, blockSize)
		c.fill()
	} else {
		c.block = s.cfg.Schedule.Arrivals
	}
	s.look()
}

// head is the next arrival; there must be one.
func (c *arrivals) head() *workload.Arrival { return &c.block[c.next] }

func (c *arrivals) more() bool { return c.next < len(c.block) }

// drawn counts the arrivals up to the end of the block.
func (c *arrivals) drawn() int64 { return c.before + int64(len(c.block)) }

// fill draws the next block.
func (c *arrivals) fill() {
	c.before += int64(c.next)
	c.block = c.block[:c.stream.Fill(c.block)]
	c.next = 0
}

// draw leaves the head behind. What it pointed to is no longer there.
func (s *run) draw() {
	c := &s.coming
	if c.next++; c.next == blockSize && c.stream != nil {
		c.fill()
	}
	s.look()
}

// look finds when the next arrival comes. After the last one the length of the schedule is known, and with it how long
// the run may go on.
func (s *run) look() {
	c := &s.coming
	if c.more() {
		c.at = c.head().At
		return
	}
	if c.stream != nil {
		s.length, s.err = c.stream.Length(), c.stream.Err()
	} else {
		s.length = s.cfg.Schedule.Length
	}
	s.horizon = clock.Instant(s.length)
}

// afterPlanned is the key of an arrival that comes after all that are planned.
const afterPlanned = uint64(scheduler.Arrival)<<kindShift | idMask

// soonest returns the instant of the next event that is not the core's own, and whether that event is the head. The core
// sees an arrival Pre after its intended start, so all with an intended start up to the next event are planned first.
// One without Pre needs no plan.
func (s *run) soonest() (at clock.Instant, head bool) {
	next := s.agenda.top()
	for c := &s.coming; c.at <= next.at && c.more(); next = s.agenda.top() {
		a := c.head()
		if a.Demand.Pre == 0 && (c.at < next.at || afterPlanned < next.key) {
			return c.at, true
		}
		id, early := s.early.New()
		*early = *a
		s.agenda.push(entry{a.At.Add(a.Demand.Pre), keyOf(scheduler.Arrival, 0, id)})
		s.draw()
	}
	return next.at, false
}
