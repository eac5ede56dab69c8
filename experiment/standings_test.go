package experiment

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"coldwave/platform"
	"coldwave/reports"
	"coldwave/workload"
)

func standingsFor(t *testing.T, s Seeds) reports.Standings {
	t.Helper()
	var names []string
	for _, c := range s.Cells {
		names = append(names, "policy:"+c.Policy)
	}
	out, err := s.Compare(context.Background(), names, func(Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return out.Standings
}

func place(t *testing.T, s reports.Standings, policy string) reports.Standing {
	t.Helper()
	for _, one := range s.All {
		if one.Policy == policy {
			return one
		}
	}
	t.Fatalf("no %q", policy)
	return reports.Standing{}
}

// Both policies start the same instances in the burst (10.2), so the one that answers sooner is the front alone. The oracle
// is below both, and is no candidate.
func TestStandingsOfTheBurst(t *testing.T) {
	var cells []Cell
	for _, policy := range []string{"fc-bound", "fc-race", Oracle} {
		cells = append(cells, cellOf(t, "fc-burst", policy, platform.Default()))
	}
	s := standingsFor(t, Seeds{Cells: cells, Runs: 9})
	before, after, oracle := place(t, s, "fc-bound"), place(t, s, "fc-race"), place(t, s, Oracle)
	if before.Place.Front || !after.Place.Front || oracle.Place.Front || s.Oracle != 2 {
		t.Errorf("places: before %+v, after %+v, oracle %+v at %d; want after alone on the front", before.Place, after.Place, oracle.Place, s.Oracle)
	}
	if before.FrontSeeds != 0 || after.FrontSeeds != 9 || oracle.FrontSeeds != 0 {
		t.Errorf("seeds on the front: %d, %d, %d; want 0, 9, 0", before.FrontSeeds, after.FrontSeeds, oracle.FrontSeeds)
	}
	for _, one := range []reports.Standing{before, after} {
		if one.Place.Latency < 1 || one.Place.Cost < 1 || one.NotOK != 0 || one.Requests != 9*32 {
			t.Errorf("%s: %+v, %d of %d not ok; want nothing below the oracle", one.Policy, one.Place, one.NotOK, one.Requests)
		}
	}
	if before.Tariff == nil || oracle.Tariff != nil || len(s.Columns) != 1 || before.Labels[0] != "fc-bound" {
		t.Errorf("tariffs %v and %v, labels %v", before.Tariff, oracle.Tariff, before.Labels)
	}
}

// With a quota fc-bound turns half of the burst away: it takes no part, although its numbers look good.
func TestWhoTurnsAwayIsSetAside(t *testing.T) {
	var cells []Cell
	for _, policy := range []string{"fc-bound", "fc-race"} {
		c := cellOf(t, "fc-burst", policy, platform.Default())
		c.Max = 10
		cells = append(cells, c)
	}
	s := standingsFor(t, Seeds{Cells: cells, Runs: 3})
	if before := place(t, s, "fc-bound"); before.Place.OK || before.NotOK != 30 || !place(t, s, "fc-race").Place.Front {
		t.Errorf("strict: %+v, %d not ok; want it set aside with 30", before.Place, before.NotOK)
	}
	s = standingsFor(t, Seeds{Cells: cells, Runs: 3, Judging: Judging{NotOK: 0.4}})
	if before := place(t, s, "fc-bound"); !before.Place.OK {
		t.Errorf("with 40 %% allowed: %+v, want it to take part", before.Place)
	}
}

// What a cell gives does not depend on the cells beside it.
func TestCellsDoNotTouchEachOther(t *testing.T) {
	one, other := cellOf(t, "fc-burst", "fc-race", platform.Default()), cellOf(t, "fc-burst", "fc-bound", platform.Default())
	metrics, _, err := Seeds{Cells: []Cell{one}, Runs: 1}.metrics(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	alone := lotsOf(t, Seeds{Cells: []Cell{one}, Runs: 5}, metrics)
	beside := lotsOf(t, Seeds{Cells: []Cell{other, one, one}, Runs: 5}, metrics)
	for k := range alone {
		if a, b := alone[k].trials[0], beside[k].trials[1]; a.log != b.log || a.log != beside[k].trials[2].log || alone[k].schedule != beside[k].schedule {
			t.Errorf("seed %d: other decisions beside other cells", k)
		}
	}
}

func TestEachScheduleIsDrawnOnce(t *testing.T) {
	var times atomic.Int64
	d := &draws{uses: 20, live: map[int]*drawn{}, of: func(int) (*workload.Schedule, error) {
		times.Add(1)
		return &workload.Schedule{}, nil
	}}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for k := range 10 {
				if one, err := d.take(k); err != nil || one.schedule == nil || one.hash == "" {
					t.Errorf("take(%d) = %+v, %v", k, one, err)
				}
			}
		})
	}
	all.Wait()
	if times.Load() != 10 || len(d.live) != 0 {
		t.Errorf("%d schedules were drawn, %d are kept; want 10 and none", times.Load(), len(d.live))
	}
	d = &draws{uses: 1, live: map[int]*drawn{}, of: func(int) (*workload.Schedule, error) { return nil, workload.ErrTooMany }}
	if one, err := d.take(0); err != nil || one.schedule != nil {
		t.Errorf("too many arrivals: %+v, %v; want no schedule and no error", one, err)
	}
	d = &draws{uses: 1, live: map[int]*drawn{}, of: func(int) (*workload.Schedule, error) { return nil, workload.ErrArrival }}
	if _, err := d.take(0); !errors.Is(err, workload.ErrArrival) {
		t.Errorf("an illegal arrival: %v", err)
	}
}

func TestJudgingRefuses(t *testing.T) {
	for _, row := range []struct {
		why string
		j   Judging
	}{{"no such metric", Judging{Latency: "response_p98"}}, {"a metric of another unit", Judging{Latency: "starts"}}, {"a share below 0", Judging{NotOK: -0.1}}, {"all of them", Judging{NotOK: 1}}} {
		if err := row.j.check(); !errors.Is(err, ErrJudging) {
			t.Errorf("%s: %v, want ErrJudging", row.why, err)
		}
	}
	if err := (Judging{}).check(); err != nil {
		t.Errorf("the zero value: %v", err)
	}
}

func TestOracleReason(t *testing.T) {
	cell := cellOf(t, "fc-burst", "fc-race", platform.Default())
	for _, row := range []struct {
		change func(*Cell)
		exact  int
		want   string
	}{
		{func(*Cell) {}, 0, ""},
		{func(c *Cell) { c.Max = 10 }, 0, "one of 10 instances"},
		{func(c *Cell) { c.Profile.Function.Concurrency = 80 }, 0, "these take 80"},
		{func(*Cell) {}, 31, "more requests than --exact keeps"},
		{func(*Cell) {}, 32, ""},
	} {
		c := cell
		row.change(&c)
		if got, err := OracleReason(context.Background(), c, row.exact); err != nil || !strings.Contains(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("OracleReason(max %d, exact %d) = %q, %v, want %q", c.Max, row.exact, got, err, row.want)
		}
	}
}
