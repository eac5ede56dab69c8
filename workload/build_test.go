package workload

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/internal/clock"
)

// list is a process of given arrivals.
type list struct {
	arrivals []Arrival
	length   time.Duration
}

func (l list) Open(*rand.Rand) func() (Intent, bool) {
	i := -1
	return func() (Intent, bool) {
		i++
		if i >= len(l.arrivals) {
			return Intent{}, false
		}
		return Intent{l.arrivals[i].At, l.arrivals[i].Wave}, true
	}
}

func (l list) Length() time.Duration { return l.length }
func (l list) String() string        { return "list" }

// at makes a process with arrivals at these instants.
func at(length time.Duration, instants ...clock.Instant) list {
	l := list{length: length}
	for _, t := range instants {
		l.arrivals = append(l.arrivals, Arrival{At: t, Wave: -1})
	}
	return l
}

// endless never stops: it draws each gap from its stream.
type endless struct{}

func (endless) Open(r *rand.Rand) func() (Intent, bool) {
	now := clock.Instant(0)
	return func() (Intent, bool) {
		now += clock.Instant(r.Int64N(10))
		return Intent{At: now}, true
	}
}

func (endless) Length() time.Duration { return time.Hour }
func (endless) String() string        { return "endless" }

// bySeq gives each request as many nanoseconds as its number.
type bySeq struct{ sign time.Duration }

func (b bySeq) Demand(seq int64) Demand {
	return Demand{Exec: b.sign * time.Duration(seq), Pre: 1, Post: 2}
}

