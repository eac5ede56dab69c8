package bundle

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// childVariable in the environment makes this test binary a program that keeps a run in the working directory.
const childVariable = "COLDWAVE_TEST_KEEP"

// childRecords is the number of records of that run.
const childRecords = 3000

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		m.Run()
		return
	}
	if err := keepSlowly("."); err != nil {
		panic(err)
	}
}

// keepSlowly keeps a run and prints a line at each step, so that it can be killed at any.
func keepSlowly(parent string) error {
	out := fixture(6, childRecords)
	step := func() { fmt.Fprintln(os.Stdout, "step") }
	step()
	j, err := Begin(parent, "one", headOfRun(out), arrivalsFor(out.Run.Records))
	if err != nil {
		return err
	}
	for i := range out.Run.Records {
		if j.Add(&out.Run.Records[i]); i%100 == 99 {
			j.flush(nil)
			step()
		}
	}
	j.Lives(out.Run.Instances, true)
	if err := j.Seal(); err != nil {
		return err
	}
	for _, f := range RunFiles(out, j.Records()) {
		step()
		if err := j.Writer().Put(f.Name, f.Write); err != nil {
			return err
		}
	}
	step()
	return j.Writer().Close()
}

// childSteps is how many lines the program prints.
const childSteps = 1 + childRecords/100 + 8 + 1

// A process that is killed with SIGKILL leaves nothing, or a run directory that is whole, or one that is recovered: then no
// record is lost that was flushed, and none is wrong (F3, ST-01).
func TestKilledProcesses(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	ends := map[string]int{}
	for _, after := range []int{1, 2, 3, 1 + r.IntN(childSteps), 33, 36, 1 + r.IntN(childSteps), 39, childSteps} {
		parent := t.TempDir()
		killAfter(t, parent, after)
		end := left(t, parent, after)
		t.Logf("killed after step %d of %d: %s", after, childSteps, end)
		ends[end]++
	}
	if ends["recovered"] == 0 {
		t.Errorf("no kill left anything to recover: %v", ends)
	}
}

func killAfter(t *testing.T, parent string, steps int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env, cmd.Dir = append(os.Environ(), childVariable+"=1"), parent
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; n < steps && lines.Scan(); n++ {
	}
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, or done before
}

// left says what a killed process left, and fails if any of it is damaged or lost.
func left(t *testing.T, parent string, after int) string {
	t.Helper()
	full := filepath.Join(parent, "one")
	if _, err := os.Stat(full); err == nil {
		if err := Verify(full); err != nil {
			t.Errorf("a finished directory: %v", err)
		}
		return "finished"
	}
	if _, err := os.Stat(full + unfinished); errors.Is(err, fs.ErrNotExist) {
		if after > 2 {
			t.Errorf("killed after step %d, and nothing is there", after)
		}
		return "nothing"
	}
	rec := recovered(t, full+unfinished)
	if rec.Finished {
		if err := Verify(full); err != nil {
			t.Errorf("a directory that only lacked its name: %v", err)
		}
		return "named"
	}
	if least := 100 * min(after-1, childRecords/100); rec.Known < least {
		t.Errorf("killed after step %d: %d records, want the %d that were flushed", after, rec.Known, least)
	}
	want := randomRecords(6, childRecords)
	for i, r := range collected(t, rec.Records()) {
		if r != want[i] && r != unknown(want[i]) {
			t.Fatalf("record %d = %+v, want %+v or unknown", i, r, want[i])
		}
	}
	if err := finished(t, rec); err != nil {
		t.Errorf("recovered: %v", err)
	}
	return "recovered"
}
