package workload

import (
	"cmp"
	"slices"
	"time"

	"coldwave/internal/clock"
)

// Wave is a group of arrivals that a pattern means to come together.
type Wave struct {
	Number int32         // from 0
	First  clock.Instant // intended start of its first request
	Last   clock.Instant // of its last one; equal to First unless the pattern shifts some
	Size   int           // requests, ≥ 1
}

// Waves lists the waves by number. Arrivals without a wave are left out.
func (s *Schedule) Waves() []Wave {
	var waves []Wave
	at := map[int32]int{} // wave number → index in waves
	for i := range s.Arrivals {
		a := &s.Arrivals[i]
		if a.Wave < 0 {
			continue
		}
		k, known := at[a.Wave]
		if !known {
			k = len(waves)
			at[a.Wave] = k
			waves = append(waves, Wave{Number: a.Wave, First: a.At})
		}
		waves[k].Last = a.At
		waves[k].Size++
	}
	slices.SortFunc(waves, func(a, b Wave) int { return cmp.Compare(a.Number, b.Number) })
	return waves
}

// LargestWave is the size of the largest group that is sent together: arrivals of one wave, or without a wave those of
// one instant. The sender opens that many connections before the first arrival. It is 0 for an empty schedule.
func (s *Schedule) LargestWave() int {
	largest := 0
	for _, w := range s.Waves() {
		largest = max(largest, w.Size)
	}
	same := 0
	for i := range s.Arrivals {
		a := &s.Arrivals[i]
		if i > 0 && a.At == s.Arrivals[i-1].At {
			same++
		} else {
			same = 1
		}
		largest = max(largest, same)
	}
	return largest
}

// TotalExec is the execution time that all arrivals ask for together.
func (s *Schedule) TotalExec() time.Duration {
	var total time.Duration
	for i := range s.Arrivals {
		total += s.Arrivals[i].Demand.Exec
	}
	return total
}
