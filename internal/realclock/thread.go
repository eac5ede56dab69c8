package realclock

import (
	"context"
	"runtime"
	"time"

	"coldwave/internal/clock"
)

// slice bounds one sleep of a Thread, so that a done context is seen within it. Twenty wake-ups a second cost nothing.
const slice = 50 * time.Millisecond

// Thread is an operating system thread that sleeps to absolute instants: the pacer's. On Linux its timer slack is 1 ns
// (50 µs otherwise). It belongs to the goroutine that called NewThread and is for that goroutine only.
type Thread struct {
	clock  *Clock
	zero   int64 // see monotonicZero
	locked bool
}

// NewThread locks the calling goroutine to its operating system thread. On a clock of Go timers it locks nothing, and
// the thread sleeps as the clock waits.
func (c *Clock) NewThread() *Thread {
	t := &Thread{clock: c}
	if c.queue == nil {
		return t
	}
	runtime.LockOSThread()
	t.locked = true
	t.tune(c)
	return t
}

// SleepUntil returns nil at or after at, never before, or the context's error at most 50 ms after it is done.
func (t *Thread) SleepUntil(ctx context.Context, at clock.Instant) error {
	if !t.locked {
		return t.clock.WaitUntil(ctx, at)
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		now := t.clock.Now()
		if now >= at {
			return nil
		}
		t.sleep(min(at, now.Add(slice)))
	}
}

// Close gives the operating system thread back. It must be called by the goroutine that called NewThread. Closing twice
// is no error.
func (t *Thread) Close() {
	if !t.locked {
		return
	}
	t.locked = false
	t.untune()
	runtime.UnlockOSThread()
}
