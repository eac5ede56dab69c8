package policies_test

import (
	"fmt"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/scheduler/policytest"
)

// batch is a number of requests at one instant, none of which ends, and what becomes of them.
type batch struct {
	at   time.Duration
	n    int
	want tally
}

// TestLambdaExamples are the worked examples of the scaling rate and of the limits. What was started keeps running.
func TestLambdaExamples(t *testing.T) {
	const s = time.Second
	plenty := "lambda:account_concurrency=10000"
	tests := []struct {
		id, name, spec string
		cfg            scheduler.Config
		batches        []batch
	}{
		{"LA-a", "the bucket holds 1000 environments, the rest is throttled", plenty, scheduler.Config{Max: scheduler.Unlimited},
			[]batch{{0, 2500, tally{starts: 1000, throttled: 1500}}}},
		{"LA-b", "5 s later half of the bucket is there again", plenty, scheduler.Config{Max: scheduler.Unlimited},
			[]batch{{0, 2500, tally{starts: 1000, throttled: 1500}}, {5 * s, 600, tally{starts: 500, throttled: 100}}}},
		{"LA-c", "what is left of the bucket counts, and what has come back", plenty, scheduler.Config{Max: scheduler.Unlimited},
			[]batch{{0, 800, tally{starts: 800}}, {s, 800, tally{starts: 300, throttled: 500}}}},
		{"LA-d", "nothing is saved up in an hour", plenty, scheduler.Config{Max: scheduler.Unlimited},
			[]batch{{time.Hour, 1500, tally{starts: 1000, throttled: 500}}}},
		{"LA-e", "the account's limit is reached although the bucket is full again", "lambda", scheduler.Config{Max: scheduler.Unlimited},
			[]batch{{0, 1000, tally{starts: 1000}}, {time.Minute, 1, tally{throttled: 1}}}},
		{"LA-6", "the function's reserved concurrency is a cap", "lambda", scheduler.Config{Max: 3},
			[]batch{{0, 5, tally{starts: 3, throttled: 2}}}},
		{"LA-6", "reserved 0 always throttles", "lambda", scheduler.Config{},
			[]batch{{0, 5, tally{throttled: 5}}}},
		{"LA-f", "50 provisioned environments take 50 of 60, the rest overflows", "lambda", scheduler.Config{Min: 50, Max: scheduler.Unlimited},
			[]batch{{2 * s, 60, tally{warm: 50, starts: 10}}}},
		{"LA-f", "the same by the policy's own parameter", "lambda:provisioned=50", scheduler.Config{Max: scheduler.Unlimited},
			[]batch{{2 * s, 60, tally{warm: 50, starts: 10}}}},
		{"LA-6", "the quota limits the provisioned ones too", "lambda:provisioned=50", scheduler.Config{Max: 20},
			[]batch{{2 * s, 60, tally{warm: 20, throttled: 40}}}},
		{"LA-6", "provisioned environments leave the scaling rate alone", "lambda:scaling_rate=4", scheduler.Config{Min: 50, Max: 60},
			[]batch{{2 * s, 60, tally{warm: 50, starts: 4, throttled: 6}}}},
		{"LA-3", "a token comes back a nanosecond too late", "lambda:scaling_rate=1", scheduler.Config{Max: 9},
			[]batch{{0, 2, tally{starts: 1, throttled: 1}}, {10*s - 1, 1, tally{throttled: 1}}, {10 * s, 1, tally{starts: 1}}}},
	}
	for _, tt := range tests {
		t.Run(tt.id+"/"+tt.name, func(t *testing.T) {
			a := newApp(t, tt.spec, tt.cfg)
			for _, b := range tt.batches {
				must(t, fmt.Sprintf("of %d at %v", b.n, b.at), a.arrive(b.at, b.n), b.want)
			}
		})
	}
}

