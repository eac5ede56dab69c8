package bundle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	goparquet "github.com/fraugster/parquet-go"
	format "github.com/fraugster/parquet-go/parquet"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"coldwave/internal/clock"
	"coldwave/record"
)

// randomRecords returns n records in order of seq that use every field: told and not told, sent and never sent.
func randomRecords(seed uint64, n int) []record.Record {
	r := rand.New(rand.NewPCG(seed, 9))
	out := make([]record.Record, n)
	at := clock.Instant(0)
	for i := range out {
		at += clock.Instant(r.Int64N(int64(20 * time.Millisecond)))
		out[i] = randomRecord(r, int64(i), at)
	}
	return out
}

func randomRecord(r *rand.Rand, seq int64, at clock.Instant) record.Record {
	rec := record.Record{Seq: seq, Wave: int32(r.IntN(4)) - 1, Intended: at, Sent: clock.Never, FirstByte: clock.Never, Done: at}
	switch r.IntN(10) {
	case 0:
		rec.Outcome, rec.Cause = record.Dropped, "in_flight_limit"
		return rec
	case 1:
		rec.Outcome, rec.Cause, rec.Attempt, rec.Sent = record.TransportError, "reset", 1, at
		rec.Done = at.Add(time.Duration(r.Int64N(1e9)))
		return rec
	case 2:
		rec.Outcome, rec.Done = record.Unknown, clock.Never
		return rec
	}
	rec.Sent = at.Add(time.Duration(r.Int64N(1e6)))
	rec.FirstByte = rec.Sent.Add(time.Duration(r.Int64N(1e8)))
	rec.Done = rec.FirstByte.Add(time.Duration(r.Int64N(1e8)))
	rec.Outcome, rec.Status, rec.Attempt = record.OK, 200, 1
	rec.BytesIn, rec.BytesOut = r.Int64N(5000), r.Int64N(3)
	if r.IntN(3) > 0 {
		rec.Server = record.Server{
			Queue: time.Duration(r.Int64N(1e8)), Init: time.Duration(r.Int64N(2)), Exec: time.Duration(r.Int64N(1e8)),
			Instance: fmt.Sprintf("hello-%d", r.IntN(30)), Start: record.StartKind(1 + r.IntN(int(record.StartKinds)-1)),
			StartBy: record.StartBy(r.IntN(int(record.StartBys))), Source: record.FromHeader,
		}
	}
	return rec
}

// each gives records as a sequence without an error.
func each(records []record.Record) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func written(t testing.TB, records []record.Record) []byte {
	t.Helper()
	var b bytes.Buffer
	head := Head{Run: "20260102T150405Z-3f9a2c", Scenario: "fc-burst", Target: "http://127.0.0.1:1/", Function: "hello",
		Facts: map[string]string{"loadgen.version": "0.1.0", "loadgen.seed": "7"}}
	if err := WriteRequests(&b, head, each(records)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func BenchmarkRequests(b *testing.B) {
	records := randomRecords(1, 200_000)
	table := written(b, records)
	b.Run("write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			written(b, records)
		}
		b.ReportMetric(float64(len(table))/float64(len(records)), "B/row")
	})
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for _, err := range ReadRequests(bytes.NewReader(table), int64(len(table))) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

func readAll(t testing.TB, table []byte) ([]record.Record, error) {
	t.Helper()
	var out []record.Record
	for r, err := range ReadRequests(bytes.NewReader(table), int64(len(table))) {
		if err != nil {
			return out, err
		}
		out = append(out, r)
	}
	return out, nil
}

func TestRequestsRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, batchRows, batchRows + 1, 5000} {
		want := randomRecords(uint64(n), n)
		got, err := readAll(t, written(t, want))
		if err != nil {
			t.Errorf("%d records: %v", n, err)
		}
		same(t, "round trip", want, got)
	}
}

