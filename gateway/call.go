package gateway

import (
	"context"
	"sync/atomic"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/workload"
)

// call is one request as the loop knows it.
type call struct {
	name    string // X-Request-Id
	demand  workload.Demand
	abort   context.CancelCauseFunc // ends what is under way for it
	verdict chan verdict            // one slot, one verdict
	id      atomic.Int64            // scheduler.RequestID; 0 before its arrival was admitted
	decided bool                    // a verdict was given; the loop's own
	busy    scheduler.InstanceID    // where it runs; 0: nowhere. The loop's own
}

// verdict is what was decided about a call.
type verdict struct {
	status int           // 0: it goes to an instance
	reason error         // one of the Err… values, when it does not
	addr   string        // of the instance
	server record.Server // how it came there, without Exec
	at     clock.Instant // when it was decided
}

func newCall(name string, d workload.Demand, abort context.CancelCauseFunc) *call {
	return &call{name: name, demand: d, abort: abort, verdict: make(chan verdict, 1)}
}

// decide gives the verdict. Only the first one counts.
func (c *call) decide(v verdict) {
	if !c.decided {
		c.decided = true
		c.verdict <- v
	}
}

// request is its id in the core.
func (c *call) request() scheduler.RequestID { return scheduler.RequestID(c.id.Load()) }
