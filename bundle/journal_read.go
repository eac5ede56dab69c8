package bundle

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

// writeSchedule writes the instants and waves of arrivals as blocks.
func writeSchedule(w io.Writer, arrivals iter.Seq2[workload.Arrival, error]) error {
	if _, err := io.WriteString(w, blockMagic); err != nil {
		return err
	}
	to := blockWriter{to: unsynced{w}, head: make([]byte, blockHead)}
	var b []byte
	last := clock.Instant(0)
	for a, err := range arrivals {
		if err != nil {
			return err
		}
		b = binary.AppendUvarint(b, uint64(a.At-last)) // arrivals do not go back in time
		b = binary.AppendVarint(b, int64(a.Wave))
		if last = a.At; len(b) >= blockBytes {
			if err := to.write(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	return to.write(b)
}

// unsynced is a writer that somebody else syncs and closes.
type unsynced struct{ io.Writer }

func (unsynced) Sync() error  { return nil }
func (unsynced) Close() error { return nil }

// appendLife appends the life of an instance as a line of JSON.
func appendLife(b []byte, in *record.Instance) []byte {
	line, err := json.Marshal(in)
	if err != nil {
		panic(err) // numbers, truths and texts can be written
	}
	return append(append(b, line...), '\n')
}

// log is what a journal holds.
type log struct {
	disk      disk
	scheduled int
	offsets   []int64 // of each arrival's record in the file of records; 0: none. 8 bytes a request
	known     int     // arrivals that have a record
	torn      int64   // bytes at the end that belong to no whole block
}

// openLog reads through a journal and finds its records.
func openLog(d disk) (*log, error) {
	l := &log{disk: d}
	err := l.file(journalSchedule, func(r io.ReaderAt, size int64) error {
		torn, err := readBlocks(r, size, func(_ int64, block []byte) error {
			return arrivalsOf(block, 0, func(clock.Instant, int32) bool { l.scheduled++; return true })
		})
		if torn > 0 {
			err = errors.Join(err, fmt.Errorf("%w: %d bytes at its end belong to no block", ErrJournal, torn))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	l.offsets = make([]int64, l.scheduled)
	return l, l.file(journalRecords, func(r io.ReaderAt, size int64) (err error) {
		l.torn, err = readBlocks(r, size, l.find)
		return err
	})
}

// file opens a file of the journal and names it in errors.
func (l *log) file(name string, use func(r io.ReaderAt, size int64) error) error {
	f, err := l.disk.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = use(f, info.Size())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// find notes where the records of a block are.
func (l *log) find(at int64, block []byte) error {
	for rest := block; len(rest) > 0; {
		here := at + int64(len(block)-len(rest))
		r, after, err := record.DecodeBinary(rest)
		if err != nil {
			return fmt.Errorf("%w: at byte %d: %w", ErrJournal, here, err)
		}
		switch {
		case r.Seq < 0 || r.Seq >= int64(l.scheduled):
			return fmt.Errorf("%w: at byte %d: a record of seq %d, but only %d arrivals", ErrJournal, here, r.Seq, l.scheduled)
		case l.offsets[r.Seq] != 0:
			return fmt.Errorf("%w: at byte %d: seq %d has two records", ErrJournal, here, r.Seq)
		}
		l.offsets[r.Seq] = here
		l.known++
		rest = after
	}
	return nil
}

// arrivalsOf reads a block of the schedule. Next returns false to end early.
func arrivalsOf(block []byte, from clock.Instant, next func(at clock.Instant, wave int32) bool) error {
	at := from
	for len(block) > 0 {
		by, n := binary.Uvarint(block)
		if n <= 0 {
			return fmt.Errorf("%w: an arrival is cut", ErrJournal)
		}
		wave, m := binary.Varint(block[n:])
		if m <= 0 || wave < math.MinInt32 || wave > math.MaxInt32 || by > uint64(clock.Never-at) {
			return fmt.Errorf("%w: an arrival is cut", ErrJournal)
		}
		at += clock.Instant(by)
		if !next(at, int32(wave)) {
			return nil
		}
		block = block[n+m:]
	}
	return nil
}

// errEnough ends reading early.
var errEnough = errors.New("enough")

// records yields a record for each arrival, in order of seq.
func (l *log) records(yield func(record.Record, error) bool) {
	err := l.file(journalSchedule, func(schedule io.ReaderAt, size int64) error {
		return l.file(journalRecords, func(records io.ReaderAt, size2 int64) error {
			from := &finder{r: records, size: size2}
			return l.eachArrival(schedule, size, func(r record.Record) (err error) {
				if at := l.offsets[r.Seq]; at > 0 {
					if r, err = from.record(at); err != nil {
						return err
					}
				}
				if !yield(r, nil) {
					return errEnough
				}
				return nil
			})
		})
	})
	if err != nil && !errors.Is(err, errEnough) {
		yield(record.Record{}, err)
	}
}

// eachArrival calls use with each arrival as a record of which nothing is known.
func (l *log) eachArrival(r io.ReaderAt, size int64, use func(record.Record) error) error {
	seq, last := int64(0), clock.Instant(0)
	_, err := readBlocks(r, size, func(_ int64, block []byte) (err error) {
		bad := arrivalsOf(block, last, func(at clock.Instant, wave int32) bool {
			unknown := record.Blank()
			unknown.Seq, unknown.Intended, unknown.Wave, unknown.Attempt = seq, at, wave, 0
			err = use(unknown)
			seq, last = seq+1, at
			return err == nil
		})
		return errors.Join(err, bad)
	})
	return err
}

// lives returns the last known lives of the instances, by ID.
func (l *log) lives() ([]record.Instance, error) {
	byID := map[int32]record.Instance{}
	err := l.file(journalLives, func(r io.ReaderAt, size int64) error {
		_, err := readBlocks(r, size, func(_ int64, block []byte) error {
			for line := range splitLines(block) {
				var in record.Instance
				if err := json.Unmarshal(line, &in); err != nil {
					return fmt.Errorf("%w: %w", ErrJournal, err)
				}
				byID[in.ID] = in
			}
			return nil
		})
		return err
	})
	all := make([]record.Instance, 0, len(byID))
	for _, in := range byID {
		all = append(all, in)
	}
	slices.SortFunc(all, func(a, b record.Instance) int { return int(a.ID) - int(b.ID) })
	return all, err
}

func splitLines(block []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(block) > 0 {
			n := slices.Index(block, '\n') + 1
			if n == 0 {
				n = len(block)
			}
			if !yield(block[:n]) {
				return
			}
			block = block[n:]
		}
	}
}

// Sizes of reading records.
const (
	windowBytes = 1 << 20 // read at once where records stand nearly in order
	recordBytes = 512     // enough for one record, or else twice as much is tried
	patience    = 32      // records outside the window until it is moved to where they are
)

// finder reads single records. They stand nearly in the order of seq, so most are in a window that moves on; one that was
// complete much later than its neighbours is read by itself.
type finder struct {
	r      io.ReaderAt
	size   int64
	window []byte
	from   int64 // place of the window
	misses int
	single []byte
}

func (f *finder) record(at int64) (record.Record, error) {
	for n := int64(recordBytes); ; n *= 2 {
		b, err := f.bytes(at, min(n, f.size-at))
		if err != nil {
			return record.Record{}, err
		}
		r, _, err := record.DecodeBinary(b)
		if err == nil || at+n >= f.size {
			return r, err
		}
	}
}

func (f *finder) bytes(at, n int64) ([]byte, error) {
	if at >= f.from && at+n <= f.from+int64(len(f.window)) {
		f.misses = 0
		return f.window[at-f.from:][:n], nil
	}
	if f.misses++; f.misses > patience || f.window == nil {
		f.from, f.misses = max(0, at-windowBytes/4), 0
		size := min(windowBytes, f.size-f.from)
		if int64(cap(f.window)) < size {
			f.window = make([]byte, size)
		}
		f.window = f.window[:size]
		if _, err := f.r.ReadAt(f.window, f.from); err != nil {
			return nil, err
		}
		if at+n <= f.from+size {
			return f.window[at-f.from:][:n], nil
		}
	}
	if int64(cap(f.single)) < n {
		f.single = make([]byte, n)
	}
	_, err := f.r.ReadAt(f.single[:n], at)
	return f.single[:n], err
}
