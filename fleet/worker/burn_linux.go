package worker

import (
	"time"

	"golang.org/x/sys/unix"

	"coldwave/internal/clock"
)

// threadTime is the CPU time that this thread has used.
func threadTime(clock.Clock) time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0 // it cannot fail: the clock exists on every Linux
	}
	return time.Duration(t.Nano())
}
