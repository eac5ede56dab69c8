package gateway

import (
	"strconv"
	"sync"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/scheduler"
)

// nodes keeps the uses of nodes of one function. The loop writes it, anybody may read it.
type nodes struct {
	mu    sync.Mutex
	uses  record.Nodes
	limit int // uses that are kept
}

func (n *nodes) take(id int16, at clock.Instant) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.uses.Take(int32(id), at)
}

func (n *nodes) reclaim(id int16, at clock.Instant) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.uses.Reclaim(int32(id), at)
	n.uses.Keep(n.limit)
}

func (n *nodes) all() []record.Node {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.uses.All()
}

// nodeName is what a provisioner is told: the number in decimal behind an n, as in a log of decisions. 0 has no name.
func nodeName(id int16) string {
	if id == 0 {
		return ""
	}
	return "n" + strconv.Itoa(int(id))
}

// Nodes returns the uses of nodes so far, function by function in the order in which they were taken; of those that were
// given back, at most about Limits.Lives for each function, the last ones.
func (g *Gateway) Nodes() []record.Node {
	var out []record.Node
	for _, s := range g.services {
		out = append(out, s.nodes.all()...)
	}
	return out
}

type nodeView struct {
	Function  string         `json:"function"`
	ID        int32          `json:"id"` // may come again after it was given back
	Taken     clock.Instant  `json:"taken_ns"`
	Reclaimed *clock.Instant `json:"reclaimed_ns"`
}

func (g *Gateway) nodesView() []nodeView {
	out := []nodeView{}
	for _, s := range g.services {
		for _, n := range s.nodes.all() {
			out = append(out, nodeView{Function: s.fn.Spec.Name, ID: n.ID, Taken: n.Taken, Reclaimed: instant(n.Reclaimed)})
		}
	}
	return out
}

// placed is nil for an instance or a decision without a node.
func placed(id int32) *int32 {
	if id == 0 {
		return nil
	}
	return &id
}

// nodeOf is the node of a decision.
func nodeOf(a scheduler.Action) *int32 {
	switch a.Do {
	case scheduler.Start, scheduler.Take, scheduler.Reclaim:
		return placed(int32(a.Status))
	default:
		return nil
	}
}
