package record_test

import (
	"slices"
	"testing"

	"coldwave/internal/clock"
	"coldwave/record"
)

// TestNodes: uses are told in the order in which they began, a number may come again, and the oldest that are over are
// forgotten when there are too many.
func TestNodes(t *testing.T) {
	var n record.Nodes
	n.Reclaim(7, 1) // nobody took it
	for k := range clock.Instant(5) {
		n.Take(1, 10*k)
		n.Take(int32(k+2), 10*k)
		n.Reclaim(1, 10*k+5)
	}
	n.Reclaim(3, 99)
	if got := n.All(); len(got) != 10 || got[2] != (record.Node{ID: 1, Taken: 10, Reclaimed: 15}) || got[1].Reclaimed != clock.Never {
		t.Fatalf("All() = %v", got)
	}
	n.Keep(5)
	n.Keep(4)
	n.Reclaim(6, 100)
	want := []record.Node{{2, 0, clock.Never}, {4, 20, clock.Never}, {5, 30, clock.Never}, {6, 40, 100}}
	if got := n.All(); !slices.Equal(got, want) {
		t.Errorf("All() = %v, want %v", got, want)
	}
}
