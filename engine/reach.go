package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// ErrUnreachable is wrapped by the error of Reach for a target that takes no connection. Nothing was sent to it.
var ErrUnreachable = errors.New("target unreachable")

const reachLimit = 5 * time.Second

// Reach opens one connection to the target and closes it again, without sending a byte. The error wraps ErrUnreachable,
// is a *RefusedError if the guard stopped the dial, or is the context's.
func Reach(ctx context.Context, t *Target) error {
	dialer := net.Dialer{Timeout: reachLimit, Control: t.control}
	c, err := dialer.DialContext(ctx, "tcp", t.address)
	if err == nil {
		return c.Close()
	}
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %s: %w: start it, or correct its address", ErrUnreachable, t, err)
}
