package policies_test

import (
	"testing"
	"time"

	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/scheduler/policytest"
)

// TestCloudRunConformance runs the suite on options of Cloud Run and on concurrencies above one.
func TestCloudRunConformance(t *testing.T) {
	for _, row := range []struct {
		spec  string
		limit int32
		wait  time.Duration
	}{
		{"cloudrun", 80, 0},
		{"cloudrun:idle_timeout=60s,reserve=0", 4, 0},
		{"cloudrun:cpu=false,concurrency=false,act=false", 3, 0},
		{"cloudrun:start_rate=3,start_retries=1", 1, 0},
		{"cloudrun:request_timeout=8s", 2, 8 * time.Second},
	} {
		t.Run(row.spec, func(t *testing.T) {
			e, err := policies.Find(row.spec)
			if err != nil {
				t.Fatal(err)
			}
			o := policytest.OptionsOf(e)
			o.Limit, o.Seeds, o.First = row.limit, 30, *first
			if row.wait > 0 {
				o.Wait = row.wait
			}
			policytest.Run(t, func() scheduler.Policy { return fresh(t, row.spec) }, o)
		})
	}
}
