package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"coldwave/gateway"
	"coldwave/internal/cliargs"
	"coldwave/scheduler"
)

// readLine reads a command line without serving.
func readLine(t *testing.T, line string) (*settings, error) {
	t.Helper()
	var s *settings
	var err error
	app := &cli.App{Name: "gateway", Flags: flags(), Writer: io.Discard, ErrWriter: io.Discard,
		Action: func(c *cli.Context) error { s, err = read(c, io.Discard); return nil }}
	if code := cliargs.Run(t.Context(), app, append([]string{"gateway"}, strings.Fields(line)...), io.Discard); code != cliargs.OK {
		t.Fatalf("gateway %s: exit %d", line, code)
	}
	return s, err
}

func TestDefaults(t *testing.T) {
	s, err := readLine(t, "")
	if err != nil {
		t.Fatal(err)
	}
	if s.listen != "127.0.0.1:8080" || s.admin != "127.0.0.1:8081" || s.fleet != "inprocess" || s.drain != defaultDrain || s.seed != 1 {
		t.Errorf("settings = %+v, want loopback, in process, 30s, seed 1", s)
	}
	if !strings.HasPrefix(s.policy, "fc-race") || s.core != (scheduler.Config{Max: scheduler.Unlimited, Limit: 1}) {
		t.Errorf("policy %q under %+v, want fc-race without a quota, one request at a time (FC-1)", s.policy, s.core)
	}
}

// TestNodes: instances are placed on what is asked for, or on what the policy has of its own.
func TestNodes(t *testing.T) {
	for _, tt := range []struct {
		line, want string // want: the error
		nodes      scheduler.Nodes
	}{
		{"", "", scheduler.Nodes{}},
		{"--nodes 3", "", scheduler.Nodes{Count: 3, Slots: 4, Keep: time.Minute}},
		{"--nodes 3 --node-memory 16GB --node-keep 5s --node-cache", "", scheduler.Nodes{Count: 3, Slots: 5, Keep: 5 * time.Second, Cache: true}},
		{"--policy openwhisk", "", scheduler.Nodes{Count: 10, Slots: 4, Keep: time.Minute}},
		{"--policy openwhisk --node-memory 6GB", "", scheduler.Nodes{Count: 10, Slots: 2, Keep: time.Minute}},
		{"--node-cache", "add --nodes N", scheduler.Nodes{}},
		{"--nodes 3 --node-memory 1GB", "so none fits", scheduler.Nodes{}},
	} {
		s, err := readLine(t, tt.line)
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) || cliargs.Code(err) != cliargs.Usage {
				t.Errorf("%s: %v, want %q and exit 2", tt.line, err, tt.want)
			}
			continue
		}
		if err != nil || s.nodes != tt.nodes {
			t.Errorf("%s: %+v, %v, want %+v", tt.line, s.nodes, err, tt.nodes)
		}
		fns, err := s.functions(workers{})
		if err != nil || len(fns) != 1 || fns[0].Nodes != tt.nodes {
			t.Errorf("%s: functions %+v, %v, want one on %+v", tt.line, fns, err, tt.nodes)
		}
	}
}

// workers is a fleet that nobody asks for anything.
type workers struct{ provisioner }

func TestStaticWorkersAreGrouped(t *testing.T) {
	s, err := readLine(t, "--static-worker a=http://127.0.0.1:1 --static-worker b=http://127.0.0.1:2 --static-worker a=http://[::1]:3 --static-concurrency 7")
	if err != nil {
		t.Fatal(err)
	}
	want := []staticFunction{{"a", []string{"127.0.0.1:1", "[::1]:3"}}, {"b", []string{"127.0.0.1:2"}}}
	if d := cmp.Diff(want, s.static, cmp.AllowUnexported(staticFunction{})); d != "" || s.policy != "" {
		t.Errorf("static workers (-want +got):\n%s\npolicy %q, want no fleet", d, s.policy)
	}
	fns, err := s.functions(nil)
	if err != nil || len(fns) != 2 || fns[0].Core != (scheduler.Config{Min: 2, Max: 2, Limit: 7}) {
		t.Errorf("functions = %+v, %v, want a with two instances of 7 slots, and b", fns, err)
	}
}

func TestFleetBesideStaticWorkersIfItsFunctionIsNamed(t *testing.T) {
	s, err := readLine(t, "--static-worker a=http://127.0.0.1:1 --function f --max 3")
	if err != nil || s.policy == "" || s.profile.Function.Name != "f" || s.core.Max != 3 {
		t.Errorf("settings = %+v, %v, want the fleet's function f too", s, err)
	}
}

func TestAllowedStaticWorker(t *testing.T) {
	const worker = "--static-worker a=http://192.0.2.1:80"
	if _, err := readLine(t, worker); cliargs.Code(err) != cliargs.Refused {
		t.Errorf("%s: %v, want refused (4.1)", worker, err)
	}
	if _, err := readLine(t, worker+" --allow 192.0.2.1:80"); err != nil {
		t.Errorf("%s with --allow: %v, want nil", worker, err)
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		why  string
		err  error
		want int
	}{
		{"a service that was asked to end", nil, cliargs.OK},
		{"an illegal decision", fmt.Errorf("function f: %w: %w", gateway.ErrLoop, scheduler.Illegal{Why: "planted"}), cliargs.Bug},
		{"an open admin port", gateway.ErrAdminOpen, cliargs.Refused},
		{"a listener that broke", errors.New("accept: too many"), cliargs.Invalid},
	} {
		if got := cliargs.Code(exitCode(c.err)); got != c.want {
			t.Errorf("%s: exit %d, want %d", c.why, got, c.want)
		}
	}
	if interrupted(syscall.SIGINT) != cliargs.Interrupted || interrupted(syscall.SIGTERM) != cliargs.Terminated {
		t.Error("a second SIGINT must exit 130, a second SIGTERM 143")
	}
}
