package bundle

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coldwave/analysis"
	"coldwave/internal/hdr"
	"coldwave/record"
	"coldwave/reports"
)

func open(t *testing.T, dir string) *Reader {
	t.Helper()
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func document(t *testing.T, s reports.Single) string {
	t.Helper()
	var b bytes.Buffer
	if err := reports.SingleJSON(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A run that was kept reads back whole: the same document, records, instances and events.
func TestReaderGivesBackTheRun(t *testing.T) {
	want := fixture(1, 1500)
	b := open(t, kept(t, want))
	if len(b.Runs()) != 1 || b.Runs()[0].Dir != "" {
		t.Fatalf("%d runs, the first in %q, want one in the directory itself", len(b.Runs()), b.Runs()[0].Dir)
	}
	got, err := b.Runs()[0].Load(1500)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "records", want.Run.Records, got.Run.Records)
	if diff := cmp.Diff(want.Run.Instances, got.Run.Instances); diff != "" {
		t.Errorf("instances (-want +got):\n%s", diff)
	}
	if !reflect.DeepEqual(want.Run.Schedule, got.Run.Schedule) {
		t.Errorf("schedule %+v, want %+v", got.Run.Schedule, want.Run.Schedule)
	}
	if a, b := document(t, want), document(t, got); a != b {
		t.Errorf("the document changed:\n%s\n%s", a, b)
	}
	got.Run.Summary = analysis.Summarize(analysis.Input{Schedule: got.Run.Schedule, Records: got.Run.Records, Instances: got.Run.Instances})
	if a, b := document(t, want), document(t, got); a != b {
		t.Errorf("what was read adds up to another document:\n%s\n%s", a, b)
	}
	if _, err := b.Runs()[0].Load(1499); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Load(1499) of 1500 = %v, want ErrTooLarge", err)
	}
}

// The other files tell the same: as many rows in requests.csv, and as many values in the histograms as there were good
// answers, all of them told by an independent way.
func TestFilesOfARunAgree(t *testing.T) {
	want := fixture(2, 200)
	run := open(t, kept(t, want)).Runs()[0]
	f, err := run.Open(RequestsTable)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []record.Record
	for r, err := range record.ReadCSV(f) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	same(t, "requests.csv", want.Run.Records, rows)
	for _, name := range []string{Latency, Waves} {
		if got := logged(t, run, name); got != int64(want.Run.Summary.OK.N) {
			t.Errorf("%s has %d values, want %d", name, got, want.Run.Summary.OK.N)
		}
	}
}

func logged(t *testing.T, run *Run, name string) (n int64) {
	t.Helper()
	f, err := run.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for interval, err := range hdr.ReadLog(f) {
		if err != nil {
			t.Fatal(err)
		}
		n += interval.Counts.Count()
	}
	return n
}

// A directory of the main job holds a run in each folder, in the order of their numbers.
func TestReaderFindsTheRunsOfFolders(t *testing.T) {
	files := []File{{Manifest, func(w io.Writer) error { _, err := io.WriteString(w, "{}\n"); return err }}}
	var want []string
	for i, n := range []string{"1-a/", "2-b/", "10-c/"} {
		out := fixture(uint64(i), 10)
		files = append(files, Within(n, RunFiles(out, each(out.Run.Records)))...)
		want = append(want, n)
	}
	dir := keep(t, files)
	var got []string
	for _, run := range open(t, dir).Runs() {
		got = append(got, run.Dir)
	}
	if !slices.Equal(got, want) {
		t.Errorf("folders %q, want %q", got, want)
	}
	if err := Verify(dir); err != nil {
		t.Errorf("Verify of the directory = %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	damaged := kept(t, fixture(1, 10))
	if err := os.Truncate(filepath.Join(damaged, Requests), 100); err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(t.TempDir(), "one.part")
	if err := os.Mkdir(part, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		why, dir string
		want     error
	}{
		{"no such directory", filepath.Join(t.TempDir(), "x"), os.ErrNotExist},
		{"damaged", damaged, ErrDamaged},
		{"never finished", part, ErrUnfinished},
		{"no run in it", keep(t, []File{{"report.html", text("<p>")}}), ErrNoRun},
		{"a document that is none", keep(t, []File{{Manifest, text("{}\n")}, {Requests, text("PAR1")}}), reports.ErrDocument},
	} {
		if b, err := Open(row.dir); b != nil || !errors.Is(err, row.want) {
			t.Errorf("%s: Open = %v, %v, want %v", row.why, b, err, row.want)
		}
	}
}

// Checksums that match do not make a run that contradicts itself.
func TestVerifyComparesRecordsWithTheManifest(t *testing.T) {
	good := fixture(1, 50)
	for _, row := range []struct {
		why    string
		change func(*reports.Single, []record.Record) []record.Record
	}{
		{"a record is missing", func(_ *reports.Single, r []record.Record) []record.Record { return r[:49] }},
		{"a record is there twice", func(_ *reports.Single, r []record.Record) []record.Record { r[1] = r[0]; return r }},
		{"an outcome is another", func(_ *reports.Single, r []record.Record) []record.Record {
			i := slices.IndexFunc(r, func(r record.Record) bool { return r.Outcome == record.OK })
			r[i].Outcome = record.HTTPError
			return r
		}},
		{"the manifest counts more", func(s *reports.Single, r []record.Record) []record.Record { s.Run.Summary.Scheduled++; return r }},
		{"all records are missing", func(*reports.Single, []record.Record) []record.Record { return nil }},
	} {
		out := good
		records := row.change(&out, slices.Clone(good.Run.Records))
		if err := Verify(keep(t, RunFiles(out, each(records)))); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: Verify = %v, want ErrDamaged", row.why, err)
		}
	}
	if err := Verify(kept(t, good)); err != nil {
		t.Errorf("Verify of a good directory = %v", err)
	}
}