func TestBuild(t *testing.T) {
	f := Function{Name: "f", Body: ms, Concurrency: 1}
	p := list{length: 20, arrivals: []Arrival{{Seq: 77, At: 0, Wave: 0}, {At: 10, Wave: 1}, {At: 10, Wave: 1}}}
	got, err := Build(Source{Process: p, Demands: bySeq{1}, Function: f, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	want := &Schedule{
		Pattern: "list", Seed: 9, Function: f, Length: 20,
		Arrivals: []Arrival{
			{Seq: 0, At: 0, Wave: 0, Demand: Demand{Exec: 0, Pre: 1, Post: 2}},
			{Seq: 1, At: 10, Wave: 1, Demand: Demand{Exec: 1, Pre: 1, Post: 2}},
			{Seq: 2, At: 10, Wave: 1, Demand: Demand{Exec: 2, Pre: 1, Post: 2}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Build (-want +got):\n%s", diff)
	}
}

func TestBuildLength(t *testing.T) {
	for _, c := range []struct {
		why  string
		p    Process
		want time.Duration
	}{
		{"the process knows it", at(50, 1, 2), 50},
		{"an unknown one ends just after the last arrival, since it is half-open", at(0, 1, 2), 3},
		{"an arrival in the last nanosecond", at(3, 2), 3},
		{"nothing comes", at(0), 0},
	} {
		s, err := Build(Source{Process: c.p, Demands: bySeq{1}})
		if err != nil || s.Length != c.want {
			t.Errorf("%s: Build = %+v, %v, want length %v", c.why, s, err, c.want)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		why  string
		src  Source
		is   error
		want string
	}{
		{"before the epoch", Source{Process: at(9, -1), Demands: bySeq{1}}, ErrArrival,
			"pattern list: illegal arrival 0: at -1ns: must not be before 0s"},
		{"out of order", Source{Process: at(9, 5, 4), Demands: bySeq{1}}, ErrArrival,
			"pattern list: illegal arrival 1: at 4ns: must not be before 5ns"},
		{"at the end, which is open", Source{Process: at(9, 8, 9), Demands: bySeq{1}}, ErrArrival,
			"pattern list: illegal arrival 1: at 9ns: must be before the end 9ns"},
		{"a negative demand", Source{Process: at(9, 0, 0), Demands: bySeq{-1}}, ErrArrival,
			"pattern list: illegal arrival 1: demand exec=-1ns;pre=1ns;post=2ns: must not be negative"},
		{"one too many", Source{Process: at(9, 0, 0, 0), Demands: bySeq{1}, Limit: 2}, ErrTooMany,
			"pattern list: too many arrivals: above the limit of 2: shorten it, lower its rate or raise the limit"},
		{"a process without end", Source{Process: endless{}, Demands: bySeq{1}, Limit: 1000}, ErrTooMany,
			"pattern endless: too many arrivals: above the limit of 1000: shorten it, lower its rate or raise the limit"},
	} {
		s, err := Build(c.src)
		if s != nil || !errors.Is(err, c.is) || err.Error() != c.want {
			t.Errorf("%s: Build = %v, %v, want %s", c.why, s, err, c.want)
		}
	}
	if _, err := Build(Source{Process: at(9, 0, 0), Demands: bySeq{1}, Limit: 2}); err != nil {
		t.Errorf("as many as the limit: Build = %v, want none", err)
	}
}

// Equal sources give equal bytes; the seed and nothing else moves the draws.
func TestBuildIsPure(t *testing.T) {
	process := capped{endless{}, 500}
	build := func(seed uint64) string {
		s, err := Build(Source{Process: process, Demands: bySeq{1}, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		return s.Hash()
	}
	if a, b := build(1), build(1); a != b {
		t.Errorf("two builds of seed 1: %s and %s, want equal", a, b)
	}
	if a, b := build(1), build(2); a == b {
		t.Errorf("seeds 1 and 2 give one hash %s", a)
	}
}

// capped stops a process after n arrivals.
type capped struct {
	Process
	n int
}

func (c capped) Open(r *rand.Rand) func() (Intent, bool) {
	next, left := c.Process.Open(r), c.n
	return func() (Intent, bool) {
		if left == 0 {
			return Intent{}, false
		}
		left--
		return next()
	}
}

// small is the schedule of the golden hash.
func small() *Schedule {
	return &Schedule{
		Pattern: "p", Seed: 1, Length: 20,
		Function: Function{Name: "fn", Runtime: "python2.7", MemoryBytes: 3, PackageBytes: 4, Body: 5, Concurrency: 6},
		Arrivals: []Arrival{
			{Seq: 0, At: 7, Wave: -1, Demand: Demand{Exec: 8, Pre: 9, Post: 10}},
			{Seq: 1, At: 11, Wave: 2, Demand: Demand{Exec: 12, Pre: 13, Post: 14}},
		},
	}
}

// The hash below was computed outside of this program, from the documented form:
//
//	python3 -c 'import struct,hashlib
//	t=lambda s: struct.pack("<q",len(s))+s
//	w=lambda *v: struct.pack("<%dq"%len(v),*v)
//	print(hashlib.sha256(t(b"coldwave schedule 1")+t(b"fn")+t(b"python2.7")+w(3,4,5,6)+w(20,2)
//	  +w(0,7,-1,8,9,10)+w(1,11,2,12,13,14)).hexdigest())'
func TestHashIsTheDocumentedForm(t *testing.T) {
	const want = "a1780b9dde2bf1a691d8b6b8f1ec0cbc32f137a3b638a5a7d325026254c578fc"
	if got := small().Hash(); got != want {
		t.Errorf("Hash() = %s, want %s", got, want)
	}
	const withCPU = "ef96728f6f5d46dc68bd663d0a8a90de9fc189d807650418b3b9b427345ed40a" // …+w(1,11,2,12,13,~14,15)
	s := small()
	if s.Arrivals[1].Demand.CPU = 15; s.Hash() != withCPU {
		t.Errorf("Hash() with CPU time = %s, want %s", s.Hash(), withCPU)
	}
}

func TestHashCoversEveryField(t *testing.T) {
	seen := map[string]string{small().Hash(): "unchanged"}
	for _, c := range []struct {
		field  string
		change func(s *Schedule)
	}{
		{"function name", func(s *Schedule) { s.Function.Name = "fm" }},
		{"name and runtime swap a letter", func(s *Schedule) { s.Function.Name, s.Function.Runtime = "fnp", "ython2.7" }},
		{"runtime", func(s *Schedule) { s.Function.Runtime = "go" }},
		{"memory", func(s *Schedule) { s.Function.MemoryBytes++ }},
		{"package", func(s *Schedule) { s.Function.PackageBytes++ }},
		{"body", func(s *Schedule) { s.Function.Body++ }},
		{"concurrency", func(s *Schedule) { s.Function.Concurrency++ }},
		{"length", func(s *Schedule) { s.Length++ }},
		{"one arrival less", func(s *Schedule) { s.Arrivals = s.Arrivals[:1] }},
		{"seq", func(s *Schedule) { s.Arrivals[1].Seq++ }},
		{"instant", func(s *Schedule) { s.Arrivals[1].At++ }},
		{"wave", func(s *Schedule) { s.Arrivals[1].Wave++ }},
		{"exec", func(s *Schedule) { s.Arrivals[1].Demand.Exec++ }},
		{"pre", func(s *Schedule) { s.Arrivals[1].Demand.Pre++ }},
		{"post", func(s *Schedule) { s.Arrivals[1].Demand.Post++ }},
		{"cpu", func(s *Schedule) { s.Arrivals[1].Demand.CPU++ }},
		{"more cpu", func(s *Schedule) { s.Arrivals[1].Demand.CPU += 2 }},
		{"cpu of another", func(s *Schedule) { s.Arrivals[0].Demand.CPU++ }},
	} {
		s := small()
		c.change(s)
		h := s.Hash()
		if old, repeated := seen[h]; repeated {
			t.Errorf("%s: Hash() is that of %s", c.field, old)
		}
		seen[h] = c.field
	}
	other := small()
	other.Pattern, other.Seed = "another text", 2
	if other.Hash() != small().Hash() {
		t.Error("the text of the pattern and the seed change the hash, want the requests only")
	}
}

// A block border must not change the form: the blocks hold 512 words.
func TestHashOfManyBlocks(t *testing.T) {
	s := small()
	for i := range 3000 {
		s.Arrivals = append(s.Arrivals, Arrival{Seq: int64(i + 2), At: clock.Instant(i + 20)})
	}
	h := s.Hash()
	for _, i := range []int{84, 85, 170, 1500, 3001} { // around the first borders, inside and at the end
		s.Arrivals[i].At++
		if s.Hash() == h {
			t.Errorf("arrival %d is no part of the hash", i)
		}
		s.Arrivals[i].At--
	}
	if s.Hash() != h {
		t.Error("Hash() changed between two calls")
	}
}

func TestWaves(t *testing.T) {
	for _, c := range []struct {
		why      string
		arrivals []Arrival
		want     []Wave
		largest  int
	}{
		{"nothing", nil, nil, 0},
		{"two waves", []Arrival{{At: 0, Wave: 0}, {At: 5, Wave: 1}, {At: 5, Wave: 1}}, []Wave{{0, 0, 0, 1}, {1, 5, 5, 2}}, 2},
		{"a shifted part belongs to its wave", []Arrival{{At: 0, Wave: 0}, {At: 3, Wave: 0}, {At: 9, Wave: 1}}, []Wave{{0, 0, 3, 2}, {1, 9, 9, 1}}, 2},
		{"waves that overlap are told apart by number", []Arrival{{At: 0, Wave: 1}, {At: 1, Wave: 0}, {At: 2, Wave: 1}}, []Wave{{0, 1, 1, 1}, {1, 0, 2, 2}}, 2},
		{"no waves: arrivals of one instant", []Arrival{{At: 0, Wave: -1}, {At: 4, Wave: -1}, {At: 4, Wave: -1}, {At: 4, Wave: -1}, {At: 5, Wave: -1}}, nil, 3},
		{"single arrivals", []Arrival{{At: 0, Wave: -1}, {At: 1, Wave: -1}}, nil, 1},
	} {
		s := &Schedule{Arrivals: c.arrivals}
		if diff := cmp.Diff(c.want, s.Waves()); diff != "" {
			t.Errorf("%s: Waves() (-want +got):\n%s", c.why, diff)
		}
		if got := s.LargestWave(); got != c.largest {
			t.Errorf("%s: LargestWave() = %d, want %d", c.why, got, c.largest)
		}
	}
}

func TestTotalExec(t *testing.T) {
	if got, want := small().TotalExec(), time.Duration(20); got != want {
		t.Errorf("TotalExec() = %v, want %v", got, want)
	}
	if got := (&Schedule{}).TotalExec(); got != 0 {
		t.Errorf("TotalExec() of nothing = %v, want 0", got)
	}
}

func BenchmarkHash(b *testing.B) {
	for _, n := range []int{54, 1_000_000} {
		b.Run(fmt.Sprintf("arrivals=%d", n), func(b *testing.B) {
			s := small()
			s.Arrivals = make([]Arrival, n)
			b.ReportAllocs()
			for b.Loop() {
				if len(s.Hash()) != 64 {
					b.Fatal("no SHA-256")
				}
			}
		})
	}
}

// BenchmarkDemand measures the codec of the header that every request carries.
func BenchmarkDemand(b *testing.B) {
	d := Demand{Exec: 100 * ms, Pre: 6250 * time.Microsecond, Post: 6250 * time.Microsecond}
	b.ReportAllocs()
	for b.Loop() {
		if got, err := ParseDemand(d.String()); err != nil || got != d {
			b.Fatal(got, err)
		}
	}
}
