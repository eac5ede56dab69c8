package platform

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/workload"
)

// computes is a demand that only computes.
func computes(cpu time.Duration) workload.Demand { return workload.Demand{Exec: cpu, CPU: cpu} }

// visit is a body that begins at an instant.
type visit struct {
	at     time.Duration
	demand workload.Demand
	leaves time.Duration // 0: it does not
}

// ends plays bodies that begin in order and returns when each is over, 0 for one that leaves. After each event it is told
// the time again as often as looks says, at instants that nothing depends on.
func ends(t *testing.T, r Resources, visits []visit, looks func() time.Duration) ([]time.Duration, Load) {
	t.Helper()
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	in := r.Instance(0)
	out := make([]time.Duration, len(visits))
	take := func() {
		before := clock.Instant(-1)
		for _, e := range in.Take() {
			if e.At < before {
				t.Fatalf("body %d ends at %v, after one that ends at %v", e.ID, e.At, before)
			}
			out[e.ID], before = time.Duration(e.At), e.At
		}
	}
	var going []visit
	reach := func(to clock.Instant) {
		for in.Next() <= to {
			if look := clock.Instant(looks()); look > in.now && look < in.Next() {
				in.Advance(look)
			}
			in.Advance(in.Next())
			take()
		}
		in.Advance(to)
		take()
	}
	for id, v := range visits {
		for k := range going {
			if g := going[k]; g.leaves > 0 && g.leaves <= v.at {
				reach(clock.Instant(g.leaves))
				in.Leave(clock.Instant(g.leaves), int64(k))
				going[k].leaves = 0
				take()
			}
		}
		reach(clock.Instant(v.at))
		if err := in.Arrive(clock.Instant(v.at), int64(id), v.demand); err != nil {
			t.Fatal(err)
		}
		take()
		going = append(going, v)
	}
	for in.InFlight() > 0 {
		reach(in.Next())
	}
	return out, in.Load()
}

func never() time.Duration { return 0 }

func times(n int, v visit) []visit { return slices.Repeat([]visit{v}, n) }

// TestProcessorSharing: worked examples by hand.
func TestProcessorSharing(t *testing.T) {
	one, two, four := Resources{MilliCPUs: 1000}, Resources{MilliCPUs: 2000}, Resources{MilliCPUs: 4000}
	body := computes(100 * ms)
	tests := []struct {
		name   string
		r      Resources
		visits []visit
		ends   []time.Duration
		cpu    time.Duration // used
	}{
		{"1 CPU, 4 bodies of 100 ms at once", one, times(4, visit{demand: body}), []time.Duration{400 * ms, 400 * ms, 400 * ms, 400 * ms}, 400 * ms},
		{"2 CPUs, 3 such", two, times(3, visit{demand: body}), []time.Duration{150 * ms, 150 * ms, 150 * ms}, 300 * ms},
		{"4 CPUs, a single-threaded body: 25 % of them are used (CR-10)", four, times(1, visit{demand: body}), []time.Duration{100 * ms}, 100 * ms},
		{"a body on 4 threads takes a quarter", Resources{MilliCPUs: 4000, Threads: 4}, times(1, visit{demand: computes(0)}), []time.Duration{0}, 0},
		{"half of it is waited for: no CPU is lacked", one, times(2, visit{demand: workload.Demand{Exec: 200 * ms}}), []time.Duration{200 * ms, 200 * ms}, 0},
		{"it first waits, then computes", one, times(2, visit{demand: workload.Demand{Exec: 200 * ms, CPU: 100 * ms}}), []time.Duration{300 * ms, 300 * ms}, 200 * ms},
		{"half a CPU takes twice as long", Resources{MilliCPUs: 500}, times(1, visit{demand: body}), []time.Duration{200 * ms}, 100 * ms},
		{"a later one takes its share", one, []visit{{demand: body}, {at: 50 * ms, demand: body}}, []time.Duration{150 * ms, 200 * ms}, 200 * ms},
		{"a short one is not held up by a long one", one, []visit{{demand: computes(time.Second)}, {at: 0, demand: computes(10 * ms)}}, []time.Duration{1010 * ms, 20 * ms}, 1010 * ms},
		{"one that leaves frees its share", one, []visit{{demand: body}, {demand: body, leaves: 100 * ms}, {at: 110 * ms, demand: workload.Demand{}}}, []time.Duration{150 * ms, 0, 110 * ms}, 150 * ms},
		{"a sidecar's CPUs serve no body (CR-10)", Resources{MilliCPUs: 1000, Sidecar: 1000}, times(2, visit{demand: body}), []time.Duration{200 * ms, 200 * ms}, 200 * ms},
		{"a runtime with one thread uses one CPU of four", Resources{MilliCPUs: 4000, Process: 1}, times(4, visit{demand: body}), []time.Duration{400 * ms, 400 * ms, 400 * ms, 400 * ms}, 400 * ms},
		{"background goes first", Resources{MilliCPUs: 1000, Background: Background{Milli: 500}}, times(1, visit{demand: body}), []time.Duration{200 * ms}, 200 * ms},
		{"a peak slows down", Resources{MilliCPUs: 1000, Background: Background{Peak: 500, Every: 50 * ms, For: 20 * ms}}, times(1, visit{demand: body}), []time.Duration{120 * ms}, 120 * ms},
		{"bodies that lack nothing are not slowed by a peak", Resources{MilliCPUs: 2000, Background: Background{Peak: 500, Every: 50 * ms, For: 20 * ms}}, times(1, visit{demand: body}), []time.Duration{100 * ms}, 110 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, load := ends(t, tt.r, tt.visits, never)
			if !slices.Equal(got, tt.ends) || load.CPU != tt.cpu {
				t.Errorf("bodies end at %v and use %v, want %v and %v", got, load.CPU, tt.ends, tt.cpu)
			}
		})
	}
}

