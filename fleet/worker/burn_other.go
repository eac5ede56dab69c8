//go:build !linux

package worker

import (
	"time"

	"coldwave/internal/clock"
)

// threadTime stands in for the CPU time of this thread where it cannot be asked for: the time that passes.
func threadTime(c clock.Clock) time.Duration { return time.Duration(c.Now()) }
