package worker_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/fleet/worker"
	"coldwave/internal/realclock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/workload"
)

// together sends requests at once, and returns how long each took, in order of the demands.
func together(t *testing.T, h http.Handler, demands ...string) []time.Duration {
	t.Helper()
	took := make([]time.Duration, len(demands))
	var all sync.WaitGroup
	for k, d := range demands {
		all.Go(func() {
			began := time.Now()
			if w := serve(h, request("GET", "/", workload.DemandHeader, d)); w.Code != http.StatusOK {
				t.Errorf("request %d: status %d", k, w.Code)
			}
			took[k] = time.Since(began)
		})
	}
	all.Wait()
	return took
}

// TestSharedCPU: bodies on one worker share its CPUs, to the nanosecond as in the model.
func TestSharedCPU(t *testing.T) {
	ms := time.Millisecond
	rows := []struct {
		name    string
		r       platform.Resources
		demands []string
		want    []time.Duration
	}{
		{"1 CPU, 4 bodies of 100 ms", platform.Resources{MilliCPUs: 1000}, slices.Repeat([]string{"exec=100ms;cpu=100ms"}, 4), slices.Repeat([]time.Duration{400 * ms}, 4)},
		{"2 CPUs, 3 such", platform.Resources{MilliCPUs: 2000}, slices.Repeat([]string{"exec=100ms;cpu=100ms"}, 3), slices.Repeat([]time.Duration{150 * ms}, 3)},
		{"they wait beside each other", platform.Resources{MilliCPUs: 1000}, []string{"exec=100ms", "exec=250ms;cpu=50ms"}, []time.Duration{100 * ms, 250 * ms}},
		{"a demand of nothing", platform.Resources{MilliCPUs: 1000}, []string{"exec=0s", "exec=30ms;cpu=10ms"}, []time.Duration{0, 30 * ms}},
		{"without a model the CPU time is no matter", platform.Resources{}, slices.Repeat([]string{"exec=100ms;cpu=100ms"}, 4), slices.Repeat([]time.Duration{100 * ms}, 4)},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newWorker(t, func(c *worker.Config) { c.Concurrency, c.Resources = 10, row.r })
				if got := together(t, h, row.demands...); !slices.Equal(got, row.want) {
					t.Errorf("bodies took %v, want %v", got, row.want)
				}
				if got := together(t, h, row.demands...); !slices.Equal(got, row.want) {
					t.Errorf("the second time bodies took %v, want %v", got, row.want)
				}
			})
		})
	}
}

// TestStatedByNobody: a request that states nothing has the CPU time of the worker's setting, and its execution time.
func TestStatedByNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newWorker(t, func(c *worker.Config) {
			c.Concurrency, c.Resources, c.CPU = 4, platform.Resources{MilliCPUs: 500}, platform.Cost{Share: 400}
		})
		began := time.Now()
		serve(h, request("GET", "/"))
		if got := time.Since(began); got != 140*time.Millisecond { // 60 ms of waiting, 40 ms of CPU on a half
			t.Errorf("it took %v, want 140ms", got)
		}
		began = time.Now()
		serve(h, request("GET", "/sleep/30"))
		if got := time.Since(began); got != 30*time.Millisecond {
			t.Errorf("a sleep took %v, want 30ms: it computes nothing", got)
		}
	})
}

// TestLeaverFreesCPU: the body of a client that has gone computes no more.
func TestLeaverFreesCPU(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newWorker(t, func(c *worker.Config) { c.Concurrency, c.Resources = 2, platform.Resources{MilliCPUs: 1000} })
		ctx, leave := context.WithCancel(t.Context())
		var both sync.WaitGroup
		both.Go(func() {
			serve(h, request("GET", "/", workload.DemandHeader, "exec=100ms;cpu=100ms").WithContext(ctx))
		})
		both.Go(func() {
			time.Sleep(50 * time.Millisecond)
			leave()
		})
		if got := together(t, h, "exec=100ms;cpu=100ms")[0]; got != 125*time.Millisecond {
			t.Errorf("the other took %v, want 125ms: a half until 50 ms, then all", got)
		}
		both.Wait()
		if s := h.Stats(); s.Canceled != 1 || s.Finished != 1 || s.InFlight != 0 {
			t.Errorf("stats %+v, want one canceled and one finished", s)
		}
	})
}

