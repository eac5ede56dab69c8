package workload

import (
	"fmt"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
)

// Stream draws the arrivals of a schedule one by one, the same ones as Build, and holds none of them. It is for one
// goroutine.
type Stream struct {
	source Source
	next   func() (Intent, bool)
	drawn  int64
	last   clock.Instant // of the arrival before; 0 at first
	end    clock.Instant // arrivals lie before it; Never if the process sets no end
	err    error
}

// Open returns the stream of the source's arrivals, at its beginning.
func (src Source) Open() *Stream {
	s := &Stream{source: src, next: src.Process.Open(rng.Stream(src.Seed, "arrivals")), end: clock.Never}
	if length := src.Process.Length(); length > 0 {
		s.end = clock.Instant(length)
	}
	return s
}

// Next returns the next arrival, and false when there is none or after an error.
func (s *Stream) Next() (a Arrival, ok bool) {
	ok = s.draw(&a)
	return a, ok
}

// Fill draws the next arrivals into a block and returns how many: fewer than it holds only if there are no more, or after
// an error. A simulation of ten million requests draws so.
func (s *Stream) Fill(block []Arrival) int {
	for k := range block {
		if !s.draw(&block[k]) {
			return k
		}
	}
	return len(block)
}

// draw draws the next arrival in its place.
func (s *Stream) draw(to *Arrival) bool {
	if s.err != nil {
		return false
	}
	from, ok := s.next()
	if !ok {
		return false
	}
	to.At, to.Wave = from.At, from.Wave
	to.Seq, to.Demand = s.drawn, s.source.Demands.Demand(s.drawn)
	if !s.takes(to) {
		s.err, *to = s.check(to), Arrival{}
		return false
	}
	s.drawn, s.last = s.drawn+1, to.At
	return true
}

// Err says why Next stopped early. It wraps ErrTooMany or ErrArrival, and is nil after the last arrival.
func (s *Stream) Err() error { return s.err }

// Drawn is the number of arrivals so far.
func (s *Stream) Drawn() int64 { return s.drawn }

// Length is the time that the schedule covers: that of its process, or if the process sets none the time up to just
// after the last arrival so far.
func (s *Stream) Length() time.Duration {
	switch {
	case s.end != clock.Never:
		return time.Duration(s.end)
	case s.drawn == 0:
		return 0
	}
	return time.Duration(s.last) + 1
}

// takes reports whether a can be the next arrival. The sign of durations that are combined is that of any negative one.
func (s *Stream) takes(a *Arrival) bool {
	d := &a.Demand // a copy would have to wait for what was just written
	return a.At >= s.last && a.At < s.end && d.Exec|d.Pre|d.Post|d.CPU >= 0 && (s.source.Limit <= 0 || s.drawn < int64(s.source.Limit))
}

// check says why takes refuses a.
func (s *Stream) check(a *Arrival) error {
	d := &a.Demand
	switch {
	case s.source.Limit > 0 && s.drawn == int64(s.source.Limit):
		return fmt.Errorf("pattern %v: %w: above the limit of %d: shorten it, lower its rate or raise the limit",
			s.source.Process, ErrTooMany, s.source.Limit)
	case a.At < s.last:
		return s.illegal(a, fmt.Errorf("at %v: must not be before %v", a.At, s.last))
	case a.At >= s.end:
		return s.illegal(a, fmt.Errorf("at %v: must be before the end %v", a.At, s.end))
	case d.Exec < 0 || d.Pre < 0 || d.Post < 0 || d.CPU < 0:
		return s.illegal(a, fmt.Errorf("demand %v: must not be negative", *d))
	}
	return nil
}

func (s *Stream) illegal(a *Arrival, why error) error {
	return fmt.Errorf("pattern %v: %w %d: %w", s.source.Process, ErrArrival, a.Seq, why)
}