// TestThreads: a body on several threads computes on all of them, and rounds up.
func TestThreads(t *testing.T) {
	r := Resources{MilliCPUs: 4000, Threads: 4}
	got, load := ends(t, r, times(1, visit{demand: workload.Demand{Exec: 25 * ms, CPU: 100 * ms}}), never)
	if got[0] != 25*ms || load.CPU != 100*ms {
		t.Errorf("ends at %v with %v, want 25ms with 100ms", got[0], load.CPU)
	}
	got, load = ends(t, Resources{MilliCPUs: 3000, Threads: 3}, times(1, visit{demand: workload.Demand{Exec: 0, CPU: 100}}), never)
	if got[0] != 34 || load.CPU != 100 {
		t.Errorf("100 ns on 3 threads end at %v with %v, want 34ns with 100ns", got[0], load.CPU)
	}
}

// TestUse: the use in each second, against all CPUs of the instance.
func TestUse(t *testing.T) {
	tests := []struct {
		name string
		r    Resources
		busy time.Duration // CPU time of a body that begins at 0
		want []int64       // thousandths of a CPU in each second
	}{
		{"a single-threaded body on 4 CPUs reads 25 % (CR-10)", Resources{MilliCPUs: 4000}, 2 * time.Second, []int64{1000, 1000, 0}},
		{"with a sidecar it reads 50 % (CR-10)", Resources{MilliCPUs: 1000, Sidecar: 1000}, time.Second, []int64{1000, 0}},
		{"a part of a second", Resources{MilliCPUs: 1000}, 1250 * ms, []int64{1000, 250, 0}},
		{"background without a request", Resources{MilliCPUs: 1000, Background: Background{Milli: 100}}, 0, []int64{100, 100}},
		{"peaks", Resources{MilliCPUs: 1000, Background: Background{Milli: 100, Peak: 800, Every: 2 * time.Second, For: 500 * ms}}, 0, []int64{100, 100, 500, 100, 500}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := tt.r.Instance(0)
			if err := in.Arrive(0, 1, computes(tt.busy)); err != nil {
				t.Fatal(err)
			}
			before := in.Load()
			for s, want := range tt.want {
				in.Advance(clock.Instant(s+1) * clock.Instant(time.Second))
				now := in.Load()
				if got := now.MilliCPUs(before); got != want {
					t.Errorf("second %d: %d thousandths of a CPU, want %d", s, got, want)
				}
				before = now
			}
		})
	}
}

// TestFirstSample: an instance that was ready for a part of the second is counted with what it used in it.
func TestFirstSample(t *testing.T) {
	in := Resources{MilliCPUs: 1000}.Instance(clock.Instant(750 * ms))
	if err := in.Arrive(clock.Instant(750*ms), 1, computes(time.Second)); err != nil {
		t.Fatal(err)
	}
	first := in.Load()
	in.Advance(clock.Instant(time.Second))
	if got := in.Load().MilliCPUs(first); got != 250 {
		t.Errorf("%d thousandths of a CPU, want 250", got)
	}
	in.Advance(clock.Instant(3 * time.Second)) // a sample was missed: the mean of the two seconds
	first.At, first.CPU = clock.Instant(time.Second), 250*ms
	if got := in.Load().MilliCPUs(first); got != 375 {
		t.Errorf("%d thousandths of a CPU over two seconds, want 375", got)
	}
}

