package analysis

import (
	"cmp"
	"slices"
	"time"

	"coldwave/record"
)

// Usage is why instances were started and what they used, as far as their scheduler told.
type Usage struct {
	Reasons     []Reason      // of their starts, the most frequent first
	CPU         time.Duration // CPU time of all instances
	Memory      int64         // most bytes that one of them needed at once
	OutOfMemory int           // instances that failed for want of memory
}

// Reason is one reason of the policy for a start.
type Reason struct {
	Name   string
	Starts int
}

// UsageOf adds up what the lives of instances tell.
func UsageOf(instances []record.Instance) Usage {
	var u Usage
	counts := map[string]int{}
	for i := range instances {
		in := &instances[i]
		if in.Reason != "" {
			counts[in.Reason]++
		}
		u.CPU += in.CPU
		u.Memory = max(u.Memory, in.Memory)
		if in.Failure == record.OutOfMemory {
			u.OutOfMemory++
		}
	}
	for name, n := range counts {
		u.Reasons = append(u.Reasons, Reason{name, n})
	}
	slices.SortFunc(u.Reasons, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(b.Starts, a.Starts), cmp.Compare(a.Name, b.Name))
	})
	return u
}
