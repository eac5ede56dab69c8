package bundle

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"time"

	"coldwave/record"
	"coldwave/reports"
	"coldwave/workload"
)

// journal is the folder of an unfinished directory that holds what a run recorded so far. It is gone when the directory
// gets its name.
const (
	journal         = "journal"
	journalHead     = journal + "/head.json" // run.json as it was before the first request
	journalSchedule = journal + "/schedule"  // the arrivals
	journalRecords  = journal + "/records"   // the records, in the order in which they were complete
	journalLives    = journal + "/instances" // the lives of instances, whenever they changed
)

// Limits of a journal.
const (
	flushEvery = time.Second // what a killed process loses at most
	blockBytes = 1 << 20     // a block is written earlier when it is that large
	mostBytes  = 64 << 20    // records that may wait for the disk; beyond, Add waits
)

// Journal keeps what a run records while it goes, so that the run survives its process: what was added reaches the system
// within a second. Nothing is synced before the end, because that could disturb what is measured; a crash of the whole
// machine may cost more. Add and Lives are for any goroutine.
type Journal struct {
	writer  *Writer
	records *blockWriter
	lives   *blockWriter
	known   map[int32]record.Instance
	last    sync.Mutex // of known and lives

	writing sync.Mutex // one block at a time
	mu      sync.Mutex
	room    sync.Cond // buffer got smaller, or the disk failed
	buffer  []byte    // records that are still to be written
	err     error     // the first that the disk gave
	failed  chan struct{}
	full    chan struct{} // a block is full
	closing chan struct{}
	closed  chan struct{}
}

// StorageError says that the disk failed while a run was kept.
type StorageError struct {
	Dir string // the unfinished directory: what was recorded before can be recovered from it
	Err error
}

func (e *StorageError) Error() string {
	return fmt.Sprintf("write %s: %v", filepath.Join(e.Dir, journal), plain(e.Err))
}

// Unwrap returns what the system said.
func (e *StorageError) Unwrap() error { return e.Err }

// Begin makes the directory parent/id.part with a journal in it: what the run is, and its arrivals. The directory appears
// whole or not at all. Nothing should be sent before.
func Begin(parent, id string, head reports.Single, arrivals iter.Seq2[workload.Arrival, error]) (*Journal, error) {
	return beginOn(openDisk, parent, id, head, arrivals)
}

func beginOn(open opener, parent, id string, head reports.Single, arrivals iter.Seq2[workload.Arrival, error]) (*Journal, error) {
	full, err := placeFor(parent, id)
	if err != nil {
		return nil, err
	}
	hidden := filepath.Join(parent, "."+id)
	if err := makeDir(hidden); err != nil {
		return nil, err
	}
	w, err := openWriter(open, hidden, full)
	if err != nil {
		return nil, errors.Join(err, os.Remove(hidden))
	}
	j, err := begin(w, hidden, head, arrivals)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("run directory %s: %w", full+unfinished, err), w.Abandon(), os.RemoveAll(hidden))
	}
	return j, nil
}

func begin(w *Writer, hidden string, head reports.Single, arrivals iter.Seq2[workload.Arrival, error]) (*Journal, error) {
	if _, err := w.put(journalHead, func(out io.Writer) error { return reports.SingleJSON(out, head) }); err != nil {
		return nil, err
	}
	if _, err := w.put(journalSchedule, func(out io.Writer) error { return writeSchedule(out, arrivals) }); err != nil {
		return nil, err
	}
	j := &Journal{
		writer: w, known: map[int32]record.Instance{}, failed: make(chan struct{}), full: make(chan struct{}, 1),
		closing: make(chan struct{}), closed: make(chan struct{}),
	}
	j.room.L = &j.mu
	var err error
	if j.records, err = createBlocks(w.disk, journalRecords); err != nil {
		return nil, err
	}
	if j.lives, err = createBlocks(w.disk, journalLives); err != nil {
		return nil, errors.Join(err, j.records.close())
	}
	err = errors.Join(w.disk.Sync(journal), w.disk.Sync("."))
	if err == nil {
		err = w.disk.Finish(hidden, w.Unfinished())
	}
	if err != nil {
		return nil, errors.Join(err, j.records.close(), j.lives.close())
	}
	go j.run()
	return j, nil
}

