package record

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/internal/clock"
)

// anyRecord draws a record that a run can leave behind.
func anyRecord(r *rand.Rand, seq int64) Record {
	rec := Record{
		Seq: seq, Wave: r.Int32N(5) - 1, Intended: clock.Instant(r.Int64N(1e12)), Sent: clock.Never, FirstByte: clock.Never,
		Outcome: Outcome(r.UintN(uint(Outcomes))), Attempt: r.Int32N(3) + 1, BytesIn: r.Int64(), BytesOut: r.Int64N(9),
		Cause: []string{"", "dial", "=1+1", "'quoted"}[r.IntN(4)],
	}
	rec.Done = rec.Intended.Add(time.Duration(r.Int64N(1e10)))
	if r.IntN(3) > 0 {
		rec.Sent = rec.Intended.Add(time.Duration(r.Int64N(1e6) - 1e3))
		rec.FirstByte = rec.Sent.Add(time.Duration(r.Int64N(1e9)))
		rec.Status = r.IntN(600)
	}
	if r.IntN(3) > 0 {
		rec.Server = Server{
			Queue: time.Duration(r.Int64N(1e9)), Init: time.Duration(r.Int64N(1e9)), Exec: time.Duration(r.Int64N(1e9)),
			Instance: "i, \"7\"", Revision: "v, 2", Start: StartKind(r.UintN(uint(StartKinds))), StartBy: StartBy(r.UintN(uint(StartBys))),
			Source: Source(r.UintN(uint(Sources))),
		}
	}
	return rec
}

func anyRecords(n int) []Record {
	r := rand.New(rand.NewPCG(1, 2))
	records := make([]Record, n)
	for i := range records {
		records[i] = anyRecord(r, int64(i))
	}
	return records
}

func writeCSV(t testing.TB, records []Record) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteCSV(&b, slices.Values(records)); err != nil {
		t.Fatalf("WriteCSV: %v", err)
	}
	return b.String()
}

func readCSV(text string) ([]Record, error) {
	var records []Record
	for rec, err := range ReadCSV(strings.NewReader(text)) {
		if err != nil {
			return records, err
		}
		records = append(records, rec)
	}
	return records, nil
}

