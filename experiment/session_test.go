package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coldwave/analysis"
	"coldwave/patterns"
	"coldwave/platform"
	"coldwave/reports"
	"coldwave/scheduler"
)

// burst is a side of a session in virtual time: the documented burst under a policy.
func burst(t *testing.T, policy string) Contender {
	t.Helper()
	process, err := patterns.Load("fc-burst", nil)
	if err != nil {
		t.Fatal(err)
	}
	return Contender{Name: "policy:" + policy, Cell: Cell{
		Pattern: "fc-burst", Process: process, Policy: policy, Profile: platform.Default(), Max: scheduler.Unlimited, Seed: 1,
	}}
}

func session(t *testing.T, policies ...string) Session {
	t.Helper()
	s := Session{ID: "test", Rounds: 8, Virtual: true}
	for _, p := range policies {
		s.Sides = append(s.Sides, burst(t, p))
	}
	return s
}

func quietly(Progress) {}

// changeOf returns what a comparison says of a metric.
func changeOf(t *testing.T, c reports.RunComparison, metric string) analysis.Change {
	t.Helper()
	for _, r := range c.Pairs[0].Rows {
		if r.Name == metric {
			return r.Change
		}
	}
	t.Fatalf("no metric %q", metric)
	return ""
}

// The change of the source is an improvement that eight runs a side show, turned round it is a regression, and a side
// against itself is neither.
func TestSessionInVirtualTime(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want analysis.Change
	}{
		{"fc-bound", "fc-race", analysis.Improved},
		{"fc-race", "fc-bound", analysis.Regressed},
		{"fc-bound", "fc-bound", analysis.NoRegression},
	} {
		out, err := session(t, row.a, row.b).Run(t.Context(), quietly)
		if err != nil {
			t.Fatal(err)
		}
		if got := changeOf(t, out, "p99"); got != row.want || !out.Valid() || len(out.Void) > 0 {
			t.Errorf("%s against %s: p99 %q, valid %v, void %v; want %q", row.b, row.a, got, out.Valid(), out.Void, row.want)
		}
		for i := range out.Sides {
			if n := len(out.Sides[i].Runs); n != 8 || out.Sides[i].Requests != 8*32 {
				t.Errorf("side %d has %d runs of %d requests, want 8 of 256", i, n, out.Sides[i].Requests)
			}
		}
	}
}

// Each round is on one seed, and turns the order of the one before round.
func TestRoundsTakeTurns(t *testing.T) {
	s := session(t, "fc-bound", "fc-race", "fixed")
	turns := s.order(0, 40)
	var firsts []int
	for round := range 40 {
		sides := []int{turns[3*round].side, turns[3*round+1].side, turns[3*round+2].side}
		if sides[1] != 1 || sides[0]+sides[2] != 2 || turns[3*round].round != round {
			t.Fatalf("round %d: sides %v", round, sides)
		}
		firsts = append(firsts, sides[0])
		if round > 0 && firsts[round] == firsts[round-1] {
			t.Errorf("rounds %d and %d begin with the same side", round-1, round)
		}
	}
	other := s
	flipped := false
	for seed := range uint64(20) {
		other.Sides = slices.Clone(s.Sides)
		other.Sides[0].Cell.Seed = seed
		flipped = flipped || other.order(0, 1)[0] != turns[0]
	}
	if !flipped {
		t.Error("the first side does not depend on the seed")
	}
	for _, c := range []struct {
		one  bool
		want uint64
	}{{false, 6}, {true, 1}} {
		s.OneSeed = c.one
		if got := s.cell(turn{round: 5, side: 2}).Seed; got != c.want {
			t.Errorf("one seed %v: round 6 has seed %d, want %d", c.one, got, c.want)
		}
	}
}

// A round of which one run is void counts on no side, and the reason is kept.
func TestVoidRounds(t *testing.T) {
	s := session(t, "fc-bound", "fc-race")
	run, err := Virtual(s.Sides[0].Cell)
	if err != nil {
		t.Fatal(err)
	}
	out := s.result(Plan{Lanes: 4})
	valid := s.sort(&out, []Played{
		{Side: 0, Round: 0, Run: run}, {Side: 1, Round: 0, Run: run},
		{Side: 1, Round: 1, Run: run, Void: "policy:fc-race: late"}, {Side: 0, Round: 1, Run: run},
		{Side: 0, Round: 2, Void: "busy"}, {Side: 1, Round: 2, Void: "busy"},
		{Side: 1, Round: 3, Run: run},
	})
	want := []reports.VoidRound{{Round: 2, Reason: "policy:fc-race: late"}, {Round: 3, Reason: "busy"}, {Round: 4, Reason: "it was not played to its end"}}
	if valid != 1 || len(out.Sides[0].Runs) != 1 || len(out.Sides[1].Runs) != 1 || !slices.Equal(out.Void, want) {
		t.Errorf("%d valid, %d and %d runs, void %v; want 1 each, void %v", valid, len(out.Sides[0].Runs), len(out.Sides[1].Runs), out.Void, want)
	}
	if out.Compare(s.Versus()); out.Valid() {
		t.Error("one round of eight makes a valid comparison")
	}
}

