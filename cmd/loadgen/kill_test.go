package main

import (
	"bytes"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"coldwave/bundle"
)

var kills = flag.Int("kills", 0, "runs on the wire that are killed at random moments (make kill)")

// killedSpan is the time from the beginning of a journal in which a run of this test is killed: a second until the first
// request, three of requests, and what it takes to write the files.
const killedSpan = 4500 * time.Millisecond

// A run that is killed with SIGKILL leaves a directory that passes check or recover (F3). It takes some seconds a run, so it
// is played only when it is asked for.
func TestKilledRuns(t *testing.T) {
	if *kills == 0 {
		t.Skip("no -kills=N: make kill")
	}
	r := rand.New(rand.NewPCG(50, 50))
	ends := map[string]int{}
	for i := range *kills {
		parent := filepath.Join(t.TempDir(), "runs")
		after := time.Duration(r.Int64N(int64(killedSpan)))
		killRun(t, parent, strconv.Itoa(i), after)
		end := endOf(t, parent)
		t.Logf("killed %v after its journal began: %s", after.Round(time.Millisecond), end)
		ends[end]++
	}
	t.Logf("%d runs killed: %v", *kills, ends)
}

// killRun starts a run and kills it that long after its directory appears.
func killRun(t *testing.T, parent, seed string, after time.Duration) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "loadgen", "run", "--pattern", "poisson", "--rate", "100/s", "--duration", "3s", "--policy", "fc-race",
		"--seed", seed, "--out", parent, "--quiet")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for found := []string(nil); len(found) == 0; <-look.C {
		found, _ = filepath.Glob(filepath.Join(parent, "2*"))
	}
	<-time.After(after) // the moment is what is tested
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, or done before
}

// counted finds how many arrivals have a record in what recover prints.
var counted = regexp.MustCompile(`(\d+) of (\d+) arrivals have a record`)

// endOf checks what was left, and recovers it if it is unfinished.
func endOf(t *testing.T, parent string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(parent, "2*"))
	if err != nil || len(found) != 1 {
		t.Fatalf("left are %q, %v, want one directory", found, err)
	}
	dir, end := found[0], "finished"
	if err := bundle.Check(dir); errors.Is(err, bundle.ErrUnfinished) {
		var out bytes.Buffer
		code := run(t.Context(), []string{"loadgen", "recover", dir}, &out, &out)
		dir, _ = filepath.Abs(dir[:len(dir)-len(".part")])
		switch n := counted.FindStringSubmatch(out.String()); {
		case code == 6 && n != nil && n[1] != n[2]:
			end = "recovered, partial"
		case code == 0 && n != nil && n[1] == n[2]:
			end = "recovered, whole"
		case code == 0:
			end = "named"
		default:
			t.Errorf("recover ended with %d:\n%s", code, out.String())
		}
	}
	if err := bundle.Verify(dir); err != nil {
		t.Errorf("%s: %v", end, err)
	}
	return end
}
