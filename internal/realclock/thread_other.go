//go:build !linux

package realclock

import (
	"time"

	"coldwave/internal/clock"
)

func (*Thread) tune(*Clock) {}
func (*Thread) untune()     {}

func (t *Thread) sleep(at clock.Instant) { time.Sleep(at.Sub(t.clock.Now())) }