func TestSessionPlan(t *testing.T) {
	gap := func(d time.Duration) Session {
		s := session(t, "fc-bound", "fc-race")
		s.Virtual = false
		for i := range s.Sides {
			s.Sides[i].Cell.Process = patterns.Waves{Sizes: []int{1, 2, 4}, Gap: d}
		}
		return s
	}
	three := gap(10 * time.Second)
	three.Sides = append(three.Sides, three.Sides[0])
	crowded := gap(10 * time.Second)
	crowded.Sides[0].Cell.Process = patterns.Waves{Sizes: []int{1, crowd + 1}, Gap: 10 * time.Second}
	asked := gap(10 * time.Second)
	asked.Lanes = 4
	shared := gap(10 * time.Second)
	shared.Sides[1].Remote = &Remote{}
	few := gap(10 * time.Second)
	few.Rounds = 2
	for _, row := range []struct {
		why            string
		s              Session
		lanes, batches int
	}{
		{"waves 10 s apart leave room for eight", gap(10 * time.Second), 8, 2},
		{"waves 3 s apart for two: rounds are whole", gap(3 * time.Second), 2, 8},
		{"waves 0.5 s apart for none", gap(500 * time.Millisecond), 1, 16},
		{"three sides: rounds are whole", three, 6, 4},
		{"a crowd runs alone", crowded, 1, 16},
		{"as asked", asked, 4, 4},
		{"a target serves one run at a time", shared, 1, 16},
		{"two rounds need no more lanes than they have runs", few, 4, 1},
	} {
		p, err := row.s.Plan()
		if err != nil || p.Lanes != row.lanes || p.Batches != row.batches || p.Length < time.Duration(p.Batches)*time.Second {
			t.Errorf("%s: %+v, %v; want %d lanes, %d batches", row.why, p, err, row.lanes, row.batches)
		}
	}
}

func TestSessionRefuses(t *testing.T) {
	for why, change := range map[string]func(*Session){
		"one side":                   func(s *Session) { s.Sides = s.Sides[:1] },
		"no rounds":                  func(s *Session) { s.Rounds = 0 },
		"too many rounds":            func(s *Session) { s.Rounds = MaxRounds + 1 },
		"fewer than no spare rounds": func(s *Session) { s.Spare = -1 },
		"too many lanes":             func(s *Session) { s.Lanes = MaxLanes + 1 },
		"two runs on one target":     func(s *Session) { s.Lanes, s.Sides[0].Remote = 2, &Remote{} },
		"a target in virtual time":   func(s *Session) { s.Sides[0].Remote = &Remote{} },
		"a policy that is not there": func(s *Session) { s.Sides[1].Cell.Policy = "no-such" },
		"the last seed":              func(s *Session) { s.Sides[0].Cell.Seed = 1<<64 - 4 },
		"a program that is not there": func(s *Session) {
			s.Virtual, s.Sides[1].Program = false, &Program{Path: "/no/such/gateway"}
		},
	} {
		s := session(t, "fc-bound", "fc-race")
		change(&s)
		if out, err := s.Run(t.Context(), quietly); err == nil || len(out.Sides) > 0 {
			t.Errorf("%s: %v, %d sides; want an error and nothing", why, err, len(out.Sides))
		}
	}
}

// On the wire, with a gateway program as one side. Whether the host is calm is not for this test to say: the runs are there,
// whole, on the seed of their round, and count on their sides or are void with a reason.
func TestSessionOnTheWire(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gateway")
	if out, err := exec.Command("go", "build", "-o", path, "coldwave/cmd/gateway").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	a, b := small("fc-bound"), small("fc-race")
	var kept []Played
	s := Session{ID: "test", Rounds: 2, Lanes: 4, Sides: []Contender{{Name: "policy:fc-bound", Cell: a}, {Name: "build:gateway", Cell: b, Program: &Program{Path: path}}},
		Keep: func(run Played) error { kept = append(kept, run); return nil }}
	out, err := s.Run(t.Context(), quietly)
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != 4 || len(out.Sides[0].Runs)+len(out.Void) != 2 || len(out.Sides[0].Runs) != len(out.Sides[1].Runs) {
		t.Fatalf("%d runs kept, %d and %d counted, void %v", len(kept), len(out.Sides[0].Runs), len(out.Sides[1].Runs), out.Void)
	}
	for _, p := range kept {
		if p.Run.Schedule == nil {
			continue // the host was too busy to begin
		}
		if p.Run.Seed != uint64(p.Round+1) || p.Run.Summary.OK.N != 7 || p.Run.Policy != s.Sides[p.Side].Cell.Policy || len(p.Run.Instances) == 0 {
			t.Errorf("run %s: seed %d, %d ok, policy %s, %d instances", p.Run.ID, p.Run.Seed, p.Run.Summary.OK.N, p.Run.Policy, len(p.Run.Instances))
		}
		told(t, p.Run)
	}
}

// A gateway program that says something else, or nothing, is no gateway.
func TestProgramsThatAreNoGateway(t *testing.T) {
	for _, row := range []struct{ script, want string }{
		{"echo hello >&2; sleep 60", `its first line is "hello"`},
		{"exit 3", "it ended: exit status 3"},
	} {
		path := filepath.Join(t.TempDir(), "gateway")
		writeScript(t, path, row.script)
		_, err := openProgram(t.Context(), Program{Path: path}, small("fc-race"), nil, Fleet{})
		if !errors.Is(err, ErrProgram) || !strings.Contains(fmt.Sprint(err), row.want) {
			t.Errorf("%q: %v, want %s", row.script, err, row.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "gateway")
	writeScript(t, path, "sleep 60")
	if _, err := openProgram(ctx, Program{Path: path}, small("fc-race"), nil, Fleet{}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v, want canceled", err)
	}
}

func writeScript(t *testing.T, path, script string) {
	t.Helper()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}
