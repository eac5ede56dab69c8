package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"
	"time"

	"coldwave/record"
	"coldwave/workload"
)

// exchangeKey finds the exchange of a request in its context.
type exchangeKey struct{}

func exchangeOf(ctx context.Context) *exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange)
	return x
}

// flushTime bounds how long a part of an answer of known length is kept. Answers of unknown length, and event streams,
// are flushed at each write whatever this says (RP-15). It is not "at once", because most answers come in one write and
// would leave in two.
const flushTime = 5 * time.Millisecond

func newProxy(t http.RoundTripper, log *slog.Logger) *httputil.ReverseProxy {
	return &httputil.ReverseProxy{
		Transport:      t,
		FlushInterval:  flushTime,
		BufferPool:     &copyBuffers{},
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		Rewrite:        rewrite,
		ModifyResponse: func(res *http.Response) error { exchangeOf(res.Request.Context()).stamp(res); return nil },
		ErrorHandler:   func(w http.ResponseWriter, r *http.Request, err error) { exchangeOf(r.Context()).upstreamError(w, err) },
	}
}

// copyBuffers recycles the buffers of answers.
type copyBuffers struct{ pool sync.Pool }

const copyBufferBytes = 32 << 10

func (b *copyBuffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, copyBufferBytes)
}

func (b *copyBuffers) Put(p []byte) { b.pool.Put(&p) }

// relay runs the proxy. It returns true if the answer broke off after it had begun.
func (x *exchange) relay(addr string, held *heldAnswer) (aborted bool) {
	var w http.ResponseWriter = x.w
	if held != nil {
		w = held
	}
	u, err := x.route.url(addr)
	if err != nil { // it was checked before
		x.refuse(targetRefusal(err))
		return false
	}
	x.leg.cancel = x.abort
	ctx := x.leg.trace(context.WithValue(x.ctx, exchangeKey{}, x))
	in := x.r.WithContext(ctx)
	in.URL = u
	defer func() {
		p := recover()
		if p != nil && p != http.ErrAbortHandler { //nolint:errorlint // the proxy panics with this very value
			panic(p)
		}
		x.g.stats.resent.Add(int64(x.leg.resent()))
		aborted = p != nil
		x.relayed(w, aborted)
	}()
	x.g.proxy.ServeHTTP(w, in)
	return false
}

// relayed takes note of how the proxy's work ended.
func (x *exchange) relayed(w http.ResponseWriter, aborted bool) {
	keepClean(w.Header()) // trailers came after the answer was stamped
	switch {
	case x.outcome != "":
		return // the proxy's error handler has said it
	case aborted && x.r.Context().Err() != nil:
		x.outcome = outcomeCanceled
	case aborted:
		x.outcome = outcomeCut
	case x.late:
		x.whole, x.outcome = true, outcomeCanceled
	default:
		x.whole, x.outcome = true, outcomeOK
		if status := x.statusOf(w); status >= http.StatusBadRequest {
			x.outcome = outcomeHTTPError
		}
	}
}

func (x *exchange) statusOf(w http.ResponseWriter) int {
	if h, ok := w.(*heldAnswer); ok && !h.streams {
		return h.status
	}
	return x.w.status
}

// rewrite makes the request that the instance gets. What the client named in Connection headers is gone by now, so what
// is set here stays (RP-05).
func rewrite(p *httputil.ProxyRequest) {
	x := exchangeOf(p.In.Context())
	out := p.Out
	out.URL = p.In.URL
	out.Header.Del("Te")     // trailers pass without being asked for (RP-03)
	out.Header.Del("Expect") // the body is here already
	dropUpgrade(out.Header)
	dropOwn(out.Header)
	p.SetXForwarded()
	out.Header.Set(record.RequestIDHeader, x.id)
	if x.told {
		out.Header.Set(workload.DemandHeader, x.demand.String())
	}
	x.setBody(out)
}

// setBody gives the request the body that was read. GetBody lets the transport take another connection if it found one
// dead before it wrote anything; after that leg prevents it.
func (x *exchange) setBody(out *http.Request) {
	out.Body, out.TransferEncoding = nil, nil
	out.ContentLength = int64(len(x.body))
	if trailer := x.r.Trailer; len(trailer) > 0 {
		out.Trailer = trailer.Clone()
		keepClean(out.Trailer)
		out.ContentLength = -1
	}
	if out.ContentLength == 0 {
		return
	}
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.body)), nil }
	out.Body, _ = out.GetBody() // it has no error
}

// stamp sets what the gateway says of the request, in place of whatever the instance said.
func (x *exchange) stamp(res *http.Response) {
	dropOwn(res.Header)
	res.Header.Del(record.LoadHeader) // it is for whoever balances
	keepClean(res.Trailer)
	x.late = x.r.Context().Err() != nil
	x.server.Exec = max(0, x.g.cfg.Clock.Now().Sub(x.decided))
	x.server.Headers(res.Header.Set)
	res.Header.Set(record.RequestIDHeader, x.id)
	if res.StatusCode == http.StatusSwitchingProtocols {
		x.leg.release() // from here on the connection is closed at once when either side goes (RP-21)
		return
	}
	if x.g.draining.Load() {
		res.Header.Set("Connection", "close")
	}
}

// upstreamError answers when the instance gave no answer. Who is to blame decides how it is counted (RP-11).
func (x *exchange) upstreamError(w http.ResponseWriter, err error) {
	if x.r.Context().Err() != nil {
		x.outcome = outcomeCanceled
		return
	}
	reason, text := ErrUpstream, "the instance gave no answer"
	var op *net.OpError
	switch cause := context.Cause(x.ctx); {
	case errors.Is(cause, ErrLost), errors.Is(cause, ErrClosing):
		reason, text = cause, "the request was cut short"
	case errors.As(err, &op) && op.Op == "dial", errors.Is(err, ErrNotAllowed):
		reason, text = ErrUnreachable, "no connection to the instance"
	}
	x.g.cfg.Log.Debug("no answer", "request", x.id, "instance", x.server.Instance, "error", err)
	ref := &refusal{status: statusOf(reason), reason: reason, text: text}
	x.outcome = ref.outcome()
	x.writeRefusal(w, ref)
}

func targetRefusal(err error) *refusal {
	if errors.Is(err, ErrNoFunction) {
		return &refusal{status: http.StatusNotFound, reason: ErrNoFunction, text: strings.TrimPrefix(err.Error(), ErrNoFunction.Error()+": ")}
	}
	return &refusal{status: http.StatusBadRequest, reason: ErrTarget, text: fmt.Sprintf("%v", err)}
}
