package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

// courier carries single requests to their targets and back. Senders share it: they differ in how they wait.
type courier struct {
	now     func() clock.Instant
	pool    *pool
	label   label
	timeout time.Duration
	maxBody int64
}

// carry sends one request and reads its answer to the last byte. It puts at most one request on the wire (R4): a
// connection that turns out to be dead is replaced only as long as not a byte has been written to it. The error is a
// *RefusedError if the guard stopped the dial, else nil.
func (c *courier) carry(ctx context.Context, r *Request, a *workload.Arrival) (Exchange, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, errTimeLimit)
	defer cancel()
	for {
		t := newTrip()
		l, idle, err := c.pool.take(ctx, r.Target)
		if err != nil {
			return c.lost(ctx, err, nil, t, r, a)
		}
		x, err := c.talk(ctx, l, t, r, a)
		if err == nil {
			c.pool.put(r.Target, l)
			return x, nil
		}
		l.close()
		if t.began() || ctx.Err() != nil || !idle {
			return c.lost(ctx, err, l.wire, t, r, a)
		}
	}
}

// talk does the exchange on one connection.
func (c *courier) talk(ctx context.Context, l *link, t *trip, r *Request, a *workload.Arrival) (Exchange, error) {
	l.wire.trip.Store(t)
	resp, err := l.conn.RoundTrip(c.label.build(ctx, r, a))
	if err != nil {
		return Exchange{}, err
	}
	n, err := c.drain(resp)
	if err != nil {
		return Exchange{}, err
	}
	x := Exchange{
		Seq: a.Seq, Sent: clock.Instant(t.sent.Load()), FirstByte: clock.Instant(t.first.Load()), Done: clock.Instant(t.last.Load()),
		Status: resp.StatusCode, BytesIn: n, BytesOut: int64(len(r.Body)), Attempts: 1, Server: record.ServerFrom(resp.Header.Get),
	}
	x.Outcome = answered(x.Status, x.Server, c.label.bundled)
	if c.label.bundled && x.Outcome == record.HTTPError {
		x.Cause = reasonOf(resp.Header.Get(record.ReasonHeader))
	}
	return x, nil
}

// drain reads the body to its end, or up to its limit.
func (c *courier) drain(resp *http.Response) (int64, error) {
	if resp.StatusCode == http.StatusSwitchingProtocols {
		// What follows has no end that anybody knows, and net/http no longer closes it with the context.
		return 0, errors.Join(errSwitched, resp.Body.Close())
	}
	n, err := io.Copy(io.Discard, io.LimitReader(resp.Body, c.maxBody+1))
	if err == nil && n > c.maxBody {
		err = fmt.Errorf("%w of %d bytes", errBodyLimit, c.maxBody)
	}
	return n, errors.Join(err, resp.Body.Close())
}

// lost makes the exchange of a request without a complete answer.
func (c *courier) lost(ctx context.Context, err error, w *wire, t *trip, r *Request, a *workload.Arrival) (Exchange, error) {
	x := Exchange{
		Seq: a.Seq, Sent: clock.Instant(t.sent.Load()), FirstByte: clock.Instant(t.first.Load()), Done: c.now(),
		BytesOut: int64(len(r.Body)),
	}
	if t.began() {
		x.Attempts = 1
	} else {
		x.BytesOut = 0
	}
	x.Outcome, x.Cause = failed(ctx, err, w, t)
	var refused *RefusedError
	if errors.As(err, &refused) {
		return x, refused
	}
	return x, nil
}