// 5,000 records are more than one buffer of the writer.
func TestCSVRoundTrip(t *testing.T) {
	want := anyRecords(5000)
	got, err := readCSV(writeCSV(t, want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ReadCSV(WriteCSV(records)) differs (-want +got):\n%s", diff)
	}
}

// One row, as anybody will open it: the columns and their units are a published format.
func TestCSVIsThisText(t *testing.T) {
	rec := Record{Seq: 3, Wave: 1, Intended: 10_000_000_000, Sent: 10_000_050_000, FirstByte: 10_112_000_000, Done: 10_112_500_000,
		Outcome: OK, Status: 200, Attempt: 1, BytesIn: 12,
		Server: Server{Exec: 100 * time.Millisecond, Instance: "i-1", Revision: "v2", Start: Warm, StartBy: ByNone, Source: FromHeader}}
	dropped := Record{Seq: 4, Wave: -1, Intended: 1, Sent: clock.Never, FirstByte: clock.Never, Done: 1, Outcome: Dropped, Cause: "=cmd"}
	want := "seq,wave,intended_ns,send_lag_ns,response_ns,service_ns,ttfb_ns,status,outcome,outcome_cause,start_kind,start_source,start_by,instance_id,queue_ns,init_ns,exec_ns,bytes_in,bytes_out,attempt,revision\n" +
		"3,1,10000000000,50000,112500000,112450000,111950000,200,ok,,warm,header,none,\"i-1\",0,0,100000000,12,0,1,\"v2\"\n" +
		"4,-1,1,,0,,,0,dropped,\"'=cmd\",unknown,,unknown,,,,,0,0,0,\n"
	if diff := cmp.Diff(want, writeCSV(t, []Record{rec, dropped})); diff != "" {
		t.Errorf("WriteCSV (-want +got):\n%s", diff)
	}
}

// No cell of text may begin like a formula in the table, and none may break a line.
func TestCSVTextIsHarmless(t *testing.T) {
	for in, want := range map[string]string{
		"=HYPERLINK(1)": "'=HYPERLINK(1)", "+1": "'+1", "-1": "'-1", "@SUM": "'@SUM", "＝1": "'＝1", "'a": "''a",
		"plain": "plain", "a\r\nb": "a\uFFFD\uFFFDb", "\t=1": "\uFFFD=1", "\xff": "\uFFFD",
	} {
		rows, err := csv.NewReader(strings.NewReader(writeCSV(t, []Record{{Server: Server{Instance: in}}}))).ReadAll()
		if err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		if got := rows[1][slices.Index(rows[0], "instance_id")]; got != want {
			t.Errorf("cell of %q = %q, want %q", in, got, want)
		}
	}
}

func TestReadCSVErrors(t *testing.T) {
	const head = "seq,intended_ns,response_ns,outcome"
	for _, c := range []struct{ name, in, want string }{
		{"empty file", "", "header: unexpected EOF"},
		{"a column is missing", "seq,intended_ns,outcome\n", `no column "response_ns"`},
		{"a column is there twice", head + ",seq\n", `column "seq" is there twice`},
		{"not a number", head + "\n1,2,x,ok\n", `2:5: response_ns: "x" is no whole number`},
		{"a number that is too large", head + ",wave\n1,2,3,ok,2147483648\n", `2:10: wave: "2147483648"`},
		{"an outcome that does not exist", head + "\n1,2,3,ok\n2,2,3,fine\n", `3:7: outcome: "fine" is not known`},
		{"a row that is too short", head + "\n1,2\n", "record on line 2: wrong number of fields"},
		{"times that contradict each other", head + ",send_lag_ns,service_ns\n1,2,10,ok,4,7\n", `service_ns: "7": response_ns − send_lag_ns is "6"`},
		{"first byte of what was never sent", head + ",ttfb_ns\n1,2,10,ok,4\n", `ttfb_ns: "4": of a request that was never sent`},
	} {
		_, err := readCSV(c.in)
		if !errors.Is(err, ErrCSV) || !strings.Contains(err.Error(), c.want) || errors.Is(err, io.EOF) {
			t.Errorf("%s: ReadCSV = %v, want an ErrCSV with %q", c.name, err, c.want)
		}
	}
}

// Optional columns may be absent, unknown ones are skipped, and the order is free.
func TestReadCSVOfOthers(t *testing.T) {
	got, err := readCSV("outcome,colour,response_ns,seq,intended_ns\nok,red,5,7,100\n")
	want := []Record{{Seq: 7, Wave: -1, Intended: 100, Sent: clock.Never, FirstByte: clock.Never, Done: 105, Outcome: OK, Attempt: 1}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("ReadCSV (-want +got): %v\n%s", err, diff)
	}
}

func TestReadCSVStopsWhenAsked(t *testing.T) {
	n := 0
	for range ReadCSV(strings.NewReader(writeCSV(t, anyRecords(5)))) {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("read %d records, want 2", n)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWriteCSVReportsAFailedWrite(t *testing.T) {
	for _, n := range []int{1, 5000} {
		if err := WriteCSV(fullDisk{}, slices.Values(anyRecords(n))); err == nil {
			t.Errorf("WriteCSV of %d records to a full disk = nil, want an error", n)
		}
	}
}

// What can be read can be written and reads the same again, but for controls in text, which the first writing replaces.
func FuzzCSV(f *testing.F) {
	f.Add(writeCSV(f, anyRecords(3)))
	f.Add("seq,intended_ns,response_ns,outcome,instance_id\n1,2,3,ok,\"''\n=\"\n")
	f.Fuzz(func(t *testing.T, in string) {
		first, err := readCSV(in)
		if err != nil {
			return
		}
		second := again(t, first)
		third := again(t, second)
		if diff := cmp.Diff(second, third); diff != "" {
			t.Fatalf("third reading of %q (-want +got):\n%s", in, diff)
		}
		if diff := cmp.Diff(withoutText(first), withoutText(second)); diff != "" {
			t.Fatalf("second reading of %q (-want +got):\n%s", in, diff)
		}
	})
}

func again(t *testing.T, records []Record) []Record {
	t.Helper()
	got, err := readCSV(writeCSV(t, records))
	if err != nil {
		t.Fatalf("reading %+v again: %v", records, err)
	}
	return got
}

func withoutText(records []Record) []Record {
	records = slices.Clone(records)
	for i := range records {
		records[i].Cause, records[i].Server.Instance = "", ""
	}
	return records
}

func BenchmarkWriteCSV(b *testing.B) {
	records := anyRecords(1000)
	b.ReportAllocs()
	for b.Loop() {
		if err := WriteCSV(io.Discard, slices.Values(records)); err != nil {
			b.Fatal(err)
		}
	}
}
