//go:build !linux

package fleet

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

func setAttributes(*exec.Cmd) {}

// awaitExit cannot wait here without reaping.
func awaitExit(int) bool { return false }

// signalGroup sends s to the process alone; os.Process knows whether it is reaped.
func signalGroup(p *os.Process, s syscall.Signal) { _ = p.Signal(s) } // it fails only when the process has ended

// Monotonic is the wall clock: this system has no monotonic one that processes share. A step of it makes one start-up
// longer or shorter.
func Monotonic() int64 {
	return time.Now().UnixNano() //nolint:forbidigo // see above
}
