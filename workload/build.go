package workload

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
)

// DefaultLimit is the number of arrivals that a schedule in memory holds at most, unless Source.Limit says otherwise.
const DefaultLimit = 5_000_000

// ErrTooMany is wrapped by the error of Build for a process with more arrivals than its limit.
var ErrTooMany = errors.New("too many arrivals")

// ErrArrival is wrapped by the error of Build for an arrival that no schedule may have: out of order, before 0, at or
// after the length, or with a negative demand. It is a bug of the process or of the law.
var ErrArrival = errors.New("illegal arrival")

// Process is an arrival process: the rule by which requests come. It names no seed; patterns has the implementations.
type Process interface {
	// Open returns a generator of arrivals, non-decreasing in At. It sets At and Wave and draws only from r.
	Open(r *rand.Rand) func() (Arrival, bool)
	// Length is the time the process covers: arrivals lie in [0, Length). 0 means that it ends just after the last one.
	Length() time.Duration
	// String is the canonical text: parsing it gives the same arrivals.
	String() string
}

// Demands says what each request asks for. It depends on seq only, so the order of the questions does not matter.
type Demands interface {
	Demand(seq int64) Demand
}

// Source is all that a schedule depends on.
type Source struct {
	Process  Process
	Demands  Demands
	Function Function
	Seed     uint64 // root seed; the arrivals come from its stream "arrivals"
	Limit    int    // of arrivals; 0: DefaultLimit
}

// Build draws the schedule: a pure function of its source. Errors wrap ErrTooMany or ErrArrival.
func Build(src Source) (*Schedule, error) {
	s := &Schedule{Pattern: src.Process.String(), Seed: src.Seed, Function: src.Function, Length: src.Process.Length()}
	limit := or(src.Limit, DefaultLimit)
	next := src.Process.Open(rng.Stream(src.Seed, "arrivals"))
	for a, ok := next(); ok; a, ok = next() {
		if len(s.Arrivals) == limit {
			return nil, fmt.Errorf("pattern %s: %w: above the limit of %d: shorten it, lower its rate or raise the limit",
				s.Pattern, ErrTooMany, limit)
		}
		a.Seq = int64(len(s.Arrivals))
		a.Demand = src.Demands.Demand(a.Seq)
		if err := s.check(a); err != nil {
			return nil, fmt.Errorf("pattern %s: %w %d: %w", s.Pattern, ErrArrival, a.Seq, err)
		}
		s.Arrivals = append(s.Arrivals, a)
	}
	if s.Length == 0 && len(s.Arrivals) > 0 {
		s.Length = time.Duration(s.Arrivals[len(s.Arrivals)-1].At) + 1
	}
	return s, nil
}

// check says why a cannot be the next arrival.
func (s *Schedule) check(a Arrival) error {
	var before clock.Instant
	if n := len(s.Arrivals); n > 0 {
		before = s.Arrivals[n-1].At
	}
	switch d := a.Demand; {
	case a.At < before:
		return fmt.Errorf("at %v: must not be before %v", a.At, before)
	case s.Length > 0 && a.At >= clock.Instant(s.Length):
		return fmt.Errorf("at %v: must be before the end %v", a.At, s.Length)
	case d.Exec < 0 || d.Pre < 0 || d.Post < 0:
		return fmt.Errorf("demand %v: must not be negative", d)
	}
	return nil
}
