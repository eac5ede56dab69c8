package policies_test

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/scheduler/policytest"
)

var (
	seeds = flag.Int("seeds", 0, "number of seeds of the conformance suite; 0: $SEEDS, or the suite's default")
	first = flag.Uint64("seed", 0, "first seed of the conformance suite; 0: its default")
)

// TestConformance runs the suite on each policy of the table and on each reading of it.
func TestConformance(t *testing.T) {
	n := *seeds
	if n == 0 {
		n, _ = strconv.Atoi(os.Getenv("SEEDS")) // unset: 0, the default
	}
	specs := policies.Names()
	specs = append(specs, "fc-race:start_per_request=true", "fc-race:start_retries=0", "fc-bound:start_retries=0",
		"fc-race:wait_timeout=2s", "fc-bound:wait_timeout=2s",
		"lambda:scaling_rate=3", "lambda:rate_scaling=true,request_rate=1", "lambda:account_concurrency=4", "keepalive:idle_timeout=1s",
		"knative:burst_capacity=0,scale_down_delay=60s", "knative:rps=true,weighted=true", "knative:wait_timeout=2s",
		"hpa:rate_target=3,concurrency_target=0,up_window=60s", "hpa:behavior=false",
		"hybrid-histogram:cv=0", "hybrid-histogram:standard_keep_alive=0s", "hybrid-histogram:start_retries=0")
	for _, spec := range specs {
		t.Run(spec, func(t *testing.T) {
			e, err := policies.Find(spec)
			if err != nil {
				t.Fatal(err)
			}
			o := policytest.OptionsOf(e)
			o.Seeds, o.First = n, *first
			policytest.Run(t, func() scheduler.Policy { return fresh(t, spec) }, o)
		})
	}
}

func fresh(t *testing.T, spec string) scheduler.Policy {
	t.Helper()
	p, err := policies.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
