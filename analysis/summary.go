package analysis

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// Summary is what the records of one run add up to.
type Summary struct {
	Scheduled int
	Sent      int
	Outcomes  [record.Outcomes]int
	All       Stats                    // response time of requests that got an answer
	OK        Stats                    // response time of the successful ones
	ByStart   [record.StartKinds]Stats // response time of the successful ones by start kind
	Service   Stats                    // service time of the successful ones
	SendLag   Stats                    // of everything sent
	Waves     []Wave
	Windows   []Window
	Instances InstanceTotals
	Nodes     *NodeTotals // nil: instances were placed nowhere in particular
	Usage     Usage
	Uses      Attribution
	Bill      Bill
	Waiting   time.Duration // sum of the waiting times that the target told
	Resent    int           // writes on the wire beyond one per request
	Warnings  []Warning
	Buckets   bool // quantiles of response times are those of histograms with three digits: at most 0.1 % too high
}

// Wave is one wave of simultaneous arrivals.
type Wave struct {
	Wave     int32
	At       clock.Instant // intended start of its first arrival
	N        int
	Rejected int
	ByStart  [record.StartKinds]int // successful requests
	Response Stats                  // of the successful requests
	Makespan time.Duration          // first intended start to last answer
}

// Window is a stretch of time: the requests whose intended start lies in it.
type Window struct {
	From     clock.Instant
	Length   time.Duration
	N        int     // intended starts in the window
	Answered int     // successful answers that ended in the window
	TPS      float64 // Answered per second of the window
	Response Stats   // of the successful requests that were to start in the window
}

// InstanceTotals adds up the lives of the instances up to the end of the run.
type InstanceTotals struct {
	Starts, Failed, Peak int           // Peak: most alive (starting or ready) at once
	Allocated            time.Duration // instance-time from the decision to start
	Ready                time.Duration // instance-time from ready
	Busy                 time.Duration // instance-time with a request in flight
	Idle                 time.Duration // instance-time ready and without one
}

// Warning is a result too: something that the reader of the numbers must know.
type Warning struct {
	Code string // stable, such as "send-lag"
	Text string // one sentence with the numbers
}
