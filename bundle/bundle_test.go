package bundle

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func put(t *testing.T, w *Writer, name, text string) {
	t.Helper()
	err := w.Put(name, func(out io.Writer) error { _, err := io.WriteString(out, text); return err })
	if err != nil {
		t.Fatalf("Put(%s): %v", name, err)
	}
}

func newBundle(t *testing.T) (*Writer, string) {
	t.Helper()
	w, err := Create(filepath.Join(t.TempDir(), "runs"), "one")
	if err != nil {
		t.Fatal(err)
	}
	put(t, w, "run.json", "{}\n")
	put(t, w, "fc-ramp/fc-race/requests.csv", strings.Repeat("a,b\n", 100_000))
	return w, w.Path()
}

func TestFilesAreWholeAndListed(t *testing.T) {
	w, dir := newBundle(t)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if err := Check(dir); err != nil {
		t.Errorf("Check of a fresh directory: %v", err)
	}
	info, err := os.Stat(filepath.Join(dir, "fc-ramp", "fc-race", "requests.csv"))
	if err != nil || info.Size() != 400_000 || info.Mode().Perm() != 0o600 {
		t.Errorf("requests.csv: %v, %v; want 400000 bytes, mode 0600", info, err)
	}
}

func TestCheckFindsDamage(t *testing.T) {
	for name, damage := range map[string]func(dir string) error{
		"a changed byte": func(dir string) error { return os.WriteFile(filepath.Join(dir, "run.json"), []byte("{]\n"), 0o600) },
		"a cut file": func(dir string) error {
			return os.Truncate(filepath.Join(dir, "fc-ramp/fc-race/requests.csv"), 399_999)
		},
		"a missing file":  func(dir string) error { return os.Remove(filepath.Join(dir, "run.json")) },
		"an unknown file": func(dir string) error { return os.WriteFile(filepath.Join(dir, "more.json.part"), nil, 0o600) },
		"no checksums":    func(dir string) error { return os.Remove(filepath.Join(dir, Sums)) },
		"cut checksums":   func(dir string) error { return os.Truncate(filepath.Join(dir, Sums), 30) },
		"no end of line": func(dir string) error {
			info, err := os.Stat(filepath.Join(dir, Sums))
			if err != nil {
				return err
			}
			return os.Truncate(filepath.Join(dir, Sums), info.Size()-1)
		},
	} {
		w, dir := newBundle(t)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := damage(dir); err != nil {
			t.Fatal(err)
		}
		if err := Check(dir); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: Check = %v, want ErrDamaged", name, err)
		}
	}
}

// A directory that lacks a file does not get its name: nothing is lost silently.
func TestAFailedWriteLeavesTheDirectoryUnfinished(t *testing.T) {
	w, dir := newBundle(t)
	broken := errors.New("disk full")
	err := w.Put("bad", func(io.Writer) error { return broken })
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), filepath.Join(dir+".part", "bad")) {
		t.Errorf("Put = %v, want %v with the path", err, broken)
	}
	put(t, w, "good", "whole")
	if err := w.Close(); !errors.Is(err, ErrUnfinished) {
		t.Errorf("Close = %v, want ErrUnfinished", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the finished directory: %v, want none", err)
	}
	names, err := filepath.Glob(filepath.Join(dir+".part", "*"))
	if err != nil || len(names) != 3 || !slices.Contains(names, filepath.Join(dir+".part", "good")) {
		t.Errorf("left are %v, %v, want the three good files and no part of the bad one", names, err)
	}
	if err := Check(dir + ".part"); !errors.Is(err, ErrUnfinished) {
		t.Errorf("Check = %v, want ErrUnfinished", err)
	}
}

func TestAFinishedDirectoryIsNeverReplaced(t *testing.T) {
	w, dir := newBundle(t)
	if err := os.Mkdir(dir, 0o700); err != nil { // a rename would replace an empty directory
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, ErrExists) || !errors.Is(err, ErrUnfinished) {
		t.Errorf("Close = %v, want ErrExists and ErrUnfinished", err)
	}
}

func TestNothingIsOverwrittenAndNothingLeavesTheDirectory(t *testing.T) {
	w, dir := newBundle(t)
	defer w.Close()
	if err := w.Put("run.json", func(io.Writer) error { return nil }); !errors.Is(err, ErrExists) {
		t.Errorf("second Put = %v, want ErrExists", err)
	}
	if _, err := Create(filepath.Dir(dir), "one"); !errors.Is(err, ErrExists) {
		t.Errorf("second Create = %v, want ErrExists", err)
	}
	for _, id := range []string{"", "..", "a/b", ".hidden", "../x", "one.part"} {
		if _, err := Create(t.TempDir(), id); err == nil {
			t.Errorf("Create(%q) succeeded", id)
		}
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir+".part", "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../x", "/x", "link/x"} {
		if err := w.Put(name, func(io.Writer) error { return nil }); err == nil {
			t.Errorf("Put(%q) left the directory", name)
		}
	}
	if entries, _ := os.ReadDir(outside); len(entries) != 0 {
		t.Errorf("written outside: %v", entries)
	}
}

func TestIDsSortByTimeAndAreLegalNames(t *testing.T) {
	early := NewID(time.Date(2026, 1, 2, 15, 4, 5, 0, time.FixedZone("", 3600)))
	late := NewID(time.Date(2026, 1, 2, 14, 4, 6, 0, time.UTC))
	if !strings.HasPrefix(early, "20260102T140405Z-") || early >= late {
		t.Errorf("NewID: %q, then %q, want UTC and rising", early, late)
	}
	if w, err := Create(t.TempDir(), early); err != nil {
		t.Errorf("Create(%q): %v", early, err)
	} else if err := w.Close(); err != nil {
		t.Error(err)
	}
}
