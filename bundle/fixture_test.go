package bundle

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/reports"
	"coldwave/workload"
)

// fixture is a run of n random requests with three instances.
func fixture(seed uint64, n int) reports.Single {
	run := fixtureRun(randomRecords(seed, n))
	run.Seed, run.Schedule.Seed = seed, seed
	meta := reports.Meta{Tool: "loadgen", Version: "0.1.0", Commit: "c0ffee", Go: "go1.26", OS: "linux/amd64", CPUs: 2,
		Began: run.Epoch, Command: "loadgen run", Seed: seed}
	return reports.Single{Meta: meta, Run: run, Elapsed: 61 * time.Second}
}

func fixtureRun(records []record.Record) analysis.Run {
	run := analysis.Run{
		ID: "20260102T150405Z-3f9a2c", Pattern: "fc-burst", Policy: "fc-race", Law: "uniform", Target: "http://127.0.0.1:1/", Driver: "wire",
		Epoch: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), Hash: "ab12", Records: records,
		Schedule: &workload.Schedule{Pattern: "kind: waves", Function: workload.Function{Name: "hello", Concurrency: 1}, Length: time.Minute},
		Instances: []record.Instance{
			{ID: 1, Cause: "run-0", First: "run-0", Started: 1, Ready: 2_000_000_000, Stopped: clock.Never, Served: 3, Busy: 300},
			{ID: 2, Cause: "run-1", Started: 5_000_000_000, Ready: clock.Never, Stopped: 7_000_000_000, Failed: true},
			{ID: 3, Started: 5_000_000_000, Ready: 6_000_000_000, Stopped: 7_000_000_000},
		},
	}
	for _, r := range run.Records {
		run.Schedule.Arrivals = append(run.Schedule.Arrivals, workload.Arrival{Seq: r.Seq, At: r.Intended, Wave: r.Wave})
	}
	run.Summary = fixtureSummary(&run)
	return run
}

// fixtureSummary adds a run up.
func fixtureSummary(run *analysis.Run) analysis.Summary {
	schedule := *run.Schedule
	schedule.Arrivals = make([]workload.Arrival, 0, len(run.Records))
	for _, r := range run.Records {
		schedule.Arrivals = append(schedule.Arrivals, workload.Arrival{Seq: r.Seq, At: r.Intended, Wave: r.Wave})
	}
	return analysis.Summarize(analysis.Input{Schedule: &schedule, Records: run.Records, Instances: run.Instances})
}

// keep writes a finished directory and returns its path.
func keep(t testing.TB, files []File) string {
	t.Helper()
	w, err := Create(filepath.Join(t.TempDir(), "runs"), "one")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := w.Put(f.Name, f.Write); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.Path()
}

// kept writes the directory of one run.
func kept(t testing.TB, out reports.Single) string {
	t.Helper()
	return keep(t, RunFiles(out, each(out.Run.Records)))
}

// same compares records quickly: a difference is only described where there is one.
func same(t testing.TB, what string, want, got []record.Record) {
	t.Helper()
	if !slices.Equal(want, got) {
		t.Errorf("%s: %d records, want %d (-want +got):\n%s", what, len(got), len(want), cmp.Diff(want, got))
	}
}
