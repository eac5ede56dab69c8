package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"coldwave/platform"
	"coldwave/reports"
	"coldwave/scheduler"
)

func sweepOf(t *testing.T, base Cell, runs int, params ...string) Sweep {
	t.Helper()
	s := Sweep{Base: base, Seeds: Seeds{Runs: runs}, Oracle: true}
	for _, text := range params {
		axis, err := ParseAxis(base.Policy, text)
		if err != nil {
			t.Fatal(err)
		}
		s.Axes = append(s.Axes, axis)
	}
	return s
}

func swept(t *testing.T, s Sweep) reports.Sweep {
	t.Helper()
	out, err := s.Run(context.Background(), func(Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Each point of the grid is the cell that one would have written by hand.
func TestAPointIsItsOwnRun(t *testing.T) {
	base := cellOf(t, "fc-burst", "fixed:wait_timeout=5s", platform.Default())
	out := swept(t, sweepOf(t, base, 3, "instances=1..5:2", "concurrency=1,4", "max=2,unlimited"))
	if got := len(out.Standings.All); got != 3*2*2 || out.Standings.Oracle != reports.NoOracle {
		t.Fatalf("%d standings, oracle at %d; want 12 and none, because of the concurrency", got, out.Standings.Oracle)
	}
	at := 0
	for _, instances := range []int{1, 3, 5} {
		for _, concurrency := range []int{1, 4} {
			for _, most := range []int{2, scheduler.Unlimited} {
				one := out.Standings.All[at]
				at++
				cell := base
				cell.Policy = fmt.Sprintf("fixed:wait_timeout=5s,instances=%d", instances)
				cell.Profile.Function.Concurrency, cell.Max = concurrency, most
				if one.Policy != cell.Policy {
					t.Fatalf("policy %q, want %q", one.Policy, cell.Policy)
				}
				alone, err := Seeds{Cells: []Cell{cell}, Runs: 3}.Run(context.Background(), func(Progress) {})
				if err != nil {
					t.Fatal(err)
				}
				if one.Log != alone.Log || one.Log == "" || one.Spreads[4].Median != alone.Spreads[4].Median {
					t.Errorf("%v: decisions %s, p99 %d; alone %s, %d", one.Labels, one.Log, one.Spreads[4].Median, alone.Log, alone.Spreads[4].Median)
				}
			}
		}
	}
}

// The same sweep gives the same bytes on any number of workers.
func TestSweepIsTheSameOnAnyNumberOfCores(t *testing.T) {
	s := sweepOf(t, cellOf(t, "poisson", "fc-race", platform.Default(), "rate=5/s", "requests=200"), 4, "idle_timeout=1s..9s:2s", "max=3,unlimited")
	write := func(workers int) string {
		s.Seeds.Workers = workers
		var b bytes.Buffer
		if err := errors.Join(reports.SweepJSON(&b, swept(t, s)), reports.SweepCSV(&b, swept(t, s))); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := write(1)
	for _, workers := range []int{2, 16} {
		if write(workers) != want {
			t.Errorf("%d workers give another document than one", workers)
		}
	}
	s.Base.Seed++
	if write(1) == want {
		t.Error("other seeds give the same document")
	}
}

// More instances answer sooner and cost more: every number of them is on the front until more do not help.
func TestSweepOfAFixedNumberOfInstances(t *testing.T) {
	s := sweepOf(t, cellOf(t, "poisson", "fixed:wait_timeout=0s", platform.Default(), "rate=20/s", "duration=60s"), 3, "instances=3..30")
	s.Seeds.Judging.Latency = "response_p90" // those of the first start-up are fewer
	out := swept(t, s)
	all := out.Standings.All
	if out.Standings.Oracle != len(all)-1 || all[len(all)-1].Policy != Oracle {
		t.Fatalf("the oracle is at %d of %d", out.Standings.Oracle, len(all))
	}
	front := 0
	for front < len(all) && all[front].Place.Front {
		front++
	}
	if front < 3 || front > 20 {
		t.Errorf("the first %d numbers of instances are on the front; want some, and not all", front)
	}
	for _, one := range all[front : len(all)-1] {
		if one.Place.Front && one.Place.Latency > 1.05 {
			t.Errorf("%v is on the front behind a gap: %+v", one.Labels, one.Place)
		}
	}
	if last := all[len(all)-2]; last.Place.Cost < 4 || last.Place.Latency > 1.1 {
		t.Errorf("30 instances: %+v; want as fast as the oracle, at many times its instance-time", last.Place)
	}
}

func TestSweepLeavesOutWhatIsImpossible(t *testing.T) {
	out := swept(t, sweepOf(t, cellOf(t, "fc-burst", "fc-race", platform.Default()), 1, "min=0..3", "max=1..3"))
	if out.LeftOut != 3 || len(out.Standings.All) != 12-3+1 {
		t.Errorf("%d left out, %d standings; want 3 (min above max), and 9 with the oracle", out.LeftOut, len(out.Standings.All))
	}
	if len(out.Standings.Notes) != 1 || !strings.Contains(out.Standings.Notes[0], "No limit") {
		t.Errorf("notes %q, want one that no limit binds the oracle", out.Standings.Notes)
	}
}

// A pattern that is too long to be held is streamed at every point, without the oracle.
func TestSweepOfLongRuns(t *testing.T) {
	s := sweepOf(t, cellOf(t, "poisson", "fc-race", platform.Default(), "rate=100/s", "requests=500"), 2, "idle_timeout=1s,10s")
	s.Seeds.Exact = 100
	out := swept(t, s)
	if !out.Setting.Buckets || len(out.Standings.All) != 2 || out.Standings.Oracle != reports.NoOracle || len(out.Standings.Notes) != 1 {
		t.Errorf("%d standings, oracle %d, notes %q; want two from histograms and a note", len(out.Standings.All), out.Standings.Oracle, out.Standings.Notes)
	}
}

func TestSweepRefuses(t *testing.T) {
	base := cellOf(t, "fc-burst", "fc-race:idle_timeout=10s", platform.Default())
	axis := func(text string) Axis {
		a, err := ParseAxis(base.Policy, text)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, row := range []struct {
		why  string
		s    Sweep
		want error
		text string
	}{
		{"nothing to sweep", Sweep{Base: base, Seeds: Seeds{Runs: 1}}, ErrSweep, "no parameter"},
		{"a parameter twice", Sweep{Base: base, Seeds: Seeds{Runs: 1}, Axes: []Axis{axis("max=1,2"), axis("limit.max=3")}}, ErrSweep, `"limit.max" is there twice`},
		{"a parameter that the policy sets", Sweep{Base: base, Seeds: Seeds{Runs: 1}, Axes: []Axis{axis("idle_timeout=1s")}}, ErrSweep, "set in policy"},
		{"too many points", Sweep{Base: base, Seeds: Seeds{Runs: 1}, Axes: []Axis{axis("max=1..101"), axis("wait_timeout=1s..100s:1s")}}, ErrRuns, "more than 10000 points"},
		{"too many runs", Sweep{Base: base, Seeds: Seeds{Runs: 5}, MaxRuns: 49, Axes: []Axis{axis("max=1..10")}}, ErrRuns, "more than 9 points on 5 seeds"},
		{"points beyond any number", Sweep{Base: base, Seeds: Seeds{Runs: 1}, Axes: []Axis{axis("max=1..10000"), axis("min=1..10000"), axis("concurrency=1..10000"), axis("wait_timeout=1s..10000s:1s"), axis("start_retries=1..10000")}}, ErrRuns, "more than"},
		{"no possible point", Sweep{Base: base, Seeds: Seeds{Runs: 1}, Axes: []Axis{axis("max=1,2"), axis("min=3")}}, ErrSweep, "no point is possible"},
		{"no seed", Sweep{Base: base, Axes: []Axis{axis("max=1,2")}}, ErrSeeds, ""},
		{"a bad rule", Sweep{Base: base, Seeds: Seeds{Runs: 1, Judging: Judging{NotOK: 2}}, Axes: []Axis{axis("max=1,2")}}, ErrJudging, ""},
	} {
		_, err := row.s.Run(context.Background(), func(Progress) {})
		if !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.text) {
			t.Errorf("%s: %v, want %v and %q", row.why, err, row.want, row.text)
		}
	}
	exact := Sweep{Base: base, Seeds: Seeds{Runs: 5}, MaxRuns: 50, Axes: []Axis{axis("max=1..10")}}
	if _, err := exact.Run(context.Background(), func(Progress) {}); err != nil {
		t.Errorf("as many runs as allowed: %v", err)
	}
}
