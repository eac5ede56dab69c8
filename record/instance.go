package record

import (
	"time"

	"coldwave/internal/clock"
)

// Instance is the life of one instance, as the scheduler that made it tells it.
type Instance struct {
	ID       int32         // of all revisions together
	Revision string        // empty: there is one, without a name
	Cause    string        // X-Request-Id of the arrival that caused the start; empty: none
	Reason   string        // of the policy for the start, such as "cpu"; empty: nobody told
	First    string        // X-Request-Id of the first request that was sent to it; empty: it was never used
	Node     int32         // where it was placed, from 1 on; 0: nowhere in particular
	Cached   bool          // its start skipped the download: the node held the code
	Started  clock.Instant // the decision to start it
	Ready    clock.Instant // Never if it never was
	Stopped  clock.Instant // Never if it still lives
	Failed   bool          // its start failed, or it ended by itself
	Served   int           // requests that it answered
	Busy     time.Duration // time with at least one request in flight
	Failure  string        // why it failed: OutOfMemory; empty: for another reason, not at all, or nobody told
	CPU      time.Duration // CPU time that it used, background included; 0: none, or nobody told
	Memory   int64         // most bytes that it needed at once; 0: nobody told
}

// OutOfMemory is the Failure of an instance that needed more memory than it has.
const OutOfMemory = "memory_limit"