// TestOutOfMemory: the request beyond the limit is refused by name, and the worker is told to die.
func TestOutOfMemory(t *testing.T) {
	for _, mode := range worker.CPUModes() {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var why error
				h := newWorker(t, func(c *worker.Config) {
					c.Concurrency, c.Mode, c.Die = 4, mode, func(err error) { why = err }
					c.Resources.Memory = platform.Memory{Limit: 100, Base: 50, Request: 30}
				})
				var first sync.WaitGroup
				first.Go(func() { together(t, h, "exec=100ms") })
				synctest.Wait()
				w := serve(h, request("GET", "/"))
				if w.Code != http.StatusServiceUnavailable || w.Header().Get(worker.ReasonHeader) != "memory_limit" || !errors.Is(why, platform.ErrMemory) {
					t.Errorf("answer %d %q, dies of %v; want 503 memory_limit and ErrMemory", w.Code, w.Header().Get(worker.ReasonHeader), why)
				}
				first.Wait()
				if l := h.Load(); l.Memory != 50 || l.MemoryPeak != 80 {
					t.Errorf("load %+v, want 50 bytes, and 80 at the most", l)
				}
			})
		})
	}
}

// metrics reads a load report in the text form of ORCA.
func metrics(t *testing.T, header string) map[string]float64 {
	t.Helper()
	text, found := strings.CutPrefix(header, "TEXT ")
	if !found {
		t.Fatalf("report %q, want the text form", header)
	}
	out := map[string]float64{}
	for item := range strings.SplitSeq(text, ",") {
		name, value, found := strings.Cut(item, "=")
		v, err := strconv.ParseFloat(value, 64)
		if _, twice := out[name]; !found || err != nil || twice || v < 0 {
			t.Fatalf("report %q: bad item %q", header, item)
		}
		out[name] = v
	}
	return out
}

// TestLoadReport: each answer reports the load of the last second or two, and LoadPath tells the counters.
func TestLoadReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clk := realclock.Timers(time.Now())
		ready := clk.Now()
		h := newWorker(t, func(c *worker.Config) {
			c.Clock, c.Ready, c.Concurrency = clk, ready, 4
			c.Resources = platform.Resources{MilliCPUs: 2000, Sidecar: 2000, Memory: platform.Memory{Limit: 1000, Base: 200, Request: 100}}
		})
		if err := clk.WaitUntil(t.Context(), ready.Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		together(t, h, "exec=500ms;cpu=500ms", "exec=500ms;cpu=500ms")
		w := serve(h, request("GET", "/", workload.DemandHeader, "exec=500ms"))
		got := metrics(t, w.Header().Get(record.LoadHeader))
		// The report is of the two seconds since the last one that was a second before another: two CPUs were used for half a
		// second, 1 of 8 CPU-seconds. Its own body is over, and its slot is not free yet.
		want := map[string]float64{"cpu_utilization": 0.125, "mem_utilization": 0.2, "application_utilization": 0.25, "rps_fractional": 1, "eps": 0}
		for name, v := range want {
			if got[name] != v {
				t.Errorf("%s = %v, want %v (%v)", name, got[name], v, got)
			}
		}
		load := serve(h, request("GET", record.LoadPath))
		l, err := record.ParseLoad(load.Body.Bytes())
		if err != nil || l.CPU == nil || *l.CPU != int64(time.Second) || l.Age != int64(2*time.Second) || l.Served != 3 || l.InFlight != 0 || l.Concurrency != 4 {
			t.Errorf("load %s, %v: want 1 s of CPU in 2 s, 3 served", load.Body, err)
		}
	})
}

