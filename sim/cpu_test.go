package sim_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/sim"
	"coldwave/workload"
)

// crowd is a schedule whose requests share instances.
func crowd(concurrency int, d workload.Demand, instants ...time.Duration) *workload.Schedule {
	s := schedule(d, instants...)
	s.Function.Concurrency = concurrency
	return s
}

// wide keeps the widths of a run whose instances are there from the beginning.
func wide(n int) scheduler.Config { return scheduler.Config{Min: n, Max: n} }

var oneCPU = platform.Resources{MilliCPUs: 1000}

// TestSharedCPU: worked examples. The instance is ready at 500 ms; requests come at 1 s.
func TestSharedCPU(t *testing.T) {
	cpu := workload.Demand{Exec: 100 * ms, CPU: 100 * ms}
	half := workload.Demand{Exec: 200 * ms, CPU: 100 * ms, Pre: 6 * ms, Post: 4 * ms}
	at := func(d ...time.Duration) []time.Duration {
		for k := range d {
			d[k] += time.Second
		}
		return d
	}
	tests := []struct {
		name      string
		resources platform.Resources
		schedule  *workload.Schedule
		responses []time.Duration
		execs     []time.Duration
		used      time.Duration
	}{
		{"1 CPU, 4 bodies of 100 ms at once", oneCPU, crowd(4, cpu, at(0, 0, 0, 0)...),
			[]time.Duration{400 * ms, 400 * ms, 400 * ms, 400 * ms}, []time.Duration{400 * ms, 400 * ms, 400 * ms, 400 * ms}, 400 * ms},
		{"2 CPUs, 3 such", platform.Resources{MilliCPUs: 2000}, crowd(4, cpu, at(0, 0, 0)...),
			[]time.Duration{150 * ms, 150 * ms, 150 * ms}, []time.Duration{150 * ms, 150 * ms, 150 * ms}, 300 * ms},
		{"half of a body is waited for, and pre and post lie outside", oneCPU, crowd(4, half, at(0, 0)...),
			[]time.Duration{310 * ms, 310 * ms}, []time.Duration{300 * ms, 300 * ms}, 200 * ms},
		{"a slot is free a handover after a body that was slowed down", oneCPU, crowd(2, cpu, at(0, 0, 0)...),
			[]time.Duration{200 * ms, 200 * ms, 303 * ms}, []time.Duration{200 * ms, 200 * ms, 100 * ms}, 300 * ms},
		{"a later one slows an earlier one down", oneCPU, crowd(4, cpu, at(0, 50*ms)...),
			[]time.Duration{150 * ms, 150 * ms}, []time.Duration{150 * ms, 150 * ms}, 200 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := run(t, sim.Config{
				Schedule: tt.schedule, Policy: policy(t, "fixed"), Platform: simple{start: 500 * ms}, Handover: 3 * ms,
				Resources: tt.resources, Limits: wide(1),
			})
			for k, rec := range res.Records {
				if rec.Outcome != record.OK || rec.Response() != tt.responses[k] || rec.Server.Exec != tt.execs[k] {
					t.Errorf("request %d: %v after %v, %v of it in the body; want %v and %v", k, rec.Outcome, rec.Response(), rec.Server.Exec,
						tt.responses[k], tt.execs[k])
				}
			}
			if in := res.Instances[0]; in.CPU != tt.used {
				t.Errorf("the instance used %v, want %v", in.CPU, tt.used)
			}
		})
	}
}

