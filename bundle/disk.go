package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// disk is what a Writer needs of the system: one directory. Tests make its calls fail one by one (F6).
type disk interface {
	MkdirAll(dir string) error
	Create(name string) (diskFile, error) // fails if it exists
	Open(name string) (diskReader, error)
	Rename(from, to string) error
	Remove(name string) error              // a folder with all that is in it
	Sync(dir string) error                 // makes what happened to names in the folder durable
	Finish(unfinished, final string) error // gives the directory another name
	FS() fs.FS
	Close() error
}

// diskFile is an open file.
type diskFile interface {
	io.Writer
	Sync() error
	Close() error
}

// diskReader is an open file that is read.
type diskReader interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// rootDisk is a directory that no name leads out of, locked against a second program that would finish it.
type rootDisk struct {
	root *os.Root
	lock *os.File // the directory itself
}

// ErrBusy says that another program writes the directory.
var ErrBusy = errors.New("is being written by another loadgen")

// opener opens a directory to write in.
type opener func(dir string) (disk, error)

// openDisk opens and locks a directory.
func openDisk(dir string) (disk, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	self, err := root.Open(".")
	if err == nil {
		if err = lock(self); err == nil {
			return rootDisk{root, self}, nil
		}
		err = errors.Join(err, self.Close())
	}
	return nil, errors.Join(fmt.Errorf("%s: %w", dir, err), root.Close())
}

func (d rootDisk) FS() fs.FS { return d.root.FS() }

func (d rootDisk) Open(name string) (diskReader, error) {
	f, err := d.root.Open(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d rootDisk) MkdirAll(dir string) error { return d.root.MkdirAll(dir, 0o700) }

func (d rootDisk) Create(name string) (diskFile, error) {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err // a nil *os.File in the interface would not be nil
	}
	return f, nil
}

func (d rootDisk) Rename(from, to string) error { return d.root.Rename(from, to) }

func (d rootDisk) Remove(name string) error { return d.root.RemoveAll(name) }

func (d rootDisk) Sync(dir string) error {
	f, err := d.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Finish renames the directory. Rename would replace an empty one of that name.
func (d rootDisk) Finish(unfinished, final string) error {
	if _, err := os.Lstat(final); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", final, ErrExists)
	}
	if err := os.Rename(unfinished, final); err != nil {
		return err
	}
	parent, err := os.Open(filepath.Dir(final))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

func (d rootDisk) Close() error { return errors.Join(d.lock.Close(), d.root.Close()) }

// plain is what the system said, without a path: the directory may have had another name when it was opened.
func plain(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
