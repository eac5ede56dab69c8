package sim_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/sim"
	"coldwave/workload"
)

const ms = time.Millisecond

// simple is a platform whose starts take a time, and fail as told.
type simple struct {
	start     time.Duration
	failStart map[int64]bool
	failBody  map[int64]bool
}

func (p simple) StartUp(instance int64, _ workload.Demand) platform.StartUp {
	return platform.StartUp{Total: p.start, Fails: p.failStart[instance]}
}

func (p simple) RequestFails(seq int64) bool { return p.failBody[seq] }

// schedule has an arrival at each instant, all with one demand.
func schedule(d workload.Demand, instants ...time.Duration) *workload.Schedule {
	s := &workload.Schedule{Function: workload.Function{Name: "f", Concurrency: 1}}
	for k, at := range instants {
		s.Arrivals = append(s.Arrivals, workload.Arrival{Seq: int64(k), At: clock.Instant(at), Wave: -1, Demand: d})
		s.Length = at + 1
	}
	return s
}

func policy(t testing.TB, spec string) scheduler.Policy {
	t.Helper()
	p, err := policies.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func run(t *testing.T, cfg sim.Config) sim.Result {
	t.Helper()
	res, err := sim.Run(cfg)
	if err != nil {
		t.Fatalf("Run = %v", err)
	}
	return res
}

var demand = workload.Demand{Exec: 100 * ms, Pre: 6 * ms, Post: 4 * ms}

// TestTimes: where each part of a request's time goes. Pre is before the scheduler, Post after the body, and the slot is
// free a handover after the body.
func TestTimes(t *testing.T) {
	res := run(t, sim.Config{
		Schedule: schedule(demand, 0, 1*ms, 2000*ms), Policy: policy(t, "fc-race"), Platform: simple{start: 500 * ms},
		Handover: 3 * ms, Limits: scheduler.Config{Max: 1},
	})
	tests := []struct {
		name              string
		done              time.Duration
		queue, init, exec time.Duration
		start             record.StartKind
		by                record.StartBy
	}{
		{"cold: pre, its start, body, post", 610 * ms, 0, 500 * ms, 100 * ms, record.Cold, record.ByOwn},
		{"queued: the other's start, its body and the handover", 713 * ms, 103 * ms, 499 * ms, 100 * ms, record.Queued, record.ByNone},
		{"warm", 2110 * ms, 0, 0, 100 * ms, record.Warm, record.ByNone},
	}
	for k, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := res.Records[k]
			want := record.Record{
				Seq: int64(k), Wave: -1, Intended: got.Intended, Sent: got.Intended, FirstByte: clock.Instant(tt.done),
				Done: clock.Instant(tt.done), Outcome: record.OK, Status: 200, Attempt: 1,
				Server: record.Server{
					Queue: tt.queue, Init: tt.init, Exec: tt.exec, Instance: "1", Start: tt.start, StartBy: tt.by,
					Source: record.FromPlatform,
				},
			}
			if got != want {
				t.Errorf("record = %+v, want %+v", got, want)
			}
		})
	}
	life := record.Instance{
		ID: 1, Cause: "sim-0", First: "sim-0", Started: clock.Instant(6 * ms), Ready: clock.Instant(506 * ms), Stopped: clock.Never,
		Served: 3, Busy: 309 * ms,
	}
	if len(res.Instances) != 1 || res.Instances[0] != life {
		t.Errorf("instances = %+v, want %+v", res.Instances, life)
	}
}

