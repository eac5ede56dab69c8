package experiment

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"coldwave/analysis"
	"coldwave/bundle"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/reports"
	"coldwave/workload"
)

// keeping is a Keep of a simulation that remembers its journal.
func keeping(t *testing.T, journal **bundle.Journal) func(analysis.Run, iter.Seq2[workload.Arrival, error]) (*bundle.Journal, error) {
	parent := t.TempDir()
	return func(run analysis.Run, arrivals iter.Seq2[workload.Arrival, error]) (j *bundle.Journal, err error) {
		j, err = bundle.Begin(parent, "one", reports.Single{Run: run}, arrivals)
		*journal = j
		return j, err
	}
}

func inSchedule(s *workload.Schedule) iter.Seq2[workload.Arrival, error] {
	return func(yield func(workload.Arrival, error) bool) {
		for _, a := range s.Arrivals {
			if !yield(a, nil) {
				return
			}
		}
	}
}

func recordsIn(t *testing.T, records iter.Seq2[record.Record, error]) []record.Record {
	t.Helper()
	var all []record.Record
	for r, err := range records {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// A run that is kept and not held gives the same records and the same exact numbers as one in memory, but for a bill by
// request.
func TestAKeptSimulationIsExact(t *testing.T) {
	for _, pattern := range []string{"fc-ramp", "poisson"} {
		cell := cellOf(t, pattern, "fc-race", platform.Default())
		held := simulated(t, Simulation{Cell: cell}).Run
		var journal *bundle.Journal
		kept := simulated(t, Simulation{Cell: cell, Exact: 10, Keep: keeping(t, &journal)}).Run
		if kept.Records != nil || kept.Schedule.Arrivals != nil {
			t.Errorf("%s: %d records and %d arrivals are held, want none", pattern, len(kept.Records), len(kept.Schedule.Arrivals))
		}
		if got := recordsIn(t, journal.Records()); !cmp.Equal(held.Records, got) {
			t.Errorf("%s: records (-held +kept):\n%s", pattern, cmp.Diff(held.Records, got))
		}
		if diff := cmp.Diff(held.Summary, kept.Summary, cmpopts.IgnoreFields(analysis.Bill{}, "ByRequest")); diff != "" {
			t.Errorf("%s: summary (-held +kept):\n%s", pattern, diff)
		}
		if held.Log != kept.Log || held.Hash != kept.Hash {
			t.Errorf("%s: log %s and hash %s, want %s and %s", pattern, kept.Log, kept.Hash, held.Log, held.Hash)
		}
		if err := journal.Writer().Abandon(); err != nil {
			t.Error(err)
		}
	}
}

// A run that nobody keeps, and one that is held, need no journal.
func TestShortSimulationsNeedNoJournal(t *testing.T) {
	var journal *bundle.Journal
	simulated(t, Simulation{Cell: cellOf(t, "fc-ramp", "fc-race", platform.Default()), Keep: keeping(t, &journal)})
	if journal != nil {
		t.Error("a run in memory opened a journal")
	}
	if out := simulated(t, Simulation{Cell: cellOf(t, "fc-ramp", "fc-race", platform.Default()), Exact: 10}); !out.Run.Summary.Buckets {
		t.Error("a long run that nobody keeps has exact quantiles, want those of histograms")
	}
}

// A journal that cannot be opened ends the run before it begins.
func TestAJournalThatCannotBeOpened(t *testing.T) {
	broken := errors.New("no space left on device")
	job := Simulation{Cell: cellOf(t, "fc-ramp", "fc-race", platform.Default()), Exact: 10,
		Keep: func(analysis.Run, iter.Seq2[workload.Arrival, error]) (*bundle.Journal, error) { return nil, broken }}
	if _, err := job.Run(t.Context()); !errors.Is(err, broken) {
		t.Errorf("Run = %v, want the error of the journal", err)
	}
}

// A run on the wire that does not hold its records keeps each of them, adds them up exactly, and what its process leaves when
// it is killed right then is recovered whole.
func TestAKeptRunOnTheWire(t *testing.T) {
	parent := t.TempDir()
	var journal *bundle.Journal
	job := Single{ID: "test", Cell: small("fc-race"), Exact: 3, Keep: func(run analysis.Run) (_ *bundle.Journal, err error) {
		run.Summary.Scheduled = len(run.Schedule.Arrivals)
		journal, err = bundle.Begin(parent, "one", reports.Single{Run: run}, inSchedule(run.Schedule))
		return journal, err
	}}
	run, err := job.Run(context.Background(), func(Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	records := recordsIn(t, journal.Records())
	if len(records) != 7 || run.Records != nil {
		t.Errorf("%d records are kept and %d held, want 7 and none", len(records), len(run.Records))
	}
	want := analysis.Summarize(analysis.Input{Schedule: run.Schedule, Records: records, Instances: run.Instances,
		Window: windowOf(run.Schedule.Waves()), Tariff: run.Tariff})
	if diff := cmp.Diff(want, run.Summary, cmpopts.IgnoreFields(analysis.Bill{}, "ByRequest")); diff != "" {
		t.Errorf("summary (-of the kept records +of the run):\n%s", diff)
	}
	if err := journal.Writer().Abandon(); err != nil {
		t.Fatal(err)
	}
	for _, exact := range []int{0, 3} {
		left := leftCopy(t, filepath.Join(parent, "one.part"))
		again, err := Recover(left, exact)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, again.Summary, cmpopts.IgnoreFields(analysis.Summary{}, "Bill")); diff != "" || len(again.Instances) != len(run.Instances) {
			t.Errorf("recovered with %d in memory (-want +got):\n%s", exact, diff)
		}
		if err := left.Writer.Abandon(); err != nil {
			t.Error(err)
		}
	}
}

// leftCopy recovers a copy of an unfinished directory.
func leftCopy(t *testing.T, dir string) *bundle.Recovered {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy.part")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	left, err := bundle.Recover(to)
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// Arrivals of which nothing is known make the run say so first, and judge nothing.
func TestARecoveredRunSaysWhatIsMissing(t *testing.T) {
	cell := cellOf(t, "fc-ramp", "fc-race", platform.Default())
	held := simulated(t, Simulation{Cell: cell}).Run
	j, err := bundle.Begin(t.TempDir(), "one", reports.Single{Run: held}, inSchedule(held.Schedule))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		j.Add(&held.Records[i])
	}
	if err := errors.Join(j.Seal(), j.Writer().Abandon()); err != nil {
		t.Fatal(err)
	}
	left := leftCopy(t, j.Writer().Unfinished())
	run, err := Recover(left, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := run.Summary
	if s.Scheduled != 63 || s.Outcomes[record.Unknown] != 23 || s.Outcomes[record.OK] != 40 || s.OK.N != 40 {
		t.Errorf("scheduled %d, outcomes %v, want 63, of which 40 ok and 23 unknown", s.Scheduled, s.Outcomes)
	}
	if ok, reasons := analysis.Valid(s); ok || reasons[0] != "the run was killed: of 23 of 63 arrivals nobody knows the outcome" {
		t.Errorf("valid %v, %q, want a run that judges nothing, for what is missing", ok, reasons)
	}
	if err := left.Writer.Abandon(); err != nil {
		t.Error(err)
	}
}
