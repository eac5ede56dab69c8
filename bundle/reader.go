package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"

	"coldwave/record"
	"coldwave/reports"
	"coldwave/workload"
)

// ErrNoRun says that a directory holds no run that this version can read.
var ErrNoRun = errors.New("no run")

// Reader reads a run directory whose files match their checksums. Close it when its runs are no longer used.
//
//	b, err := bundle.Open("runs/20260102T150405Z-3f9a2c")
//	…
//	for _, run := range b.Runs() {
//		fmt.Println(run.Pattern(), run.Single.Run.Summary.OK.P99)
//		for r, err := range run.Records() { … }
//	}
type Reader struct {
	root *os.Root
	path string
	runs []*Run
}

// Run is one run of a directory: the only one of `run` and `simulate`, one of several cells of `verify`.
type Run struct {
	Dir    string         // its folder: "" or, such as in a directory of `verify`, "1-fc-burst-fc-race/"
	Single reports.Single // what run.json says: no records, arrivals and instances
	files  fs.FS
}

// Open checks the whole directory and reads what its runs say of themselves. The error wraps ErrDamaged or ErrUnfinished
// as that of Check does, or ErrNoRun.
func Open(dir string) (*Reader, error) {
	if err := Check(dir); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	b := &Reader{root: root, path: dir}
	if err := b.find(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return b, nil
}

// Close lets go of the directory.
func (b *Reader) Close() error { return b.root.Close() }

// Path returns the directory's path.
func (b *Reader) Path() string { return b.path }

// Runs returns the runs in the order in which they were written; at least one.
func (b *Reader) Runs() []*Run { return b.runs }

// Files returns the directory's files, such as report.html.
func (b *Reader) Files() fs.FS { return b.root.FS() }

// find looks for folders that hold requests: the directory itself, or those below it.
func (b *Reader) find() error {
	dirs, err := fs.Glob(b.root.FS(), "*/"+Manifest)
	if err != nil {
		return err
	}
	slices.SortFunc(dirs, byNumber)
	for _, name := range append([]string{Manifest}, dirs...) {
		folder := path.Dir(name)
		files, err := fs.Sub(b.root.FS(), folder)
		if err != nil {
			return err
		}
		if _, err := fs.Stat(files, Requests); err != nil {
			continue
		}
		run := &Run{files: files}
		if folder != "." {
			run.Dir = folder + "/"
		}
		if err := run.readManifest(); err != nil {
			return fmt.Errorf("%s: %w", path.Join(b.path, name), err)
		}
		b.runs = append(b.runs, run)
	}
	if len(b.runs) == 0 {
		return fmt.Errorf("%s: %w: there is no folder with %s and %s", b.path, ErrNoRun, Manifest, Requests)
	}
	return nil
}

// byNumber compares folders such as "9-x" and "10-y" by their numbers.
func byNumber(a, b string) int {
	var n, m int
	if _, err := fmt.Sscanf(a, "%d-", &n); err == nil {
		if _, err := fmt.Sscanf(b, "%d-", &m); err == nil && n != m {
			return n - m
		}
	}
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (r *Run) readManifest() error {
	f, err := r.files.Open(Manifest)
	if err != nil {
		return err
	}
	defer f.Close()
	r.Single, err = reports.ReadSingle(f)
	return err
}

// Records yields one record for each arrival, in order of seq, from the disk: a thousand are held at once. It ends at the
// first error. It may be called again and again, and from several goroutines.
func (r *Run) Records() iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		f, err := r.files.Open(Requests)
		if err != nil {
			yield(record.Record{}, err)
			return
		}
		defer f.Close()
		at, ok := f.(io.ReaderAt)
		info, err := f.Stat()
		if err != nil || !ok {
			yield(record.Record{}, fmt.Errorf("%s: %w", Requests, errors.Join(err, fs.ErrInvalid)))
			return
		}
		ReadRequests(at, info.Size())(yield)
	}
}

// Instances returns the lives of the instances, by ID; none if the target did not tell them.
func (r *Run) Instances() ([]record.Instance, error) {
	f, err := r.files.Open(Instances)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return reports.ReadInstancesCSV(f)
}

// Events yields what happened, in order of time, from the disk. It ends at the first error.
func (r *Run) Events() iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f, err := r.files.Open(Events)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer f.Close()
		ReadEvents(f)(yield)
	}
}

// Open opens another file of the run, such as latency.hlog.
func (r *Run) Open(name string) (fs.File, error) { return r.files.Open(name) }

// ErrTooLarge says that a run has more requests than may be held in memory.
var ErrTooLarge = errors.New("too many requests to hold")

// Load returns the run with its records, arrivals and instances in memory, about 250 bytes a request, if it has at most
// that many requests; the error wraps ErrTooLarge otherwise. The arrivals have no demands: these are not kept. The
// summary is that of run.json.
func (r *Run) Load(most int) (reports.Single, error) {
	out := r.Single
	if n := out.Run.Summary.Scheduled; n > most {
		return out, fmt.Errorf("run %s: %w: %d, more than %d", out.Run.ID, ErrTooLarge, n, most)
	}
	schedule := workload.Schedule{}
	if out.Run.Schedule != nil {
		schedule = *out.Run.Schedule
	}
	for rec, err := range r.Records() {
		if err != nil {
			return out, err
		}
		out.Run.Records = append(out.Run.Records, rec)
		schedule.Arrivals = append(schedule.Arrivals, workload.Arrival{Seq: rec.Seq, At: rec.Intended, Wave: rec.Wave})
	}
	out.Run.Schedule = &schedule
	var err error
	out.Run.Instances, err = r.Instances()
	return out, err
}

// Verify checks the directory as Check does, and then whether the records of each of its runs add up to what its run.json
// says. The error wraps ErrDamaged, ErrUnfinished or ErrNoRun. A directory without a run is only checked.
func Verify(dir string) error {
	b, err := Open(dir)
	if errors.Is(err, ErrNoRun) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, run := range b.Runs() {
		if err := run.verify(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path.Join(dir, run.Dir, Requests), err))
		}
	}
	return errors.Join(append(errs, b.Close())...)
}

// verify compares the records with the manifest: as many as there were arrivals, each seq once, and equal outcomes. A run
// that kept no record has none to compare.
func (r *Run) verify() error {
	var counts [record.Outcomes]int
	next := int64(0)
	for rec, err := range r.Records() {
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if rec.Seq != next {
			return fmt.Errorf("%w: row %d is of seq %d", ErrDamaged, next+1, rec.Seq)
		}
		counts[rec.Outcome]++
		next++
	}
	s := &r.Single.Run.Summary
	if next != int64(s.Scheduled) && !(next == 0 && s.Buckets) || next > 0 && counts != s.Outcomes {
		return fmt.Errorf("%w: %d rows with outcomes %v, but %s counts %d with %v", ErrDamaged, next, counts, Manifest, s.Scheduled, s.Outcomes)
	}
	return nil
}
