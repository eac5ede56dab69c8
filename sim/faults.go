package sim

import (
	"coldwave/internal/clock"
	"coldwave/platform"
)

// Faults says what goes wrong in a run, beyond what the Platform does. It belongs to the driver: the core knows nothing of
// it and sees events. An answer must depend on its arguments only. Embed NoFaults to answer a part of it.
//
// An event that comes too late does no harm: a client that leaves after its answer, an instance that fails after its end.
type Faults interface {
	// Leaves returns when the client of arrival seq goes away, which the scheduler sees at the instant at; Never: it stays.
	Leaves(seq int64, at clock.Instant) clock.Instant
	// StartUp returns what becomes of the start of an instance that was decided at the instant at: slower, failed.
	StartUp(instance int64, at clock.Instant, up platform.StartUp) platform.StartUp
	// Crashes returns when an instance that becomes ready at the instant at ends by itself; Never: it does not.
	Crashes(instance int64, at clock.Instant) clock.Instant
	// Breaks returns when the instance that serves arrival seq ends by itself because of it. The body ends at the instant
	// at, and the request has been answered if the instance breaks then or later. Never: it does not.
	Breaks(seq int64, at clock.Instant) clock.Instant
	// Stopped returns when an instance that is told to stop at the instant at has ended.
	Stopped(instance int64, at clock.Instant) clock.Instant
}

// NoFaults are none.
type NoFaults struct{}

// Leaves returns Never.
func (NoFaults) Leaves(int64, clock.Instant) clock.Instant { return clock.Never }

// StartUp returns up.
func (NoFaults) StartUp(_ int64, _ clock.Instant, up platform.StartUp) platform.StartUp { return up }

// Crashes returns Never.
func (NoFaults) Crashes(int64, clock.Instant) clock.Instant { return clock.Never }

// Breaks returns Never.
func (NoFaults) Breaks(int64, clock.Instant) clock.Instant { return clock.Never }

// Stopped returns at: an instance that is told to stop is gone at once.
func (NoFaults) Stopped(_ int64, at clock.Instant) clock.Instant { return at }
