//go:build !linux

package realclock

import (
	"errors"

	"coldwave/internal/clock"
)

// alarm does not exist here: the clock keeps Go's timers.
type alarm struct{}

func newAlarm() (*alarm, error) { return nil, errors.ErrUnsupported }

func (*alarm) align(*Clock)      {}
func (*alarm) arm(clock.Instant) {}
func (*alarm) wait()             {}
