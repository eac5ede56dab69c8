package analysis

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// Use says what became of a start.
type Use uint8

// The uses of a start. Each start has exactly one.
const (
	UsedByOwn   Use = iota // its first request was the arrival that caused it (FC-6)
	UsedByOther            // its first request was another: its own was served elsewhere or left (FC-8), or none caused it
	NeverUsed              // it never had a request
	Uses                   // number of uses
)

var useNames = [Uses]string{"own", "other", "never"}

// String is the use's name in files and reports.
func (u Use) String() string {
	if u >= Uses {
		return "invalid"
	}
	return useNames[u]
}

// Attribution says whose starts the requests used, and what the starts were good for.
type Attribution struct {
	Requests [record.StartKinds][record.StartBys]int // successful requests by start kind, and by whose start it was
	Waiting  [record.StartKinds]time.Duration        // request-time waited, of all requests; adds up to Summary.Waiting
	Starts   [Uses]int                               // adds up to InstanceTotals.Starts
	Spent    [Uses]time.Duration                     // instance-time from the decision to start; adds up to InstanceTotals.Allocated
}

// Attribute attributes the requests of a run to its starts. Instance-time counts up to end, as in Total.
func Attribute(records []record.Record, instances []record.Instance, end clock.Instant) Attribution {
	var a Attribution
	for i := range records {
		a.add(&records[i])
	}
	a.starts(instances, end)
	return a
}

func (a *Attribution) add(r *record.Record) {
	a.Waiting[kind(r)] += r.Server.Wait()
	if r.Outcome == record.OK {
		a.Requests[kind(r)][by(r)]++
	}
}

func (a *Attribution) starts(instances []record.Instance, end clock.Instant) {
	for i := range instances {
		in := &instances[i]
		u := UseOf(in)
		a.Starts[u]++
		a.Spent[u] += span(in.Started, in.Stopped, end)
	}
}

// UseOf returns what became of the start of an instance.
func UseOf(in *record.Instance) Use {
	switch {
	case in.First == "" && in.Served == 0:
		return NeverUsed
	case in.First != "" && in.First == in.Cause:
		return UsedByOwn
	default:
		return UsedByOther
	}
}

// by returns whose start it was; a value that does not exist counts as unknown.
func by(r *record.Record) record.StartBy {
	if r.Server.StartBy >= record.StartBys {
		return record.ByUnknown
	}
	return r.Server.StartBy
}
