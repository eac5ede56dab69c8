// Package scheduler is the queue and the instance table of one revision, sans-IO: it takes an event and a time and
// returns actions, and it checks that every decision of its policy is legal.
package scheduler

import "coldwave/internal/clock"

// RequestID numbers the requests of one core: serial from 1 in order of arrival, 0 = none, never reused.
type RequestID int64

// InstanceID numbers the instances of one core: serial from 1 in order of Start, 0 = none, never reused.
type InstanceID int32

// Kind is what happened. The numbers are the order of simultaneous events (U-1); inside a kind the order
// is by id.
type Kind uint8

// The kinds of event, in the order in which simultaneous ones take effect.
const (
	Configure Kind = iota // limits changed, or the core begins
	Done                  // a request left its instance
	Failed                // an instance ended by itself, or its start failed
	Stopped               // an instance that was told to stop has ended
	Ready                 // an instance can serve
	Timer                 // a queued request's deadline
	Arrival               // a request reached the scheduler
	Cancel                // a client has gone
	Sample                // an instance reported its load
	Tick                  // a policy's own period or alarm
)

// Event is one thing that happened. It is flat, so that a million of them cost no allocation.
type Event struct {
	Kind  Kind
	Code  uint8      // Done: outcome; Failed: cause; Tick: its name
	Inst  InstanceID // Failed Stopped Ready Sample; the core fills it in for Done
	Req   RequestID  // Done Timer Arrival Cancel
	Value int64      // Sample: milli-CPU used in the last second; the core fills in Done = service time and Ready = start-up time, in ns
}

// Why an instance ended by itself: the Code of Failed.
const (
	ByItself    uint8 = iota // it crashed, its start failed, or nobody knows
	OutOfMemory              // it needed more memory than it has
)

// Do is what an action asks the host to do.
type Do uint8

// The actions. Each request has exactly one terminal action: Reject, Lost or End.
const (
	Assign  Do = iota // send request Req to instance Inst; Code is its record.StartKind
	Queue             // request Req waits; nothing to do
	Start             // start instance Inst; Req is the arrival that caused it, or 0; Code is the policy's why, Status the node or 0
	Stop              // stop instance Inst, which has no request in flight
	Reject            // answer request Req with Status
	Lost              // request Req was on an instance that failed; answer with Status
	End               // request Req has ended; Status 200, or 499 if its client had gone
	Mark              // instance Inst was marked; Code says how
	Take              // node Status is taken, for the Start that follows
	Reclaim           // node Status, which was empty, is given back
)

// Action is one decision.
type Action struct {
	Do     Do
	Code   uint8
	Status int16 // Reject, Lost, End; a NodeID of Start, Take, Reclaim
	Inst   InstanceID
	Req    RequestID
	At     clock.Instant // when it was decided: a timer due before an event decides at its own instant
}

// Policy decides. It acts through c: every act is checked and takes effect at once, so its next read sees it.
type Policy interface {
	Handle(c *Control, ev Event)
}