// TestMemory: with one request more than there is memory for the instance fails.
func TestMemory(t *testing.T) {
	in := Resources{Memory: Memory{Limit: 100, Base: 40, Request: 20}}.Instance(0)
	for id := range int64(3) {
		if err := in.Arrive(0, id, workload.Demand{Exec: ms}); err != nil {
			t.Errorf("request %d: %v, want none", id, err)
		}
	}
	if err := in.Arrive(0, 3, workload.Demand{Exec: ms}); !errors.Is(err, ErrMemory) {
		t.Errorf("a fourth request: %v, want ErrMemory", err)
	}
	in.Advance(clock.Instant(2 * ms))
	if l := in.Load(); l.Memory != 40 || l.Peak != 100 || l.InFlight != 0 {
		t.Errorf("load %+v, want 40 bytes now and 100 at the most", l)
	}
}

// swarm draws resources and bodies that mostly lack CPU.
func swarm(seed uint64) (Resources, []visit) {
	d := rng.NewKey(seed, "processor sharing").Draw(0)
	of := func(all ...int64) int64 { return all[d.Int64N(int64(len(all)))] }
	r := Resources{MilliCPUs: of(1, 300, 1000, 1700, 4000, 0), Threads: int(of(0, 1, 3)), Process: int(of(0, 0, 1, 2))}
	if r.MilliCPUs >= 1000 && d.Int64N(2) == 0 {
		r.Background = Background{Milli: of(0, 77), Peak: of(1, 900), Every: time.Duration(of(1_000, 77_777)), For: time.Duration(of(1, 999))}
	}
	var visits []visit
	at := time.Duration(0)
	for range 1 + d.Int64N(40) {
		at += time.Duration(of(0, 0, 1, 50, 4_000, 100_000))
		v := visit{at: at, demand: workload.Demand{Exec: time.Duration(d.Int64N(3_000)), CPU: time.Duration(of(0, 1, d.Int64N(2_000), d.Int64N(20_000)))}}
		if d.Int64N(8) == 0 {
			v.leaves = at + time.Duration(d.Int64N(5_000))
		}
		visits = append(visits, v)
	}
	return r, visits
}

// TestLooksChangeNothing: when a body ends does not depend on how often somebody asked in between.
func TestLooksChangeNothing(t *testing.T) {
	for seed := range uint64(400) {
		r, visits := swarm(seed)
		once, load := ends(t, r, visits, never)
		random := rand.New(rand.NewPCG(seed, 1))
		again, other := ends(t, r, visits, func() time.Duration { return time.Duration(random.Int64N(200_000)) })
		if !slices.Equal(once, again) || load != other {
			t.Fatalf("seed %d: %v and %+v, asked more often %v and %+v", seed, once, load, again, other)
		}
	}
}

// TestEqualBodies: n equal bodies at once on so many CPUs all end at n·work ÷ CPUs, to the nanosecond (the closed form of
// processor sharing), or after their work where they lack no CPU.
func TestEqualBodies(t *testing.T) {
	for seed := range uint64(500) {
		d := rng.NewKey(seed, "equal bodies").Draw(0)
		n, milli, work := 1+d.Int64N(200), 1+d.Int64N(8000), 1+d.Int64N(int64(time.Second))
		want := work
		if n*1000 > milli {
			want = (n*work*1000 + milli - 1) / milli
		}
		got, load := ends(t, Resources{MilliCPUs: milli}, times(int(n), visit{demand: computes(time.Duration(work))}), never)
		for id, at := range got {
			if int64(at) != want {
				t.Fatalf("seed %d: body %d of %d on %d thousandths ends at %v, want %v", seed, id, n, milli, at, time.Duration(want))
			}
		}
		if int64(load.CPU) != n*work {
			t.Fatalf("seed %d: used %v, want %v", seed, load.CPU, time.Duration(n*work))
		}
	}
}

// TestEnoughCPU: where CPU is never lacked each body takes its execution time, to the nanosecond.
func TestEnoughCPU(t *testing.T) {
	for seed := range uint64(200) {
		r, visits := swarm(seed)
		r.MilliCPUs, r.Process, r.Background = MaxMilliCPUs, 0, Background{Milli: 500}
		for k := range visits {
			v := &visits[k]
			v.leaves, v.demand.Exec = 0, max(v.demand.Exec, r.alone(v.demand.CPU))
		}
		got, _ := ends(t, r, visits, never)
		for k, v := range visits {
			if got[k] != v.at+v.demand.Exec {
				t.Fatalf("seed %d: body %d begins at %v and ends at %v, want after %v", seed, k, v.at, got[k], v.demand.Exec)
			}
		}
	}
}