func TestEqualRecordsGiveEqualBytes(t *testing.T) {
	records := randomRecords(5, 3000)
	if !bytes.Equal(written(t, records), written(t, records)) {
		t.Error("two tables of the same records differ")
	}
}

// A text that is no UTF-8 would make a file that other readers refuse.
func TestTextsBecomeUTF8(t *testing.T) {
	records := randomRecords(1, 1)
	records[0].Server.Instance, records[0].Cause = "a\xffb", "reset"
	got, err := readAll(t, written(t, records))
	if err != nil || got[0].Server.Instance != "a\uFFFDb" || got[0].Cause != "reset" {
		t.Errorf("read %+v, %v, want instance a\uFFFDb", got, err)
	}
}

func TestRequestsKeepTheError(t *testing.T) {
	broken := errors.New("spool is torn")
	records := func(yield func(record.Record, error) bool) { yield(record.Record{}, broken) }
	if err := WriteRequests(io.Discard, Head{}, records); !errors.Is(err, broken) {
		t.Errorf("WriteRequests = %v, want the error of the sequence", err)
	}
	full := errors.New("disk full")
	if err := WriteRequests(failing{full}, Head{}, each(randomRecords(1, 9))); !errors.Is(err, full) {
		t.Errorf("WriteRequests = %v, want that of the writer", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// Optional columns may be missing and unknown ones are skipped; required ones and types are checked.
func TestRequestsOfOthers(t *testing.T) {
	type least struct {
		Other    string `parquet:"other"`
		Response int64  `parquet:"response_ns"`
		Seq      int64  `parquet:"seq"`
		Outcome  string `parquet:"outcome"`
		Intended int64  `parquet:"intended_ns"`
	}
	var b bytes.Buffer
	write(t, &b, []least{{"x", 7, 0, "ok", 5}, {"y", 8, 1, "timeout", 6}})
	got, err := readAll(t, b.Bytes())
	first, second := record.Blank(), record.Blank()
	first.Seq, first.Intended, first.Done, first.Outcome = 0, 5, 12, record.OK
	second.Seq, second.Intended, second.Done, second.Outcome = 1, 6, 14, record.Timeout
	if diff := cmp.Diff([]record.Record{first, second}, got); diff != "" || err != nil {
		t.Errorf("a table with the required columns only: %v (-want +got):\n%s", err, diff)
	}
	b.Reset()
	write(t, &b, []least{{Outcome: "ok"}, {Outcome: "fine"}})
	refuses(t, "an outcome that does not exist", b.Bytes(), `row 2: outcome: "fine" is not known`)
	b.Reset()
	write(t, &b, []struct {
		Seq int64 `parquet:"seq"`
	}{{1}})
	refuses(t, "a column is missing", b.Bytes(), `no column "intended_ns"`)
	b.Reset()
	write(t, &b, []struct {
		Seq string `parquet:"seq"`
	}{{"1"}})
	refuses(t, "a column of another type", b.Bytes(), `column "seq" is of type STRING`)
	b.Reset()
	write(t, &b, []struct {
		least
		FirstByte int64 `parquet:"ttfb_ns"`
	}{{least: least{Outcome: "ok"}, FirstByte: 3}})
	refuses(t, "a first byte of a request that was never sent", b.Bytes(), "ttfb_ns: 3: of a request that was never sent")
	refuses(t, "no Parquet", []byte("seq,wave\n1,2\n"), "")
	refuses(t, "nothing", nil, "")
}

func write[T any](t *testing.T, b *bytes.Buffer, rows []T) {
	t.Helper()
	if err := parquet.Write(b, rows); err != nil {
		t.Fatal(err)
	}
}

func refuses(t *testing.T, why string, table []byte, want string) {
	t.Helper()
	_, err := readAll(t, table)
	if !errors.Is(err, ErrRequests) || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want ErrRequests with %s", why, err, want)
	}
}

// Whatever is in the file, reading ends with records or with an error, never with a panic (F7).
func TestDamagedRequestsDoNotPanic(t *testing.T) {
	table := written(t, randomRecords(2, 400))
	r := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		bad := slices.Clone(table)
		for range 1 + r.IntN(3) {
			bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
		}
		_, _ = readAll(t, bad)
		_, _ = readAll(t, table[:r.IntN(len(table))])
	}
}

// The columns are those that are documented, with their units in their names, and another implementation of Parquet than
// the one that wrote them reads the same values.
func TestAnotherReaderAgrees(t *testing.T) {
	records := randomRecords(7, 1100)
	goparquet.RegisterBlockCompressor(format.CompressionCodec_ZSTD, zstdBlocks{})
	file, err := goparquet.NewFileReader(bytes.NewReader(written(t, records)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range file.GetSchemaDefinition().RootColumn.Children {
		names = append(names, c.SchemaElement.Name)
	}
	if got, want := strings.Join(names, " "), "run_id scenario phase target seq wave intended_ns send_lag_ns service_ns response_ns ttfb_ns "+
		"dns_ns connect_ns tls_ns status outcome outcome_cause start_kind start_source start_by function revision region zone node agent "+
		"instance_id queue_ns init_ns exec_ns bytes_in bytes_out attempt trace_id"; got != want {
		t.Errorf("columns %s, want %s", got, want)
	}
	if got := file.MetaData()["loadgen.version"]; got != "0.1.0" || file.MetaData()["loadgen.schema"] != "1" {
		t.Errorf("metadata %v, want the version 0.1.0 and schema 1", file.MetaData())
	}
	for i := range records {
		row, err := file.NextRow()
		if err != nil {
			t.Fatalf("row %d: %v", i+1, err)
		}
		if want := expected(&records[i]); !reflect.DeepEqual(want, row) {
			t.Fatalf("row %d (-want +got):\n%s", i+1, cmp.Diff(want, row))
		}
	}
	if _, err := file.NextRow(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last row: %v, want EOF", err)
	}
}

// expected is a record as the other reader gives it: nulls are absent.
func expected(r *record.Record) map[string]any {
	row := map[string]any{
		"run_id": []byte("20260102T150405Z-3f9a2c"), "scenario": []byte("fc-burst"), "target": []byte("http://127.0.0.1:1/"),
		"function": []byte("hello"), "seq": r.Seq, "wave": r.Wave, "intended_ns": int64(r.Intended), "status": int32(r.Status),
		"outcome": []byte(r.Outcome.String()), "start_kind": []byte(r.Server.Start.String()), "start_by": []byte(r.Server.StartBy.String()),
		"bytes_in": r.BytesIn, "bytes_out": r.BytesOut, "attempt": r.Attempt,
	}
	put := func(name string, known bool, v any) {
		if known {
			row[name] = v
		}
	}
	sent, done := r.Sent != clock.Never, r.Done != clock.Never
	put("outcome_cause", r.Cause != "", []byte(r.Cause))
	put("start_source", r.Server.Source != record.FromNowhere, []byte(r.Server.Source.String()))
	put("instance_id", r.Server.Instance != "", []byte(r.Server.Instance))
	put("send_lag_ns", sent, int64(r.Sent-r.Intended))
	put("response_ns", done, int64(r.Done-r.Intended))
	put("service_ns", sent && done, int64(r.Done-r.Sent))
	put("ttfb_ns", r.FirstByte != clock.Never, int64(r.FirstByte-r.Sent))
	put("queue_ns", r.Server.Told(), int64(r.Server.Queue))
	put("init_ns", r.Server.Told(), int64(r.Server.Init))
	put("exec_ns", r.Server.Told(), int64(r.Server.Exec))
	return row
}

// zstdBlocks lets the other reader unpack its pages, which it leaves to its user.
type zstdBlocks struct{}

func (zstdBlocks) CompressBlock([]byte) ([]byte, error) { return nil, errors.ErrUnsupported }

func (zstdBlocks) DecompressBlock(b []byte) ([]byte, error) {
	d, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(b, nil)
}
