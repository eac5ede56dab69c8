package policytest

import (
	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// nodes are the books of the nodes, by number; [0] is unused. Like all books here they know only what was told and decided.
type nodes []struct {
	taken bool
	size  int           // instances that have not gone
	empty clock.Instant // size 0: since when
}

// took notes that a node is taken, for the start that follows.
func (b *books) took(a scheduler.Action) {
	n := &b.nodes[a.Status]
	if n.taken {
		b.broken(NodesAddUp, "%v, but it is in use", a)
	}
	n.taken = true
}

// placed notes a start on its node.
func (b *books) placed(a scheduler.Action) {
	if (a.Status != 0) != b.o.Nodes.On() {
		b.broken(NodesAddUp, "%v with %d nodes", a, b.o.Nodes.Count)
	}
	if a.Status == 0 {
		return
	}
	n := &b.nodes[a.Status]
	if !n.taken {
		b.broken(NodesAddUp, "%v, but it was not taken", a)
	}
	if n.size++; n.size > b.o.Nodes.Slots {
		b.broken(WithinNodes, "%v makes %d on it, room is for %d", a, n.size, b.o.Nodes.Slots)
	}
}

// left takes an instance that has gone off its node.
func (b *books) left(in *instance) {
	if in.node == 0 {
		return
	}
	n := &b.nodes[in.node]
	if n.size--; n.size == 0 {
		n.empty = b.now
	}
}

// reclaimed notes that a node is given back.
func (b *books) reclaimed(a scheduler.Action) {
	n := &b.nodes[a.Status]
	if due := n.empty.Add(b.o.Nodes.Keep); !n.taken || n.size > 0 || a.At != due {
		b.broken(NodesAddUp, "%v at %v: in use %t, %d instances, due at %v", a, a.At, n.taken, n.size, due)
	}
	n.taken = false
}

// judgeNodes compares the books with what the core says.
func (b *books) judgeNodes() {
	taken := 0
	for k := 1; k < len(b.nodes); k++ {
		n, id := &b.nodes[k], scheduler.NodeID(k)
		if n.taken {
			taken++
		}
		if got := b.core.CountOn(id); got != n.size || n.size > 0 && !n.taken {
			b.broken(NodesAddUp, "node %d, in use: %t, has %d instances; the core says %d", k, n.taken, n.size, got)
		}
		for i := b.core.FirstPlaced(id); i != 0; i = b.core.NextPlaced(i) {
			if b.instances[i].gone || int(b.instances[i].node) != k {
				b.broken(NodesAddUp, "instance %d is on node %d, the core says %d", i, b.instances[i].node, k)
			}
		}
	}
	if taken != b.core.Taken() || taken > b.o.Nodes.Count {
		b.broken(WithinNodes, "%d of %d nodes in use; the core says %d", taken, b.o.Nodes.Count, b.core.Taken())
	}
}

// closeNodes checks that the nodes are empty in the end, but for those of what is kept, and given back.
func (b *books) closeNodes() {
	for k := 1; k < len(b.nodes); k++ {
		if n := &b.nodes[k]; n.taken && n.size == 0 && b.now > n.empty.Add(b.o.Nodes.Keep) || b.core.Alive() == 0 && n.size > 0 {
			b.broken(NodesAddUp, "node %d has %d instances in the end, empty since %v", k, n.size, n.empty)
		}
	}
}
