package analysis

import (
	"slices"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// Total adds up the lives of instances up to end. An instance that still lives, or stopped later, counts up to end: what
// a run costs must not depend on how fast it is torn down.
func Total(instances []record.Instance, end clock.Instant) InstanceTotals {
	t := InstanceTotals{Starts: len(instances)}
	var born, died []clock.Instant
	for i := range instances {
		in := &instances[i]
		if in.Failed {
			t.Failed++
		}
		t.Allocated += span(in.Started, in.Stopped, end)
		ready := span(in.Ready, in.Stopped, end)
		t.Ready += ready
		t.Busy += in.Busy
		t.Idle += max(ready-in.Busy, 0) // it may be busy beyond end
		born, died = append(born, in.Started), append(died, in.Stopped)
	}
	t.Peak = peak(born, died)
	return t
}

func span(from, to, end clock.Instant) time.Duration {
	return max(min(to, end).Sub(min(from, end)), 0)
}

// peak returns the largest number alive at once; one that ends at the instant at which another begins makes room for it.
func peak(born, died []clock.Instant) int {
	slices.Sort(born)
	slices.Sort(died)
	most, gone := 0, 0
	for i, at := range born {
		for gone < len(died) && died[gone] <= at {
			gone++
		}
		most = max(most, i+1-gone)
	}
	return most
}