// TestEnoughCPU: where CPU is never lacked a run is, to the nanosecond and decision by decision, the run without CPUs.
func TestEnoughCPU(t *testing.T) {
	for _, e := range policies.All() {
		for seed := range uint64(6) {
			d := rng.NewKey(seed, "enough").Draw(0)
			s := crowd(1+int(d.Int64N(5)), workload.Demand{})
			at := clock.Instant(0)
			for seq := range int64(400) {
				at += clock.Instant(d.Int64N(int64(40 * ms)))
				exec := time.Duration(d.Int64N(int64(200 * ms)))
				s.Arrivals = append(s.Arrivals, workload.Arrival{Seq: seq, At: at, Wave: -1,
					Demand: workload.Demand{Exec: exec, CPU: time.Duration(d.Int64N(1 + int64(exec)))}})
			}
			s.Length = time.Duration(at) + 1
			cfg := sim.Config{
				Schedule: s, Platform: simple{start: 300 * ms, failStart: map[int64]bool{3: true}}, Limits: scheduler.Config{Max: 8}, Trace: sim.Digest,
				Faults: scripted{leaves: map[int64]time.Duration{5: 30 * ms, 50: 10 * ms}, crashes: map[int64]time.Duration{2: time.Second}},
			}
			cfg.Policy = unsampled{policy(t, e.Name)}
			plain := run(t, cfg)
			cfg.Policy, cfg.Resources = unsampled{policy(t, e.Name)}, platform.Resources{MilliCPUs: 1000 * int64(s.Function.Concurrency)}
			shared := run(t, cfg)
			if plain.Digest != shared.Digest || !slices.Equal(plain.Records, shared.Records) {
				t.Fatalf("%s, seed %d: with enough CPU the run differs", e.Name, seed)
			}
			cfg.Policy, cfg.Resources.MilliCPUs = unsampled{policy(t, e.Name)}, 100
			if scarce := run(t, cfg); slices.Equal(plain.Records, scarce.Records) {
				t.Fatalf("%s, seed %d: with a tenth of a CPU the run is the same", e.Name, seed)
			}
		}
	}
}

// unsampled is a policy that is not sampled.
type unsampled struct{ scheduler.Policy }

// watcher notes the samples that a policy gets.
type watcher struct {
	scheduler.Policy
	wants bool
	seen  []seen
}

type seen struct {
	at    time.Duration
	inst  scheduler.InstanceID
	milli int64
}

func (p *watcher) Samples() bool { return p.wants }

func (p *watcher) Handle(c *scheduler.Control, ev scheduler.Event) {
	if ev.Kind == scheduler.Sample {
		p.seen = append(p.seen, seen{time.Duration(c.Now()), ev.Inst, ev.Value})
	}
	p.Policy.Handle(c, ev)
}

// TestSamples: at full seconds each ready instance is sampled, in order of id, while it serves.
func TestSamples(t *testing.T) {
	body := workload.Demand{Exec: 600 * ms, CPU: 600 * ms}
	cfg := sim.Config{
		Schedule: crowd(1, body, 0, 1500*ms), Platform: simple{start: 250 * ms}, Limits: wide(2),
		Resources: platform.Resources{MilliCPUs: 4000, Background: platform.Background{Milli: 100}},
		Faults:    scripted{crashes: map[int64]time.Duration{2: 2 * time.Second}, fails: map[int64]bool{3: true}},
	}
	cfg.Schedule.Length = 3500 * ms
	w := &watcher{Policy: policy(t, "fixed:start_retries=0"), wants: true}
	cfg.Policy = w
	run(t, cfg)
	want := []seen{ // ready at 250 ms; one body from 250 to 850 ms, one from 1500 to 2100 ms, both on instance 1; 2 ends at 2250 ms
		{time.Second, 1, 675}, {time.Second, 2, 75}, {2 * time.Second, 1, 600}, {2 * time.Second, 2, 100}, {3 * time.Second, 1, 200},
	}
	if !slices.Equal(w.seen, want) {
		t.Errorf("samples %v, want %v", w.seen, want)
	}
	deaf := &watcher{Policy: policy(t, "fixed")}
	cfg.Policy = deaf
	run(t, cfg)
	if len(deaf.seen) > 0 {
		t.Errorf("a policy that wants none gets %v", deaf.seen)
	}
	none := &watcher{Policy: policy(t, "fixed"), wants: true}
	cfg.Policy, cfg.Resources = none, platform.Resources{}
	run(t, cfg)
	if len(none.seen) > 0 {
		t.Errorf("instances without a model of CPU tell %v", none.seen)
	}
}

// TestFirstSampleOfTheSecond: an instance that becomes ready at a full second is sampled at the next one.
func TestFirstSampleOfTheSecond(t *testing.T) {
	w := &watcher{Policy: policy(t, "fixed"), wants: true}
	s := schedule(workload.Demand{Exec: ms}, 0)
	s.Length = 2500 * ms
	run(t, sim.Config{Schedule: s, Policy: w, Platform: simple{start: time.Second}, Limits: wide(1), Resources: oneCPU})
	if want := []seen{{2 * time.Second, 1, 0}}; !slices.Equal(w.seen, want) {
		t.Errorf("samples %v, want %v", w.seen, want)
	}
}

