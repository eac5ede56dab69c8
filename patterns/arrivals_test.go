package patterns

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/workload"
)

const (
	ms     = time.Millisecond
	second = time.Second
)

// must parses a text; its rate may be up to ten per nanosecond.
func must(t testing.TB, text string) Pattern {
	t.Helper()
	p, err := Limits{Rate: 10_000_000_000}.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// draw returns all arrivals of a pattern, with the tests that every one must pass.
func draw(t testing.TB, p Pattern, seed uint64) []workload.Arrival {
	t.Helper()
	s, err := workload.Build(workload.Source{Process: p, Demands: nothing{}, Seed: seed}) // checks order and half-open range
	if err != nil {
		t.Fatal(err)
	}
	return s.Arrivals
}

type nothing struct{}

func (nothing) Demand(int64) workload.Demand { return workload.Demand{} }

// instants are the arrivals' instants.
func instants(arrivals []workload.Arrival) []clock.Instant {
	at := make([]clock.Instant, len(arrivals))
	for i, a := range arrivals {
		at[i] = a.At
	}
	return at
}

// groups tells the waves as "wave@instant×size".
func groups(arrivals []workload.Arrival) []string {
	var out []string
	for i := 0; i < len(arrivals); {
		j := i
		for j < len(arrivals) && arrivals[j].At == arrivals[i].At && arrivals[j].Wave == arrivals[i].Wave {
			j++
		}
		out = append(out, fmt.Sprintf("%d@%v×%d", arrivals[i].Wave, arrivals[i].At, j-i))
		i = j
	}
	return out
}

func TestWavesAndBursts(t *testing.T) {
	for _, c := range []struct {
		why, text string
		want      []string
		length    time.Duration
	}{
		{"rising waves", "{kind: waves, sizes: [1, 2, 4], gap: 10s}", []string{"0@0s×1", "1@10s×2", "2@20s×4"}, 30 * second},
		{"one wave has its gap too", "{kind: waves, sizes: [3], gap: 1ns}", []string{"0@0s×3"}, 1},
		{"waves of one size stay apart", "{kind: waves, sizes: [2, 2], gap: 1s}", []string{"0@0s×2", "1@1s×2"}, 2 * second},
		{"a burst among small waves", "{kind: burst, steady: 2, burst: 9, before: 2, after: 1, gap: 1s}", []string{"0@0s×2", "1@1s×2", "2@2s×9", "3@3s×2"}, 4 * second},
		{"a burst alone", "{kind: burst, steady: 2, burst: 9, before: 0, after: 0, gap: 1s}", []string{"0@0s×9"}, second},
		{"a shifted burst, its first two on time (FA-8)", "{kind: burst, steady: 1, burst: 9, before: 1, after: 1, gap: 1s, shift: 42.2ms, shift_after: 2}",
			[]string{"0@0s×1", "1@1s×2", "1@1.0422s×7", "2@2s×1"}, 3 * second},
		{"as many as a small wave are on time if nothing is said", "{kind: burst, steady: 3, burst: 9, before: 0, after: 0, gap: 1s, shift: 1ms}", []string{"0@0s×3", "0@1ms×6"}, second},
		{"all shifted", "{kind: burst, steady: 3, burst: 9, before: 0, after: 0, gap: 1s, shift: 1ms, shift_after: 0}", []string{"0@1ms×9"}, second},
		{"none shifted", "{kind: burst, steady: 3, burst: 9, before: 0, after: 0, gap: 1s, shift: 1ms, shift_after: 9}", []string{"0@0s×9"}, second},
	} {
		p := must(t, c.text)
		if diff := cmp.Diff(c.want, groups(draw(t, p, 1))); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", c.why, c.text, diff)
		}
		if got := p.Length(); got != c.length {
			t.Errorf("%s: %s: Length() = %v, want %v", c.why, c.text, got, c.length)
		}
	}
}