// TestNeverAboveCPUs: in no stretch of time more is used than there is, but for what did not divide before it.
func TestNeverAboveCPUs(t *testing.T) {
	for seed := range uint64(200) {
		r, visits := swarm(seed)
		if r.MilliCPUs == 0 {
			continue
		}
		in := r.Instance(0)
		random := rand.New(rand.NewPCG(seed, 2))
		before := in.Load()
		for id, v := range visits {
			if err := in.Arrive(clock.Instant(v.at), int64(id), v.demand); err != nil {
				t.Fatal(err)
			}
			in.Advance(in.now + clock.Instant(random.Int64N(1000)))
			if id+1 < len(visits) && in.now > clock.Instant(visits[id+1].at) {
				visits[id+1].at = time.Duration(in.now)
				for k := id + 2; k < len(visits); k++ {
					visits[k].at = max(visits[k].at, visits[k-1].at)
				}
			}
			now := in.Load()
			if most := int64(now.At-before.At)*r.MilliCPUs/1000 + 2; int64(now.CPU-before.CPU) > most {
				t.Fatalf("seed %d: %v used in %v on %d thousandths", seed, now.CPU-before.CPU, now.At.Sub(before.At), r.MilliCPUs)
			}
			before = now
		}
	}
}

// TestLongLife: after years under load the counters have wrapped, and nothing shows.
func TestLongLife(t *testing.T) {
	in := Resources{MilliCPUs: 1000, Threads: 1000}.Instance(0)
	in.got = 1<<64 - 5_000_000
	for id := range int64(4) {
		if err := in.Arrive(0, id, workload.Demand{CPU: 1000}); err != nil {
			t.Fatal(err)
		}
	}
	in.Advance(clock.Instant(ms))
	if got := in.Take(); len(got) != 4 || got[3].At != 4000 {
		t.Errorf("ends %v, want four at 4µs", got)
	}
}

// TestNoAllocation: an instance that has seen its peak allocates nothing.
func TestNoAllocation(t *testing.T) {
	in := Resources{MilliCPUs: 1000}.Instance(0)
	at := clock.Instant(0)
	round := func() {
		for id := range int64(20) {
			_ = in.Arrive(at, id, computes(time.Duration(1+id%3)))
		}
		at += 1000
		in.Advance(at)
		in.Take()
	}
	round()
	if n := testing.AllocsPerRun(100, round); n > 0 {
		t.Errorf("%v allocations in a round of 20 bodies, want 0", n)
	}
}

// TestResourcesRefused: each bad setting is found, and the error says what to do.
func TestResourcesRefused(t *testing.T) {
	tests := []Resources{
		{MilliCPUs: -1}, {MilliCPUs: MaxMilliCPUs + 1}, {Sidecar: 1}, {Threads: -1}, {Process: MaxThreads + 1},
		{Background: Background{Milli: -1}}, {MilliCPUs: 1000, Background: Background{Milli: 1000}},
		{MilliCPUs: 1000, Background: Background{Milli: 500, Peak: 500, Every: 2, For: 1}},
		{Background: Background{Peak: 1, Every: 1, For: 2}}, {Background: Background{Peak: 1}}, {Background: Background{Every: 2, For: 1}},
		{Memory: Memory{Limit: -1}}, {Memory: Memory{Limit: 10, Base: 6, Request: 5}},
	}
	for _, r := range tests {
		if err := r.Check(); !errors.Is(err, ErrProfile) {
			t.Errorf("%+v: Check = %v, want ErrProfile", r, err)
		}
	}
	if err := (Resources{}).Check(); err != nil || (Resources{}).Modelled() {
		t.Errorf("the zero Resources: %v, modelled %v", err, Resources{}.Modelled())
	}
}

func ExampleInstance() {
	in := Resources{MilliCPUs: 2000}.Instance(0)
	for id := range int64(3) {
		_ = in.Arrive(0, id, workload.Demand{Exec: 100 * time.Millisecond, CPU: 100 * time.Millisecond})
	}
	for in.InFlight() > 0 {
		in.Advance(in.Next())
	}
	for _, e := range in.Take() {
		fmt.Println(e.ID, e.At)
	}
	// Output:
	// 0 150ms
	// 1 150ms
	// 2 150ms
}

func BenchmarkInstance(b *testing.B) {
	for _, n := range []int{1, 80, 1000} {
		b.Run(fmt.Sprintf("bodies=%d", n), func(b *testing.B) {
			in := Resources{MilliCPUs: 1000}.Instance(0)
			at, id := clock.Instant(0), int64(0)
			for range n - 1 {
				id++
				_ = in.Arrive(at, id, computes(time.Duration(n)*ms))
			}
			b.ReportAllocs()
			for b.Loop() {
				id++
				_ = in.Arrive(at, id, computes(ms))
				for in.InFlight() >= n {
					in.Advance(in.Next())
				}
				at = in.now
				in.Take()
			}
		})
	}
}
