package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"coldwave/record"
	"coldwave/reports"
)

// ErrNoJournal says that an unfinished directory has no journal, so that nothing can be made of it: what was to be written
// was in memory only.
var ErrNoJournal = errors.New("no journal")

// Recovered is what a killed run left.
type Recovered struct {
	// Finished says that the directory was complete and only lacked its name, which it has now. Nothing else is set then.
	Finished bool

	Head      reports.Single    // what was known before the first request; no records, arrivals and sums
	Instances []record.Instance // as they were at most a second before the end
	Arrivals  int               // of the schedule
	Known     int               // arrivals that have a record
	Torn      int64             // bytes of the journal that a cut write left, and that are lost
	Writer    *Writer           // for the files that the run should have ended with; to be closed

	log *log
}

// Records yields one record for each arrival, in order of seq; what is not known has the outcome unknown.
func (r *Recovered) Records() iter.Seq2[record.Record, error] { return r.log.records }

// Recover opens what a killed run left in dir, which ends in ".part". Files that were being made of the journal are
// removed: they are to be made again. Errors wrap ErrBusy, ErrNoJournal, ErrJournal, or what the system said; then nothing
// was changed. Recover may be called again after it, or what followed it, failed.
func Recover(dir string) (*Recovered, error) {
	dir = filepath.Clean(dir)
	full, ok := strings.CutSuffix(dir, unfinished)
	if !ok {
		return nil, fmt.Errorf("%s: %w: the name of an unfinished directory ends in %s", dir, ErrNoJournal, unfinished)
	}
	w, err := openWriter(openDisk, dir, full)
	if err != nil {
		return nil, err
	}
	r, err := recoverWith(w)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), w.Abandon())
	}
	return r, nil
}

func recoverWith(w *Writer) (*Recovered, error) {
	if done, err := w.finishAgain(); done || err != nil {
		return &Recovered{Finished: done}, err
	}
	r := &Recovered{Writer: w}
	f, err := w.disk.FS().Open(journalHead)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: it was killed while its files were made, which only 'run' can repair; run it again, and remove this", ErrNoJournal)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if r.Head, err = reports.ReadSingle(f); err != nil {
		return nil, fmt.Errorf("%s: %w", journalHead, err)
	}
	if r.log, err = openLog(w.disk); err != nil {
		return nil, err
	}
	r.Arrivals, r.Known, r.Torn = r.log.scheduled, r.log.known, r.log.torn
	if r.Instances, err = r.log.lives(); err != nil {
		return nil, err
	}
	return r, w.clear()
}

// finishAgain gives a directory its name that had all its files and checksums, and whose process was killed just then.
func (w *Writer) finishAgain() (done bool, err error) {
	if _, err := fs.Stat(w.disk.FS(), Sums); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	root, err := os.OpenRoot(w.Unfinished())
	if err != nil {
		return false, err
	}
	defer root.Close()
	if checkFiles(root, journal) != nil {
		return false, nil // they are made again
	}
	w.closed = true
	return true, errors.Join(w.name(), w.disk.Close())
}

// clear removes everything but the journal: a file that was never finished, or that belongs to other checksums.
func (w *Writer) clear() error {
	names, err := fs.ReadDir(w.disk.FS(), ".")
	if err != nil {
		return err
	}
	for _, entry := range names {
		if entry.Name() == journal {
			continue
		}
		if err := w.disk.Remove(entry.Name()); err != nil {
			return err
		}
	}
	return nil
}
