package policies_test

import (
	"strings"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/scheduler/policytest"
	"coldwave/sim"
	"coldwave/workload"
)

// starter is a platform whose starts all take the same time.
type starter struct{ up platform.StartUp }

func (s starter) StartUp(int64, workload.Demand) platform.StartUp { return s.up }

func (starter) RequestFails(int64) bool { return false }

// flow is n requests a gap apart, from an instant on, each of which runs for a time.
type flow struct {
	from, gap, exec time.Duration
	n               int
}

// scene is a run of flows under a policy, with what is to be seen after each step.
type scene struct {
	spec   string
	limit  int32
	cold   time.Duration
	fails  bool
	length time.Duration
	flows  []flow
	watch  func(*sim.Step)
}

func (s scene) play(t *testing.T) sim.Result {
	t.Helper()
	schedule := &workload.Schedule{Pattern: "test", Function: workload.Function{Name: "f", Concurrency: int(s.limit)}, Length: s.length}
	for _, f := range s.flows {
		for k := range f.n {
			schedule.Arrivals = append(schedule.Arrivals, workload.Arrival{
				Seq: int64(len(schedule.Arrivals)), At: clock.Instant(f.from + time.Duration(k)*f.gap), Wave: -1,
				Demand: workload.Demand{Exec: f.exec},
			})
		}
	}
	res, err := sim.Run(sim.Config{
		Schedule: schedule, Policy: fresh(t, s.spec), Platform: starter{platform.StartUp{Total: s.cold, Fails: s.fails}},
		Limits: scheduler.Config{Max: scheduler.Unlimited, Limit: s.limit}, Watch: s.watch,
	})
	if err != nil {
		t.Fatalf("sim.Run(%s) = %v", s.spec, err)
	}
	return res
}

// autoscalers are the policies that scale by a metric.
var autoscalers = []string{"knative", "hpa"}

// TestExitOfPanic is AS-03: from 0 to 1000 at once, with a cold start longer than the panic window. When the panic ends,
// the number stays at what the load needs.
func TestExitOfPanic(t *testing.T) {
	const need = 143 // 1000 / (0.7 · 10), rounded up
	least, most := 1<<30, 0
	scene{
		spec: "knative", limit: 10, cold: 10 * time.Second, length: 200 * time.Second,
		flows: []flow{{0, 0, 250 * time.Second, 1000}},
		watch: func(s *sim.Step) {
			if s.At >= at(30) && s.At <= at(200) {
				least, most = min(least, s.Core.Alive()), max(most, s.Core.Alive())
			}
		},
	}.play(t)
	if least < need || most > 2*need {
		t.Errorf("AS-03: %d … %d alive under a steady load, want %d or more, and not twice that", least, most, need)
	}
}

// TestDefectiveRevision is AS-07: nothing ever becomes ready. Requests end with 503; when their load has left the panic
// window it takes a stable window and the grace time until nothing is left.
func TestDefectiveRevision(t *testing.T) {
	for _, fails := range []bool{false, true} { // the starts last, or end in failure
		var last clock.Instant
		res := scene{
			spec: "knative:wait_timeout=20s", limit: 1, cold: 900 * time.Second, fails: fails, length: 1000 * time.Second,
			flows: []flow{{0, time.Second, time.Second, 10}},
			watch: func(s *sim.Step) {
				if s.Core.Alive() > 0 {
					last = s.At
				}
			},
		}.play(t)
		if n := countOutcome(res, record.Rejected); n != 10 {
			t.Errorf("AS-07: %d of 10 rejected", n)
		}
		for k := range res.Records {
			if got := res.Records[k].Status; got != 503 {
				t.Errorf("AS-07: request %d has status %d, want 503", k, got)
			}
		}
		if limit := at(9 + 20 + 6 + 60 + 30); last > limit {
			t.Errorf("AS-07: something lives until %v, want nothing after %v", last, limit)
		}
	}
}

