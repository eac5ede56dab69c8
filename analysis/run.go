// Package analysis turns records into numbers: quantiles, waves, windows, accounting and warnings.
package analysis

import (
	"time"

	"coldwave/record"
	"coldwave/workload"
)

// Run is everything that was kept of one execution of one schedule, and what follows from it.
type Run struct {
	ID        string    // unique; also the directory's name
	Pattern   string    // name, such as "fc-ramp"
	Policy    string    // name, such as "fc-race"; empty for an external target
	Law       string    // name of the cold-start law, such as "uniform"; empty for an external target
	Target    string    // URL
	Driver    string    // "wire" or "virtual"
	Quota     int       // limit of alive instances; 0: none
	Epoch     time.Time // wall time of instant 0, a label only; zero in virtual time
	Seed      uint64
	Hash      string // of the schedule, hexadecimal
	Log       string // SHA-256 of the scheduler's decisions in order, hexadecimal; empty: not kept
	Schedule  *workload.Schedule
	Records   []record.Record   // one per arrival, by Seq
	Instances []record.Instance // by ID; empty for an external target
	Placement *Placement        // nil: instances were placed nowhere in particular
	Nodes     []record.Node     // their uses, in the order in which they were taken
	Host      Host
	Summary   Summary
	Tariff    *Tariff   // how the policy's platform bills; nil: not documented
	Twin      *Distance // to the same run in virtual time; nil: it was not made
}

// Host says whether the machine was calm enough for the run's times to mean anything (FR-0).
type Host struct {
	Overshoot Stats  // how late sleeps of 100 ms ended
	Loopback  Stats  // round trips to a null server on loopback
	During    Stats  // how late short sleeps ended while the run was on
	Busy      bool   // the limit was passed: times of this run mean nothing
	Reason    string // why it counts as busy
}

// Stats describes one sample of durations by exact order statistics. All fields but N are zero when N is 0.
type Stats struct {
	N                       int
	Mean, Min               time.Duration
	P50, P90, P95, P99, Max time.Duration // nearest rank: sorted[ceil(q·n)−1]
}
