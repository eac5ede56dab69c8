package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"coldwave/internal/cliargs"
)

// interruptible returns a context that the first SIGINT or SIGTERM ends with the exit code as its cause: what was
// recorded is kept. The second signal has its default effect and ends the process at once.
func interruptible(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case got := <-signals:
			signal.Reset(syscall.SIGINT, syscall.SIGTERM)
			code := cliargs.Interrupted
			if got == syscall.SIGTERM {
				code = cliargs.Terminated
			}
			cancel(cliargs.Errorf(code, "interrupted; what was recorded is kept"))
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
		<-done
	}
}