// TestOutcomes: what a client sees of what goes wrong.
func TestOutcomes(t *testing.T) {
	tests := []struct {
		name, policy string
		platform     simple
		limit        int
		outcome      record.Outcome
		status       int
		start        record.StartKind
		done         time.Duration
	}{
		{"the body fails", "fc-race", simple{start: 1, failBody: map[int64]bool{0: true}}, 1, record.HTTPError, 500, record.Cold, 110*ms + 1},
		{"the quota is 0: an answer at once, from the edge", "fc-race", simple{}, 0, record.Rejected, 503, record.Edge, 6 * ms},
		{"the start fails twice", "fc-bound", simple{start: 1000 * ms, failStart: map[int64]bool{1: true, 2: true}}, 1,
			record.Rejected, 503, record.Edge, 2006 * ms},
		{"the start fails, and its status is no refusal", "lambda", simple{start: 1000 * ms, failStart: map[int64]bool{1: true}}, 1,
			record.HTTPError, 500, record.Edge, 1006 * ms},
		{"it is throttled", "lambda:scaling_rate=0", simple{}, 1, record.Rejected, 429, record.Edge, 6 * ms},
		{"it waits too long", "fc-race:wait_timeout=2s", simple{start: time.Hour}, 1, record.Rejected, 503, record.Edge, 2006 * ms},
		{"delays of nothing take a nanosecond", "fc-race", simple{}, 1, record.OK, 200, record.Cold, 110*ms + 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := run(t, sim.Config{
				Schedule: schedule(demand, 0), Policy: policy(t, tt.policy), Platform: tt.platform, Limits: scheduler.Config{Max: tt.limit},
			})
			got := res.Records[0]
			if got.Outcome != tt.outcome || got.Status != tt.status || got.Server.Start != tt.start || got.Done != clock.Instant(tt.done) {
				t.Errorf("%v %d %v at %v, want %v %d %v at %v", got.Outcome, got.Status, got.Server.Start, got.Done,
					tt.outcome, tt.status, tt.start, clock.Instant(tt.done))
			}
			if want := got.Done.Sub(clock.Instant(6 * ms)); got.Server.Start == record.Edge && got.Server.Wait() != want {
				t.Errorf("waited %v, want %v: all the time since it arrived", got.Server.Wait(), want)
			}
		})
	}
}

// TestFailedStart: a start that fails ends its instance, which never was ready.
func TestFailedStart(t *testing.T) {
	res := run(t, sim.Config{
		Schedule: schedule(demand, 0), Policy: policy(t, "fc-race"), Limits: scheduler.Config{Max: 1}, Run: "r7",
		Platform: simple{start: 50 * ms, failStart: map[int64]bool{1: true}},
	})
	want := []record.Instance{
		{ID: 1, Cause: "r7-0", Started: clock.Instant(6 * ms), Ready: clock.Never, Stopped: clock.Instant(56 * ms), Failed: true},
		{ID: 2, Cause: "r7-0", First: "r7-0", Started: clock.Instant(56 * ms), Ready: clock.Instant(106 * ms), Stopped: clock.Never, Served: 1, Busy: 100 * ms},
	}
	if !slices.Equal(res.Instances, want) {
		t.Errorf("instances = %+v, want %+v", res.Instances, want)
	}
}

// TestRunsToItsLength: idle instances are reclaimed as long as the schedule lasts, and what starts becomes ready.
func TestRunsToItsLength(t *testing.T) {
	s := schedule(demand, 0)
	tests := []struct {
		length  time.Duration
		stopped clock.Instant
		end     clock.Instant
	}{
		{time.Second, clock.Never, clock.Instant(107 * ms)},
		{20 * time.Second, clock.Instant(11 * time.Second), clock.Instant(11 * time.Second)},
	}
	for _, tt := range tests {
		s.Length = tt.length
		res := run(t, sim.Config{
			Schedule: s, Policy: policy(t, "fc-race:idle_timeout=10s"), Platform: simple{start: 1 * ms}, Limits: scheduler.Config{Max: 1},
		})
		if got := res.Instances[0].Stopped; got != tt.stopped || res.End != tt.end {
			t.Errorf("length %v: stopped %v, end %v; want %v, %v", tt.length, got, res.End, tt.stopped, tt.end)
		}
	}
}

// TestStuck: a policy that lets requests wait for nothing is found, by both ways in which time can run out.
func TestStuck(t *testing.T) {
	for _, patience := range []time.Duration{0, time.Minute} {
		_, err := sim.Run(sim.Config{
			Schedule: schedule(demand, 0), Policy: deaf{ticks: patience == 0}, Platform: simple{}, Limits: scheduler.Config{Max: 1},
			Patience: patience,
		})
		if !errors.Is(err, sim.ErrStuck) {
			t.Errorf("patience %v: Run = %v, want ErrStuck", patience, err)
		}
	}
}

// deaf lets everything wait without end.
type deaf struct{ ticks bool }

