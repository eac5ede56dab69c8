package patterns

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"coldwave/platform"
	"coldwave/workload"
)

// The schedules of seed 1 under the default profile. Published results name these hashes, so a change of one is a change
// of what is measured, and its commit has to say so. Printed once by this code.
func TestSchedulesAreFixed(t *testing.T) {
	for _, c := range []struct{ pattern, want string }{
		{"fc-ramp", "4dd42c0af0d078bfcfc2c309e481df51aa9f1f95c062ae4e6881b8fed7a8fb14"},
		{"fc-burst", "66906cfcb13daf5a6f6ec59e59184798ff675861d796da2e35e8ab526d8130c7"},
		{"fc-burst-shifted", "4fa8e0dc13faaede731f2b661274951c2e55324741301ad7c07b1fcdbb24d017"},
		{"fc-online", "1a82d0e3511fd1e3c1f2495a4614bffffbd51bb06bd8150129fb599e6fd96a2b"},
		{"fc-online-25", "54047dd7dd33e95b92af2ba8e5e0ad1de304cf07b2524ba6b7164cb1e862966f"},
		{"constant", "9deecb8ec15512bd1fcbd7262398788e40ad4c97e9dfcc27a2398c042fb1fbf9"},
		{"poisson", "8d43bdcbbce1aa525760b0909dd933ee339b5764ddb3d02907b6b8909a5e179d"},
		{"{kind: ramp, from: 10/s, to: 100/s, duration: 10s}", "33e22faf748b4236f19bf50945d9531741327b22a44eed854bfefbc797fe2dd4"},
	} {
		text := c.pattern
		p, err := Load(text, nil)
		if text[0] == '{' {
			p, err = Parse("p.yaml", []byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
		profile := platform.Default()
		s, err := workload.Build(workload.Source{Process: p, Demands: profile.Draws(1), Function: profile.Function, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Hash(); got != c.want {
			t.Errorf("hash of %s = %s, want %s", c.pattern, got, c.want)
		}
	}
}

// anyRate draws a rate that every pattern accepts.
func anyRate(t *rapid.T, name string) Rate {
	per := rapid.SampledFrom([]time.Duration{1000, ms, 7 * ms, second, 7 * second, time.Minute, 90 * second, time.Hour}).Draw(t, name+" per")
	most := max(1, int64(per/time.Microsecond)) // a million per second
	return Rate{rapid.Int64Range(1, min(most, 1_000_000)).Draw(t, name), per}
}

// anySpan draws a duration in which no pattern sends more than its limits.
func anySpan(t *rapid.T, name string, most time.Duration) time.Duration {
	return time.Duration(rapid.Int64Range(1, int64(most)).Draw(t, name))
}

// anyPattern draws a pattern of each kind with all of its settings.
func anyPattern(t *rapid.T) Pattern {
	gap := anySpan(t, "gap", 10*time.Minute)
	burst := rapid.IntRange(1, 500).Draw(t, "burst")
	b := Burst{
		Steady: rapid.IntRange(1, 9).Draw(t, "steady"), Burst: burst, Gap: gap,
		Before: rapid.IntRange(0, 5).Draw(t, "before"), After: rapid.IntRange(0, 5).Draw(t, "after"),
	}
	if b.Shift = time.Duration(rapid.Int64Range(0, int64(gap)-1).Draw(t, "shift")); b.Shift > 0 {
		b.ShiftAfter = rapid.IntRange(0, burst).Draw(t, "shift after")
	}
	steps := Steps{
		Sizes: rapid.SliceOfN(rapid.IntRange(1, 300), 1, 9).Draw(t, "step sizes"), Gap: gap, WarmUp: rapid.IntRange(0, 9).Draw(t, "warm-up"),
	}
	steps.Repeats = rapid.SliceOfN(rapid.IntRange(1, 9), len(steps.Sizes), len(steps.Sizes)).Draw(t, "repeats")
	if steps.WarmUp > 0 {
		steps.Pause = anySpan(t, "pause", time.Hour)
	}
	many := Groups{Gap: gap, For: time.Hour}
	for k := range rapid.IntRange(1, 9).Draw(t, "groups") {
		many.At = append(many.At, anySpan(t, "at", time.Minute)+time.Duration(k)*time.Minute)
		many.Sizes = append(many.Sizes, rapid.IntRange(1, 300).Draw(t, "group size"))
		many.Repeats = append(many.Repeats, rapid.IntRange(1, 5).Draw(t, "repeats of a group"))
	}
	once := Groups{At: many.At, Sizes: many.Sizes, For: time.Hour}
	requests := rapid.Int64Range(1, 700).Draw(t, "requests") // 700 at one an hour fit in the limit
	return rapid.SampledFrom([]Pattern{
		Waves{Sizes: rapid.SliceOfN(rapid.IntRange(1, 300), 1, 20).Draw(t, "sizes"), Gap: gap},
		b,
		steps, many, once,
		Constant{Rate: anyRate(t, "rate"), Duration: anySpan(t, "duration", 720*time.Hour)},
		Constant{Rate: anyRate(t, "rate"), Requests: requests},
		Ramp{From: anyRate(t, "from"), To: anyRate(t, "to"), Duration: anySpan(t, "duration", 720*time.Hour)},
		Poisson{Rate: anyRate(t, "rate"), Duration: anySpan(t, "duration", 720*time.Hour)},
		Poisson{Rate: anyRate(t, "rate"), Requests: requests},
	}).Draw(t, "pattern")
}

// Every pattern reads back from its own text, to the same value and so to the same arrivals.
func TestEveryPatternReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPattern(t)
		if err := p.Check(Limits{}); err != nil {
			t.Fatalf("%v: %v", p, err)
		}
		got, err := Parse("p.yaml", []byte(p.String()))
		if err != nil {
			t.Fatalf("Parse(%q) = %v", p, err)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Fatalf("Parse(%q) (-want +got):\n%s", p, diff)
		}
		same, err := p.Override(Settings{})
		if diff := cmp.Diff(p, same); err != nil || diff != "" {
			t.Fatalf("%v with nothing set: %v\n%s", p, err, diff)
		}
	})
}

// Every pattern keeps the contract of its generator: in order, in [0, Length), waves numbered without gaps, or none.
func TestEveryPatternKeepsItsContract(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPattern(t)
		s, err := workload.Build(workload.Source{Process: few{p}, Demands: nothing{}, Seed: rapid.Uint64().Draw(t, "seed")})
		if err != nil {
			t.Fatal(err) // Build refuses what is out of order or out of range
		}
		wave := int32(0)
		for i, a := range s.Arrivals {
			if i == 0 {
				wave = min(a.Wave, 0)
			}
			if a.Wave != wave && a.Wave != wave+1 || a.Wave < 0 && wave >= 0 {
				t.Fatalf("%v: arrival %d is of wave %d after wave %d", p, i, a.Wave, wave)
			}
			wave = a.Wave
		}
	})
}

