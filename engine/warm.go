package engine

import (
	"context"
	"errors"
	"time"

	"coldwave/internal/clock"
	"coldwave/workload"
)

// Lead is how long before a wave its connections are opened. The first arrival of a run should lie at least that far
// ahead when Send is called.
const Lead = 300 * time.Millisecond

// How the need for connections is read off a schedule.
const (
	together   = 10 * time.Millisecond  // arrivals so close to the first of a group need a connection each
	look       = 250 * time.Millisecond // groups closer than this are served by one look
	steady     = 100 * time.Millisecond // of the busiest such stretch: the connections that a steady rate begins with
	steadyMost = 256
)

// need says that so many connections should be idle at an instant.
type need struct {
	at    clock.Instant
	count int
}

// needs lists what a schedule needs, in order. The first entry also covers the largest wave of the whole schedule and
// what a steady rate begins with: the target shows at once whether it takes that many.
func needs(arrivals []workload.Arrival) []need {
	var list []need
	largest := 0
	for i := 0; i < len(arrivals); {
		at, n := arrivals[i].At, 0
		for ; i < len(arrivals) && arrivals[i].At.Sub(at) <= together; i++ {
			n++
		}
		largest = max(largest, n)
		if last := len(list) - 1; last >= 0 && at.Sub(list[last].at) < look {
			list[last].count = max(list[last].count, n)
		} else {
			list = append(list, need{at, n})
		}
	}
	if len(list) > 0 {
		rate, _ := busiest(arrivals, steady)
		list[0].count = max(largest, min(rate, steadyMost))
	}
	return list
}

// warm opens connections ahead of each need until the context ends. Only a refusal of the guard is an error: whatever
// else is wrong with the target shows in the requests.
func (p *pool) warm(ctx context.Context, c clock.Clock, t *Target, list []need) error {
	for _, n := range list {
		if c.WaitUntil(ctx, n.at.Add(-Lead)) != nil {
			return nil
		}
		err := p.fill(ctx, t, n.count, n.at)
		var refused *RefusedError
		if errors.As(err, &refused) {
			return refused
		}
	}
	return nil
}
