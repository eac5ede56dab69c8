package experiment

import (
	"context"
	"errors"
	"testing"
	"time"

	"coldwave/analysis"
	"coldwave/platform"
	"coldwave/reports"
	"coldwave/sim"
	"coldwave/workload"
)

// asked remembers what start-ups were drawn, and for which demand.
type asked struct {
	platform.Draws
	cold    map[int64]time.Duration // by instance: start-up, body and overhead of the cause in sum
	startUp map[int64]time.Duration
}

func (a asked) StartUp(instance int64, cause workload.Demand) platform.StartUp {
	up := a.Draws.StartUp(instance, cause)
	a.cold[instance], a.startUp[instance] = up.Total+cause.Exec+cause.Overhead(), up.Total
	return up
}

func listen(t *testing.T, c Cell) (asked, *workload.Schedule) {
	t.Helper()
	schedule, err := c.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	a := asked{c.Profile.Draws(c.Seed), map[int64]time.Duration{}, map[int64]time.Duration{}}
	if _, err := c.virtual(func(cfg *sim.Config) { cfg.Schedule, cfg.Platform = schedule, a }); err != nil {
		t.Fatal(err)
	}
	return a, schedule
}

// Two policies on one seed face the same arrivals, demands and start-up draws: the k-th start of both has the same C,
// though another arrival may have caused it. (Idle instances end after a second here, so that starts never cease.) On another seed nothing is the same.
func TestPoliciesOnOneSeedFaceTheSame(t *testing.T) {
	cell := func(policy string, seed uint64) Cell {
		c := cellOf(t, "poisson", policy+":idle_timeout=1s", platform.Default(), "rate=5/s", "requests=3000")
		c.Seed = seed
		return c
	}
	before, schedule := listen(t, cell("fc-bound", 5))
	after, same := listen(t, cell("fc-race", 5))
	other, another := listen(t, cell("fc-race", 6))
	if schedule.Hash() != same.Hash() || schedule.Hash() == another.Hash() {
		t.Errorf("schedules %s, %s, of another seed %s; want the first two equal", schedule.Hash(), same.Hash(), another.Hash())
	}
	starts := min(len(before.cold), len(after.cold), len(other.cold))
	if starts < 5 {
		t.Fatalf("%d and %d starts: want some in common", len(before.cold), len(after.cold))
	}
	equal, moved, foreign := 0, 0, 0
	for i := int64(1); i <= int64(starts); i++ {
		if before.cold[i] == after.cold[i] {
			equal++
		}
		if before.startUp[i] != after.startUp[i] {
			moved++
		}
		if before.cold[i] == other.cold[i] {
			foreign++
		}
	}
	if equal != starts || foreign != 0 {
		t.Errorf("C of %d of %d starts is the same on one seed, of %d on another; want all and none", equal, starts, foreign)
	}
	if moved == 0 {
		t.Error("every start was caused by the same arrival under both policies: the check shows nothing")
	}
}

func compared(t *testing.T, pattern string, seeds int, policies ...string) reports.Comparison {
	t.Helper()
	s := Seeds{Runs: seeds}
	for _, p := range policies {
		s.Cells = append(s.Cells, cellOf(t, pattern, p, platform.Default()))
	}
	out, err := s.Compare(context.Background(), policies, func(Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func rowOf(t *testing.T, p reports.SidePair, name string) analysis.Paired {
	t.Helper()
	for _, r := range p.Rows {
		if r.Metric.Name == name {
			return r
		}
	}
	t.Fatalf("no metric %q", name)
	return analysis.Paired{}
}

// The optimisation moves latency and not starts (10.2); a policy against itself differs nowhere.
func TestCompareFindsWhatIsThere(t *testing.T) {
	out := compared(t, "fc-burst", 30, "fc-bound", "fc-race", "fc-bound:idle_timeout=299s")
	race, self := out.Pairs[0], out.Pairs[1]
	for name, want := range map[string]analysis.Finding{
		"wave_4_p99": analysis.Lower, "response_mean": analysis.Lower, "waiting": analysis.Lower, "starts": analysis.Same,
		"allocated": analysis.Same, "starts_never": analysis.Higher, "wave_3_p99": analysis.Same,
	} {
		if got := rowOf(t, race, name).Finding(); got != want {
			t.Errorf("race against bound: %s is %q, want %q", name, got, want)
		}
		if got := rowOf(t, self, name).Finding(); got != analysis.Same {
			t.Errorf("bound against bound: %s is %q, want equal", name, got)
		}
	}
	if p99 := rowOf(t, race, "wave_4_p99"); p99.RatioIn.High > 0.5 {
		t.Errorf("p99 of the burst, race ÷ bound = %v, want below a half (FA-7)", p99.RatioIn)
	}
	if out.Sides[0].Log != out.Sides[2].Log || out.Sides[0].Log == out.Sides[1].Log {
		t.Errorf("event logs %v: want the first and the last equal, the second another", out.Sides)
	}
}

// The same comparison without common seeds needs an interval several times as wide: pairing is worth its name.
func TestPairingIsNarrowerThanOtherSeeds(t *testing.T) {
	const seeds = 40
	width := func(shift uint64) float64 {
		metrics := analysis.Metrics()
		a := Seeds{Runs: seeds, Cells: []Cell{cellOf(t, "poisson", "fc-bound", platform.Default(), "rate=5/s", "requests=600")}}
		b := Seeds{Runs: seeds, Cells: []Cell{cellOf(t, "poisson", "fc-race", platform.Default(), "rate=5/s", "requests=600")}}
		b.Cells[0].Seed += shift
		lots, others := lotsOf(t, a, metrics), lotsOf(t, b, metrics)
		p := analysis.Pair(metrics[0], sampleOf(lots, 0, 0), sampleOf(others, 0, 0), 0.95)
		return p.DifferenceIn.High - p.DifferenceIn.Low
	}
	if paired, apart := width(0), width(1000); paired > 0.8*apart {
		t.Errorf("interval of the mean difference: %.2f ms paired, %.2f ms on other seeds; want it clearly narrower", paired/1e6, apart/1e6)
	}
}

func lotsOf(t *testing.T, s Seeds, metrics []analysis.Metric) []lot {
	t.Helper()
	lots, err := s.lots(context.Background(), metrics, func(int64) {})
	if err != nil {
		t.Fatal(err)
	}
	return lots
}

func TestCompareRefuses(t *testing.T) {
	cell := cellOf(t, "fc-ramp", "fc-race", platform.Default())
	other := cellOf(t, "fc-burst", "fc-bound", platform.Default())
	for _, row := range []struct {
		why   string
		cells []Cell
		names []string
		runs  int
		want  error
	}{
		{"one side", []Cell{cell}, []string{"a"}, 5, ErrSides},
		{"sides without names", []Cell{cell, cell}, []string{"a"}, 5, ErrSides},
		{"sides with other arrivals", []Cell{cell, other}, []string{"a", "b"}, 5, ErrSides},
		{"no seed", []Cell{cell, cell}, []string{"a", "b"}, 0, ErrSeeds},
	} {
		_, err := Seeds{Cells: row.cells, Runs: row.runs}.Compare(context.Background(), row.names, func(Progress) {})
		if !errors.Is(err, row.want) {
			t.Errorf("%s: Compare = %v, want %v", row.why, err, row.want)
		}
	}
}
