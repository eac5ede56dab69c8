package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"coldwave/workload"
)

// draws keeps the schedules of the seeds that are under way: all cells of a seed face the same one, which is drawn and
// hashed once. A schedule goes when the last cell has had it.
type draws struct {
	of   func(k int) (*workload.Schedule, error) // draws the schedule of seed k
	uses int                                     // of each schedule

	mu   sync.Mutex
	live map[int]*drawn
}

// drawn is the schedule of one seed.
type drawn struct {
	once     sync.Once
	schedule *workload.Schedule // nil: it has too many arrivals to be held
	hash     string
	err      error
	left     int
}

func (d *draws) take(k int) (*drawn, error) {
	d.mu.Lock()
	one := d.live[k]
	if one == nil {
		one = &drawn{left: d.uses}
		d.live[k] = one
	}
	if one.left--; one.left == 0 {
		delete(d.live, k)
	}
	d.mu.Unlock()
	one.once.Do(func() {
		switch one.schedule, one.err = d.of(k); {
		case errors.Is(one.err, workload.ErrTooMany):
			one.schedule, one.err = nil, nil
		case one.err == nil:
			one.hash = one.schedule.Hash()
		}
	})
	return one, one.err
}

// runOn is Simulation.Run on a schedule that was drawn already: that of the cell, or one that differs in the limit of
// requests on an instance only.
func (s Simulation) runOn(ctx context.Context, d *drawn) (Simulated, error) {
	if d.schedule == nil {
		return s.stream(ctx)
	}
	schedule, hash := d.schedule, d.hash
	if f := s.Cell.Profile.Function; schedule.Function != f {
		other := *schedule
		other.Function = f
		schedule, hash = &other, other.Hash()
	}
	return s.Cell.simulate(schedule, hash)
}

// alikeFor is how many requests of two cells are compared before they run.
const alikeFor = 1000

// alike returns an error for a cell that faces other requests than the first one, as far as the text of its pattern and
// its first requests tell.
func (s Seeds) alike(ctx context.Context) error {
	first := &s.Cells[0]
	requests := first.opening(ctx)
	for i := range s.Cells {
		c := &s.Cells[i]
		if c.Process.String() != first.Process.String() || !slices.Equal(requests, c.opening(ctx)) {
			return fmt.Errorf("%w: cell %s faces other requests than %s", ErrSides, c.Name(), first.Name())
		}
	}
	return nil
}

// opening returns the first requests of the cell.
func (c Cell) opening(ctx context.Context) []workload.Arrival {
	stream := c.source(ctx).Open()
	var all []workload.Arrival
	for a, ok := stream.Next(); ok && len(all) < alikeFor; a, ok = stream.Next() {
		all = append(all, a)
	}
	return all
}