// TestLoadWithoutModel: a worker that does not know its CPU says so, and reports the rest.
func TestLoadWithoutModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newWorker(t, func(c *worker.Config) { c.Concurrency = 4 })
		time.Sleep(time.Second)
		w := serve(h, request("GET", "/"))
		got := metrics(t, w.Header().Get(record.LoadHeader))
		if _, told := got["cpu_utilization"]; told || got["application_utilization"] != 0.25 {
			t.Errorf("report %v, want no CPU and a quarter of the slots", got)
		}
		if l, err := record.ParseLoad(serve(h, request("GET", record.LoadPath)).Body.Bytes()); err != nil || l.CPU != nil || l.Served != 1 {
			t.Errorf("load %+v, %v, want no CPU and one served", l, err)
		}
	})
}

// TestBurn: the CPU time of a body is really computed, no less than asked for, and measured; a worker of a half CPU takes
// twice as long at least.
func TestBurn(t *testing.T) {
	const cpu = 30 * time.Millisecond
	clk := realclock.New(time.Now())
	for _, row := range []struct {
		name    string
		r       platform.Resources
		longest time.Duration // the wall time is at least so much
	}{
		{"a whole CPU", platform.Resources{MilliCPUs: 1000}, 2 * cpu},
		{"a half", platform.Resources{MilliCPUs: 500}, 4 * cpu},
		{"two threads on two CPUs", platform.Resources{MilliCPUs: 2000, Threads: 2}, cpu},
		{"two threads of one process thread", platform.Resources{MilliCPUs: 2000, Threads: 2, Process: 1}, 2 * cpu},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := newWorker(t, func(c *worker.Config) {
				c.Clock, c.Ready, c.Concurrency, c.Mode, c.Resources = clk, clk.Now(), 2, worker.Burn, row.r
			})
			began := time.Now()
			together(t, h, fmt.Sprintf("exec=0s;cpu=%v", cpu), fmt.Sprintf("exec=0s;cpu=%v", cpu))
			took := time.Since(began)
			l := h.Load()
			if used := time.Duration(*l.CPU); used < 2*cpu || used > 2*cpu+2*cpu {
				t.Errorf("used %v, want %v and little more", used, 2*cpu)
			}
			if took < row.longest {
				t.Errorf("took %v, want %v at least", took, row.longest)
			}
		})
	}
}

// TestBurnLeaves: a body whose client goes stops computing.
func TestBurnLeaves(t *testing.T) {
	clk := realclock.New(time.Now())
	h := newWorker(t, func(c *worker.Config) {
		c.Clock, c.Mode, c.Resources = clk, worker.Burn, platform.Resources{MilliCPUs: 1000}
	})
	ctx, leave := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer leave()
	serve(h, request("GET", "/", workload.DemandHeader, "exec=0s;cpu=10m").WithContext(ctx))
	if s := h.Stats(); s.Canceled != 1 || s.InFlight != 0 {
		t.Errorf("stats %+v, want one canceled", s)
	}
}

// TestBadResources: what no worker can be is refused, and says what to do.
func TestBadResources(t *testing.T) {
	for _, c := range []struct {
		change func(*worker.Config)
		want   string
	}{
		{func(c *worker.Config) { c.Resources.MilliCPUs = -1 }, "thousandths of a CPU: give 0 to"},
		{func(c *worker.Config) { c.CPU = platform.Cost{Share: -1} }, "CPU share of -1 thousandths"},
		{func(c *worker.Config) { c.Mode = "nap" }, `CPU mode "nap": want sleep or burn`},
		{func(c *worker.Config) {
			c.Mode, c.Resources = worker.Burn, platform.Resources{MilliCPUs: 1000, Background: platform.Background{Milli: 1}}
		}, "leave out the background, or use sleep"},
	} {
		cfg := worker.Config{Name: "7", Clock: realclock.Timers(time.Now())}
		c.change(&cfg)
		if _, err := worker.New(cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New = %v, want %q in it", err, c.want)
		}
	}
}
