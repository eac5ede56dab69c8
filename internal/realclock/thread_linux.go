package realclock

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"coldwave/internal/clock"
)

func (t *Thread) tune(c *Clock) {
	t.zero = monotonicZero(c)
	setTimerSlack(1)
}

func (t *Thread) untune() { setTimerSlack(0) } // 0 is the thread's default

// setTimerSlack fails on no Linux since 2.6.28; if it is forbidden, sleeps end up to 50 µs later and the send lag shows it.
func setTimerSlack(ns uintptr) { _ = unix.Prctl(unix.PR_SET_TIMERSLACK, ns, 0, 0, 0) }

// sleep returns at or after at, or earlier when a signal comes: its caller looks at the clock.
func (t *Thread) sleep(at clock.Instant) {
	ts := unix.NsecToTimespec(t.zero + int64(at))
	err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil)
	if err != nil && !errors.Is(err, unix.EINTR) {
		panic(fmt.Sprintf("realclock: sleep until %v: %v", at, err))
	}
}
