package main

import (
	"errors"
	"fmt"
	"iter"

	"coldwave/analysis"
	"coldwave/bundle"
	"coldwave/internal/cliargs"
	"coldwave/record"
	"coldwave/reports"
	"coldwave/workload"
)

// keeper keeps one run: in a journal while it goes, and in its run directory at the end.
type keeper struct {
	parent, id string
	meta       reports.Meta
	journal    *bundle.Journal // nil: nothing was begun
}

// begin opens the journal. Its errors have their exit code.
func (k *keeper) begin(run analysis.Run, arrivals iter.Seq2[workload.Arrival, error]) (*bundle.Journal, error) {
	run.ID = k.id
	journal, err := bundle.Begin(k.parent, k.id, reports.Single{Meta: k.meta, Run: run}, arrivals)
	if err != nil {
		return nil, cliargs.Errorf(cliargs.Storage, "%w; nothing was sent", err)
	}
	k.journal = journal
	return journal, nil
}

// finish writes the run directory and returns its path. A journal that could not be written to its end is no source for
// it; then only a run in memory can still be written.
func (k *keeper) finish(out reports.Single, more ...bundle.File) (string, error) {
	w, records, err := k.source(&out.Run)
	if err != nil {
		return "", err
	}
	path := w.Path()
	if err := keep(w, append(bundle.RunFiles(out, records), more...)); err != nil {
		if k.journal != nil {
			err = cliargs.Errorf(cliargs.Storage, "%w; %s", err, makeRoom(w.Unfinished()))
		}
		return "", err
	}
	if k.journal == nil || k.journal.Err() == nil {
		return path, nil
	}
	return path, cliargs.Errorf(cliargs.Storage, "the run was stopped: %w; its results until then are in %s", k.journal.Err(), path)
}

// makeRoom says what to do about an unfinished directory.
func makeRoom(dir string) string {
	return fmt.Sprintf("make room, then 'loadgen recover %s' saves what was recorded", dir)
}

// source returns where the files go and where the records come from.
func (k *keeper) source(run *analysis.Run) (*bundle.Writer, iter.Seq2[record.Record, error], error) {
	held := recordsOf(run)
	switch {
	case k.journal == nil:
		w, err := bundle.Create(k.parent, k.id)
		if err != nil {
			return nil, nil, cliargs.Errorf(cliargs.Storage, "%w", err)
		}
		return w, held, nil
	case run.Records != nil:
		return k.journal.Writer(), held, nil
	case k.journal.Err() != nil:
		return nil, nil, errors.Join(classify(k.journal.Err()), k.journal.Writer().Abandon())
	}
	return k.journal.Writer(), k.journal.Records(), nil
}

// leave lets go of a run that did not end: what was recorded stays in the unfinished directory.
func (k *keeper) leave() string {
	if k.journal == nil {
		return ""
	}
	dir := k.journal.Writer().Unfinished()
	_ = errors.Join(k.journal.Seal(), k.journal.Writer().Abandon()) // the run's own error is told
	return dir
}

// keep writes all files and finishes the directory. Files that could be written stay also when others could not.
func keep(w *bundle.Writer, files []bundle.File) error {
	var errs []error
	for _, f := range files {
		if err := w.Put(f.Name, f.Write); err != nil {
			errs = append(errs, err)
		}
	}
	if err := w.Close(); err != nil {
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return nil
	}
	more := ""
	if n := len(errs) - 1; n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return cliargs.Errorf(cliargs.Storage, "%w%s; %s is unfinished", errs[0], more, w.Unfinished())
}

// recordsOf yields the records that a run holds.
func recordsOf(run *analysis.Run) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for i := range run.Records {
			if !yield(run.Records[i], nil) {
				return
			}
		}
	}
}

// arrivalsOf yields the arrivals of a schedule in memory.
func arrivalsOf(s *workload.Schedule) iter.Seq2[workload.Arrival, error] {
	return func(yield func(workload.Arrival, error) bool) {
		for i := range s.Arrivals {
			if !yield(s.Arrivals[i], nil) {
				return
			}
		}
	}
}
