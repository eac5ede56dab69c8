package experiment

import (
	"cmp"
	"slices"
	"time"

	"coldwave/workload"
)

// stagger returns how long after the first cell each cell begins. The cells are spread evenly over the shortest gap
// between two waves of any of them, so waves that keep the same gap never coincide. Longer schedules begin earlier.
func stagger(cells []Cell) ([]time.Duration, error) {
	type entry struct {
		cell   int
		length time.Duration
	}
	order := make([]entry, len(cells))
	gap := time.Duration(0)
	for i, c := range cells {
		schedule, err := c.Schedule()
		if err != nil {
			return nil, err
		}
		order[i] = entry{i, schedule.Length}
		if d := shortestGap(schedule.Waves()); gap == 0 || d > 0 && d < gap {
			gap = d
		}
	}
	slices.SortStableFunc(order, func(a, b entry) int { return cmp.Compare(b.length, a.length) })
	offsets := make([]time.Duration, len(cells))
	for rank, e := range order {
		offsets[e.cell] = gap * time.Duration(rank) / time.Duration(len(cells))
	}
	return offsets, nil
}

// shortestGap is the least time between the starts of two neighbouring waves, 0 if there are not two.
func shortestGap(waves []workload.Wave) time.Duration {
	gap := time.Duration(0)
	for k := 1; k < len(waves); k++ {
		if d := waves[k].First.Sub(waves[k-1].First); k == 1 || d < gap {
			gap = d
		}
	}
	return gap
}
