package analysis

import (
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// TestTotalNodes: uses are added up to the end of the run, and empty is what is left when the stretches of a node's
// instances are taken away, overlaps once.
func TestTotalNodes(t *testing.T) {
	const s = clock.Instant(time.Second)
	nodes := []record.Node{{ID: 1, Taken: 0, Reclaimed: 30 * s}, {ID: 2, Taken: 10 * s, Reclaimed: clock.Never}, {ID: 1, Taken: 40 * s, Reclaimed: 50 * s}}
	instances := []record.Instance{
		{ID: 1, Node: 1, Started: 0, Stopped: 10 * s},
		{ID: 2, Node: 1, Started: 5 * s, Stopped: 20 * s, Cached: true},
		{ID: 3, Node: 2, Started: 10 * s, Stopped: clock.Never},
		{ID: 4, Node: 2, Started: 11 * s, Stopped: 12 * s, Cached: true},
		{ID: 5, Node: 1, Started: 40 * s, Stopped: 45 * s},
		{ID: 6, Started: 0, Stopped: clock.Never}, // on no node
	}
	got := TotalNodes(nodes, instances, 60*s)
	want := NodeTotals{Taken: 3, Peak: 2, InUse: 90 * time.Second, Empty: 15 * time.Second, Cached: 2}
	if got != want {
		t.Errorf("TotalNodes = %+v, want %+v", got, want)
	}
	if got := TotalNodes(nodes, instances, 25*s); got.InUse != 40*time.Second || got.Empty != 5*time.Second {
		t.Errorf("up to 25 s: in use %v, empty %v, want 40 s and 5 s", got.InUse, got.Empty)
	}
	if got := TotalNodes(nil, nil, s); got != (NodeTotals{}) {
		t.Errorf("TotalNodes of nothing = %+v", got)
	}
}