// TestLambdaRequestRate is LA-g: the request rate is limited to ten times the concurrency, whatever is idle (LA-7).
func TestLambdaRequestRate(t *testing.T) {
	tests := []struct {
		name, spec string
		gap        time.Duration // between two requests, each of which works for 50 ms
		want       int           // throttled of those in the first two seconds
	}{
		{"LA-g/100 in a second are allowed", "lambda", 10 * ms, 0},
		{"LA-g/125 in a second are too many: 25 in each", "lambda", 8 * ms, 50},
		{"LA-g/without the limit none is throttled", "lambda:request_rate=0", 8 * ms, 0},
		{"LA-g/half the limit", "lambda:request_rate=5", 10 * ms, 100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newApp(t, tt.spec, scheduler.Config{Max: 10})
			a.arrive(0, 10) // so that ten environments are there
			a.endAll(2 * time.Second)
			throttled := 0
			for k := range int(2 * time.Second / tt.gap) {
				at := 10*time.Second + time.Duration(k)*tt.gap
				for r := range a.on {
					if a.core.Since(r).Add(50*ms) < clock.Instant(at) {
						a.end(at-1, r)
					}
				}
				throttled += a.arrive(at, 1).throttled
				if a.core.Idling() == 0 {
					t.Fatalf("at %v no environment is idle: the case tests nothing", at)
				}
			}
			must(t, "throttled", throttled, tt.want)
		})
	}
}

// TestLambdaRateScaling is LA-2 in requests per second: an environment stands for ten of them, so a thousand more
// environments in 10 s are 10 000 more requests per second.
func TestLambdaRateScaling(t *testing.T) {
	tests := []struct {
		name, spec string
		want       int // environments after 35 requests, one after the other, in one second
	}{
		{"LA-2/off, one environment serves them all", "lambda", 1},
		{"LA-2/on, each serves ten", "lambda:rate_scaling=true", 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newApp(t, tt.spec, scheduler.Config{Max: 10})
			a.arrive(0, 1)
			a.end(2*time.Second, 1)
			starts := 1
			for k := range 35 {
				at := 4*time.Second + time.Duration(k)*20*ms
				starts += a.arrive(at, 1).starts
				a.endAll(at + 10*ms)
			}
			must(t, "environments", starts, tt.want)
		})
	}
}

// TestLambdaSnapStart: restoring a snapshot is another law of the start-up (LA-8). What is decided stays the same, and
// who waits for a start waits for the restore.
func TestLambdaSnapStart(t *testing.T) {
	for _, cold := range []time.Duration{2350 * ms, 400 * ms} {
		t.Run("LA-8/"+cold.String(), func(t *testing.T) {
			res := play(t, "lambda", fixed(cold), 1, scheduler.Unlimited, 70*time.Second, burst)
			must(t, "starts", len(res.Instances), 20)
			must(t, "longest of the burst", quantile(responses(res, 3), 1000), cold)
			must(t, "shortest of the burst", quantile(responses(res, 3), 1), warm)
		})
	}
}

// TestLambdaOnTheBurst: below every limit it decides as fc-bound does; a scaling rate below the need throttles.
func TestLambdaOnTheBurst(t *testing.T) {
	bound := play(t, "fc-bound", platform.Default(), 7, scheduler.Unlimited, 70*time.Second, burst)
	free := play(t, "lambda", platform.Default(), 7, scheduler.Unlimited, 70*time.Second, burst)
	must(t, "the digest of the decisions", free.Digest, bound.Digest)
	slow := play(t, "lambda:scaling_rate=5", platform.Default(), 7, scheduler.Unlimited, 70*time.Second, burst)
	must(t, "starts", len(slow.Instances), 2+5)
	must(t, "throttled", countOutcome(slow, record.Rejected), 18-5)
}

// TestLambdaProvisioned: with environments that are always there it obeys all rules too (LA-6).
func TestLambdaProvisioned(t *testing.T) {
	newPolicy := func() scheduler.Policy { return fresh(t, "lambda:provisioned=2") }
	policytest.Run(t, newPolicy, policytest.Options{Bound: true, Keeps: 2, Seeds: 20})
	if err := policytest.Find(newPolicy, policytest.Options{Bound: true, Keeps: 1, Seeds: 20}); err == nil {
		t.Error("Find with one kept = nil, want the second one found")
	}
}