// TestOutOfMemory: the request beyond the limit ends the instance with all that is on it, by name, and another one starts.
func TestOutOfMemory(t *testing.T) {
	var codes []uint8
	res := run(t, sim.Config{
		Schedule: crowd(4, workload.Demand{Exec: time.Second, CPU: 10 * ms}, 1000*ms, 1100*ms, 1200*ms, 1300*ms), Policy: policy(t, "fixed"),
		Platform: simple{start: 500 * ms}, Limits: wide(1),
		Resources: platform.Resources{MilliCPUs: 1000, Memory: platform.Memory{Limit: 100, Base: 40, Request: 30}},
		Watch: func(s *sim.Step) {
			if !s.Advance && s.Event.Kind == scheduler.Failed {
				codes = append(codes, s.Event.Code)
			}
		},
	})
	for k, want := range []time.Duration{200*ms + 1, 100*ms + 1, 1, 400*ms + 1 + time.Second} {
		rec := res.Records[k]
		lost := rec.Outcome == record.HTTPError && rec.Status == 502
		if rec.Response() != want || lost != (k < 3) {
			t.Errorf("request %d: %v %d after %v, want %v, lost %v", k, rec.Outcome, rec.Status, rec.Response(), want, k < 3)
		}
	}
	in := res.Instances[0]
	if !in.Failed || in.Failure != record.OutOfMemory || in.Memory != 100 || in.Stopped != clock.Instant(1200*ms+1) {
		t.Errorf("the instance: %+v, want one that failed for its memory", in)
	}
	if next := res.Instances[1]; next.Failed || next.Failure != "" || next.Memory != 70 {
		t.Errorf("the next one: %+v, want one that served a request", next)
	}
	if !slices.Equal(codes, []uint8{scheduler.OutOfMemory}) {
		t.Errorf("codes of failures %v, want one for memory", codes)
	}
}

// TestLostOfShared: what a client sees when its instance ends, or when it leaves, while a body shares CPU. Two bodies of
// 100 ms begin at 1 s and end at 1.2 s.
func TestLostOfShared(t *testing.T) {
	tests := []struct {
		name    string
		faults  scripted
		outcome record.Outcome
		done    time.Duration
		other   time.Duration // end of the other body
	}{
		{"the instance crashes before they end", scripted{crashes: map[int64]time.Duration{1: 650 * ms}}, record.HTTPError, 1150 * ms, 1150 * ms},
		{"the instance crashes when they have ended", scripted{crashes: map[int64]time.Duration{1: 705 * ms}}, record.OK, 1200 * ms, 1200 * ms},
		{"a client leaves, and then the instance crashes", scripted{leaves: map[int64]time.Duration{0: 20 * ms}, crashes: map[int64]time.Duration{1: 650 * ms}},
			record.Canceled, 1020 * ms, 1150 * ms},
		{"a client leaves: its body goes on", scripted{leaves: map[int64]time.Duration{0: 20 * ms}}, record.Canceled, 1020 * ms, 1200 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := run(t, sim.Config{
				Schedule: crowd(2, workload.Demand{Exec: 100 * ms, CPU: 100 * ms}, time.Second, time.Second), Policy: policy(t, "fixed:start_retries=0"),
				Platform: simple{start: 500 * ms}, Limits: scheduler.Config{Min: 1, Max: 1}, Resources: oneCPU, Faults: tt.faults, Handover: 10 * ms,
			})
			if got := res.Records[0]; got.Outcome != tt.outcome || got.Done != clock.Instant(tt.done) {
				t.Errorf("%v at %v, want %v at %v", got.Outcome, got.Done, tt.outcome, tt.done)
			}
			if got := res.Records[1]; got.Done != clock.Instant(tt.other) {
				t.Errorf("the other at %v, want %v", got.Done, tt.other)
			}
		})
	}
}

// steady is a constant rate on instances of one CPU that serve 80 requests at once: 40 a second of 50 ms need two CPUs.
func steady(t *testing.T, spec string, concurrency int) sim.Result {
	t.Helper()
	var at []time.Duration
	for k := range 120 * 40 {
		at = append(at, time.Duration(k)*25*ms)
	}
	return run(t, sim.Config{
		Schedule: crowd(concurrency, workload.Demand{Exec: 50 * ms, CPU: 50 * ms}, at...), Policy: policy(t, spec), Platform: simple{start: 2 * time.Second},
		Limits: scheduler.Config{Min: 1, Max: 50}, Resources: oneCPU, Why: func(c uint8) string { return policies.Why(c).String() },
	})
}