// TestLostWakeUp is AS-11: one request to a function at zero, 500 times, each answered after its cold start.
func TestLostWakeUp(t *testing.T) {
	for _, spec := range autoscalers {
		res := scene{
			spec: spec, limit: 1, cold: 700 * time.Millisecond, length: 500 * 1000 * time.Second,
			flows: []flow{{137 * time.Millisecond, 1000*time.Second + 13*time.Millisecond, 50 * time.Millisecond, 500}},
		}.play(t)
		for k := range res.Records {
			if got, want := res.Records[k].Response(), 750*time.Millisecond; got != want {
				t.Fatalf("AS-11, %s: request %d took %v, want %v", spec, k, got, want)
			}
		}
		if len(res.Instances) != 500 && spec == "hpa" {
			t.Errorf("AS-11, %s: %d starts, want 500: it was at zero each time", spec, len(res.Instances))
		}
	}
}

// TestBoundedHold is AS-13: 12,000 requests to a function that never starts. What exceeds the queue is turned away at once.
func TestBoundedHold(t *testing.T) {
	for _, spec := range autoscalers {
		most := 0
		res := scene{
			spec: spec, limit: 1, cold: time.Hour, length: time.Minute, flows: []flow{{0, 0, time.Second, 12_000}},
			watch: func(s *sim.Step) { most = max(most, s.Core.Waiting()) },
		}.play(t)
		at0 := 0
		for k := range res.Records {
			if r := &res.Records[k]; r.Outcome == record.Rejected && r.Response() == 0 {
				at0++
			}
		}
		if most != 10_000 || at0 != 2000 {
			t.Errorf("AS-13, %s: at most %d wait and %d are turned away at once, want 10000 and 2000", spec, most, at0)
		}
	}
}

// TestBurstAtZero is AS-15: 100 at once with 50 per instance start two, and the headroom of a target of 0.7: three.
func TestBurstAtZero(t *testing.T) {
	for _, spec := range autoscalers {
		res := scene{
			spec: spec, limit: 50, cold: 20 * time.Second, length: 40 * time.Second, flows: []flow{{0, 0, 10 * time.Second, 100}},
		}.play(t)
		if n := len(res.Instances); n < 2 || n > 3 {
			t.Errorf("AS-15, %s: %d starts, want 2 or 3", spec, n)
		}
	}
}

// TestSlotsReturn is AS-17: with one slot, ten requests after each other are served by one instance.
func TestSlotsReturn(t *testing.T) {
	for _, spec := range []string{"knative:utilization=1", "hpa:concurrency_target=1"} {
		res := scene{
			spec: spec, limit: 1, cold: time.Millisecond, length: 40 * time.Second,
			flows: []flow{{0, 1500 * time.Millisecond, 400 * time.Millisecond, 10}},
		}.play(t)
		for k := range res.Records {
			if got := instanceOf(t, &res.Records[k]); got != 1 || res.Records[k].Outcome != record.OK {
				t.Errorf("AS-17, %s: request %d went to instance %d: %v", spec, k, got, res.Records[k].Outcome)
			}
		}
	}
}

// TestScaleDownCutsNothing is AS-01 and AS-21: while a steady load falls, and with a request that runs longer than any
// drain limit, nothing that runs is lost and nothing goes to an instance that drains.
func TestScaleDownCutsNothing(t *testing.T) {
	for _, spec := range autoscalers {
		draining, stopped := map[scheduler.InstanceID]bool{}, 0
		res := scene{
			spec: spec, limit: 1, cold: time.Second, length: 1500 * time.Second,
			flows: []flow{
				{0, 100 * time.Millisecond, 450 * time.Millisecond, 600}, {60 * time.Second, 0, 900 * time.Second, 3},
				{61 * time.Second, time.Second, 400 * time.Millisecond, 1000},
			},
			watch: func(s *sim.Step) {
				for _, a := range s.Actions {
					if a.Do == scheduler.Assign && draining[a.Inst] {
						t.Errorf("AS-01, %s: %v at %v, which drains", spec, a, a.At)
					}
					if a.Do == scheduler.Stop {
						stopped++
					}
				}
				for _, in := range s.Core.Instances(nil) {
					draining[in.ID] = in.State == scheduler.Draining || in.State == scheduler.Stopping
				}
			},
		}.play(t)
		if n := countOutcome(res, record.OK); n != len(res.Records) || stopped < 3 {
			t.Errorf("AS-01, AS-21, %s: %d of %d are served, %d instances stopped, want all and some", spec, n, len(res.Records), stopped)
		}
	}
}