// Writer is the directory's writer, for the files that the run ends with.
func (j *Journal) Writer() *Writer { return j.writer }

// Failed is closed when the disk failed; Err says how. The run should end then, because nothing more is kept of it.
func (j *Journal) Failed() <-chan struct{} { return j.failed }

// Err returns the first error of the disk, and nil if there was none.
func (j *Journal) Err() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

// Add keeps a record. It waits only while 64 MiB of records wait for the disk. After Seal it does nothing.
func (j *Journal) Add(r *record.Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for len(j.buffer) >= mostBytes && j.err == nil {
		j.room.Wait()
	}
	if j.err != nil {
		return
	}
	j.buffer = record.AppendBinary(j.buffer, r)
	if len(j.buffer) >= blockBytes {
		select {
		case j.full <- struct{}{}:
		default: // it was told already
		}
	}
}

// run writes the records until the journal is sealed.
func (j *Journal) run() {
	defer close(j.closed)
	ticker := time.NewTicker(flushEvery) //nolint:forbidigo // when records reach the disk is no part of any result
	defer ticker.Stop()
	var spare []byte
	for {
		last := false
		select {
		case <-ticker.C:
		case <-j.full:
		case <-j.closing:
			last = true
		}
		spare = j.flush(spare)
		if last {
			return
		}
	}
}

// flush writes what has collected, and returns its buffer for use again.
func (j *Journal) flush(spare []byte) []byte {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.mu.Lock()
	block := j.buffer
	j.buffer = spare[:0]
	bad := j.err != nil
	j.mu.Unlock()
	j.room.Broadcast()
	if !bad {
		j.fail(j.records.write(block))
	}
	return block
}

// fail keeps the first error.
func (j *Journal) fail(err error) {
	if err == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = &StorageError{Dir: j.writer.Unfinished(), Err: err}
		close(j.failed)
	}
	j.room.Broadcast()
}

// Lives keeps the lives of the instances that are new or changed since the last call. Work that they did is a change only
// if whole is true: it changes all the time.
func (j *Journal) Lives(all []record.Instance, whole bool) {
	j.last.Lock()
	defer j.last.Unlock()
	var changed []record.Instance
	for _, in := range all {
		known, ok := j.known[in.ID]
		if !whole {
			known.Served, known.Busy = in.Served, in.Busy
		}
		if !ok || known != in {
			changed = append(changed, in)
			j.known[in.ID] = in
		}
	}
	if len(changed) > 0 && j.Err() == nil {
		j.fail(writeLives(j.lives, changed))
	}
}

// Seal ends the journal: nothing is added to it any more. It returns the first error of the disk. Later calls return the
// same.
func (j *Journal) Seal() error {
	j.mu.Lock()
	select {
	case <-j.closing:
	default:
		close(j.closing)
	}
	j.mu.Unlock()
	<-j.closed
	j.last.Lock()
	defer j.last.Unlock()
	j.fail(errors.Join(j.records.close(), j.lives.close()))
	return j.Err()
}

// Records yields one record for each arrival, in order of seq, from the disk, as often as it is called. Arrivals without a
// record have the outcome unknown. It is for a sealed journal whose writer is not closed yet.
func (j *Journal) Records() iter.Seq2[record.Record, error] {
	log, err := openLog(j.writer.disk)
	if err != nil {
		return func(yield func(record.Record, error) bool) { yield(record.Record{}, err) }
	}
	return log.records
}

// writeLives writes a block of lives.
func writeLives(to *blockWriter, lives []record.Instance) error {
	var b []byte
	for i := range lives {
		b = appendLife(b, &lives[i])
	}
	return to.write(b)
}