func (p deaf) Handle(c *scheduler.Control, ev scheduler.Event) {
	switch ev.Kind {
	case scheduler.Configure:
		if p.ticks {
			c.Every(1, clock.Instant(time.Minute))
		}
	case scheduler.Arrival:
		c.Queue(ev.Req, clock.Never)
	default:
	}
}

// TestBadConfig: what cannot run is refused before it begins.
func TestBadConfig(t *testing.T) {
	good := sim.Config{Schedule: schedule(demand, 0), Policy: deaf{}, Platform: simple{}}
	tests := []struct {
		name  string
		spoil func(*sim.Config)
	}{
		{"no schedule", func(c *sim.Config) { c.Schedule = nil }},
		{"no policy", func(c *sim.Config) { c.Policy = nil }},
		{"no platform", func(c *sim.Config) { c.Platform = nil }},
		{"negative handover", func(c *sim.Config) { c.Handover = -1 }},
		{"negative patience", func(c *sim.Config) { c.Patience = -1 }},
		{"min above max", func(c *sim.Config) { c.Limits.Min = 1 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := good
			tt.spoil(&cfg)
			if _, err := sim.Run(cfg); !errors.Is(err, sim.ErrConfig) {
				t.Errorf("Run = %v, want ErrConfig", err)
			}
		})
	}
}

// poisson is a schedule of n requests at a rate, with the demands of the platform.
func poisson(d platform.Draws, n int, gap time.Duration) *workload.Schedule {
	s := &workload.Schedule{Function: d.Profile().Function}
	at := clock.Instant(0)
	for k := range int64(n) {
		at = at.Add(gap/2 + time.Duration(k*7919%int64(gap)))
		s.Arrivals = append(s.Arrivals, workload.Arrival{Seq: k, At: at, Wave: -1, Demand: d.Demand(k)})
	}
	s.Length = time.Duration(at) + 1
	return s
}

// TestSameSeedSameBytes: a run is a function of its configuration; another seed gives other decisions.
func TestSameSeedSameBytes(t *testing.T) {
	digest := func(seed uint64, trace sim.Trace) ([32]byte, sim.Result) {
		p := platform.Default()
		p.FailRatio = 0.1
		d := p.Draws(seed)
		res := run(t, sim.Config{
			Schedule: poisson(d, 2000, 30*ms), Policy: policy(t, "fc-race"), Platform: d,
			Limits: scheduler.Config{Max: 40}, Trace: trace,
		})
		return res.Digest, res
	}
	one, first := digest(1, sim.Actions)
	two, second := digest(1, sim.Digest)
	other, _ := digest(2, sim.Digest)
	if one != two || one == other || one == [32]byte{} {
		t.Errorf("digests %x, %x, of another seed %x; want the same, and another", one[:4], two[:4], other[:4])
	}
	if !slices.Equal(first.Records, second.Records) || !slices.Equal(first.Instances, second.Instances) {
		t.Error("two runs of one seed give different records")
	}
	if len(first.Actions) == 0 || len(second.Actions) != 0 {
		t.Errorf("%d and %d actions are kept, want some and none", len(first.Actions), len(second.Actions))
	}
	if none, _ := digest(1, sim.NoTrace); none != [32]byte{} {
		t.Errorf("digest without a trace = %x, want zero", none[:4])
	}
}

// TestObserve: records may be taken as they are made instead of being kept; they are the same ones.
func TestObserve(t *testing.T) {
	d := platform.Default().Draws(3)
	cfg := sim.Config{Schedule: poisson(d, 500, 30*ms), Policy: policy(t, "fc-bound"), Platform: d, Limits: scheduler.Config{Max: 20}}
	kept := run(t, cfg).Records
	cfg.Policy = policy(t, "fc-bound")
	seen := make([]record.Record, len(kept))
	cfg.Observe = func(r *record.Record) { seen[r.Seq] = *r }
	if res := run(t, cfg); res.Records != nil || !slices.Equal(seen, kept) {
		t.Error("the observed records differ from the kept ones")
	}
}

