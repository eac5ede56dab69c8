package workload

import (
	"errors"
	"math/rand/v2"
	"time"
)

// DefaultLimit is the number of arrivals that a schedule in memory holds at most, unless Source.Limit says otherwise.
const DefaultLimit = 5_000_000

// ErrTooMany is wrapped by the error of Build and Stream for a process with more arrivals than its limit.
var ErrTooMany = errors.New("too many arrivals")

// ErrArrival is wrapped by the error of Build and Stream for an arrival that no schedule may have: out of order, before 0, at or
// after the length, or with a negative demand. It is a bug of the process or of the law.
var ErrArrival = errors.New("illegal arrival")

// Process is an arrival process: the rule by which requests come. It names no seed; patterns has the implementations.
type Process interface {
	// Open returns a generator of arrivals, non-decreasing in At. It draws only from r.
	Open(r *rand.Rand) func() (Intent, bool)
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
	Limit    int    // of arrivals; 0: DefaultLimit for Build, none for a Stream, which holds none
}

// Build draws the schedule: a pure function of its source. Errors wrap ErrTooMany or ErrArrival.
func Build(src Source) (*Schedule, error) {
	src.Limit = or(src.Limit, DefaultLimit)
	s := &Schedule{Pattern: src.Process.String(), Seed: src.Seed, Function: src.Function}
	stream := src.Open()
	for a, ok := stream.Next(); ok; a, ok = stream.Next() {
		s.Arrivals = append(s.Arrivals, a)
	}
	s.Length = stream.Length()
	if err := stream.Err(); err != nil {
		return nil, err
	}
	return s, nil
}
