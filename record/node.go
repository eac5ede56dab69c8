package record

import "coldwave/internal/clock"

// Node is one use of a node, from the start that took it until it was given back. A number may be used again.
type Node struct {
	ID        int32
	Taken     clock.Instant
	Reclaimed clock.Instant // Never if it is still in use
}

// Nodes collects the uses of nodes, in the order in which they were taken. The zero Nodes are empty.
type Nodes struct {
	all  []Node
	open map[int32]int // index of the present use of a node
}

// Take notes that a node is taken.
func (n *Nodes) Take(id int32, at clock.Instant) {
	if n.open == nil {
		n.open = map[int32]int{}
	}
	n.open[id] = len(n.all)
	n.all = append(n.all, Node{ID: id, Taken: at, Reclaimed: clock.Never})
}

// Reclaim notes that a node which was taken is given back.
func (n *Nodes) Reclaim(id int32, at clock.Instant) {
	if k, ok := n.open[id]; ok {
		n.all[k].Reclaimed = at
		delete(n.open, id)
	}
}

// Keep forgets the oldest uses that are over when there are more than twice as many as n, down to n.
func (n *Nodes) Keep(most int) {
	if len(n.all) <= 2*most {
		return
	}
	kept, over := n.all[:0], len(n.all)-most
	for _, use := range n.all {
		if over > 0 && use.Reclaimed != clock.Never {
			over--
			continue
		}
		if use.Reclaimed == clock.Never {
			n.open[use.ID] = len(kept)
		}
		kept = append(kept, use)
	}
	n.all = kept
}

// All returns a copy of all uses so far.
func (n *Nodes) All() []Node { return append([]Node(nil), n.all...) }