// TestBooks: over many seeds no request is lost, the parts of each time add up, and instances and records tell the same.
// $SEEDS sets how many.
func TestBooks(t *testing.T) {
	seeds, err := strconv.ParseUint(os.Getenv("SEEDS"), 10, 64)
	if err != nil {
		seeds = 40
	}
	for seed := range seeds {
		p := platform.Default()
		p.FailRatio, p.ErrorRatio, p.Handover = 0.2, 0.1, time.Duration(seed%3)*ms
		d := p.Draws(seed)
		s := poisson(d, 300, []time.Duration{5 * ms, 40 * ms, 300 * ms}[seed%3])
		spec := []string{"fc-race", "fc-bound", "fc-race:start_per_request=true,wait_timeout=3s"}[seed/3%3]
		res := run(t, sim.Config{
			Schedule: s, Policy: policy(t, spec), Platform: d, Handover: p.Handover, Limits: scheduler.Config{Max: 5 + int(seed%40)},
		})
		if err := audit(s, res); err != nil {
			t.Fatalf("seed %d, %s: %v", seed, spec, err)
		}
	}
}

// audit checks the records of a run against its schedule and its instances.
func audit(s *workload.Schedule, res sim.Result) error {
	answered := 0
	for k := range res.Records {
		r, demand := &res.Records[k], s.Arrivals[k].Demand
		switch r.Outcome {
		case record.OK, record.HTTPError:
			answered++
			if sum := demand.Overhead() + r.Server.Wait() + r.Server.Exec; r.Response() != sum {
				return fmt.Errorf("request %d took %v, its parts sum to %v", k, r.Response(), sum)
			}
		case record.Rejected:
			if sum := demand.Pre + r.Server.Wait(); r.Response() != sum || r.Server.Instance != "" {
				return fmt.Errorf("request %d was rejected after %v, its parts sum to %v", k, r.Response(), sum)
			}
		default:
			return fmt.Errorf("request %d has the outcome %v", k, r.Outcome)
		}
		if r.Seq != int64(k) || r.Server.Queue < 0 || r.Server.Init < 0 {
			return fmt.Errorf("request %d = %+v", k, *r)
		}
	}
	for _, in := range res.Instances {
		answered -= in.Served
		if up := max(0, min(in.Stopped, res.End).Sub(min(in.Ready, res.End))); in.Busy > up || in.Failed && in.Served > 0 {
			return fmt.Errorf("instance %+v was busy longer than the %v that it was up", in, up)
		}
	}
	if answered != 0 {
		return fmt.Errorf("records and instances differ by %d answers", answered)
	}
	return nil
}

// TestAuditBites: a run whose books were spoiled does not pass.
func TestAuditBites(t *testing.T) {
	d := platform.Default().Draws(1)
	s := poisson(d, 100, 30*ms)
	tests := []struct {
		name  string
		spoil func(*sim.Result)
	}{
		{"a time that is too short", func(r *sim.Result) { r.Records[3].Done-- }},
		{"a lost request", func(r *sim.Result) { r.Records[3] = record.Record{} }},
		{"an answer of nobody", func(r *sim.Result) { r.Instances[0].Served-- }},
		{"an instance busier than it was up", func(r *sim.Result) { r.Instances[0].Busy = time.Hour }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := run(t, sim.Config{Schedule: s, Policy: policy(t, "fc-race"), Platform: d, Limits: scheduler.Config{Max: 9}})
			if err := audit(s, res); err != nil {
				t.Fatal(err)
			}
			tt.spoil(&res)
			if audit(s, res) == nil {
				t.Error("audit finds nothing wrong")
			}
		})
	}
}

// TestOneServer is the D/D/1 queue: with a gap shorter than the body each request waits longer than the one before by
// the difference, exactly; with a longer gap none waits.
func TestOneServer(t *testing.T) {
	for _, gap := range []time.Duration{70 * ms, 100 * ms, 130 * ms} {
		var instants []time.Duration
		for k := range 50 {
			instants = append(instants, time.Second+time.Duration(k)*gap)
		}
		res := run(t, sim.Config{
			Schedule: schedule(workload.Demand{Exec: 100 * ms}, append([]time.Duration{0}, instants...)...),
			Policy:   policy(t, "fc-race"), Platform: simple{start: 500 * ms}, Limits: scheduler.Config{Max: 1},
		})
		for k := range instants {
			want := time.Duration(k) * max(0, 100*ms-gap)
			if got := res.Records[k+1].Server.Queue; got != want {
				t.Errorf("gap %v: request %d waited %v, want %v", gap, k+1, got, want)
			}
		}
	}
}
