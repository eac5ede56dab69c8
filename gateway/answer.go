package gateway

import (
	"net/http"
	"strings"
	"time"
)

// answer is the way back to the client: it counts, lets no instance speak in the gateway's name, and bounds how long a
// client may stand still.
type answer struct {
	w      http.ResponseWriter
	limit  time.Duration // for one write
	status int           // 0: no answer has begun
	bytes  int64
}

// Header is that of the connection.
func (a *answer) Header() http.Header { return a.w.Header() }

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.w }

// WriteHeader passes the status on. Informational answers come from the instance as they are, so what is not the
// instance's to say is taken out here (R14).
func (a *answer) WriteHeader(status int) {
	if status < http.StatusOK && status != http.StatusSwitchingProtocols {
		dropHopByHop(a.Header())
		dropOwn(a.Header())
		a.w.WriteHeader(status)
		return
	}
	a.status = status
	a.w.WriteHeader(status)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	writeWithin(a.w, a.limit)
	defer writeFreely(a.w)
	n, err := a.w.Write(p) //nolint:gosec // a proxy passes the instance's bytes on as they are, with the type that it states
	a.bytes += int64(n)
	return n, err
}

// FlushError sends what is buffered.
func (a *answer) FlushError() error {
	writeWithin(a.w, a.limit)
	defer writeFreely(a.w)
	return http.NewResponseController(a.w).Flush()
}

// begun says whether the client has got a part of the answer.
func (a *answer) begun() bool { return a.status != 0 }

// heldAnswer keeps an answer back until release: the slot is given back before the demand's post is waited. An answer
// longer than max, or beyond the shared budget, is not held but streams.
type heldAnswer struct {
	next    *answer
	header  http.Header // what the proxy sees; trailers come into it after the body
	sent    http.Header // as it was when the status came
	status  int
	body    []byte
	max     int64
	budget  *budget
	streams bool
}

func (h *heldAnswer) Header() http.Header {
	if h.streams {
		return h.next.Header()
	}
	return h.header
}

// Unwrap lets a protocol switch take the connection over.
func (h *heldAnswer) Unwrap() http.ResponseWriter { return h.next }

// WriteHeader keeps the status. Informational answers are not held.
func (h *heldAnswer) WriteHeader(status int) {
	switch {
	case h.streams:
		h.next.WriteHeader(status)
	case status < http.StatusOK && status != http.StatusSwitchingProtocols:
		copyHeader(h.next.Header(), h.header)
		h.next.WriteHeader(status)
		clear(h.next.Header())
	case h.sent == nil:
		h.status, h.sent = status, h.header.Clone()
	}
}

func (h *heldAnswer) Write(p []byte) (int, error) {
	if h.sent == nil {
		h.WriteHeader(http.StatusOK)
	}
	if !h.streams && (int64(len(h.body)+len(p)) > h.max || !h.budget.take(int64(len(p)))) {
		if err := h.stream(); err != nil {
			return 0, err
		}
	}
	if h.streams {
		return h.next.Write(p)
	}
	h.body = append(h.body, p...)
	return len(p), nil
}

// FlushError flushes what is not held.
func (h *heldAnswer) FlushError() error {
	if h.streams {
		return h.next.FlushError()
	}
	return nil
}

// stream sends what was held and lets the rest through.
func (h *heldAnswer) stream() error {
	h.streams = true
	h.budget.give(int64(len(h.body)))
	body := h.body
	h.body = nil
	if h.sent == nil {
		return nil
	}
	copyHeader(h.next.Header(), h.sent)
	h.next.WriteHeader(h.status)
	if len(body) == 0 {
		return nil
	}
	_, err := h.next.Write(body)
	return err
}

// release sends the held answer with its trailers.
func (h *heldAnswer) release() error {
	if h.streams {
		return nil
	}
	trailer := h.trailer()
	if err := h.stream(); err != nil {
		return err
	}
	if len(trailer) == 0 {
		return nil
	}
	err := h.next.FlushError() // trailers need chunks, so the length must not be known
	copyHeader(h.next.Header(), trailer)
	return err
}

// trailer is what came into the header after the status.
func (h *heldAnswer) trailer() http.Header {
	t := http.Header{}
	for _, line := range h.sent["Trailer"] {
		for name := range strings.SplitSeq(line, ",") {
			name = http.CanonicalHeaderKey(strings.TrimSpace(name))
			if v := h.header[name]; len(v) > 0 {
				t[name] = v
			}
		}
	}
	for name, v := range h.header {
		if strings.HasPrefix(name, http.TrailerPrefix) {
			t[name] = v
		}
	}
	return t
}

// drop forgets a held answer.
func (h *heldAnswer) drop() {
	h.budget.give(int64(len(h.body)))
	h.body = nil
}

func copyHeader(dst, src http.Header) {
	for name, values := range src {
		dst[name] = append(dst[name], values...)
	}
}
