package platform

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coldwave/workload"
)

func TestProfiles(t *testing.T) {
	for _, c := range []struct {
		law           string
		cold          string
		low, high     time.Duration // of a warm request end to end, whole
		handover      time.Duration
		downloadTakes time.Duration
	}{
		{"uniform", "uniform", 105 * ms, 120 * ms, 0, 500 * ms},
		{"constant:2350ms", "constant:2.35s", 105 * ms, 120 * ms, 0, 500 * ms},
		{"documented", "documented", 114565 * time.Microsecond, 114565 * time.Microsecond, 2800 * time.Microsecond, 500 * ms},
	} {
		p, err := ProfileFor(c.law)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(); err != nil {
			t.Errorf("ProfileFor(%s).Check() = %v", c.law, err)
		}
		if p.Cold.Name() != c.cold || p.Handover != c.handover || p.Download() != c.downloadTakes {
			t.Errorf("ProfileFor(%s) = law %s, handover %v, download %v, want %s, %v, %v",
				c.law, p.Cold.Name(), p.Handover, p.Download(), c.cold, c.handover, c.downloadTakes)
		}
		d := p.Draws(5)
		for seq := range int64(2000) {
			if whole := d.Demand(seq).Exec + d.Demand(seq).Overhead(); whole < c.low || whole > c.high {
				t.Fatalf("%s: warm request %d takes %v, want %v–%v (FC-12)", c.law, seq, whole, c.low, c.high)
			}
		}
	}
	want := workload.Function{Name: "fc-test", Runtime: "python2.7", MemoryBytes: 3e9, PackageBytes: 50e6, Body: 100 * ms, Concurrency: 1}
	if got := Default().Function; got != want {
		t.Errorf("the documented function = %+v, want %+v (FC-12)", got, want)
	}
	if _, err := ProfileFor("unknown"); !errors.Is(err, ErrLaw) {
		t.Errorf("ProfileFor(unknown) = %v, want ErrLaw", err)
	}
}

func TestProfileCheck(t *testing.T) {
	for _, c := range []struct {
		why    string
		change func(p *Profile)
		want   string
	}{
		{"a missing law", func(p *Profile) { p.Cold = nil }, "unusable platform profile: cold law is missing: give one"},
		{"a law with wrong numbers", func(p *Profile) { p.Body = Constant(-1) }, "unusable platform profile: body law: constant -1ns: no such law: give 0 or more"},
		{"a ratio above 1", func(p *Profile) { p.FailRatio = 1.1 }, "unusable platform profile: fail ratio 1.1, error ratio 0: give 0 to 1"},
		{"a ratio that is no number", func(p *Profile) { p.ErrorRatio = math.NaN() }, "unusable platform profile: fail ratio 0, error ratio NaN: give 0 to 1"},
		{"a negative handover", func(p *Profile) { p.Handover = -1 }, "unusable platform profile: handover -1ns, bandwidth 100000000 B/s, package 50000000 B: none may be negative"},
		{"a negative bandwidth", func(p *Profile) { p.Bandwidth = -1 }, "unusable platform profile: handover 0s, bandwidth -1 B/s, package 50000000 B: none may be negative"},
		{"a start law with wrong numbers", func(p *Profile) { p.Start = Constant(-1) }, "unusable platform profile: start law: constant -1ns: no such law: give 0 or more"},
		{"no concurrency", func(p *Profile) { p.Function.Concurrency = 0 }, "unusable platform profile: concurrency 0: give 1 or more"},
	} {
		p := Default()
		c.change(&p)
		if err := p.Check(); !errors.Is(err, ErrProfile) || err.Error() != c.want {
			t.Errorf("%s: Check() = %v, want %s", c.why, err, c.want)
		}
	}
	if err := (Profile{}).Check(); strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("Check() of nothing = %v, want four problems at once", err)
	}
}

// The overhead is h to the nanosecond, and h and C lie in their ranges, for every seed and id (FA-4).
func TestDemandsAndStartsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Default()
		h := time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "h"))
		if rapid.Bool().Draw(t, "fixed overhead") {
			p.Overhead = Constant(h)
		}
		d := p.Draws(rapid.Uint64().Draw(t, "seed"))
		id := rapid.Int64().Draw(t, "id")
		demand := d.Demand(id)
		if c, fixed := p.Overhead.(Constant); fixed && demand.Overhead() != time.Duration(c) {
			t.Fatalf("overhead %v + %v, want %v", demand.Pre, demand.Post, time.Duration(c))
		}
		if diff := demand.Post - demand.Pre; diff < 0 || diff > 1 {
			t.Fatalf("pre %v, post %v: want halves", demand.Pre, demand.Post)
		}
		s := d.StartUp(id, demand)
		if whole := demand.Pre + s.Total + demand.Exec + demand.Post; whole != d.Cold(id) {
			t.Fatalf("pre + S + exec + post = %v, want exactly C = %v (FA-4)", whole, d.Cold(id))
		}
		if d.Cold(id) < 1700*ms || d.Cold(id) > 3*time.Second {
			t.Fatalf("C = %v, want 1.7–3 s", d.Cold(id))
		}
	})
}

