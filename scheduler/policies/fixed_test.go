package policies_test

import (
	"testing"
	"time"

	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/scheduler/policytest"
)

// TestFixedOnTheBurst: after the warm-up nothing starts and nothing stops, and the burst leaves in rows as wide as the
// instances are many.
func TestFixedOnTheBurst(t *testing.T) {
	tests := []struct {
		name, spec string
		n          int
		longest    time.Duration // of the wave of 20
	}{
		{"one instance: 20 rows", "fixed:instances=1", 1, warm + 19*100*ms},
		{"two: ten rows, the ladder of fc-race", "fixed", 2, warm + 9*100*ms},
		{"seven: three rows", "fixed:instances=7", 7, warm + 2*100*ms},
		{"twenty: all are warm", "fixed:instances=20", 20, warm},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			waves := every(10*time.Second, 0, 2, 2, 20, 2)
			res := play(t, tt.spec, fixed(2350*ms), 1, scheduler.Unlimited, time.Hour, waves)
			must(t, "starts", len(res.Instances), tt.n)
			must(t, "starts at 0", startsIn(res, 0, 1), tt.n)
			must(t, "longest of the burst", quantile(responses(res, 3), 1000), tt.longest)
			must(t, "shortest of the burst", quantile(responses(res, 3), 1), warm)
			for k := range res.Records {
				if kind := res.Records[k].Server.Start; kind == record.Cold || kind == record.ColdWait {
					t.Errorf("request %d is %v, want none after the warm-up", k, kind)
				}
			}
			allocated, _, _ := instanceTime(res, time.Hour)
			must(t, "instance time in an hour", allocated, time.Duration(tt.n)*time.Hour)
		})
	}
}

// TestFixedWaitLimit: requests wait in order of arrival, and those whose limit passes get 503.
func TestFixedWaitLimit(t *testing.T) {
	res := play(t, "fixed:instances=1,wait_timeout=250ms", fixed(2350*ms), 1, scheduler.Unlimited, time.Minute, every(10*time.Second, 0, 5))
	must(t, "rejected", countOutcome(res, record.Rejected), 2) // the third waits for 200 ms, the fourth would for 300
	for k := range res.Records {
		if got, want := res.Records[k].Outcome == record.Rejected, k >= 3; got != want {
			t.Errorf("request %d is rejected: %v, want %v", k, got, want)
		}
	}
}

// TestFixedSlots: an instance with several slots takes so many requests, the freest first, and a queued one takes the
// first slot that is free.
func TestFixedSlots(t *testing.T) {
	a := newApp(t, "fixed:instances=3", scheduler.Config{Max: 9, Limit: 4})
	must(t, "of 13 after the start", a.arrive(2*time.Second, 13), tally{warm: 12})
	for i := scheduler.InstanceID(1); i <= 3; i++ {
		must(t, "in flight", a.core.InFlight(i), 4)
	}
	a.end(3*time.Second, 5)
	must(t, "waiting", a.core.Waiting(), 0)
	a.end(4*time.Second, 6)
	must(t, "one more", a.arrive(5*time.Second, 1), tally{warm: 1})
	must(t, "running", a.core.Running(), 12)
}

// TestFixedReplaces: a lost instance is replaced at once; with no retries nobody waits for what will not come.
func TestFixedReplaces(t *testing.T) {
	p := platform.Default()
	p.FailRatio = 0.5
	res := play(t, "fixed:instances=4", p, 3, scheduler.Unlimited, time.Minute, every(10*time.Second, 4, 4))
	must(t, "served", countOutcome(res, record.OK), 8)
	if len(res.Instances) <= 4 {
		t.Errorf("%d starts, want some that failed and were replaced", len(res.Instances))
	}
	p.FailRatio = 1
	res = play(t, "fixed:start_retries=0", p, 3, scheduler.Unlimited, time.Minute, every(10*time.Second, 4, 4))
	must(t, "rejected", countOutcome(res, record.Rejected), 8)
}

// TestFixedConformance: with other sizes and with several slots it obeys all rules too.
func TestFixedConformance(t *testing.T) {
	tests := []struct {
		name, spec string
		o          policytest.Options
	}{
		{"three slots", "fixed", policytest.Options{Keeps: 2, Limit: 3}},
		{"more than a low max allows", "fixed:instances=3", policytest.Options{Keeps: 3}},
		{"nobody is replaced", "fixed:start_retries=0", policytest.Options{Keeps: 2}},
		{"a short wait", "fixed:wait_timeout=2s", policytest.Options{Keeps: 2, Wait: 2 * time.Second}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Seeds = 20
			policytest.Run(t, func() scheduler.Policy { return fresh(t, tt.spec) }, tt.o)
		})
	}
	if err := policytest.Find(func() scheduler.Policy { return fresh(t, "fixed") }, policytest.Options{Seeds: 20}); err == nil {
		t.Error("Find(fixed) without Keeps = nil, want what it keeps found")
	}
}
