// Package clock is a run's time coordinate: instants in nanoseconds since the run's epoch.
package clock

import (
	"context"
	"math"
	"time"
)

// Instant is a point in time in nanoseconds since the run's epoch. It is negative before the epoch: connections are
// opened and calibration is done before the first arrival, which sits at or after 0.
type Instant int64

// Never is later than every event. It is no legal current time.
const Never Instant = math.MaxInt64

// Add returns t moved by d. Never stays Never.
func (t Instant) Add(d time.Duration) Instant {
	if t == Never {
		return Never
	}
	return t + Instant(d)
}

// Sub returns the time from u to t.
func (t Instant) Sub(u Instant) time.Duration { return time.Duration(t - u) }

// String prints t as a duration since the epoch: "12.5ms", "never".
func (t Instant) String() string {
	if t == Never {
		return "never"
	}
	return time.Duration(t).String()
}

// Clock tells the time and waits for it. Implementations are safe for concurrent use.
type Clock interface {
	// Now returns the current instant. It never goes back.
	Now() Instant
	// WaitUntil returns nil at or after at, never before, or the context's error as soon as it is done. An instant
	// that has passed returns at once.
	WaitUntil(ctx context.Context, at Instant) error
	// NewTimer returns a stopped timer.
	NewTimer() Timer
}

// Timer is one wake-up that can be moved. It is for one goroutine.
type Timer interface {
	// C receives once after the set instant has come.
	C() <-chan time.Time
	// Reset moves the wake-up to at and drops a wake-up that was not received; Never stops the timer.
	Reset(at Instant)
}