// A law of S of its own holds for every start, whatever caused it; no start takes no time.
func TestStartLaw(t *testing.T) {
	for _, c := range []struct{ law, want time.Duration }{{2 * time.Second, 2 * time.Second}, {0, 1}} {
		p := Default()
		p.Start = Constant(c.law)
		d := p.Draws(1)
		for _, cause := range []workload.Demand{{}, {Exec: time.Second, Pre: ms}, {Exec: time.Hour}} {
			if got := d.StartUp(1, cause).Total; got != c.want {
				t.Errorf("start law %v: S = %v after a demand of %v, want %v", c.law, got, cause, c.want)
			}
		}
	}
}

// The stages sum to the total and none is negative, for any length, package and bandwidth.
func TestStagesSumToTheTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Default()
		p.Cold = Constant(rapid.Int64Range(0, math.MaxInt64).Draw(t, "cold"))
		p.Function.PackageBytes = rapid.Int64Range(0, math.MaxInt64).Draw(t, "package")
		p.Bandwidth = rapid.Int64Range(0, math.MaxInt64).Draw(t, "bandwidth")
		cause := workload.Demand{Exec: time.Duration(rapid.Int64Range(0, int64(10*time.Minute)).Draw(t, "exec"))}
		s := p.Draws(1).StartUp(1, cause)
		if s.Total < 1 {
			t.Fatalf("total %v, want at least 1 ns", s.Total)
		}
		var sum time.Duration
		for i, d := range s.Stages {
			if d < 0 {
				t.Fatalf("stage %v takes %v", Stage(i), d)
			}
			sum += d
		}
		if sum != s.Total {
			t.Fatalf("stages %v sum to %v, want %v", s.Stages, sum, s.Total)
		}
		if want := min(s.Total, p.Download()); s.Stages[StageDownload] != want {
			t.Fatalf("download takes %v, want %v", s.Stages[StageDownload], want)
		}
	})
}

func TestStages(t *testing.T) {
	p := Default()
	p.Cold = Constant(2350 * ms)
	cause := workload.Demand{Exec: 100 * ms, Pre: 6250 * time.Microsecond, Post: 6250 * time.Microsecond}
	for _, c := range []struct {
		why    string
		change func(p *Profile)
		want   [Stages]time.Duration
	}{
		{"S = 2237.5 ms: half a second of download, the rest 5, 35 and 60 %", func(*Profile) {},
			[Stages]time.Duration{86875 * time.Microsecond, 500 * ms, 608125 * time.Microsecond, 1042500 * time.Microsecond}},
		{"no package, no download", func(p *Profile) { p.Function.PackageBytes = 0 },
			[Stages]time.Duration{111875 * time.Microsecond, 0, 783125 * time.Microsecond, 1342500 * time.Microsecond}},
		{"the law decides the total: a download cannot take longer", func(p *Profile) { p.Bandwidth = 1 },
			[Stages]time.Duration{0, 2237500 * time.Microsecond, 0, 0}},
		{"no bandwidth is the default one", func(p *Profile) { p.Bandwidth = 0 },
			[Stages]time.Duration{86875 * time.Microsecond, 500 * ms, 608125 * time.Microsecond, 1042500 * time.Microsecond}},
	} {
		q := p
		c.change(&q)
		if got := q.Draws(1).StartUp(1, cause).Stages; got != c.want {
			t.Errorf("%s: stages = %v, want %v", c.why, got, c.want)
		}
	}
	if got := p.Draws(1).StartUp(1, workload.Demand{}).Total; got != 2350*ms {
		t.Errorf("a start without cause takes %v, want all of C", got)
	}
	if got := p.Draws(1).StartUp(1, workload.Demand{Exec: time.Hour}).Total; got != 1 {
		t.Errorf("a start for a body longer than C takes %v, want 1 ns: no delay is zero", got)
	}
	skipped := p.Draws(1).StartUp(1, cause).Without(StageDownload)
	if want := [Stages]time.Duration{86875 * time.Microsecond, 0, 608125 * time.Microsecond, 1042500 * time.Microsecond}; skipped.Stages != want || skipped.Total != 1737500*time.Microsecond {
		t.Errorf("without a download: %v of %v, want %v of 1.7375 s", skipped.Stages, skipped.Total, want)
	}
	p.Bandwidth = 1
	if got := p.Draws(1).StartUp(1, cause).Without(StageDownload); got.Total != 1 || got.Stages[StageLoad] != 1 {
		t.Errorf("nothing but a download, skipped, takes %+v, want 1 ns", got)
	}
	if got := (StartUp{Total: time.Second}).Without(StageDownload); got.Total != time.Second {
		t.Errorf("a start-up without stages takes %v without a download, want all of it", got.Total)
	}
	names := make([]string, Stages+1)
	for i := range names {
		names[i] = Stage(i).String()
	}
	if got, want := strings.Join(names, " "), "node download container load unknown"; got != want {
		t.Errorf("stages are named %q, want %q", got, want)
	}
}