func TestConstant(t *testing.T) {
	for _, c := range []struct {
		why, text string
		count     int
		first     []clock.Instant // of the first arrivals
		length    time.Duration
	}{
		{"less than one a second: 0, 10, … 50 s, none at 60 s", "{kind: constant, rate: 6/m, duration: 60s}", 6,
			[]clock.Instant{0, 10e9, 20e9, 30e9, 40e9, 50e9}, 60 * second},
		{"a rate that no decimal number has", "{kind: constant, rate: 3/7s, duration: 14s}", 6,
			[]clock.Instant{0, 2333333333, 4666666666, 7e9, 9333333333, 11666666666}, 14 * second},
		{"the end is open even where the next one falls on it", "{kind: constant, rate: 1/s, duration: 1s}", 1, []clock.Instant{0}, second},
		{"and a nanosecond more lets it in", "{kind: constant, rate: 1/s, duration: 1000000001ns}", 2, []clock.Instant{0, 1e9}, second + 1},
		{"the real instant decides: 2/3 ns lies before 1 ns", "{kind: constant, rate: 3/2ns, duration: 1ns}", 2, []clock.Instant{0, 0}, 1},
		{"a number of requests covers their periods", "{kind: constant, rate: 3/7s, requests: 5}", 5, nil, 11666666667},
		{"one request", "{kind: constant, rate: 3/7s, requests: 1}", 1, []clock.Instant{0}, 2333333334},
		{"requests in a duration are a rate", "{kind: constant, duration: 10s, requests: 401}", 401, []clock.Instant{0, 24937655}, 10 * second},
	} {
		p := must(t, c.text)
		got := instants(draw(t, p, 1))
		if len(got) != c.count {
			t.Errorf("%s: %s sends %d, want %d", c.why, c.text, len(got), c.count)
		}
		if n := min(len(c.first), len(got)); !slices.Equal(got[:n], c.first) {
			t.Errorf("%s: %s sends at %v, want %v", c.why, c.text, got[:n], c.first)
		}
		if got := p.Length(); got != c.length {
			t.Errorf("%s: %s: Length() = %v, want %v", c.why, c.text, got, c.length)
		}
	}
}

// No rate is rounded to whole milliseconds or nanoseconds: the numbers are exact at each of these rates.
func TestConstantCountsAreExact(t *testing.T) {
	for _, perSecond := range []int{1, 7, 401, 667, 1500, 2000, 2500, 7000, 9999} {
		p := Constant{Rate: Rate{int64(perSecond), second}, Duration: 3 * second}
		at := instants(draw(t, p, 1))
		if len(at) != 3*perSecond {
			t.Errorf("%d/s for 3 s: %d requests, want %d", perSecond, len(at), 3*perSecond)
		}
		for s := range 3 { // and each second has its share
			n := 0
			for _, x := range at {
				if int(x/clock.Instant(second)) == s {
					n++
				}
			}
			if n != perSecond {
				t.Errorf("%d/s: %d requests in second %d, want %d", perSecond, n, s, perSecond)
			}
		}
	}
	for _, n := range []int64{1, 49, 50, 401, 12345} {
		for _, text := range []string{"{kind: constant, rate: 7/3ms, requests: %d}", "{kind: constant, duration: 997ms, requests: %d}", "{kind: poisson, rate: 50/s, requests: %d}"} {
			if got := draw(t, must(t, fmt.Sprintf(text, n)), 1); int64(len(got)) != n {
				t.Errorf(text+" sends %d requests", n, len(got))
			}
		}
	}
}

// Every instant is the floor of k·period, however many came before: no rounding adds up.
func TestConstantAgainstExactFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Constant{
			Rate:     Rate{rapid.Int64Range(1, 5000).Draw(t, "count"), time.Duration(rapid.Int64Range(1, int64(second)).Draw(t, "per"))},
			Duration: time.Duration(rapid.Int64Range(1, 1<<32).Draw(t, "duration")),
		}
		next := c.Open(nil)
		period := big.NewRat(int64(c.Rate.Per), c.Rate.Count)
		end := new(big.Rat).SetInt64(int64(c.Duration))
		for k := range int64(2000) {
			exact := new(big.Rat).Mul(period, new(big.Rat).SetInt64(k))
			a, ok := next()
			if want := exact.Cmp(end) < 0; ok != want {
				t.Fatalf("%v: request %d at %v ns: sent %v, want %v", c, k, exact, ok, want)
			}
			if !ok {
				return
			}
			if floor := new(big.Int).Quo(exact.Num(), exact.Denom()); int64(a.At) != floor.Int64() || a.Wave != -1 {
				t.Fatalf("%v: request %d at %d in wave %d, want %v in none", c, k, a.At, a.Wave, floor)
			}
		}
	})
}

