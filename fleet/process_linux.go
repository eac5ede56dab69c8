package fleet

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// setAttributes puts the process into a group of its own, so that it can be ended with all that it starts and a
// terminal's Ctrl-C reaches the fleet only; and lets the kernel kill it when the thread that made it ends.
func setAttributes(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit returns when the process has ended, and leaves it to be reaped: until then its number is taken. It reports
// whether it could wait.
func awaitExit(pid int) bool {
	var info unix.Siginfo
	for {
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// signalGroup sends s to the group of a process that is not reaped.
func signalGroup(p *os.Process, s syscall.Signal) {
	_ = syscall.Kill(-p.Pid, s) // it fails only when nothing is left of the group
}

// Monotonic is the host's monotonic clock in nanoseconds, the same for all its processes.
func Monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic("fleet: the host has no monotonic clock: " + err.Error())
	}
	return t.Nano()
}
