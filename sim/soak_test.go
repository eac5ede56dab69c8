package sim_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/scheduler/policytest"
)

var (
	seeds    = flag.Int("seeds", 0, "number of seeds of the soak; 0: $SEEDS, or 2000")
	first    = flag.Uint64("seed", 1, "first seed of the soak")
	requests = flag.Int("requests", 100, "requests of each seed and policy")
)

// variants are readings of a policy that the soak tries beside its defaults, with their wait limits.
var variants = map[string][]variant{
	"fc-race":  {{"wait_timeout=2s", 2 * time.Second}, {"start_per_request=true", 0}, {"start_retries=0", 0}},
	"fc-bound": {{"wait_timeout=2s", 2 * time.Second}, {"start_retries=0", 0}},

	"cloudrun": {
		{"request_timeout=2s", 2 * time.Second}, {"start_rate=3,idle_timeout=10s", 0}, {"cpu=false,concurrency=false,act=false", 0},
	},
	"fixed":            {{"wait_timeout=2s", 2 * time.Second}, {"start_retries=0", 0}},
	"hybrid-histogram": {{"wait_timeout=2s", 2 * time.Second}, {"standard_keep_alive=0s", 0}, {"start_retries=0", 0}},
	"keepalive":        {{"wait_timeout=2s", 2 * time.Second}, {"idle_timeout=1s", 0}},
	"openwhisk": {
		{"concurrent=0,per_minute=0", 0}, {"concurrent=0,per_minute=0,actions=3,system_errors=10,idle_timeout=1s", 0},
		{"fpc=true,concurrent=0,per_minute=0", 0}, {"concurrent=0,per_minute=0,failed_run=false", 0},
	},
	"lambda": {{"wait_timeout=2s", 2 * time.Second}, {"scaling_rate=3", 0}, {"rate_scaling=true,request_rate=1", 0}},
}

// crowds are the policies that put many requests on one instance: in a quarter of their seeds up to so many.
var crowds = map[string]int32{"cloudrun": 6, "hpa": 4, "knative": 4, "fixed": 3}

type variant struct {
	params string
	wait   time.Duration // 0: the default
}

// play runs each policy, in the reading that the seed chooses, through the scenario of the seed.
func play(t testing.TB, seed uint64, wrap func(scheduler.Policy) scheduler.Policy) (policytest.Reached, error) {
	var all policytest.Reached
	for _, e := range policies.All() {
		v := variant{}
		if of := variants[e.Name]; seed%2 == 0 && len(of) > 0 {
			v = of[seed/2%uint64(len(of))]
		}
		spec := e.Name
		if v.params != "" {
			spec += ":" + v.params
		}
		o := policytest.OptionsOf(e)
		o.Wait, o.Requests = cmp.Or(v.wait, o.Wait), *requests
		if seed%4 == 1 {
			o.Limit = crowds[e.Name]
		}
		reached, err := policytest.Play(func() scheduler.Policy { return wrap(policy(t, spec)) }, o, seed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", spec, err)
		}
		all.Add(reached)
	}
	return all, nil
}

func asIs(p scheduler.Policy) scheduler.Policy { return p }

// soak plays n seeds on all processors. It returns the first seed that fails, and why.
func soak(t testing.TB, first uint64, n int, wrap func(scheduler.Policy) scheduler.Policy) (reached policytest.Reached, bad uint64, err error) {
	var next atomic.Uint64
	var mu sync.Mutex
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for k := next.Add(1) - 1; k < uint64(n); k = next.Add(1) - 1 {
				got, fault := play(t, first+k, wrap)
				mu.Lock()
				reached.Add(got)
				if fault != nil && (err == nil || first+k < bad) {
					bad, err = first+k, fault
					next.Store(uint64(n)) // those under way are finished: one of them may be an earlier seed
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return reached, bad, err
}

// TestFaults plays many seeds of requests and faults under each policy, and checks the invariants after each event (F1) and
// that all is over soon after the last fault (F2). Every rare state must be reached. A failure prints how to repeat it;
// -v prints the table of rare states.
func TestFaults(t *testing.T) {
	n := *seeds
	if text := cmp.Or(os.Getenv("SEEDS"), "2000"); n == 0 {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 {
			t.Fatalf("SEEDS=%s: give a number of seeds, 1 or more", text)
		}
	}
	reached, seed, err := soak(t, *first, n, asIs)
	if err != nil {
		t.Fatalf("%v\nrepeat it with: go test ./sim -run 'TestFaults$' -seed=%d -seeds=1 -requests=%d", err, seed, *requests)
	}
	t.Logf("%d seeds from %d, %d policies; rare states reached:\n%v", n, *first, len(policies.All()), reached)
	if missing := reached.Missing(); len(missing) > 0 && n >= 2000 {
		t.Errorf("rare states never reached in %d seeds: %q", n, missing)
	}
}
