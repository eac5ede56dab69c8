// Package realclock waits for an instant for real.
//
// Go's idle runtime sleeps in whole milliseconds, so its timers come 0.3–1.1 ms late. A benchmark of delays of a few
// milliseconds cannot live with that: on Linux this clock waits on a timerfd that Go's netpoller watches, and its
// Thread sleeps to an absolute instant on an operating system thread of its own. Nothing here spins.
package realclock

import (
	"context"
	"time"

	"coldwave/internal/clock"
)

// Clock tells the time since an epoch on the monotonic clock: a step of the wall clock moves nothing (R10). It is safe
// for concurrent use, by any number of waiters, and needs no closing: it holds one descriptor, and a goroutine only
// while somebody waits.
type Clock struct {
	base   time.Time     // with a monotonic reading
	offset time.Duration // base − epoch
	queue  *queue        // nil: Go timers
}

var _ clock.Clock = (*Clock)(nil)

// New returns a clock whose waits end within some tens of microseconds on Linux, and as late as Go's timers elsewhere
// or when no descriptor is left.
func New(epoch time.Time) *Clock {
	c := Timers(epoch)
	if a, err := newAlarm(); err == nil {
		c.queue = &queue{alarm: a, now: c.Now}
		a.align(c)
	}
	return c
}

// Timers returns a clock on Go's own timers. They follow the fake time of a testing/synctest bubble.
func Timers(epoch time.Time) *Clock {
	base := time.Now()
	// An epoch without a monotonic reading is read once: from here on only the monotonic clock counts.
	return &Clock{base: base, offset: base.Sub(epoch)}
}

// Now returns the time since the epoch.
func (c *Clock) Now() clock.Instant { return clock.Instant(c.offset + time.Since(c.base)) }

// WaitUntil returns nil at or after at, never before, or the context's error as soon as it is done.
func (c *Clock) WaitUntil(ctx context.Context, at clock.Instant) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if at <= c.Now() {
		return nil
	}
	if at == clock.Never {
		<-ctx.Done()
		return ctx.Err()
	}
	if c.queue == nil {
		return c.waitTimer(ctx, at)
	}
	return c.waitQueue(ctx, at)
}

func (c *Clock) waitTimer(ctx context.Context, at clock.Instant) error {
	t := time.NewTimer(at.Sub(c.Now()))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
		left := at.Sub(c.Now())
		if left <= 0 {
			return nil
		}
		t.Reset(left)
	}
}

func (c *Clock) waitQueue(ctx context.Context, at clock.Instant) error {
	e := c.queue.entry()
	defer c.queue.spare.Put(e)
	c.queue.set(e, at)
	select {
	case <-e.c:
		return nil
	case <-ctx.Done():
		c.queue.set(e, clock.Never)
		return ctx.Err()
	}
}

// NewTimer returns a stopped timer that is as exact as WaitUntil.
func (c *Clock) NewTimer() clock.Timer {
	if c.queue == nil {
		t := time.NewTimer(time.Hour)
		t.Stop()
		return &goTimer{clock: c, timer: t}
	}
	return &queueTimer{queue: c.queue, entry: entry{c: make(chan time.Time, 1)}}
}

type goTimer struct {
	clock *Clock
	timer *time.Timer
}

func (t *goTimer) C() <-chan time.Time { return t.timer.C }

func (t *goTimer) Reset(at clock.Instant) {
	if at == clock.Never {
		t.timer.Stop()
		return
	}
	t.timer.Reset(at.Sub(t.clock.Now()))
}

type queueTimer struct {
	queue *queue
	entry entry
}

func (t *queueTimer) C() <-chan time.Time { return t.entry.c }

func (t *queueTimer) Reset(at clock.Instant) { t.queue.set(&t.entry, at) }