// A pattern that is slowed down by a whole factor sends the same requests later by that factor, up to what the floor of
// the fast one cuts off.
func TestStretchedRatesKeepTheirRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		factor := rapid.Int64Range(2, 50).Draw(t, "factor")
		slow := func(r Rate) Rate { return Rate{r.Count, r.Per * time.Duration(factor)} }
		from, to, d := anyRate(t, "from"), anyRate(t, "to"), anySpan(t, "duration", time.Hour)
		for _, c := range [][2]Pattern{
			{Constant{Rate: from, Duration: d}, Constant{Rate: slow(from), Duration: d * time.Duration(factor)}},
			{Ramp{From: from, To: to, Duration: d}, Ramp{From: slow(from), To: slow(to), Duration: d * time.Duration(factor)}},
		} {
			fast, slowed := c[0].Open(nil), c[1].Open(nil)
			for range 100 {
				a, more := fast()
				b, moreSlow := slowed()
				if more != moreSlow {
					t.Fatalf("%v has a request more or less than %v", c[0], c[1])
				}
				if !more {
					break
				}
				if late := int64(b.At) - int64(a.At)*factor; late < 0 || late >= factor {
					t.Fatalf("%v at %d, stretched by %d at %d", c[0], a.At, factor, b.At)
				}
			}
		}
	})
}

func ExampleParse() {
	p, err := Parse("mine.yaml", []byte("kind: waves\nsizes: [1, 2, 4]\ngap: 10s\n"))
	fmt.Println(p, err)
	_, err = Parse("mine.yaml", []byte("kind: constant\nratee: 5/s\nduration: 1m\n"))
	fmt.Println(err)
	// Output:
	// {kind: waves, sizes: [1, 2, 4], gap: 10s} <nil>
	// mine.yaml:2:1: unknown key "ratee", did you mean "rate"?; the keys of constant are rate, duration, requests
}

func ExampleLoad() {
	p, _ := Load("fc-ramp", nil)
	quick, err := p.Override(Settings{Gap: 4 * time.Second})
	fmt.Println(quick, quick.Length(), err)
	_, err = Load("fc-rmap", nil)
	fmt.Println(err)
	// Output:
	// {kind: waves, sizes: [1, 2, 4, 8, 16, 32], gap: 4s} 24s <nil>
	// unknown pattern "fc-rmap", did you mean "fc-ramp"?; the patterns are constant, fc-burst, fc-burst-shifted, fc-online, fc-online-25, fc-ramp, poisson, or give the path of a file
}
