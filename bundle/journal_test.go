package bundle

import (
	"errors"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/reports"
	"coldwave/workload"
)

func arrivalsFor(records []record.Record) iter.Seq2[workload.Arrival, error] {
	return func(yield func(workload.Arrival, error) bool) {
		for _, r := range records {
			if !yield(workload.Arrival{Seq: r.Seq, At: r.Intended, Wave: r.Wave}, nil) {
				return
			}
		}
	}
}

// headOfRun is a run before its first request.
func headOfRun(out reports.Single) reports.Single {
	head := out
	head.Run.Records, head.Run.Instances, head.Elapsed = nil, nil, 0
	head.Run.Summary.Scheduled = len(out.Run.Records)
	return head
}

func begun(t testing.TB, out reports.Single) *Journal {
	t.Helper()
	j, err := Begin(filepath.Join(t.TempDir(), "runs"), "one", headOfRun(out), arrivalsFor(out.Run.Records))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// asCompleted is the records in the order of their ends, as a run adds them.
func asCompleted(records []record.Record) []record.Record {
	sorted := slices.Clone(records)
	slices.SortStableFunc(sorted, func(a, b record.Record) int { return int(a.Done>>1 - b.Done>>1) })
	return sorted
}

func collected(t testing.TB, records iter.Seq2[record.Record, error]) []record.Record {
	t.Helper()
	var all []record.Record
	for r, err := range records {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// unknown is what is said of an arrival that has no record.
func unknown(r record.Record) record.Record {
	return record.Record{Seq: r.Seq, Wave: r.Wave, Intended: r.Intended, Sent: clock.Never, FirstByte: clock.Never, Done: clock.Never}
}

func TestJournalGivesTheRecordsBackInOrder(t *testing.T) {
	out := fixture(1, 4000)
	j := begun(t, out)
	for _, r := range asCompleted(out.Run.Records) {
		j.Add(&r)
	}
	if err := j.Seal(); err != nil {
		t.Fatal(err)
	}
	if err := j.Seal(); err != nil {
		t.Errorf("second Seal = %v", err)
	}
	j.Add(&record.Record{}) // too late, and no harm
	for range 2 {
		same(t, "records", out.Run.Records, collected(t, j.Records()))
	}
	for _, f := range RunFiles(out, j.Records()) {
		if err := j.Writer().Put(f.Name, f.Write); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Writer().Close(); err != nil {
		t.Fatal(err)
	}
	if err := Verify(j.Writer().Path()); err != nil {
		t.Errorf("the finished directory: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(j.Writer().Path()), "*")); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v, want the finished directory only", left, err)
	}
}

// The records of a slow request far from its neighbours, and one larger than a read, are found too.
func TestJournalFindsRecordsOutOfOrder(t *testing.T) {
	records := randomRecords(2, 60_000)
	records[17].Server.Instance = strings.Repeat("x", 5000)
	j := begun(t, reports.Single{Run: fixtureRun(records)})
	order := rand.New(rand.NewPCG(1, 1)).Perm(len(records))
	slices.Sort(order[:50_000]) // most in order, many anywhere
	for _, i := range order {
		j.Add(&records[i])
	}
	if err := j.Seal(); err != nil {
		t.Fatal(err)
	}
	same(t, "records", records, collected(t, j.Records()))
	if err := j.Writer().Abandon(); err != nil {
		t.Error(err)
	}
}

// A process that is killed loses at most the records of the last second: what is on the disk then can be recovered.
func TestAKilledRunLosesASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := fixture(3, 300)
		j := begun(t, out)
		for i := range 100 {
			j.Add(&out.Run.Records[i])
		}
		j.Lives(out.Run.Instances[:1], false)
		time.Sleep(flushEvery)
		synctest.Wait()
		for i := 100; i < 150; i++ {
			j.Add(&out.Run.Records[i])
		}
		changed := slices.Clone(out.Run.Instances[:2])
		changed[0].Served++
		j.Lives(changed, true)
		work := slices.Clone(changed)
		work[0].Served, work[0].Busy = 99, 99
		j.Lives(work, false) // nobody was born, ready or stopped
		dir := killed(t, j)
		want := slices.Clone(out.Run.Records)
		for i := 100; i < len(want); i++ {
			want[i] = unknown(want[i])
		}
		r := recovered(t, dir)
		if r.Arrivals != 300 || r.Known != 100 || r.Torn != 0 || r.Finished {
			t.Errorf("%d arrivals, %d known, %d bytes torn, finished %v, want 300, 100, 0, false", r.Arrivals, r.Known, r.Torn, r.Finished)
		}
		same(t, "records", want, collected(t, r.Records()))
		if !slices.Equal(r.Instances, changed) {
			t.Errorf("instances %+v, want the last lives %+v", r.Instances, changed)
		}
		if a, b := document(t, headOfRun(out)), document(t, r.Head); a != b {
			t.Errorf("the head changed:\n%s\n%s", a, b)
		}
		if err := errors.Join(r.Writer.Abandon(), j.Seal(), j.Writer().Abandon()); err != nil {
			t.Error(err)
		}
	})
}

// killed copies the directory as a process leaves it that is killed now.
func killed(t testing.TB, j *Journal) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "one.part")
	if err := os.CopyFS(dir, os.DirFS(j.Writer().Unfinished())); err != nil {
		t.Fatal(err)
	}
	return dir
}