// TestRollout is AS-09: all instances are replaced one after the other at a constant load, and the number stays.
func TestRollout(t *testing.T) {
	for _, spec := range autoscalers {
		policy := fresh(t, spec)
		limits := scheduler.Config{Max: 100, Limit: 10}
		core := scheduler.New(policy, limits, 1)
		acts := core.Configure(nil, 0, limits)
		for r := range scheduler.RequestID(28) {
			acts = core.Step(acts, 1, scheduler.Event{Kind: scheduler.Arrival, Req: r + 1})
		}
		now, began := clock.Instant(1), 0
		ready := func(until clock.Instant) {
			for ; now < until; now += clock.Instant(time.Second) {
				for _, a := range acts {
					if a.Do == scheduler.Start {
						began++
						core.Step(nil, now, scheduler.Event{Kind: scheduler.Ready, Inst: a.Inst})
					}
				}
				acts = core.Advance(acts[:0], now)
			}
		}
		ready(at(400))
		want := core.Alive()
		for range 8 {
			i := core.FirstAlive()
			for core.InFlight(i) > 0 && core.Control.Next(i) != 0 {
				i = core.Control.Next(i)
			}
			acts = core.Step(acts, now, scheduler.Event{Kind: scheduler.Failed, Inst: i})
			ready(now.Add(20 * time.Second))
			if got := core.Alive(); got > want {
				t.Errorf("AS-09, %s: %d alive after a replacement, want %d", spec, got, want)
			}
		}
		if began <= want || want < 4 {
			t.Errorf("AS-09, %s: %d starts for %d instances, want replacements among them", spec, began, want)
		}
	}
}

// TestQuietCore: a core with nothing alive, or with Min and no request, has no tick.
func TestQuietCore(t *testing.T) {
	for _, spec := range autoscalers {
		for _, least := range []int{0, 2} {
			limits := scheduler.Config{Min: least, Max: 10, Limit: 1}
			core := scheduler.New(fresh(t, spec), limits, 1)
			for _, a := range core.Configure(nil, 0, limits) {
				core.Step(nil, at(1), scheduler.Event{Kind: scheduler.Ready, Inst: a.Inst})
			}
			acts := core.Step(nil, at(2), scheduler.Event{Kind: scheduler.Arrival, Req: 1})
			for _, a := range acts {
				if a.Do == scheduler.Start {
					core.Step(nil, at(3), scheduler.Event{Kind: scheduler.Ready, Inst: a.Inst})
				}
			}
			core.Step(nil, at(4), scheduler.Event{Kind: scheduler.Done, Req: 1})
			core.Advance(nil, at(1000))
			if got := core.Next(); got != clock.Never || core.Alive() != least {
				t.Errorf("%s: min %d: %d alive, next tick at %v, want %d and never", spec, least, core.Alive(), got, least)
			}
		}
	}
}

// TestConformanceOfShared runs the suite with several requests on an instance, on the readings of the autoscalers.
func TestConformanceOfShared(t *testing.T) {
	specs := []string{
		"knative", "knative:burst_capacity=0,scale_down_delay=60s", "knative:rps=true,weighted=true", "knative:unlimited=true",
		"knative:give_up=false,retention=60s,activation_scale=3", "hpa", "hpa:rate_target=3,concurrency_target=0,up_window=60s",
		"hpa:behavior=false", "hpa:down_percent=0,down_pods=9,old_tolerance=true",
	}
	for _, spec := range specs {
		t.Run(spec, func(t *testing.T) {
			e, err := policies.Find(spec)
			if err != nil {
				t.Fatal(err)
			}
			o := policytest.OptionsOf(e)
			o.Limit, o.Seeds = 5, 30
			policytest.Run(t, func() scheduler.Policy { return fresh(t, spec) }, o)
		})
	}
	t.Run("hpa:from_zero=false", func(t *testing.T) {
		policytest.Run(t, func() scheduler.Policy { return fresh(t, "hpa:from_zero=false") }, policytest.Options{
			Limit: 5, Seeds: 30, Hang: 15 * time.Second, // the next decision comes within one period (HPA-1)
		})
	})
}

