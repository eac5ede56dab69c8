package record

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// ErrCSV is the error of a table of records that cannot be read.
var ErrCSV = errors.New("malformed records")

// flushBytes is how much of a table is collected before it is handed to the writer.
const flushBytes = 64 << 10

// WriteCSV writes the records as comma-separated values: a header line, then one line for each record. Names of columns
// carry their unit. An empty cell means: none, or not told. Text that a spreadsheet would take for a formula is marked
// with a leading apostrophe, and control characters in it become U+FFFD.
func WriteCSV(w io.Writer, records iter.Seq[Record]) error {
	b := appendHeader(make([]byte, 0, flushBytes+4096))
	for r := range records {
		b = appendRow(b, &r)
		if len(b) < flushBytes {
			continue
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		b = b[:0]
	}
	_, err := w.Write(b)
	return err
}

func appendHeader(b []byte) []byte {
	for i, c := range columns {
		b = append(separate(b, i), c.name...)
	}
	return append(b, '\n')
}

func appendRow(b []byte, r *Record) []byte {
	for i, c := range columns {
		b = c.write(separate(b, i), r)
	}
	return append(b, '\n')
}

func separate(b []byte, column int) []byte {
	if column == 0 {
		return b
	}
	return append(b, ',')
}

// ReadCSV reads what WriteCSV wrote, record by record; it ends at the first error. Columns are found by name: their order
// is free, unknown ones are skipped, and only seq, intended_ns, response_ns and outcome must be there. Errors wrap ErrCSV
// and name line and column.
func ReadCSV(r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		table := csv.NewReader(bufio.NewReader(r))
		table.ReuseRecord = true
		places, err := readHeader(table)
		if err != nil {
			yield(Record{}, err)
			return
		}
		for {
			rec, err := readRow(table, places)
			if errors.Is(err, io.EOF) || !yield(rec, err) || err != nil {
				return
			}
		}
	}
}

// readHeader returns for each of our columns its place in the table, or -1.
func readHeader(table *csv.Reader) ([]int, error) {
	names, err := table.Read()
	if err != nil {
		return nil, fmt.Errorf("%w: header: %w", ErrCSV, noEOF(err))
	}
	at := make(map[string]int, len(names))
	for i, name := range names {
		if _, ok := at[name]; ok {
			return nil, fmt.Errorf("%w: header: column %q is there twice", ErrCSV, name)
		}
		at[strings.Clone(name)] = i
	}
	places := make([]int, len(columns))
	for i, c := range columns {
		place, ok := at[c.name]
		if !ok && c.required {
			return nil, fmt.Errorf("%w: header: no column %q", ErrCSV, c.name)
		}
		if !ok {
			place = -1
		}
		places[i] = place
	}
	return places, nil
}

func readRow(table *csv.Reader, places []int) (Record, error) {
	cells, err := table.Read()
	if errors.Is(err, io.EOF) {
		return Record{}, err
	}
	if err != nil {
		return Record{}, fmt.Errorf("%w: %w", ErrCSV, err)
	}
	rec := Blank()
	for i, place := range places {
		if place < 0 {
			continue
		}
		if err := columns[i].read(&rec, cells[place]); err != nil {
			line, col := table.FieldPos(place)
			return Record{}, fmt.Errorf("%w: %d:%d: %s: %w", ErrCSV, line, col, columns[i].name, err)
		}
	}
	return rec, nil
}

// noEOF makes the end of an empty table an error that no loop takes for a normal end.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
