package gateway

import (
	"errors"
	"fmt"
	"math"
	"time"

	"coldwave/record"
	"coldwave/scheduler"
)

// Why a request is turned away by the gateway itself. The text is the value of ReasonHeader.
var (
	ErrQueueFull   = errors.New("queue_full")     // 503: Limits.Queue requests wait already (R16)
	ErrHeldLimit   = errors.New("held_limit")     // 503: bodies and answers of Limits.HeldBytes are held already (F15)
	ErrBodyLimit   = errors.New("body_limit")     // 413: the body is longer than Limits.BodyBytes (F17)
	ErrBodyRead    = errors.New("body_read")      // 400: the body ended early
	ErrBodyTime    = errors.New("body_time")      // 408: the body stood still for Limits.BodyTime (F16)
	ErrURLLimit    = errors.New("url_limit")      // 414: the target is longer than Limits.URLBytes (F17)
	ErrTarget      = errors.New("target")         // 400: the target cannot be passed on unchanged (R14)
	ErrMethod      = errors.New("method")         // 405: CONNECT
	ErrDemand      = errors.New("demand")         // 400: the demand header cannot be read or is beyond its caps
	ErrNoFunction  = errors.New("no_function")    // 404: no such function; nothing is kept of its name (R17)
	ErrRejected    = errors.New("rejected")       // the status of the policy's decision
	ErrUnreachable = errors.New("unreachable")    // 502: no connection to the instance
	ErrUpstream    = errors.New("upstream_error") // 502: the instance gave no usable answer
	ErrLost        = errors.New("instance_lost")  // 502: the instance ended while it served the request
	ErrBroken      = errors.New("core_stopped")   // 500: an illegal decision ended the loop
	ErrClosing     = errors.New("closing")        // 503: the gateway drains and its time is up
	ErrFraming     = errors.New("framing")        // 400: where the request ends is ambiguous (R14); the connection is closed
)

// ReasonHeader names why the gateway answered by itself: the text of one of the Err… values.
const ReasonHeader = record.ReasonHeader

// Limits bounds what the gateway holds and how long it waits. A zero field means its default; Validate refuses negative
// ones.
type Limits struct {
	Queue       int           // requests of one function that wait; default: 10 for each slot that may be alive, at most 1,000 (F15)
	BodyBytes   int64         // of one request; default 1 MiB (F17)
	HeldBytes   int64         // request bodies and held answers together; default 64 MiB (F15)
	AnswerBytes int64         // of one answer that waits for its demand's post; a longer one streams. Default 1 MiB
	HeaderBytes int           // request line and headers of one request; default 64 KiB, at least 8 KiB (F17)
	URLBytes    int           // request target; default 8 KiB (F17)
	Connections int           // of clients at once, on the data port; more are closed at once. Default 10,000 (F18)
	HeaderTime  time.Duration // until the headers of a request are complete; default 5 s (F16)
	BodyTime    time.Duration // that a body may stand still; default 10 s (F16)
	AnswerTime  time.Duration // that a client may stand still while it is written to; default 60 s
	IdleTime    time.Duration // of a client's connection between two requests; default 60 s (F16)
	WorkerDial  time.Duration // to connect to an instance; default 5 s
	WorkerIdle  time.Duration // that a connection to an instance is kept unused; default 250 ms
	Linger      time.Duration // that an instance may go on with a request whose client has gone; default 60 s
	StartTime   time.Duration // that one start may take before it counts as failed; default 2 min
	StopTime    time.Duration // that an instance may take to finish what it does; default 5 s
	QuietTime   time.Duration // that a draining gateway goes on answering on open connections; default 200 ms (F14)
	Decisions   int           // kept for /decisions; default 10,000
	Lives       int           // of ended instances that are kept, each function; default 10,000
}

// queuePerSlot and queueDefault bound the queue of a function that states no bound of its own (F15).
const (
	queuePerSlot = 10
	queueDefault = 1000
)

// withDefaults fills in the defaults.
//
// WorkerIdle is short on purpose: a connection that the instance closes at the moment in which a request is written to
// it loses that request (RP-13), and no idle time below half a second is known of any server.
func (l Limits) withDefaults() Limits {
	fill(&l.BodyBytes, 1<<20)
	fill(&l.HeldBytes, 64<<20)
	fill(&l.AnswerBytes, 1<<20)
	fill(&l.HeaderBytes, 64<<10)
	fill(&l.URLBytes, 8<<10)
	fill(&l.Connections, 10_000)
	fill(&l.HeaderTime, 5*time.Second)
	fill(&l.BodyTime, 10*time.Second)
	fill(&l.AnswerTime, time.Minute)
	fill(&l.IdleTime, time.Minute)
	fill(&l.WorkerDial, 5*time.Second)
	fill(&l.WorkerIdle, 250*time.Millisecond)
	fill(&l.Linger, time.Minute)
	fill(&l.StartTime, 2*time.Minute)
	fill(&l.StopTime, 5*time.Second)
	fill(&l.QuietTime, 200*time.Millisecond)
	fill(&l.Decisions, 10_000)
	fill(&l.Lives, 10_000)
	return l
}

func fill[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// Validate reports every problem of the limits at once.
func (l Limits) Validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value int64
		least int64
	}{
		{"queue", int64(l.Queue), 0},
		{"body bytes", l.BodyBytes, 0},
		{"held bytes", l.HeldBytes, 0},
		{"answer bytes", l.AnswerBytes, 0},
		{"header bytes", int64(l.HeaderBytes), 8 << 10},
		{"URL bytes", int64(l.URLBytes), 0},
		{"connections", int64(l.Connections), 0},
		{"header time", int64(l.HeaderTime), 0},
		{"body time", int64(l.BodyTime), 0},
		{"answer time", int64(l.AnswerTime), 0},
		{"idle time", int64(l.IdleTime), 0},
		{"worker dial", int64(l.WorkerDial), 0},
		{"worker idle", int64(l.WorkerIdle), 0},
		{"linger", int64(l.Linger), 0},
		{"start time", int64(l.StartTime), 0},
		{"stop time", int64(l.StopTime), 0},
		{"quiet time", int64(l.QuietTime), 0},
		{"decisions", int64(l.Decisions), 0},
		{"lives", int64(l.Lives), 0},
	} {
		if f.value != 0 && f.value < f.least || f.value < 0 {
			errs = append(errs, fmt.Errorf("gateway limit %q: %d: must be ≥ %d, or 0 for its default", f.name, f.value, f.least))
		}
	}
	return errors.Join(errs...)
}

// queueFor is the bound of a function's queue.
func (l Limits) queueFor(cfg scheduler.Config) int {
	if l.Queue > 0 {
		return l.Queue
	}
	slots := int64(cfg.Max) * int64(max(cfg.Limit, 1))
	if slots <= 0 || slots > math.MaxInt32 {
		return queueDefault
	}
	return int(min(slots*queuePerSlot, queueDefault))
}
