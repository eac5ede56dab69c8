package policies_test

import (
	"testing"
	"time"

	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/scheduler/policytest"
)

// TestOpenWhiskConformance runs the suite on the readings of the policy, without throttles, with and without nodes. The
// newer scheduler binds no request to anything, and learns nothing that outlasts its queue; the pool learns nothing while
// every invoker counts as healthy.
func TestOpenWhiskConformance(t *testing.T) {
	worlds := []struct {
		name  string
		limit int32
		nodes scheduler.Nodes
	}{
		{"no nodes", 1, scheduler.Nodes{}},
		{"3x2", 3, scheduler.Nodes{Count: 3, Slots: 2, Keep: time.Second}},
		{"10x4", 1, scheduler.Nodes{Count: 10, Slots: 4, Keep: time.Minute}},
	}
	for _, tt := range []struct {
		params string
		change func(o *policytest.Options)
	}{
		{"", func(*policytest.Options) {}},
		{",system_errors=10", func(o *policytest.Options) { o.Learns = false }},
		{",system_errors=10,actions=3", func(*policytest.Options) {}},
		{",system_errors=0,failed_run=false,controllers=2,action_timeout=1s", func(*policytest.Options) {}},
		{",idle_timeout=1s,pause_grace=500ms", func(*policytest.Options) {}},
		{",fpc=true", func(o *policytest.Options) { o.Bound, o.Learns = false, false }},
		{",fpc=true,actions=3", func(*policytest.Options) {}},
		{",fpc=true,concurrent=3", func(o *policytest.Options) { o.Bound, o.Learns = false, false }},
	} {
		for _, w := range worlds {
			spec := "openwhisk:concurrent=0,per_minute=0" + tt.params
			t.Run(spec+"/"+w.name, func(t *testing.T) {
				e, err := policies.Find(spec)
				if err != nil {
					t.Fatal(err)
				}
				o := policytest.OptionsOf(e)
				o.Nodes, o.Limit, o.Seeds, o.First, o.Requests = w.nodes, w.limit, max(8, *seeds/10), *first, 80
				tt.change(&o)
				policytest.Run(t, func() scheduler.Policy { return fresh(t, spec) }, o)
			})
		}
	}
}

// TestOpenWhiskPrewarmed plays the faults with prewarmed containers, which are kept without traffic.
func TestOpenWhiskPrewarmed(t *testing.T) {
	for _, params := range []string{"prewarm=2", "prewarm=1,actions=3", "reactive=true,prewarm_max=3,prewarm_ttl=1s"} {
		for _, on := range []scheduler.Nodes{{}, {Count: 3, Slots: 2, Keep: time.Second}} {
			spec := "openwhisk:concurrent=0,per_minute=0," + params
			for seed := *first; seed < *first+uint64(max(20, *seeds)); seed++ {
				o := policytest.Options{Bound: true, Keeps: 9, Nodes: on, Wait: 180 * time.Second}
				if _, err := policytest.Play(func() scheduler.Policy { return fresh(t, spec) }, o, seed); err != nil {
					t.Fatalf("%s on %d nodes: %v", spec, on.Count, err)
				}
			}
		}
	}
}
