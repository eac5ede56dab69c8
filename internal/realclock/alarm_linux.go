package realclock

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"coldwave/internal/clock"
)

// alarm is a timerfd that Go's netpoller watches: it comes as exactly as the kernel's own timers, and who waits for it
// holds neither an operating system thread nor a scheduler slot.
type alarm struct {
	file *os.File
	fd   int
	zero int64 // the kernel's monotonic clock at the epoch, never too early
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create a timer descriptor: %w", err)
	}
	return &alarm{file: os.NewFile(uintptr(fd), "timerfd"), fd: fd}, nil
}

func (a *alarm) align(c *Clock) { a.zero = monotonicZero(c) }

// arm sets the instant. A negative or zero kernel time would switch the timer off.
func (a *alarm) arm(at clock.Instant) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, a.zero+int64(at)))}
	// It fails only for a bad descriptor or a bad time, and both were made here.
	if err := unix.TimerfdSettime(a.fd, unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
		panic(fmt.Sprintf("realclock: set the timer to %v: %v", at, err))
	}
}

func (a *alarm) wait() {
	var ticks [8]byte
	// A file whose descriptor was closed cannot be here: the queue keeps it alive.
	if _, err := a.file.Read(ticks[:]); err != nil {
		panic(fmt.Sprintf("realclock: read the timer: %v", err))
	}
}

// monotonicZero returns the kernel's monotonic clock at the epoch of c. Of the two clocks the kernel's is read second,
// so the result is late by the time between the readings (below a microsecond; the best of a few tries), never early.
func monotonicZero(c *Clock) int64 {
	zero := int64(1<<63 - 1)
	for range 8 {
		now := c.Now()
		zero = min(zero, kernelNow()-int64(now))
	}
	return zero
}

func kernelNow() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(fmt.Sprintf("realclock: read the monotonic clock: %v", err))
	}
	return ts.Nano()
}
