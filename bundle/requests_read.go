package bundle

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/parquet-go/parquet-go"

	"coldwave/internal/clock"
	"coldwave/record"
)

// ReadRequests reads what WriteRequests wrote, in its order; it ends at the first error, which wraps ErrRequests or is
// that of r. Columns are found by name: unknown ones are skipped, and only seq, intended_ns, response_ns and outcome must
// be there. It holds a page of each column and a thousand records at once.
func ReadRequests(r io.ReaderAt, size int64) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		file, err := openRequests(r, size)
		if err != nil {
			yield(record.Record{}, err)
			return
		}
		t := &tableReader{texts: texts{}, batch: make([]record.Record, batchRows)}
		defer t.close()
		for _, group := range file.RowGroups() {
			for left := group.NumRows(); left > 0; {
				n, err := t.next(group, left)
				for i := range t.batch[:n] {
					if !yield(t.batch[i], nil) {
						return
					}
				}
				if err != nil {
					yield(record.Record{}, err)
					return
				}
				left -= int64(n)
			}
		}
	}
}

// openRequests opens the table and looks for its columns. The library panics on some damaged files, which is an error
// like any other here.
func openRequests(r io.ReaderAt, size int64) (file *parquet.File, err error) {
	defer caught(&err)
	file, err = parquet.OpenFile(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRequests, err)
	}
	for i := range fields {
		f := &fields[i]
		leaf, ok := file.Schema().Lookup(f.name)
		switch {
		case !ok && f.required:
			return nil, fmt.Errorf("%w: no column %q", ErrRequests, f.name)
		case ok && (leaf.Node.Repeated() || leaf.Node.Type().Kind() != f.kind):
			return nil, fmt.Errorf("%w: column %q is of type %v, want %v", ErrRequests, f.name, leaf.Node.Type(), f.kind)
		}
	}
	return file, nil
}

func caught(err *error) {
	if what := recover(); what != nil {
		*err = fmt.Errorf("%w: %v", ErrRequests, what)
	}
}

// tableReader reads row group by row group.
type tableReader struct {
	texts   texts
	group   parquet.RowGroup
	columns []*columnReader
	batch   []record.Record
	seen    int64 // rows of the file before the batch
	rows    int   // in the batch
}

// next reads up to a batch of the group's left rows. With an error the rows before the bad one are in the batch.
func (t *tableReader) next(group parquet.RowGroup, left int64) (n int, err error) {
	defer caught(&err)
	if t.group != group {
		t.open(group)
	}
	t.seen += int64(t.rows)
	t.rows = int(min(left, batchRows))
	for i := range t.batch[:t.rows] {
		t.batch[i] = record.Blank()
	}
	for _, c := range t.columns {
		if row, err := c.fill(t.batch[:t.rows], t.texts); err != nil {
			return row, fmt.Errorf("%w: row %d: %s: %w", ErrRequests, t.seen+int64(row)+1, c.field.name, err)
		}
	}
	return t.rows, nil
}

func (t *tableReader) open(group parquet.RowGroup) {
	t.close()
	t.group = group
	for i := range fields {
		if leaf, ok := group.Schema().Lookup(fields[i].name); ok {
			pages := group.ColumnChunks()[leaf.ColumnIndex].Pages()
			t.columns = append(t.columns, &columnReader{field: &fields[i], pages: pages, values: make([]parquet.Value, batchRows)})
		}
	}
}

func (t *tableReader) close() {
	for _, c := range t.columns {
		c.close()
	}
	t.columns = nil
}

// columnReader reads one column of a row group, page by page.
type columnReader struct {
	field  *field
	pages  parquet.Pages
	page   parquet.Page // nil: none
	reader parquet.ValueReader
	values []parquet.Value
}

// fill sets the column's field of the records, and returns with an error the number of those it could set.
func (c *columnReader) fill(into []record.Record, t texts) (int, error) {
	for done := 0; done < len(into); {
		n, err := c.read(len(into) - done)
		for i, v := range c.values[:n] {
			if v.IsNull() {
				continue
			}
			if err := c.field.set(&into[done+i], v, t); err != nil {
				return done + i, err
			}
		}
		if done += n; err != nil {
			return done, err
		}
	}
	return len(into), nil
}

// read reads at most that many values of the current page, or of the next one if it is at its end.
func (c *columnReader) read(most int) (int, error) {
	if c.page == nil {
		page, err := c.pages.ReadPage()
		if err != nil {
			return 0, noEOF(err)
		}
		c.page, c.reader = page, page.Values()
	}
	n, err := c.reader.ReadValues(c.values[:most])
	if errors.Is(err, io.EOF) {
		parquet.Release(c.page)
		c.page, err = nil, nil
	}
	return n, err
}

