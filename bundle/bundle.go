// Package bundle is the run directory: files that are complete or not there, and a list of their checksums.
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

// ErrExists says that a run directory or file is there already. Nothing is ever overwritten.
var ErrExists = errors.New("exists already")

// Writer fills one run directory. It is for one goroutine.
//
// Each file is written under a name ending in ".part", synced and renamed, so that a file under its final name is
// whole. All access is confined to the directory: no name leads out of it and no symbolic link is followed out of it.
type Writer struct {
	root *os.Root
	path string
	sums map[string]string // name → hexadecimal SHA-256
}

// Create makes the directory parent/id with mode 0700, and parent if need be.
func Create(parent, id string) (*Writer, error) {
	if id == "" || id != filepath.Base(id) || strings.HasPrefix(id, ".") {
		return nil, fmt.Errorf("run id %q: must be a plain name", id)
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	full := filepath.Join(parent, id)
	if err := os.Mkdir(full, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("run directory %s: %w", full, ErrExists)
		}
		return nil, fmt.Errorf("run directory: %w", err)
	}
	root, err := os.OpenRoot(full)
	if err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	return &Writer{root: root, path: full, sums: map[string]string{}}, nil
}

// Path returns the directory's path.
func (w *Writer) Path() string { return w.path }

// File returns the path of the named file.
func (w *Writer) File(name string) string { return filepath.Join(w.path, filepath.FromSlash(name)) }

// Put writes one file of mode 0600 and makes its folders. The name is slash-separated and relative. If write or the
// disk fails, no file of that name exists afterwards.
func (w *Writer) Put(name string, write func(io.Writer) error) error {
	if _, ok := w.sums[name]; ok {
		return fmt.Errorf("%s: %w", w.File(name), ErrExists)
	}
	sum, err := w.put(name, write)
	if err != nil {
		return fmt.Errorf("write %s: %w", w.File(name), err)
	}
	w.sums[name] = sum
	return nil
}

func (w *Writer) put(name string, write func(io.Writer) error) (string, error) {
	if dir := path.Dir(name); dir != "." {
		if err := w.root.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
	}
	part := name + ".part"
	f, err := w.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	digest := sha256.New()
	if err := fill(f, digest, write); err != nil {
		return "", errors.Join(err, w.root.Remove(part))
	}
	if err := w.root.Rename(part, name); err != nil {
		return "", errors.Join(err, w.root.Remove(part))
	}
	return hex.EncodeToString(digest.Sum(nil)), w.sync(path.Dir(name))
}

// fill writes, syncs and closes f; the digest sees the same bytes.
func fill(f *os.File, digest io.Writer, write func(io.Writer) error) error {
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

// sync makes a rename in the folder durable.
func (w *Writer) sync(dir string) error {
	d, err := w.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Close writes the checksums and lets go of the directory. Later calls do nothing.
func (w *Writer) Close() error {
	if w.root == nil {
		return nil
	}
	_, err := w.put(Sums, w.list)
	err = errors.Join(err, w.root.Close())
	w.root = nil
	if err != nil {
		return fmt.Errorf("write %s: %w", w.File(Sums), err)
	}
	return nil
}

func (w *Writer) list(out io.Writer) error {
	names := make([]string, 0, len(w.sums))
	for name := range w.sums {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if _, err := fmt.Fprintf(out, "%s  %s\n", w.sums[name], name); err != nil {
			return err
		}
	}
	return nil
}
