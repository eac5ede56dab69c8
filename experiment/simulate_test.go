package experiment

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/analysis"
	"coldwave/patterns"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/workload"
)

// golden is the deterministic platform of the documented numbers: h = 12.5 ms, C = 2350 ms (FA-1).
func golden() platform.Profile {
	p := platform.Default()
	p.Overhead, p.Cold = platform.Constant(12500*time.Microsecond), platform.Constant(2350*time.Millisecond)
	return p
}

// cellOf is a cell of an embedded pattern, changed by settings such as "rate=5/s".
func cellOf(t *testing.T, pattern, policy string, profile platform.Profile, settings ...string) Cell {
	t.Helper()
	process, err := patterns.Load(pattern, nil)
	if err != nil {
		t.Fatal(err)
	}
	var s patterns.Settings
	for _, text := range settings {
		name, value, _ := strings.Cut(text, "=")
		if err := s.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if process, err = process.Override(s); err != nil {
		t.Fatal(err)
	}
	return Cell{Pattern: pattern, Process: process, Policy: policy, Profile: profile, Max: scheduler.Unlimited, Seed: 1}
}

func simulated(t *testing.T, s Simulation) Simulated {
	t.Helper()
	out, err := s.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// FA-2 split by use. Arrivals reach the scheduler 6.25 ms after their intended start, so each start of the wave at t is
// there for 60 − t − 0.00625 s. Before, each of the 32 starts of the ramp serves its own requester first (FC-6). After, only
// the first does; the 15 of waves 2 to 5 are used by the next waves, the 16 of the last wave by nobody (FC-8). The burst:
// 2 starts, then 18 more, of which the two that served last serve the two requests of each later wave.
func TestAttributionOfTheDocumentedPatterns(t *testing.T) {
	const late = 6250 * time.Microsecond
	seconds := func(n, starts int) time.Duration { return time.Duration(n)*time.Second - time.Duration(starts)*late }
	for _, row := range []struct {
		pattern, policy string
		starts          [analysis.Uses]int
		spent           [analysis.Uses]time.Duration
		waiting         time.Duration
	}{
		{"fc-ramp", "fc-bound", [analysis.Uses]int{32, 0, 0}, [analysis.Uses]time.Duration{seconds(630, 32), 0, 0}, 32 * 2237500 * time.Microsecond},
		{"fc-ramp", "fc-race", [analysis.Uses]int{1, 15, 16}, [analysis.Uses]time.Duration{seconds(60, 1), seconds(410, 15), seconds(160, 16)},
			2237500*time.Microsecond + 31*100*time.Millisecond},
		{"fc-burst", "fc-bound", [analysis.Uses]int{20, 0, 0}, [analysis.Uses]time.Duration{seconds(860, 20), 0, 0}, 20 * 2237500 * time.Microsecond},
		{"fc-burst", "fc-race", [analysis.Uses]int{2, 2, 16}, [analysis.Uses]time.Duration{seconds(140, 2), seconds(80, 2), seconds(640, 16)},
			2*2237500*time.Microsecond + 9*time.Second},
	} {
		s := simulated(t, Simulation{Cell: cellOf(t, row.pattern, row.policy, golden())}).Run.Summary
		if s.Uses.Starts != row.starts || s.Uses.Spent != row.spent {
			t.Errorf("%s under %s: starts own, other, never = %v with %v, want %v with %v", row.pattern, row.policy,
				s.Uses.Starts, s.Uses.Spent, row.starts, row.spent)
		}
		if s.Waiting != row.waiting {
			t.Errorf("%s under %s: requests waited %v, want %v", row.pattern, row.policy, s.Waiting, row.waiting)
		}
		if got := s.Instances.Ready - s.Instances.Busy; s.Instances.Idle != got {
			t.Errorf("%s under %s: idle %v, want ready less busy, %v", row.pattern, row.policy, s.Instances.Idle, got)
		}
	}
}

// start_by of the requests says the same as the use of the starts: as many requests were served by their own start as
// starts served their own requester.
func TestRequestsAndStartsTellTheSame(t *testing.T) {
	for _, policy := range []string{"fc-bound", "fc-race"} {
		s := simulated(t, Simulation{Cell: cellOf(t, "poisson", policy, platform.Default(), "rate=20/s", "requests=2000")}).Run.Summary
		own, first := 0, s.Uses.Starts[analysis.UsedByOwn]
		for k := range record.StartKinds {
			own += s.Uses.Requests[k][record.ByOwn]
		}
		if own != first || own == 0 && policy == "fc-bound" {
			t.Errorf("%s: %d requests on their own start, %d starts used by their own, want the same, and some before", policy, own, first)
		}
	}
}

// A run that is not kept has the numbers of one that is, but for the third digit of quantiles.
func TestARunThatIsNotKeptIsTheSame(t *testing.T) {
	cell := cellOf(t, "poisson", "fc-race", platform.Default(), "rate=100/s", "requests=5000")
	kept, not := simulated(t, Simulation{Cell: cell}).Run, simulated(t, Simulation{Cell: cell, Exact: 4999}).Run
	if len(kept.Records) != 5000 || len(not.Records) != 0 || len(not.Schedule.Arrivals) != 0 || !not.Summary.Buckets || kept.Summary.Buckets {
		t.Errorf("records %d and %d, arrivals %d, buckets %v and %v; want 5000 and none, none, false and true",
			len(kept.Records), len(not.Records), len(not.Schedule.Arrivals), kept.Summary.Buckets, not.Summary.Buckets)
	}
	if kept.Hash != not.Hash || kept.Log != not.Log || len(kept.Log) != 64 {
		t.Errorf("schedule %s and %s, event log %s and %s: want the same twice", kept.Hash, not.Hash, kept.Log, not.Log)
	}
	if kept.Schedule.Length != not.Schedule.Length || kept.Schedule.Pattern != not.Schedule.Pattern {
		t.Errorf("schedules %v %s and %v %s differ", kept.Schedule.Length, kept.Schedule.Pattern, not.Schedule.Length, not.Schedule.Pattern)
	}
	a, b := kept.Summary, not.Summary
	if a.OK.N != b.OK.N || a.OK.Mean != b.OK.Mean || a.OK.Max != b.OK.Max || a.Waiting != b.Waiting {
		t.Errorf("kept %+v, not kept %+v: want the same number, mean and maximum", a.OK, b.OK)
	}
	if diff := cmp.Diff(a.Uses, b.Uses) + cmp.Diff(a.Instances, b.Instances) + cmp.Diff(a.Outcomes, b.Outcomes); diff != "" {
		t.Errorf("attribution (-kept +not):\n%s", diff)
	}
}

// lawless assigns a request to an instance that does not exist.
type lawless struct{}

func (lawless) Handle(c *scheduler.Control, ev scheduler.Event) {
	if ev.Kind == scheduler.Arrival {
		c.Assign(ev.Req, 7)
	}
}

func TestAnIllegalDecisionIsAnError(t *testing.T) {
	cell := cellOf(t, "fc-ramp", "lawless", platform.Default())
	cell.MakePolicy = func() (scheduler.Policy, error) { return lawless{}, nil }
	_, err := Simulation{Cell: cell}.Run(context.Background())
	var found scheduler.Illegal
	if !errors.As(err, &found) || !strings.Contains(err.Error(), "seed 1") {
		t.Errorf("Run = %v, want scheduler.Illegal with the seed", err)
	}
}

func TestSimulationStopsWithItsContext(t *testing.T) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	for _, exact := range []int{0, 10} {
		cell := cellOf(t, "poisson", "fc-race", platform.Default(), "rate=1000/s", "requests=50000")
		if _, err := (Simulation{Cell: cell, Exact: exact}).Run(ctx); !errors.Is(err, why) {
			t.Errorf("exact %d: Run = %v, want the cause %q", exact, err, why)
		}
	}
}

func TestSimulationRefusesABadCell(t *testing.T) {
	cell := cellOf(t, "fc-ramp", "fc-nothing", platform.Default())
	if _, err := (Simulation{Cell: cell}).Run(context.Background()); err == nil || !strings.Contains(err.Error(), "fc-nothing") {
		t.Errorf("Run under an unknown policy = %v, want an error that names it", err)
	}
	cell = cellOf(t, "fc-ramp", "fc-race", platform.Default())
	if _, err := (Simulation{Cell: cell, Exact: 10}).schedule(context.Background()); !errors.Is(err, workload.ErrTooMany) {
		t.Errorf("schedule above the limit = %v, want ErrTooMany", err)
	}
}
