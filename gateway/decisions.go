package gateway

import (
	"sync"

	"coldwave/scheduler"
)

// decisions is a ring of the last decisions of one function.
type decisions struct {
	mu    sync.Mutex
	ring  []decision
	total int64
	limit int
}

// decision is one action with the name of its request.
type decision struct {
	scheduler.Action
	Name string // X-Request-Id; empty: the action is about no request
}

func newDecisions(limit int) *decisions { return &decisions{limit: limit} }

func (d *decisions) add(x decision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.ring) < d.limit {
		d.ring = append(d.ring, x)
	} else {
		d.ring[d.total%int64(d.limit)] = x
	}
	d.total++
}

// last returns the last n decisions, oldest first, and how many there were in all.
func (d *decisions) last(n int) ([]decision, int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n = min(n, len(d.ring))
	out := make([]decision, 0, n)
	for k := d.total - int64(n); k < d.total; k++ {
		out = append(out, d.ring[k%int64(d.limit)])
	}
	return out, d.total
}
