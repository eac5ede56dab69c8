package analysis

import (
	"cmp"
	"slices"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// Placement is what the instances of a run were placed on.
type Placement struct {
	Count int           // nodes that could be in use at once
	Slots int           // instances that one node had room for
	Keep  time.Duration // an empty node was reclaimed after it
	Cache bool          // a start on a node that held the code skipped the download
}

// NodeTotals adds up the uses of the nodes up to the end of the run.
type NodeTotals struct {
	Taken, Peak int           // uses; most nodes in use at once
	InUse       time.Duration // node-time from the start that took the node until it was reclaimed
	Empty       time.Duration // node-time of it without an instance
	Cached      int           // starts that skipped the download
}

// TotalNodes adds up the uses of nodes up to end.
func TotalNodes(nodes []record.Node, instances []record.Instance, end clock.Instant) NodeTotals {
	t := NodeTotals{Taken: len(nodes)}
	var taken, reclaimed []clock.Instant
	for _, n := range nodes {
		t.InUse += span(n.Taken, n.Reclaimed, end)
		taken, reclaimed = append(taken, n.Taken), append(reclaimed, n.Reclaimed)
	}
	t.Peak = peak(taken, reclaimed)
	for i := range instances {
		if instances[i].Cached {
			t.Cached++
		}
	}
	t.Empty = max(0, t.InUse-occupied(instances, end))
	return t
}

// occupied returns the node-time with at least one instance: the stretches of each node's instances, overlaps once.
func occupied(instances []record.Instance, end clock.Instant) (sum time.Duration) {
	placed := make([]*record.Instance, 0, len(instances))
	for i := range instances {
		if instances[i].Node != 0 {
			placed = append(placed, &instances[i])
		}
	}
	slices.SortFunc(placed, func(a, b *record.Instance) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Started, b.Started))
	})
	node, until := int32(0), clock.Instant(0)
	for _, in := range placed {
		if in.Node != node {
			node, until = in.Node, in.Started
		}
		sum += span(max(in.Started, until), max(in.Stopped, until), end)
		until = max(until, in.Stopped)
	}
	return sum
}
