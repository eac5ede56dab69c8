// Package workload says what is deployed and when it is called.
package workload

import (
	"time"

	"coldwave/internal/clock"
)

// Function is what callers name: the facts of it that scheduling and start-up depend on.
type Function struct {
	Name         string        `json:"name"`
	Runtime      string        `json:"runtime"`       // label only, such as "python2.7"
	MemoryBytes  int64         `json:"memory_bytes"`  // of one instance
	PackageBytes int64         `json:"package_bytes"` // code that a cold start downloads
	Body         time.Duration `json:"body_ns"`       // documented execution time
	Concurrency  int           `json:"concurrency"`   // limit of requests in flight on one instance, ≥ 1
}

// Demand is what one request asks for. It belongs to the arrival, so two policies on one seed face the same requests.
type Demand struct {
	Exec time.Duration // inside the function, where nothing lacks CPU
	Pre  time.Duration // before the scheduler sees the arrival
	Post time.Duration // after the instance is free again
	CPU  time.Duration // CPU time of the body, the part of Exec that is computed; 0: none, or not known
}

// Overhead is the part of the demand outside the function.
func (d Demand) Overhead() time.Duration { return d.Pre + d.Post }

// Arrival is one request of a schedule.
type Arrival struct {
	Seq    int64         // serial from 0 in order of At
	At     clock.Instant // intended start, ≥ 0
	Wave   int32         // number of its wave from 0; -1 if the pattern has no waves
	Demand Demand
}

// Intent is what a process knows of an arrival. It is small enough to be returned in registers; a whole Arrival would go
// through memory twice: 8 of 160 ns of a simulated request.
type Intent struct {
	At   clock.Instant // intended start, ≥ 0
	Wave int32         // as of Arrival
}

// Schedule is one materialised draw of a pattern: fixed and hashed before anything is sent, the same for every policy
// that is compared on it.
type Schedule struct {
	Pattern  string        // canonical text of the pattern; parsing it gives the same arrivals
	Seed     uint64        // root seed of all streams
	Function Function      // the one function that is called
	Length   time.Duration // arrivals lie in [0, Length)
	Arrivals []Arrival     // non-decreasing in At
}