// Failures come as often as asked, within 5 standard errors; twice as often is noticed.
func TestFailures(t *testing.T) {
	const n = 20_000
	for _, ratio := range []float64{0, 0.01, 0.3, 1} {
		p := Default()
		p.FailRatio, p.ErrorRatio = ratio, ratio
		d := p.Draws(3)
		starts, requests, both := 0, 0, 0
		for id := range int64(n) {
			s, r := d.StartUp(id, workload.Demand{}).Fails, d.RequestFails(id)
			starts, requests, both = starts+count(s), requests+count(r), both+count(s && r)
		}
		for what, got := range map[string]int{"starts": starts, "requests": requests} {
			if math.Abs(float64(got)-ratio*n) > limit(n, ratio) {
				t.Errorf("ratio %v: %d of %d %s fail, want %.0f ± %.0f", ratio, got, n, what, ratio*n, limit(n, ratio))
			}
			if ratio == 0.01 && math.Abs(float64(got)-2*ratio*n) <= limit(n, ratio) {
				t.Errorf("ratio %v: twice as many would pass", ratio)
			}
		}
		// The two are independent: a start and a request of one number do not fail together more often than by chance.
		if math.Abs(float64(both)-ratio*ratio*n) > limit(n, ratio*ratio) {
			t.Errorf("ratio %v: %d of %d numbers fail in both, want %.0f ± %.0f", ratio, both, n, ratio*ratio*n, limit(n, ratio*ratio))
		}
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// limit is five standard errors of a count of n draws of that share.
func limit(n, share float64) float64 { return 5 * math.Sqrt(n*share*(1-share)) }

// Answers do not depend on who asks first, nor on each other's streams.
func TestDrawsDependOnTheirIDOnly(t *testing.T) {
	a, b := Default().Draws(7), Default().Draws(7)
	for id := int64(99); id >= 0; id-- { // backwards, and with other questions between
		b.RequestFails(id)
		b.StartUp(id, workload.Demand{})
	}
	for id := range int64(100) {
		d := a.Demand(id)
		if got := b.Demand(id); got != d {
			t.Errorf("Demand(%d) = %v, asked later %v", id, d, got)
		}
		if x, y := a.StartUp(id, d), b.StartUp(id, d); x != y {
			t.Errorf("StartUp(%d) = %v, asked later %v", id, x, y)
		}
	}
	// Another law of one stream moves that stream alone.
	p := Default()
	p.Overhead = Constant(ms)
	other := p.Draws(7)
	for id := range int64(100) {
		if x, y := a.Cold(id), other.Cold(id); x != y {
			t.Errorf("Cold(%d) = %v, with another overhead %v", id, x, y)
		}
	}
	if a.Cold(0) == a.Cold(1) || a.Cold(0) == Default().Draws(8).Cold(0) {
		t.Error("neighbouring ids or seeds draw the same cold start")
	}
}

// Overhead and cold start of one number are independent: the correlation of n pairs has the standard error 1/√n.
func TestStreamsAreIndependent(t *testing.T) {
	const n = 10_000
	d := Default().Draws(2)
	var x, y [n]float64
	for i := range x {
		x[i], y[i] = float64(d.Demand(int64(i)).Overhead()), float64(d.Cold(int64(i)))
	}
	if got, limit := correlation(x[:], y[:]), 5/math.Sqrt(n); math.Abs(got) > limit {
		t.Errorf("overhead and cold start correlate by %.3f, want 0 ± %.3f", got, limit)
	}
	if got, limit := correlation(x[:], x[:]), 5/math.Sqrt(n); math.Abs(got) <= limit {
		t.Errorf("one stream used twice correlates by %.3f, which would pass", got)
	}
}

func correlation(x, y []float64) float64 {
	n := float64(len(x))
	var sx, sy, sxx, syy, sxy float64
	for i := range x {
		sx, sy, sxx, syy, sxy = sx+x[i], sy+y[i], sxx+x[i]*x[i], syy+y[i]*y[i], sxy+x[i]*y[i]
	}
	return (sxy - sx*sy/n) / math.Sqrt((sxx-sx*sx/n)*(syy-sy*sy/n))
}

func BenchmarkDraws(b *testing.B) {
	d := Default().Draws(1)
	b.ReportAllocs()
	id := int64(0)
	for b.Loop() {
		id++
		if d.StartUp(id, d.Demand(id)).Total < 1 {
			b.Fatal("no delay is zero")
		}
	}
}

// TestDrawsAllocateNothing: what is asked for each request costs no memory, whatever the law.
func TestDrawsAllocateNothing(t *testing.T) {
	for _, law := range []Law{Constant(1), EndToEnd(), Exponential(time.Second), Lognormal{Median: 1}, Documented()} {
		p := Default()
		p.Body, p.Overhead, p.Cold, p.ErrorRatio = law, law, law, 0.5
		d := p.Draws(1)
		var demands workload.Demands = d
		seq := int64(0)
		if n := testing.AllocsPerRun(100, func() {
			seq++
			demands.Demand(seq)
			d.RequestFails(seq)
			d.StartUp(seq, workload.Demand{})
		}); n != 0 {
			t.Errorf("law %s: %v allocations for one request, want 0", law.Name(), n)
		}
	}
}
