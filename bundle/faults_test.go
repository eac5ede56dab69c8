package bundle

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"coldwave/reports"
)

var errFault = errors.New("no space left on device")

// faults makes the calls of a disk fail: the one of that number, or that one and all after it. A write that fails has
// written half of its bytes.
type faults struct {
	calls, at int
	forever   bool
}

func (f *faults) hit() error {
	f.calls++
	if f.calls == f.at || f.forever && f.calls > f.at && f.at > 0 {
		return errFault
	}
	return nil
}

func (f *faults) open(dir string) (disk, error) {
	if err := f.hit(); err != nil {
		return nil, err
	}
	d, err := openDisk(dir)
	if err != nil {
		return nil, err
	}
	return faultyDisk{d, f}, nil
}

type faultyDisk struct {
	disk
	*faults
}

func (d faultyDisk) MkdirAll(dir string) error { return errors.Join(d.hit(), d.disk.MkdirAll(dir)) }

func (d faultyDisk) Create(name string) (diskFile, error) {
	if err := d.hit(); err != nil {
		return nil, err
	}
	f, err := d.disk.Create(name)
	return faultyFile{f, d.faults}, err
}

func (d faultyDisk) Open(name string) (diskReader, error) {
	if err := d.hit(); err != nil {
		return nil, err
	}
	return d.disk.Open(name)
}

func (d faultyDisk) Rename(from, to string) error {
	if err := d.hit(); err != nil {
		return err
	}
	return d.disk.Rename(from, to)
}

func (d faultyDisk) Remove(name string) error {
	if err := d.hit(); err != nil {
		return err
	}
	return d.disk.Remove(name)
}

func (d faultyDisk) Sync(dir string) error { return errors.Join(d.hit(), d.disk.Sync(dir)) }

func (d faultyDisk) Finish(from, to string) error {
	if err := d.hit(); err != nil {
		return err
	}
	return d.disk.Finish(from, to)
}

type faultyFile struct {
	diskFile
	*faults
}

func (f faultyFile) Write(b []byte) (int, error) {
	if err := f.hit(); err != nil {
		n, bad := f.diskFile.Write(b[:len(b)/2])
		return n, errors.Join(err, bad)
	}
	return f.diskFile.Write(b)
}

func (f faultyFile) Sync() error { return errors.Join(f.hit(), f.diskFile.Sync()) }

func (f faultyFile) Close() error { return errors.Join(f.hit(), f.diskFile.Close()) }

// keptOn plays a whole run onto a disk: journal, records in several blocks, files, checksums, name.
func keptOn(f *faults, parent string, out reports.Single) error {
	j, err := beginOn(f.open, parent, "one", headOfRun(out), arrivalsFor(out.Run.Records))
	if err != nil {
		return err
	}
	for i := range out.Run.Records {
		if j.Add(&out.Run.Records[i]); i%25 == 0 {
			j.flush(nil)
		}
	}
	j.Lives(out.Run.Instances, true)
	errs := []error{j.Seal()}
	for _, file := range fewFiles(out, each(out.Run.Records)) {
		errs = append(errs, j.Writer().Put(file.Name, file.Write))
	}
	return errors.Join(append(errs, j.Writer().Close())...)
}

// Whichever call of the disk fails, once or from then on: the error is told, what bears its final name is whole, and what
// does not can be recovered, all of it that was flushed (F6).
func TestEveryFaultIsToldAndSurvived(t *testing.T) {
	out := fixture(5, 60)
	clean := &faults{}
	if err := keptOn(clean, filepath.Join(t.TempDir(), "runs"), out); err != nil {
		t.Fatal(err)
	}
	if clean.calls < 50 {
		t.Fatalf("%d calls of the disk, want the whole of a run", clean.calls)
	}
	seen := map[string]int{}
	for n := 1; n <= clean.calls; n++ {
		for _, forever := range []bool{false, true} {
			parent := filepath.Join(t.TempDir(), "runs")
			err := keptOn(&faults{at: n, forever: forever}, parent, out)
			if !errors.Is(err, errFault) {
				t.Fatalf("call %d (and after: %v) failed, and the run said %v", n, forever, err)
			}
			seen[afterFault(t, parent)]++
		}
	}
	for _, end := range []string{"nothing", "finished", "recovered"} {
		if seen[end] == 0 {
			t.Errorf("no fault left %s: %v", end, seen)
		}
	}
}

// afterFault says what a fault left, and fails if that is damaged or lost.
func afterFault(t *testing.T, parent string) string {
	t.Helper()
	full := filepath.Join(parent, "one")
	if _, err := os.Stat(full); err == nil {
		if err := Verify(full); err != nil {
			t.Errorf("a finished directory: %v", err)
		}
		return "finished"
	}
	if _, err := os.Stat(full + unfinished); errors.Is(err, fs.ErrNotExist) {
		return "nothing"
	}
	if err := Verify(full + unfinished); !errors.Is(err, ErrUnfinished) {
		t.Errorf("Verify of what is unfinished = %v, want ErrUnfinished", err)
	}
	if err := finished(t, recovered(t, full+unfinished)); err != nil {
		t.Errorf("recovered: %v", err)
	}
	return "recovered"
}
