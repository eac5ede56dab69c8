//go:build !unix

package main

import "log/slog"

// warnOfDescriptors does nothing: there is no such limit here.
func warnOfDescriptors(*slog.Logger, int) {}