func TestRamp(t *testing.T) {
	for _, c := range []struct {
		why, text string
		count     int
		first     []clock.Instant
	}{
		// N(t) = t²/2 (seconds): t_k = √(2k).
		{"from nothing to 2/s in 2 s: at √(2k)", "{kind: ramp, from: 0/s, to: 2/s, duration: 2s}", 2, []clock.Instant{0, 1414213562}},
		// N(t) = 2t − t²/2: t_k = 2 − √(4−2k).
		{"and down again: at 2 − √(4−2k)", "{kind: ramp, from: 2/s, to: 0/s, duration: 2s}", 2, []clock.Instant{0, 585786437}},
		// N(t) = t + t²/2: t_k = −1 + √(1+2k); N(2) = 4, so request 4 falls on the open end.
		{"from 1/s to 3/s: at √(1+2k) − 1", "{kind: ramp, from: 1/s, to: 3/s, duration: 2s}", 4, []clock.Instant{0, 732050807, 1236067977, 1645751311}},
		{"10/s to 100/s for 10 s sends the mean rate times the time", "{kind: ramp, from: 10/s, to: 100/s, duration: 10s}", 550, nil},
		{"falling, the same number", "{kind: ramp, from: 100/s, to: 10/s, duration: 10s}", 550, nil},
		{"units may differ: 60/m to 2/s", "{kind: ramp, from: 60/m, to: 2/s, duration: 2s}", 3, []clock.Instant{0, 828427124, 1464101615}},
		{"less than one request still sends the first", "{kind: ramp, from: 1/h, to: 2/h, duration: 1s}", 1, []clock.Instant{0}},
		{"part of a request at the end counts as one", "{kind: ramp, from: 1/s, to: 2/s, duration: 1s}", 2, []clock.Instant{0, 732050807}},
	} {
		got := instants(draw(t, must(t, c.text), 1))
		if len(got) != c.count {
			t.Errorf("%s: %s sends %d, want %d", c.why, c.text, len(got), c.count)
		}
		if n := min(len(c.first), len(got)); !slices.Equal(got[:n], c.first) {
			t.Errorf("%s: %s sends at %v, want %v", c.why, c.text, got[:n], c.first)
		}
	}
}

// integral is N(t) as an exact fraction.
func (p Ramp) integral(t int64) *big.Rat {
	from, to := big.NewRat(p.From.Count, int64(p.From.Per)), big.NewRat(p.To.Count, int64(p.To.Per))
	n := new(big.Rat).SetInt64(t)
	grow := new(big.Rat).Sub(to, from)
	grow.Mul(grow, n).Mul(grow, n).Quo(grow, new(big.Rat).SetInt64(2*int64(p.Duration)))
	return n.Mul(n, from).Add(n, grow)
}

// Each instant is the last nanosecond t with N(t) ≤ k, and all k below N(duration) are sent.
func TestRampAgainstItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := func(name string) Rate {
			return Rate{rapid.Int64Range(0, 3000).Draw(t, name), time.Duration(rapid.Int64Range(1, int64(second)).Draw(t, name+" per"))}
		}
		p := Ramp{From: rate("from"), To: rate("to"), Duration: time.Duration(rapid.Int64Range(1, 1<<40).Draw(t, "duration"))}
		if p.From.Count+p.To.Count == 0 {
			t.Skip("refused by Check")
		}
		total := p.integral(int64(p.Duration))
		next := p.Open(nil)
		for k := range int64(300) {
			number := new(big.Rat).SetInt64(k)
			a, ok := next()
			if want := number.Cmp(total) < 0; ok != want {
				t.Fatalf("%v: request %d of %v: sent %v, want %v", p, k, total.FloatString(3), ok, want)
			}
			if !ok {
				return
			}
			at := int64(a.At)
			if at < 0 || at >= int64(p.Duration) {
				t.Fatalf("%v: request %d at %d, out of [0, %d)", p, k, at, p.Duration)
			}
			if p.integral(at).Cmp(number) > 0 || p.integral(at+1).Cmp(number) <= 0 && at+1 < int64(p.Duration) {
				t.Fatalf("%v: request %d at %d: N = %v, next %v", p, k, at, p.integral(at).FloatString(6), p.integral(at+1).FloatString(6))
			}
		}
	})
}

func TestRampBetweenEqualRatesIsConstant(t *testing.T) {
	for _, r := range []Rate{{3, 7 * second}, {667, second}, {1, time.Hour}} {
		d := 100 * second
		ramp := draw(t, Ramp{From: r, To: Rate{2 * r.Count, 2 * r.Per}, Duration: d}, 1)
		if diff := cmp.Diff(draw(t, Constant{Rate: r, Duration: d}, 1), ramp); diff != "" {
			t.Errorf("ramp at %v (-constant +ramp):\n%s", r, diff)
		}
	}
}

