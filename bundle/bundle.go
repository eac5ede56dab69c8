// Package bundle is the run directory: complete and listed with its checksums, or under another name.
//
// A Writer fills a directory that ends in ".part" and gives it its name when all of it is on the disk. A Journal in it
// holds what a run recorded so far, so that a killed run can be recovered. A Reader opens a finished directory and
// streams what is in it.
package bundle

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Sums is the name of the file that lists the SHA-256 of every other file, in the format of sha256sum.
const Sums = "SHA256SUMS"

// unfinished ends the name of a directory, or of a file in it, that is not whole yet.
const unfinished = ".part"

// ErrExists says that a run directory or file is there already. Nothing is ever overwritten.
var ErrExists = errors.New("exists already")

// Writer fills one run directory. It is for one goroutine.
//
// The directory is named "ID.part" until Close gives it its name, and each file in it is written under a name that ends
// in ".part", synced and renamed: what is under its final name is whole. All access is confined to the directory: no name
// leads out of it and no symbolic link is followed out of it.
type Writer struct {
	disk   disk
	path   string            // of the finished directory
	sums   map[string]string // name → hexadecimal SHA-256
	failed bool              // a file is missing
	closed bool
}

// Create makes the directory parent/id.part with mode 0700, and parent if need be.
func Create(parent, id string) (*Writer, error) {
	full, err := placeFor(parent, id)
	if err != nil {
		return nil, err
	}
	if err := makeDir(full + unfinished); err != nil {
		return nil, err
	}
	return openWriter(openDisk, full+unfinished, full)
}

// placeFor returns the path of the finished directory, which does not exist yet.
func placeFor(parent, id string) (string, error) {
	if id == "" || id != filepath.Base(id) || strings.HasPrefix(id, ".") || strings.HasSuffix(id, unfinished) {
		return "", fmt.Errorf("run id %q: must be a plain name", id)
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", fmt.Errorf("run directory: %w", err)
	}
	full := filepath.Join(parent, id)
	for _, taken := range []string{full, full + unfinished} {
		if _, err := os.Lstat(taken); err == nil {
			return "", fmt.Errorf("run directory %s: %w", taken, ErrExists)
		}
	}
	return full, nil
}

func makeDir(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("run directory %s: %w", dir, ErrExists)
	}
	if err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	return nil
}

// openWriter writes into a directory that will be named full.
func openWriter(open opener, dir, full string) (*Writer, error) {
	d, err := open(dir)
	if err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	return &Writer{disk: d, path: full, sums: map[string]string{}}, nil
}

// isUnfinished says whether a directory has its name yet.
func isUnfinished(dir string) bool { return strings.HasSuffix(filepath.Clean(dir), unfinished) }

// Path returns the path of the directory after Close.
func (w *Writer) Path() string { return w.path }

// File returns the path of the named file after Close.
func (w *Writer) File(name string) string { return filepath.Join(w.path, filepath.FromSlash(name)) }

// Unfinished returns the path of the directory before Close, and after one that failed.
func (w *Writer) Unfinished() string { return w.path + unfinished }

// Put writes one file of mode 0600 and makes its folders. The name is slash-separated and relative. If write or the
// disk fails, no file of that name exists afterwards, and the directory will not be finished.
func (w *Writer) Put(name string, write func(io.Writer) error) error {
	if _, ok := w.sums[name]; ok || name == Sums {
		return fmt.Errorf("%s: %w", w.File(name), ErrExists)
	}
	sum, err := w.put(name, write)
	if err != nil {
		w.failed = true
		return fmt.Errorf("write %s: %w", filepath.Join(w.Unfinished(), filepath.FromSlash(name)), plain(err))
	}
	w.sums[name] = sum
	return nil
}

func (w *Writer) put(name string, write func(io.Writer) error) (string, error) {
	if dir := path.Dir(name); dir != "." {
		if err := w.disk.MkdirAll(dir); err != nil {
			return "", err
		}
	}
	part := name + unfinished
	f, err := w.disk.Create(part)
	if err != nil {
		return "", err
	}
	digest := sha256.New()
	if err := fill(f, digest, write); err != nil {
		return "", errors.Join(err, w.disk.Remove(part))
	}
	if err := w.disk.Rename(part, name); err != nil {
		return "", errors.Join(err, w.disk.Remove(part))
	}
	return hex.EncodeToString(digest.Sum(nil)), w.disk.Sync(path.Dir(name))
}

// fill writes, syncs and closes f; the digest sees the same bytes.
func fill(f diskFile, digest io.Writer, write func(io.Writer) error) error {
	buffered := bufio.NewWriterSize(io.MultiWriter(f, digest), 1<<16)
	err := write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Close writes the checksums, gives the directory its name and lets go of it. If a file could not be written before, or
// if this fails, the directory keeps its unfinished name, and the error says so. Later calls do nothing.
func (w *Writer) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	err := w.finish()
	err = errors.Join(err, w.disk.Close())
	if err != nil {
		return fmt.Errorf("run directory %s: %w", w.Unfinished(), err)
	}
	return nil
}

func (w *Writer) finish() error {
	if w.failed {
		return fmt.Errorf("%w: a file could not be written", ErrUnfinished)
	}
	if _, err := w.put(Sums, func(out io.Writer) error { return listSums(out, w.sums) }); err != nil {
		return fmt.Errorf("%w: %w", ErrUnfinished, err)
	}
	if err := w.name(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnfinished, err)
	}
	return nil
}

// name removes the journal, which holds nothing more than the files do by now, and gives the directory its name.
func (w *Writer) name() error {
	if err := w.disk.Remove(journal); err != nil {
		return err
	}
	return w.disk.Finish(w.Unfinished(), w.path)
}

// Abandon lets go of the directory and leaves it unfinished. Later calls, and those of Close, do nothing.
func (w *Writer) Abandon() error {
	if w.closed {
		return nil
	}
	w.closed = true
	return w.disk.Close()
}

func listSums(out io.Writer, sums map[string]string) error {
	for _, name := range sortedNames(sums) {
		if _, err := fmt.Fprintf(out, "%s  %s\n", sums[name], name); err != nil {
			return err
		}
	}
	return nil
}

func sortedNames(sums map[string]string) []string {
	names := make([]string, 0, len(sums))
	for name := range sums {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