// TestKnativeToZero is KN-r: the last request ends at T with one instance. Zero comes when the stable mean is 0 and the
// activator has been in the path for long enough.
func TestKnativeToZero(t *testing.T) {
	tests := []struct {
		name, spec string
		from, to   time.Duration // after T
	}{
		{"KN-r: the activator has been in the path all along", "knative:utilization=1", 60 * time.Second, 65 * time.Second},
		{"KN-r: without burst capacity it enters first", "knative:utilization=1,burst_capacity=0", 90 * time.Second, 95 * time.Second},
		{"KN-14: a retention holds longer than both", "knative:utilization=1,retention=50s", 110 * time.Second, 115 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			const ends = 300 * time.Second
			res := scene{
				spec: tt.spec, limit: 1, cold: time.Second, length: time.Hour,
				flows: []flow{{0, 0, 3 * time.Second, 1}, {ends - time.Second, 0, time.Second, 1}},
			}.play(t)
			if n := len(res.Instances); n != 2 { // the first one has gone before the second request
				t.Fatalf("%d starts, want 2", n)
			}
			got := res.Instances[1].Stopped.Sub(clock.Instant(ends))
			if got < tt.from || got > tt.to+time.Second { // its own start took a second
				t.Errorf("zero after %v, want %v … %v", got, tt.from, tt.to)
			}
		})
	}
}

// TestKnativePodQueue is KN-s: concurrency 1, the activator out of the path, 12 at once.
func TestKnativePodQueue(t *testing.T) {
	limits := scheduler.Config{Min: 1, Max: 1, Limit: 1}
	core := scheduler.New(fresh(t, "knative:burst_capacity=0"), limits, 1)
	core.Configure(nil, 0, limits)
	core.Step(nil, at(1), scheduler.Event{Kind: scheduler.Ready, Inst: 1})
	core.Advance(nil, at(10))
	var acts []scheduler.Action
	for r := range scheduler.RequestID(12) {
		acts = core.Step(acts, at(10.5), scheduler.Event{Kind: scheduler.Arrival, Req: r + 1})
	}
	last := acts[len(acts)-1]
	if core.Running() != 1 || core.Waiting() != 10 || last.Do != scheduler.Reject || last.Req != 12 || last.Status != 503 {
		t.Errorf("KN-s: %d run, %d wait, then %v, want 1, 10 and a 503 for the 12th", core.Running(), core.Waiting(), last)
	}
}

// TestHPAByCPU: samples of the host reach the rules for CPU (HPA-5 to HPA-8).
func TestHPAByCPU(t *testing.T) {
	tests := []struct {
		name    string
		samples map[scheduler.InstanceID]int64 // thousandths of a CPU, at 10 s
		ready   int
		want    int
	}{
		{"both at 90 % of a target of 50 %", map[scheduler.InstanceID]int64{1: 900, 2: 900}, 2, 4},
		{"both at 52 %, within the tolerance", map[scheduler.InstanceID]int64{1: 520, 2: 520}, 2, 2},
		{"HPA-g: one of three is not ready", map[scheduler.InstanceID]int64{1: 900, 2: 900}, 2, 4},
		{"HPA-d: a missing one counts as 0 upwards", map[scheduler.InstanceID]int64{1: 700}, 2, 2},
		{"HPA-9: no sample, no change", nil, 2, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			limits := scheduler.Config{Min: 2, Max: 20, Limit: 1}
			if strings.HasPrefix(tt.name, "HPA-g") {
				limits.Min = 3
			}
			core := scheduler.New(fresh(t, "hpa:cpu_target=50,concurrency_target=0"), limits, 1)
			core.Configure(nil, 0, limits)
			for i := range scheduler.InstanceID(tt.ready) {
				core.Step(nil, at(1), scheduler.Event{Kind: scheduler.Ready, Inst: i + 1})
			}
			core.Step(nil, at(2), scheduler.Event{Kind: scheduler.Arrival, Req: 1}) // so that it looks at all
			for i := range scheduler.InstanceID(tt.ready) {
				if cpu, ok := tt.samples[i+1]; ok {
					core.Step(nil, at(10), scheduler.Event{Kind: scheduler.Sample, Inst: i + 1, Value: cpu})
				}
			}
			core.Advance(nil, at(15))
			if got := core.Alive(); got != tt.want {
				t.Errorf("%d alive, want %d", got, tt.want)
			}
		})
	}
}
