package history

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// endlessWriter names the history that a copy of this test program fills until it is killed.
const endlessWriter = "COLDWAVE_TEST_ENDLESS_WRITER"

func writeForever(path string) {
	ctx := context.Background()
	s, err := Open(ctx, path)
	for k := 0; err == nil; k++ {
		if err = s.Add(ctx, aRun(fmt.Sprintf("p%d-%d", os.Getpid(), k), k%1000)); err == nil {
			fmt.Fprintln(os.Stdout, k)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1) //nolint:forbidigo // this is main
}

// TestKilledWriter: a writer that is killed at any time leaves whole runs only, and all that it reported.
func TestKilledWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	reported := 0
	for kill := range 8 {
		cmd := exec.Command(os.Args[0]) //nolint:gosec // this very program
		cmd.Env = append(os.Environ(), endlessWriter+"="+path)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if reported++; lines.Text() == fmt.Sprint(3*kill) {
				must(t, cmd.Process.Kill())
			}
		}
		if err := cmd.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Fatalf("the writer ended with %v, want killed", err)
		}
		s, err := Open(t.Context(), path)
		must(t, err)
		must(t, s.Check(t.Context()))
		runs, err := s.Runs(t.Context(), Filter{})
		must(t, err)
		if len(runs) < reported || len(runs) > reported+kill+1 { // one commit a kill may be unreported
			t.Errorf("after kill %d: %d runs, but %d were reported", kill+1, len(runs), reported)
		}
		must(t, s.Close())
	}
}
