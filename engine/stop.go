package engine

import (
	"context"
	"time"

	"coldwave/internal/clock"
)

// graceful returns the context of the requests in flight. It outlives ctx by the grace, or ends at once when abort is
// closed, with errCanceled as its cause (R8). release ends it and waits for its goroutine.
func graceful(ctx context.Context, c clock.Clock, grace time.Duration, abort <-chan struct{}) (flying context.Context, release func()) {
	flying, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-ctx.Done():
		case <-abort:
		case <-flying.Done():
			return
		}
		wait, stopWait := context.WithCancel(flying)
		defer stopWait()
		go func() {
			defer stopWait()
			select {
			case <-abort:
			case <-wait.Done():
			}
		}()
		_ = c.WaitUntil(wait, c.Now().Add(grace)) // however the wait ends, the grace is over
		cancel(errCanceled)
	}()
	return flying, func() {
		cancel(nil)
		<-ended
	}
}
