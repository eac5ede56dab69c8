package experiment

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coldwave/analysis"
	"coldwave/engine"
	"coldwave/patterns"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small is a cell that is over in about a second: waves of 1, 2 and 4 with start-ups of 150 ms.
func small(policy string) Cell {
	profile := platform.Default()
	profile.Cold = platform.Constant(270 * time.Millisecond)
	return Cell{
		Pattern: "small", Process: patterns.Waves{Sizes: []int{1, 2, 4}, Gap: 500 * time.Millisecond}, Policy: policy,
		Profile: profile, Max: scheduler.Unlimited, Seed: 1,
	}
}

// Counts do not depend on milliseconds, so they are the same on the wire and in virtual time.
func TestWireAndVirtualCountAlike(t *testing.T) {
	for _, policy := range []string{"fc-bound", "fc-race"} {
		virtual, err := Virtual(small(policy))
		if err != nil {
			t.Fatal(err)
		}
		wire, err := Single{ID: "test", Cell: small(policy)}.Run(context.Background(), func(Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		if wire.Hash != virtual.Hash {
			t.Errorf("%s: schedule %s on the wire, %s in virtual time", policy, wire.Hash, virtual.Hash)
		}
		if got, want := wire.Summary.Outcomes, virtual.Summary.Outcomes; got != want {
			t.Errorf("%s: outcomes %v on the wire, %v in virtual time", policy, got, want)
		}
		if got, want := wire.Summary.Instances.Starts, virtual.Summary.Instances.Starts; got != want {
			t.Errorf("%s: %d starts on the wire, %d in virtual time", policy, got, want)
		}
		told(t, wire)
	}
}

// told checks that every request carries all that the stack has to tell.
func told(t *testing.T, run analysis.Run) {
	t.Helper()
	for _, r := range run.Records {
		if r.Server.Instance == "" || r.Server.Start == record.StartUnknown || r.Server.Exec < 100*time.Millisecond || r.Attempt != 1 {
			t.Errorf("%s seq %d: incomplete: %+v", run.Policy, r.Seq, r)
		}
		if r.Server.Wait()+r.Server.Exec > r.Service() {
			t.Errorf("%s seq %d: waiting %v + execution %v exceed the service time %v", run.Policy, r.Seq, r.Server.Wait(), r.Server.Exec, r.Service())
		}
	}
}

// Which bodies fail is drawn per arrival, so wire and virtual runs fail alike.
func TestFailingBodiesAreTheSameOnTheWire(t *testing.T) {
	cell := small("fc-race")
	cell.Profile.ErrorRatio = 0.5
	virtual, err := Virtual(cell)
	if err != nil {
		t.Fatal(err)
	}
	wire, err := Single{ID: "test", Cell: cell}.Run(context.Background(), func(Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	if n := virtual.Summary.Outcomes[record.HTTPError]; n == 0 || n == 7 {
		t.Fatalf("%d of 7 requests fail in virtual time, want some", n)
	}
	for i := range wire.Records {
		if got, want := wire.Records[i].Outcome, virtual.Records[i].Outcome; got != want {
			t.Errorf("seq %d: %v on the wire, %v in virtual time", i, got, want)
		}
	}
}

func TestAnyHTTPTargetCanBeRun(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Coldwave-Demand") != "" {
			w.WriteHeader(http.StatusTeapot) // a foreign target is not told the demand
		}
	}))
	defer server.Close()
	var guard *engine.Guard
	target, err := guard.Target(server.URL + "/path")
	if err != nil {
		t.Fatal(err)
	}
	run, err := Single{ID: "test", Cell: small("none"), Remote: &Remote{Target: target}}.Run(context.Background(), func(Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	if got := run.Summary.Outcomes[record.OK]; got != 7 || len(run.Instances) != 0 {
		t.Errorf("external target: %d of 7 ok, %d instances, want 7 and 0", got, len(run.Instances))
	}
}

func TestAnUnreachableTargetIsToldBeforeAnythingIsSent(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	var guard *engine.Guard
	target, err := guard.Target(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	_, err = Single{ID: "test", Cell: small("none"), Remote: &Remote{Target: target}}.Run(context.Background(), func(Progress) {})
	if !errors.Is(err, engine.ErrUnreachable) {
		t.Errorf("closed port: %v, want ErrUnreachable", err)
	}
}

// An interrupt keeps what was recorded: one record for each arrival, those that were not sent marked as dropped.
func TestAnInterruptKeepsTheRecords(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	asked := errors.New("asked to stop")
	run, err := Single{ID: "test", Cell: small("fc-race")}.Run(ctx, func(p Progress) {
		if len(p.Cells) == 1 && p.Cells[0].Sent > 0 {
			cancel(asked)
		}
	})
	if !errors.Is(err, engine.ErrStopped) || !errors.Is(err, asked) {
		t.Errorf("interrupted run: %v, want ErrStopped with its cause", err)
	}
	s := run.Summary
	if w := s.Warnings; len(w) == 0 || w[0].Code != analysis.WarnStopped || !strings.Contains(w[0].Text, asked.Error()) {
		t.Errorf("interrupted run: warnings %v, want %s with the cause first", w, analysis.WarnStopped)
	}
	if len(run.Records) != 7 || s.Sent == 0 || s.Sent+s.Outcomes[record.Dropped] != 7 {
		t.Errorf("interrupted run: %d records, %d sent, %d dropped, want 7 in all", len(run.Records), s.Sent, s.Outcomes[record.Dropped])
	}
}

// An illegal decision of a policy ends the run with an error; no number comes from an illegal schedule.
func TestAnIllegalDecisionEndsTheRun(t *testing.T) {
	cell := small("illegal")
	cell.MakePolicy = func() (scheduler.Policy, error) { return illegal{}, nil }
	_, err := Single{ID: "test", Cell: cell}.Run(context.Background(), func(Progress) {})
	var act scheduler.Illegal
	if !errors.As(err, &act) {
		t.Errorf("illegal policy: %v, want scheduler.Illegal", err)
	}
}
