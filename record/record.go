// Package record holds the fate of one arrival: the contract between those who measure and those who judge.
//
// Engine and simulator write records, analysis reads them, and nothing else crosses.
package record

import (
	"time"

	"coldwave/internal/clock"
)

// Record is the fate of one arrival. Instants are on the run's clock; the durations that the target told are zero when
// it told none.
type Record struct {
	Seq       int64
	Wave      int32         // -1: none
	Intended  clock.Instant // the schedule's instant
	Sent      clock.Instant // when the transport began to write; Never if nothing was sent
	FirstByte clock.Instant // first byte of the answer; Never if there was none
	Done      clock.Instant // last byte, or when the outcome was known
	Outcome   Outcome
	Cause     string // class of a transport error ("dial", "reset", …), reason of a drop, or why the bundled stack failed it
	Status    int    // HTTP status; 0: none
	Attempt   int32  // 1: first; a re-send is never silent, so this counts the writes on the wire
	BytesIn   int64  // of the answer's body
	BytesOut  int64  // of the request's body
	Server    Server // what the target said of this request
}

// Response returns the response time: last byte − intended start. "Latency" alone means this.
func (r *Record) Response() time.Duration { return r.Done.Sub(r.Intended) }

// Service returns the service time: last byte − actual send. It is zero if nothing was sent.
func (r *Record) Service() time.Duration {
	if r.Sent == clock.Never {
		return 0
	}
	return r.Done.Sub(r.Sent)
}

// SendLag returns the generator's own lateness: actual send − intended start. It is zero if nothing was sent.
func (r *Record) SendLag() time.Duration {
	if r.Sent == clock.Never {
		return 0
	}
	return r.Sent.Sub(r.Intended)
}

// Outcome says how an arrival ended. Each arrival has exactly one.
type Outcome uint8

// The outcomes. scheduled = sent + dropped; sent = the sum of all others.
const (
	Unknown        Outcome = iota // only in recovered bundles
	OK                            // status 1xx–3xx
	HTTPError                     // status 4xx or 5xx of the function
	Rejected                      // 429 or 503 by the platform
	Timeout                       // no complete answer within the time limit
	TransportError                // no complete answer; Cause has the class
	Canceled                      // the run was stopped while it was in flight
	Dropped                       // never sent; Cause has the reason
	Outcomes                      // number of outcomes
)

var outcomeNames = [Outcomes]string{"unknown", "ok", "http_error", "rejected", "timeout", "transport_error", "canceled", "dropped"}

func (o Outcome) String() string { return name(outcomeNames[:], int(o)) }

// ParseOutcome is the inverse of Outcome.String.
func ParseOutcome(s string) (Outcome, bool) {
	i, ok := find(outcomeNames[:], s)
	return Outcome(i), ok
}

// StartKind says how a request came to its instance.
type StartKind uint8

// The start kinds.
const (
	StartUnknown StartKind = iota
	Warm                   // went to an idle instance at once
	Queued                 // waited, then was served by an instance that others had used
	Cold                   // the first request of a new instance
	ColdWait               // waited for a starting instance, but was not its first request
	Edge                   // answered by the gateway itself
	StartKinds             // number of start kinds
)

var startNames = [StartKinds]string{"unknown", "warm", "queued", "cold", "cold_wait", "edge"}

func (k StartKind) String() string { return name(startNames[:], int(k)) }

// ParseStartKind is the inverse of StartKind.String.
func ParseStartKind(s string) (StartKind, bool) {
	i, ok := find(startNames[:], s)
	return StartKind(i), ok
}

// StartBy says whose arrival caused the start of the instance that served a cold or cold_wait request.
type StartBy uint8

// Whose start it was.
const (
	ByUnknown StartBy = iota
	ByOwn             // its own
	ByOther           // another arrival's
	ByNone            // no arrival's: started ahead, or the request used no new instance
	StartBys          // number of values
)

var byNames = [StartBys]string{"unknown", "own", "other", "none"}

func (b StartBy) String() string { return name(byNames[:], int(b)) }

// ParseStartBy is the inverse of StartBy.String.
func ParseStartBy(s string) (StartBy, bool) {
	i, ok := find(byNames[:], s)
	return StartBy(i), ok
}

// Source says where a start kind comes from. A label from a model never decides a gate.
type Source uint8

// The sources of a start kind.
const (
	FromNowhere   Source = iota
	FromPlatform         // the scheduler itself, in one process
	FromHeader           // an answer's header
	FromBody             // an answer's body
	FromFirstSeen        // first request seen on an instance
	FromModel            // a statistical guess
	Sources              // number of sources
)

var sourceNames = [Sources]string{"", "platform", "header", "body", "instance_first_seen", "model"}

func (s Source) String() string { return name(sourceNames[:], int(s)) }

// ParseSource is the inverse of Source.String.
func ParseSource(s string) (Source, bool) {
	i, ok := find(sourceNames[:], s)
	return Source(i), ok
}

func name(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "invalid"
	}
	return names[i]
}

func find(names []string, s string) (int, bool) {
	for i, n := range names {
		if n == s {
			return i, true
		}
	}
	return 0, false
}
