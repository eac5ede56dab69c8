package bundle

import (
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/parquet-go/parquet-go"

	"coldwave/internal/clock"
	"coldwave/record"
)

// Requests is the name of the file that holds one row for each arrival.
const Requests = "requests.parquet"

// ErrRequests is the error of a table of requests that cannot be read.
var ErrRequests = errors.New("malformed " + Requests)

// Limits of requests.parquet.
const (
	groupRows = 100_000 // rows of one row group: what a writer holds at once
	batchRows = 1024    // rows that are handed over at once
)

// requestsSchema is the version of the columns, in the file's metadata as "loadgen.schema". A new column is free; a
// changed one counts the number up.
const requestsSchema = "1"

// Head is what all rows of a table of requests have in common.
type Head struct {
	Run      string // id
	Scenario string // name of the pattern
	Target   string // URL; empty: none, as in virtual time
	Function string
	Facts    map[string]string // metadata of the file, such as "loadgen.version"
}

// row is one request as a row of Parquet. A null means: none, not told or not measured. The columns without a field in
// record.Record are null in what this version writes.
type row struct {
	RunID       string    `parquet:"run_id,dict,zstd"`
	Scenario    string    `parquet:"scenario,dict,zstd"`
	Phase       string    `parquet:"phase,optional,dict,zstd"`
	Target      string    `parquet:"target,optional,dict,zstd"`
	Seq         int64     `parquet:"seq,delta,zstd"`
	Wave        int32     `parquet:"wave,dict,zstd"`
	Intended    int64     `parquet:"intended_ns,delta,zstd"`
	SendLag     *int64    `parquet:"send_lag_ns,optional,zstd"`
	Service     *int64    `parquet:"service_ns,optional,zstd"`
	Response    *int64    `parquet:"response_ns,optional,zstd"`
	FirstByte   *int64    `parquet:"ttfb_ns,optional,plain,zstd"`
	DNS         *int64    `parquet:"dns_ns,optional,plain,zstd"`
	Connect     *int64    `parquet:"connect_ns,optional,plain,zstd"`
	TLS         *int64    `parquet:"tls_ns,optional,plain,zstd"`
	Status      int32     `parquet:"status,dict,zstd"`
	Outcome     string    `parquet:"outcome,dict,zstd"`
	Cause       string    `parquet:"outcome_cause,optional,dict,zstd"`
	StartKind   string    `parquet:"start_kind,dict,zstd"`
	StartSource string    `parquet:"start_source,optional,dict,zstd"`
	StartBy     string    `parquet:"start_by,dict,zstd"`
	Function    string    `parquet:"function,optional,dict,zstd"`
	Revision    string    `parquet:"revision,optional,dict,zstd"`
	Region      string    `parquet:"region,optional,dict,zstd"`
	Zone        string    `parquet:"zone,optional,dict,zstd"`
	Node        string    `parquet:"node,optional,dict,zstd"`
	Agent       string    `parquet:"agent,optional,dict,zstd"`
	Instance    string    `parquet:"instance_id,optional,dict,zstd"`
	Queue       *int64    `parquet:"queue_ns,optional,plain,zstd"`
	Init        *int64    `parquet:"init_ns,optional,plain,zstd"`
	Exec        *int64    `parquet:"exec_ns,optional,plain,zstd"`
	BytesIn     int64     `parquet:"bytes_in,delta,zstd"`
	BytesOut    int64     `parquet:"bytes_out,delta,zstd"`
	Attempt     int32     `parquet:"attempt,dict,zstd"`
	TraceID     *[16]byte `parquet:"trace_id,optional,zstd"`
}

// WriteRequests writes the records as Parquet, in their order, in row groups of 100,000: no more than these are held at
// once. Its errors are those of w and of the sequence. Equal records and heads give equal bytes.
func WriteRequests(w io.Writer, head Head, records iter.Seq2[record.Record, error]) error {
	options := []parquet.WriterOption{
		parquet.MaxRowsPerRowGroup(groupRows),
		parquet.DefaultEncodingFor(parquet.Int64, &parquet.DeltaBinaryPacked), // tags cannot ask for it in optional columns
		parquet.KeyValueMetadata("loadgen.schema", requestsSchema),
		parquet.SortingWriterConfig(parquet.SortingColumns(parquet.Ascending("seq"))),
	}
	for name, value := range head.Facts { // the library sorts them
		options = append(options, parquet.KeyValueMetadata(name, value))
	}
	out := &table{head: head, to: parquet.NewGenericWriter[row](w, options...)}
	for r, err := range records {
		if err == nil {
			err = out.add(&r)
		}
		if err != nil {
			return err
		}
	}
	if err := out.flush(); err != nil {
		return err
	}
	return out.to.Close()
}

// table collects rows. The optional numbers of a row point into the cells of its place, so that a row allocates nothing.
type table struct {
	head  Head
	to    *parquet.GenericWriter[row]
	rows  [batchRows]row
	cells [batchRows][7]int64
	n     int
}

func (t *table) add(r *record.Record) error {
	t.rows[t.n] = rowOf(&t.head, r, &t.cells[t.n])
	if t.n++; t.n < batchRows {
		return nil
	}
	return t.flush()
}

func (t *table) flush() error {
	_, err := t.to.Write(t.rows[:t.n])
	t.n = 0
	return err
}

func rowOf(h *Head, r *record.Record, cells *[7]int64) row {
	out := row{
		RunID: h.Run, Scenario: h.Scenario, Target: h.Target, Function: h.Function,
		Seq: r.Seq, Wave: r.Wave, Intended: int64(r.Intended), Status: int32(r.Status), Outcome: r.Outcome.String(), Cause: utf8Text(r.Cause),
		StartKind: r.Server.Start.String(), StartSource: r.Server.Source.String(), StartBy: r.Server.StartBy.String(),
		Instance: utf8Text(r.Server.Instance), BytesIn: r.BytesIn, BytesOut: r.BytesOut, Attempt: r.Attempt,
	}
	cell := func(i int, known bool, v int64) *int64 {
		if !known {
			return nil
		}
		cells[i] = v
		return &cells[i]
	}
	sent, done := r.Sent != clock.Never, r.Done != clock.Never
	out.SendLag = cell(0, sent, int64(r.SendLag()))
	out.Response = cell(1, done, int64(r.Response()))
	out.Service = cell(2, sent && done, int64(r.Service()))
	out.FirstByte = cell(3, sent && r.FirstByte != clock.Never, int64(r.FirstByte.Sub(r.Sent)))
	out.Queue = cell(4, r.Server.Told(), int64(r.Server.Queue))
	out.Init = cell(5, r.Server.Told(), int64(r.Server.Init))
	out.Exec = cell(6, r.Server.Told(), int64(r.Server.Exec))
	return out
}

// utf8Text is s as Parquet's strings must be.
func utf8Text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
