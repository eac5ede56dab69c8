//go:build unix

package bundle

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the lock of an open directory, or says ErrBusy. It ends with the file, or with the process.
func lock(dir *os.File) error {
	err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrBusy
	}
	return err
}