// TestCPUDrivers: policies that scale on CPU reach what the documented formula gives for two CPUs in use.
func TestCPUDrivers(t *testing.T) {
	tests := []struct {
		spec   string
		reason string
		alive  int // at the end
	}{
		{"cloudrun:concurrency=false,act=false", "cpu", 4}, // 2 ÷ 0.6 = 3.33 (CR-2)
		{"cloudrun:concurrency=false,act=false,cpu_target=0.9", "cpu", 3},
		{"cloudrun:cpu=false,concurrency=false,act=false", "", 1}, // it has no driver
		{"hpa:concurrency_target=0,cpu_target=50,down_window=0s", "load", 4},
	}
	for _, tt := range tests {
		t.Run(tt.spec, func(t *testing.T) {
			res := steady(t, tt.spec, 10_000)
			alive, reasons := 0, map[string]int{}
			for _, in := range res.Instances {
				reasons[in.Reason]++
				if in.Stopped == clock.Never {
					alive++
				}
			}
			if alive != tt.alive || tt.reason != "" && reasons[tt.reason] == 0 {
				t.Errorf("%d alive at the end, starts by reason %v; want %d, by %q", alive, reasons, tt.alive, tt.reason)
			}
		})
	}
}

// TestACT: an instance that lacks CPU takes fewer and fewer requests at once, one less a second (CR-23), so that the others
// start; without ACT it takes all that it may.
func TestACT(t *testing.T) {
	peak := func(spec string) int {
		s := crowd(20, workload.Demand{Exec: 100 * ms, CPU: 100 * ms})
		for k := range int64(60 * 30) {
			s.Arrivals = append(s.Arrivals, workload.Arrival{Seq: k, At: clock.Instant(k) * clock.Instant(time.Second/30), Wave: -1, Demand: workload.Demand{Exec: 100 * ms, CPU: 100 * ms}})
		}
		s.Length = 60 * time.Second
		most := 0
		run(t, sim.Config{
			Schedule: s, Policy: policy(t, spec), Platform: simple{start: 500 * ms}, Limits: wide(1), Resources: oneCPU,
			Watch: func(s *sim.Step) {
				if s.At >= clock.Instant(30*time.Second) && s.At < clock.Instant(59*time.Second) {
					most = max(most, s.Core.InFlight(1))
				}
			},
		})
		return most
	}
	if with, without := peak("cloudrun"), peak("cloudrun:act=false"); with != 1 || without != 20 {
		t.Errorf("at most %d in flight with ACT and %d without, want 1 and 20", with, without)
	}
}

// TestBadResources: resources that no instance can have are refused.
func TestBadResources(t *testing.T) {
	_, err := sim.Run(sim.Config{Schedule: schedule(demand, 0), Policy: deaf{}, Platform: simple{}, Resources: platform.Resources{MilliCPUs: -1}})
	if !errors.Is(err, sim.ErrConfig) || !errors.Is(err, platform.ErrProfile) {
		t.Errorf("Run = %v, want ErrConfig", err)
	}
}

// BenchmarkShared measures a run whose instances share CPU, by how many bodies are on one.
func BenchmarkShared(b *testing.B) {
	for _, n := range []int{1, 10, 80} {
		b.Run(fmt.Sprintf("concurrency=%d", n), func(b *testing.B) {
			s := crowd(n, workload.Demand{Exec: 50 * ms, CPU: 50 * ms})
			for k := range int64(100_000) {
				s.Arrivals = append(s.Arrivals, workload.Arrival{Seq: k, At: clock.Instant(k) * clock.Instant(ms), Wave: -1, Demand: workload.Demand{Exec: 50 * ms, CPU: 50 * ms}})
			}
			s.Length = 100 * time.Second
			for b.Loop() {
				tally := sim.NewTally(time.Hour)
				_, err := sim.Run(sim.Config{Schedule: s, Policy: policy(b, "fixed"), Platform: simple{start: ms}, Limits: wide(60), Resources: oneCPU, Tally: tally})
				if err != nil || tally.Requests() != 100_000 {
					b.Fatal(cmp.Or(err, errors.New("requests are missing")))
				}
			}
			b.ReportMetric(float64(b.N)*100_000/b.Elapsed().Seconds(), "requests/s")
		})
	}
}