func (c *columnReader) close() {
	if c.page != nil {
		parquet.Release(c.page)
	}
	_ = c.pages.Close() // only memory is let go of
}

// noEOF makes a column that ends before its rows an error that no loop takes for a normal end.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// field is a column that a record is made of.
type field struct {
	name     string
	kind     parquet.Kind
	required bool
	set      func(*record.Record, parquet.Value, texts) error
}

// fields in the order of reading: an instant that is written as a difference comes after what it differs from.
var fields = [...]field{
	number("seq", true, func(r *record.Record) *int64 { return &r.Seq }),
	small("wave", func(r *record.Record, v int32) { r.Wave = v }),
	number("intended_ns", true, func(r *record.Record) *clock.Instant { return &r.Intended }),
	since("send_lag_ns", false, func(r *record.Record) (at, from *clock.Instant) { return &r.Sent, &r.Intended }),
	since("response_ns", true, func(r *record.Record) (at, from *clock.Instant) { return &r.Done, &r.Intended }),
	since("ttfb_ns", false, func(r *record.Record) (at, from *clock.Instant) { return &r.FirstByte, &r.Sent }),
	small("status", func(r *record.Record, v int32) { r.Status = int(v) }),
	name("outcome", true, record.ParseOutcome, func(r *record.Record) *record.Outcome { return &r.Outcome }),
	text("outcome_cause", func(r *record.Record) *string { return &r.Cause }),
	name("start_kind", false, record.ParseStartKind, func(r *record.Record) *record.StartKind { return &r.Server.Start }),
	name("start_source", false, record.ParseSource, func(r *record.Record) *record.Source { return &r.Server.Source }),
	name("start_by", false, record.ParseStartBy, func(r *record.Record) *record.StartBy { return &r.Server.StartBy }),
	text("instance_id", func(r *record.Record) *string { return &r.Server.Instance }),
	number("queue_ns", false, func(r *record.Record) *time.Duration { return &r.Server.Queue }),
	number("init_ns", false, func(r *record.Record) *time.Duration { return &r.Server.Init }),
	number("exec_ns", false, func(r *record.Record) *time.Duration { return &r.Server.Exec }),
	number("bytes_in", false, func(r *record.Record) *int64 { return &r.BytesIn }),
	number("bytes_out", false, func(r *record.Record) *int64 { return &r.BytesOut }),
	small("attempt", func(r *record.Record, v int32) { r.Attempt = v }),
}

func number[T ~int64](name string, required bool, at func(*record.Record) *T) field {
	return field{name, parquet.Int64, required, func(r *record.Record, v parquet.Value, _ texts) error {
		*at(r) = T(v.Int64())
		return nil
	}}
}

func small(name string, set func(*record.Record, int32)) field {
	return field{name, parquet.Int32, false, func(r *record.Record, v parquet.Value, _ texts) error {
		set(r, v.Int32())
		return nil
	}}
}

// since is an instant, written as the time since another one.
func since(name string, required bool, which func(*record.Record) (at, from *clock.Instant)) field {
	return field{name, parquet.Int64, required, func(r *record.Record, v parquet.Value, _ texts) error {
		at, from := which(r)
		if *from == clock.Never {
			return fmt.Errorf("%d: of a request that was never sent", v.Int64())
		}
		*at = from.Add(time.Duration(v.Int64()))
		return nil
	}}
}

func name[T any](column string, required bool, parse func(string) (T, bool), at func(*record.Record) *T) field {
	return field{column, parquet.ByteArray, required, func(r *record.Record, v parquet.Value, t texts) error {
		s := t.shared(v.ByteArray())
		known, ok := parse(s)
		if !ok {
			return fmt.Errorf("%q is not known", s)
		}
		*at(r) = known
		return nil
	}}
}

func text(name string, at func(*record.Record) *string) field {
	return field{name, parquet.ByteArray, false, func(r *record.Record, v parquet.Value, t texts) error {
		*at(r) = t.shared(v.ByteArray())
		return nil
	}}
}

// maxTexts bounds the texts that are kept to be shared among rows.
const maxTexts = 1 << 16

// texts shares equal texts of many rows.
type texts map[string]string

func (t texts) shared(b []byte) string {
	if known, ok := t[string(b)]; ok {
		return known
	}
	s := string(b)
	if len(t) < maxTexts {
		t[s] = s
	}
	return s
}
