package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/fleet/worker"
	"coldwave/internal/clock"
	"coldwave/patterns"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/sim"
	"coldwave/workload"
)

// workers serves instances by the fake worker itself, whose bodies share CPUs.
func (b *bubble) workers(p platform.Profile) {
	b.fleet.draw = func(r StartRequest) platform.StartUp { return p.Draws(1).StartUp(int64(r.Instance), r.Demand) }
	b.fleet.serve = func(id scheduler.InstanceID, ready clock.Instant) http.Handler {
		h, err := worker.New(worker.Config{
			Name: strconv.Itoa(int(id)), Clock: b.clock, Concurrency: p.Function.Concurrency, Resources: p.Resources, Ready: ready,
			Die: func(err error) {
				b.fleet.all.Go(func() { // a worker does not wait until somebody has heard of its end
					_ = b.fleet.Stop(b.t.Context(), id, 0)
					b.fleet.lost <- Loss{Instance: id, Err: fmt.Errorf("instance %d: %w", id, err)}
				})
			},
		})
		if err != nil {
			b.t.Error(err)
		}
		return h
	}
}

// rising is a rate that rises: a policy on CPU has to start instances.
func rising(t *testing.T, p platform.Profile) *workload.Schedule {
	t.Helper()
	ramp, err := patterns.Parse("ramp.yaml", []byte("{kind: ramp, from: 2/s, to: 60/s, duration: 40s}"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := workload.Build(workload.Source{Process: ramp, Demands: p.Draws(1), Function: p.Function, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sharing is a platform whose instances have a CPU each.
func sharing(t *testing.T, settings ...string) platform.Profile {
	t.Helper()
	p := platform.Default()
	p.Cold = platform.Constant(2 * time.Second)
	for pair := range slices.Chunk(settings, 2) {
		if err := p.Set(pair[0], pair[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestParityOfCPU: over HTTP, with workers that tell their load at each full second, policies on CPU decide what they decide
// in virtual time, at the same nanoseconds, and instances use as much.
func TestParityOfCPU(t *testing.T) {
	cpu := []string{"cpus", "1", "cpu", "50ms", "exec", "50ms", "concurrency", "20"}
	tests := []struct {
		policy   string
		settings []string
		reason   string // of some start
	}{
		{"cloudrun", cpu, "cpu"},
		{"cloudrun:concurrency=false,act=false", cpu, "cpu"},
		{"cloudrun", append(slices.Clone(cpu), "background", "0.1", "background-peak", "0.3:1s/7s"), "cpu"},
		{"hpa:cpu_target=60,concurrency_target=0", cpu, "load"},
	}
	for _, tt := range tests {
		t.Run(tt.policy, func(t *testing.T) {
			p := sharing(t, tt.settings...)
			s := rising(t, p)
			limits := scheduler.Config{Max: 20, Limit: int32(p.Function.Concurrency)}
			want, err := sim.Run(sim.Config{Schedule: s, Policy: mustPolicy(tt.policy), Limits: limits, Platform: p.Draws(1),
				Resources: p.Resources, Trace: sim.Actions, Why: why})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(want.Instances, func(in record.Instance) bool { return in.Reason == tt.reason }) {
				t.Fatalf("no start for %q: %+v", tt.reason, want.Instances)
			}
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, bubbleConfig{policy: mustPolicy(tt.policy), core: limits})
				defer b.end()
				b.workers(p)
				replies := replay(b, s)
				compareDecisions(t, b, want.Actions)
				for k, r := range replies {
					if rec := want.Records[k]; r.err != nil || r.status != rec.Status || r.took != rec.Response() {
						t.Fatalf("request %d: %d after %v %v, the simulator says %d after %v", k, r.status, r.took, r.err, rec.Status, rec.Response())
					}
					if r.header.Get(record.LoadHeader) != "" {
						t.Fatalf("request %d: the client got the load report %q", k, r.header.Get(record.LoadHeader))
					}
				}
				for k, in := range b.g.Instances() {
					if in.CPU == 0 || in.CPU > want.Instances[k].CPU {
						t.Errorf("instance %d used %v, the simulator says %v at its end", in.ID, in.CPU, want.Instances[k].CPU)
					}
				}
			})
		})
	}
}

// compareDecisions fails the test if the gateway decided otherwise.
func compareDecisions(t *testing.T, b *bubble, want []scheduler.Action) {
	t.Helper()
	made, _ := b.g.services[0].made.last(1 << 20)
	var got []scheduler.Action
	for _, d := range made {
		got = append(got, d.Action)
	}
	for k := range min(len(got), len(want)) {
		if got[k] != want[k] {
			t.Fatalf("decision %d: %v at %v, the simulator's is %v at %v", k, got[k], got[k].At, want[k], want[k].At)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d decisions, the simulator has %d", len(got), len(want))
	}
}

// TestOutOfMemoryBehindGateway: an instance that runs out of memory is named in the books, and the core learns why.
func TestOutOfMemoryBehindGateway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &witness{Policy: mustPolicy("fixed:instances=1,start_retries=0")}
		b := newBubble(t, bubbleConfig{policy: w, core: scheduler.Config{Min: 1, Max: 1, Limit: 5}})
		b.workers(sharing(t, "concurrency", "5", "memory", "100", "memory-base", "40", "memory-request", "30"))
		b.until(3 * time.Second)
		replies := b.wave("w", 3, workload.Demand{Exec: time.Second})
		for k, r := range replies {
			if r.status != http.StatusBadGateway && r.status != http.StatusServiceUnavailable {
				t.Errorf("request %d: status %d %v, want 502, or 503 of the worker itself", k, r.status, r.err)
			}
		}
		settle()
		b.end() // and with it the loop, whose notes are read below
		in := b.g.Instances()[0]
		if !in.Failed || in.Failure != record.OutOfMemory || w.failed != scheduler.OutOfMemory {
			t.Errorf("instance %+v, code %d: want one that failed for its memory", in, w.failed)
		}
	})
}

// TestSamplesAreAskedFor: a policy that does not want samples leaves instances alone, and one that does asks a worker that
// cannot tell only once.
func TestSamplesAreAskedFor(t *testing.T) {
	for _, c := range []struct {
		policy string
		status int
		body   string
		want   int // questions to one instance in five seconds
	}{
		{"fixed:instances=1", 200, `{"age_ns":1,"cpu_ns":1}`, 0},
		{"cloudrun", 200, "ok\n", 1},
		{"cloudrun", 404, "", 1},
		{"cloudrun", 200, `{"age_ns":1,"cpu_ns":null}`, 1},
		{"cloudrun", 200, `{"age_ns":1,"cpu_ns":1}`, 5},
	} {
		t.Run(fmt.Sprintf("%s %d %s", c.policy, c.status, c.body), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, bubbleConfig{policy: mustPolicy(c.policy), core: scheduler.Config{Min: 1, Max: 1}, cold: 100 * time.Millisecond})
				asked := 0
				b.fleet.serve = func(scheduler.InstanceID, clock.Instant) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if r.URL.Path == record.LoadPath {
							asked++
						}
						w.WriteHeader(c.status)
						_, _ = w.Write([]byte(c.body))
					})
				}
				b.until(5500 * time.Millisecond)
				settle()
				b.end() // and with it whoever asks
				if asked != c.want {
					t.Errorf("asked %d times, want %d", asked, c.want)
				}
			})
		})
	}
}

// TestSampleOfSlowInstance: an instance that does not answer in time is asked again, and holds up nobody.
func TestSampleOfSlowInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &witness{Policy: mustPolicy("cloudrun")}
		b := newBubble(t, bubbleConfig{policy: w, core: scheduler.Config{Min: 2, Max: 2}, cold: 100 * time.Millisecond})
		b.fleet.serve = func(id scheduler.InstanceID, ready clock.Instant) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if id == 1 {
					<-r.Context().Done()
					return
				}
				_, _ = fmt.Fprintf(w, `{"age_ns":%d,"cpu_ns":%d}`, b.clock.Now()-ready, (b.clock.Now()-ready)/4)
			})
		}
		b.until(4500 * time.Millisecond)
		settle()
		b.end() // and with it the loop, whose notes are read below
		if diff := cmp.Diff([]int64{225, 250, 250, 250}, w.samples); diff != "" {
			t.Errorf("samples of the other (-want +got):\n%s", diff)
		}
	})
}
