package policies_test

import (
	"testing"
	"time"

	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/scheduler/policytest"
)

// TestConformanceOnNodes runs the suite with a handful of nodes, so that they are full and empty again and again: whoever
// obeys the limits of the core obeys the nodes (PL-7).
func TestConformanceOnNodes(t *testing.T) {
	for _, name := range policies.Names() {
		t.Run(name, func(t *testing.T) {
			e, err := policies.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			o := policytest.OptionsOf(e)
			o.Nodes, o.Seeds, o.First = scheduler.Nodes{Count: 2, Slots: 2, Keep: 2 * time.Second, Cache: true}, 40, *first
			policytest.Run(t, func() scheduler.Policy { return fresh(t, name) }, o)
		})
	}
}
