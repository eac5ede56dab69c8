package experiment

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"coldwave/engine"
	"coldwave/internal/realclock"
	"coldwave/record"
	"coldwave/scheduler"
)

// standing is a gateway with its admin port that runs already, on a clock of its own.
func standing(t *testing.T, admin func(http.Handler) http.Handler) Remote {
	t.Helper()
	cell := small("fc-race")
	cell.Nodes = scheduler.Nodes{Count: 9, Slots: 3, Keep: time.Hour}
	s, err := openStack(cell, realclock.New(time.Now().Add(-time.Hour)), Fleet{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(admin(s.gateway.AdminHandler()))
	t.Cleanup(server.Close)
	var guard *engine.Guard
	port, err := guard.Target(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return Remote{Target: s.target(), Admin: port}
}

func same(h http.Handler) http.Handler { return h }

// A gateway that runs elsewhere tells the same lives as the bundled stack, moved to the run's clock.
func TestAStandingGatewayTellsItsInstances(t *testing.T) {
	remote := standing(t, same)
	var starting int
	run, err := Single{ID: "test", Cell: small("fc-race"), Remote: &remote}.Run(context.Background(), func(p Progress) {
		for _, c := range p.Cells {
			starting = max(starting, c.Starting)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := run.Summary.Outcomes[record.OK]; got != 7 || len(run.Instances) != 4 {
		t.Errorf("standing gateway: %d ok, %d instances, want 7 and 4", got, len(run.Instances))
	}
	for _, in := range run.Instances {
		if in.Started < 0 || in.Ready <= in.Started || in.Started > run.Records[6].Done {
			t.Errorf("instance %d: started at %v, ready at %v: not on the run's clock", in.ID, in.Started, in.Ready)
		}
	}
	told(t, run)
	if len(run.Nodes) != 2 || run.Placement == nil || run.Summary.Nodes == nil || run.Summary.Nodes.Peak != 2 {
		t.Fatalf("standing gateway: nodes %+v, placement %+v, want two uses", run.Nodes, run.Placement)
	}
	for k, n := range run.Nodes {
		if first := run.Instances[3*k]; n.ID != int32(k+1) || n.Taken != first.Started || first.Node != n.ID {
			t.Errorf("node %+v, its first instance %+v: want it taken by that start, on the run's clock", n, first)
		}
	}
}

// An admin port that does not answer ends the run before anything is sent, and the error says what to do.
func TestAnAdminPortThatRefusesEndsTheRun(t *testing.T) {
	sent := false
	remote := standing(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	})
	_, err := Single{ID: "test", Cell: small("fc-race"), Remote: &remote}.Run(context.Background(), func(p Progress) {
		sent = sent || len(p.Cells) > 0
	})
	if !errors.Is(err, ErrAdmin) || !strings.Contains(err.Error(), "401") || sent {
		t.Errorf("admin port that refuses: %v, something was sent: %v; want ErrAdmin with 401 and nothing sent", err, sent)
	}
}

func TestTheTokenIsShown(t *testing.T) {
	var shown string
	remote := standing(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			shown = r.Header.Get("Authorization")
			next.ServeHTTP(w, r)
		})
	})
	remote.Token = "secret"
	r, err := openRemote(context.Background(), remote, realclock.New(time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.client.CloseIdleConnections()
	if shown != "Bearer secret" {
		t.Errorf("the admin port saw %q, want the bearer token", shown)
	}
}