func recovered(t testing.TB, dir string) *Recovered {
	t.Helper()
	r, err := Recover(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fewFiles are those that Verify compares.
func fewFiles(out reports.Single, records iter.Seq2[record.Record, error]) []File {
	return slices.DeleteFunc(RunFiles(out, records), func(f File) bool { return f.Name != Manifest && f.Name != Requests })
}

// finished makes the directory of what was recovered and checks it.
func finished(t testing.TB, r *Recovered) error {
	t.Helper()
	if r.Finished {
		return nil
	}
	out := r.Head
	out.Run.Records, out.Run.Instances = collected(t, r.Records()), r.Instances
	out.Run.Summary = fixtureSummary(&out.Run)
	for _, f := range fewFiles(out, r.Records()) {
		if err := r.Writer.Put(f.Name, f.Write); err != nil {
			return errors.Join(err, r.Writer.Abandon())
		}
	}
	if err := r.Writer.Close(); err != nil {
		return err
	}
	return Verify(r.Writer.Path())
}

// However many bytes of the records reached the disk, the recovered run has exactly the records of the whole blocks, and a
// flipped bit loses what follows it but never gives a wrong record (F7).
func TestCutJournals(t *testing.T) {
	out := fixture(4, 120)
	j := begun(t, out)
	var ends []int64 // bytes after each block, with the records until then
	for i := range out.Run.Records {
		j.Add(&out.Run.Records[i])
		if i%10 == 9 {
			j.flush(nil)
			ends = append(ends, sizeOf(t, j))
		}
	}
	if err := j.Seal(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(j.Writer().Unfinished(), journalRecords))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(4, 4))
	for n := 0; n <= len(whole); n += 1 + r.IntN(29) {
		blocks, _ := slices.BinarySearch(ends, int64(n)+1)
		known := recoveredFrom(t, j, whole[:n], out.Run.Records)
		if known != 10*blocks {
			t.Errorf("cut at %d of %d bytes: %d records, want the %d of %d whole blocks", n, len(whole), known, 10*blocks, blocks)
		}
		if n < len(whole) {
			flipped := slices.Clone(whole)
			flipped[n] ^= 1 << r.IntN(8)
			if known := recoveredFrom(t, j, flipped, out.Run.Records); known != 10*blocks {
				t.Errorf("a bit flipped in byte %d: %d records, want the %d before", n, known, 10*blocks)
			}
		}
	}
	if err := j.Writer().Abandon(); err != nil {
		t.Error(err)
	}
}

func sizeOf(t *testing.T, j *Journal) int64 {
	t.Helper()
	info, err := os.Stat(filepath.Join(j.Writer().Unfinished(), journalRecords))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// recoveredFrom reads a journal with other bytes in the file of records, and returns how many are known. Each must be as it
// was added, or unknown.
func recoveredFrom(t *testing.T, j *Journal, bytes []byte, want []record.Record) (known int) {
	t.Helper()
	path := filepath.Join(j.Writer().Unfinished(), journalRecords)
	if err := os.WriteFile(path, bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := openLog(j.Writer().disk)
	if err != nil {
		t.Fatal(err)
	}
	got := collected(t, log.records)
	for i := range want {
		if got[i] != want[i] && got[i] != unknown(want[i]) {
			t.Fatalf("record %d = %+v, want %+v or unknown", i, got[i], want[i])
		}
	}
	return log.known
}

func TestRecoverRefuses(t *testing.T) {
	j := begun(t, fixture(1, 20))
	if _, err := Recover(j.Writer().Unfinished()); !errors.Is(err, ErrBusy) {
		t.Errorf("Recover of a run that goes on = %v, want ErrBusy", err)
	}
	if err := j.Seal(); err != nil {
		t.Fatal(err)
	}
	w, _ := newBundle(t)
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		why, dir string
		want     error
	}{
		{"a finished directory", kept(t, fixture(1, 10)), ErrNoJournal},
		{"no such directory", filepath.Join(t.TempDir(), "x.part"), fs.ErrNotExist},
		{"files without a journal", w.Unfinished(), ErrNoJournal},
		{"no head", without(t, j, journalHead), ErrNoJournal},
		{"a head that is none", with(t, j, journalHead, "{}"), reports.ErrDocument},
		{"a cut schedule", with(t, j, journalSchedule, blockMagic+"\x09\x00"), ErrJournal},
		{"records of no schedule", with(t, j, journalSchedule, blockMagic), nil},
	} {
		r, err := Recover(row.dir)
		if !errors.Is(err, row.want) {
			t.Errorf("%s: Recover = %v, want %v", row.why, err, row.want)
		}
		if err == nil {
			if err := r.Writer.Abandon(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(w.Unfinished(), "run.json")); err != nil {
		t.Errorf("a refused Recover changed something: %v", err)
	}
	if err := j.Writer().Abandon(); err != nil {
		t.Error(err)
	}
}

func without(t *testing.T, j *Journal, name string) string {
	t.Helper()
	dir := killed(t, j)
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func with(t *testing.T, j *Journal, name, text string) string {
	t.Helper()
	dir := killed(t, j)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A refused start leaves nothing behind, and an existing run is never touched.
func TestBeginRefuses(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "runs")
	broken := errors.New("no schedule")
	_, err := Begin(parent, "one", fixture(1, 1), func(yield func(workload.Arrival, error) bool) { yield(workload.Arrival{}, broken) })
	if !errors.Is(err, broken) {
		t.Errorf("Begin = %v, want the error of the schedule", err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) != 0 {
		t.Errorf("left are %v, %v, want nothing", left, err)
	}
	if err := os.MkdirAll(filepath.Join(parent, "one.part"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Begin(parent, "one", fixture(1, 1), arrivalsFor(nil)); !errors.Is(err, ErrExists) {
		t.Errorf("Begin over an unfinished run = %v, want ErrExists", err)
	}
}
