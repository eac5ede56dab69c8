//go:build unix

package main

import (
	"log/slog"
	"syscall"
)

// warnOfDescriptors tells when the process may open fewer files than its connections need: each one has a second one to
// an instance.
func warnOfDescriptors(log *slog.Logger, connections int) {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return
	}
	if need := uint64(2 * connections); uint64(limit.Cur) < need {
		log.Warn("too few file descriptors", "limit", limit.Cur, "need", need, "do", "raise ulimit -n or lower --max-connections")
	}
}