// The times between the requests of a Poisson process are exponential: mean and standard deviation are the period. With n
// of them, the mean has the standard error period/√n and the deviation about 2·period/√(2n); five of these are allowed.
func TestPoissonGaps(t *testing.T) {
	const n = 100_000
	for _, rate := range []Rate{{10_000, second}, {50, second}, {6, time.Minute}, {700_000, second}} {
		at := instants(draw(t, Poisson{Rate: rate, Requests: n}, 1))
		period := float64(rate.Per) / float64(rate.Count)
		sum, sq, last := 0.0, 0.0, clock.Instant(0)
		below := 0 // gaps shorter than the period: a share of 1 − 1/e
		for _, x := range at {
			gap := float64(x - last)
			sum, sq, last = sum+gap, sq+gap*gap, x
			if gap < period {
				below++
			}
		}
		mean, limit := sum/n, 5*period/math.Sqrt(n)
		if math.Abs(mean-period) > limit {
			t.Errorf("%v: mean gap %.0f ns, want %.0f ± %.0f", rate, mean, period, limit)
		}
		if math.Abs(mean-1.03*period) <= limit {
			t.Errorf("%v: a rate 3 %% too high would pass", rate)
		}
		deviation := math.Sqrt(sq/n - mean*mean)
		if math.Abs(deviation-period) > 5*2*period/math.Sqrt(2*n) {
			t.Errorf("%v: the gaps deviate by %.0f ns, want %.0f", rate, deviation, period)
		}
		share, want := float64(below)/n, 1-1/math.E
		if allowed := 5 * math.Sqrt(want*(1-want)/n); math.Abs(share-want) > allowed {
			t.Errorf("%v: %.4f of the gaps are below the period, want %.4f ± %.4f", rate, share, want, allowed)
		}
	}
}

// The number in a duration has the mean and the variance rate·duration; over 2000 seeds the mean has the standard error
// √(12.5/2000) and the variance about 12.5·√(2/2000).
func TestPoissonCounts(t *testing.T) {
	const seeds, want = 2000, 12.5
	p := must(t, "{kind: poisson, rate: 2.5/s, duration: 5s}")
	sum, sq := 0.0, 0.0
	for seed := range uint64(seeds) {
		n := float64(len(draw(t, p, seed)))
		sum, sq = sum+n, sq+n*n
	}
	mean := sum / seeds
	variance := sq/seeds - mean*mean
	if limit := 5 * math.Sqrt(want/seeds); math.Abs(mean-want) > limit || math.Abs(mean-want-0.5) <= limit {
		t.Errorf("mean %.3f of %d seeds, want %.1f ± %.3f, and half a request more must not pass", mean, seeds, want, limit)
	}
	if limit := 5 * want * math.Sqrt(2.0/seeds); math.Abs(variance-want) > limit || variance <= limit {
		t.Errorf("variance %.2f of %d seeds, want %.1f ± %.2f, and a constant number must not pass", variance, seeds, want, limit)
	}
}

// A generator draws from its stream only: two of one seed agree even when they are asked in turns.
func TestPoissonIsRepeatable(t *testing.T) {
	p := Poisson{Rate: Rate{100, second}, Requests: 3}
	a, b := p.Open(rng.Stream(4, "arrivals")), p.Open(rng.Stream(4, "arrivals"))
	for {
		x, moreX := a()
		y, moreY := b()
		if x != y || moreX != moreY {
			t.Fatalf("two generators of one seed: %v and %v", x, y)
		}
		if !moreX {
			break
		}
	}
	// Printed once by this code: published runs depend on it.
	want := []clock.Instant{6166482, 8396955, 25872198}
	if got := instants(draw(t, p, 4)); !slices.Equal(got, want) {
		t.Errorf("seed 4 gives %d, want %d", got, want)
	}
}

func TestPoissonEndsAtItsDuration(t *testing.T) {
	p := Poisson{Rate: Rate{1000, second}, Duration: 10 * ms}
	for seed := range uint64(200) {
		draw(t, p, seed) // Build refuses an arrival at or after the duration
	}
	if got := (Poisson{Rate: Rate{1, second}, Requests: 1}).Length(); got != 0 {
		t.Errorf("Length() of a number of requests = %v, want 0: only a draw tells", got)
	}
}

// A generator that has ended stays ended.
func TestEndedGeneratorsStayEnded(t *testing.T) {
	for _, k := range Kinds() {
		next := must(t, k.Example).Open(rand.New(rand.NewPCG(1, 2)))
		n := 0
		for _, more := next(); more; _, more = next() {
			n++
		}
		if n == 0 {
			t.Errorf("%s sends nothing", k.Example)
		}
		for range 3 {
			if a, more := next(); more {
				t.Errorf("%s sends %v after its end", k.Example, a)
			}
		}
	}
}

func BenchmarkArrivals(b *testing.B) {
	for _, p := range []Pattern{
		Poisson{Rate: Rate{100_000, second}, Requests: 1_000_000},
		Constant{Rate: Rate{100_000, second}, Requests: 1_000_000},
		Ramp{From: Rate{0, second}, To: Rate{200_000, second}, Duration: 10 * second},
		Waves{Sizes: slices.Repeat([]int{1000}, 1000), Gap: second},
	} {
		b.Run(fmt.Sprintf("%T", p), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := workload.Build(workload.Source{Process: p, Demands: nothing{}})
				if err != nil || len(s.Arrivals) != 1_000_000 {
					b.Fatal(len(s.Arrivals), err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/arrival")
		})
	}
}
