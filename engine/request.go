package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"

	"coldwave/record"
	"coldwave/workload"
)

// Request is what is sent for an arrival. It is shared by all arrivals and never changed.
type Request struct {
	Target *Target
	Method string      // empty: GET
	Header http.Header // sent as it is, apart from the headers that the engine sets itself
	Body   []byte
}

// runNames are the ids that fit into a header and a file name, and leave room for the seq within 64 bytes.
var runNames = regexp.MustCompile(`^[A-Za-z0-9._-]{1,40}$`)

var (
	headerNames = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	controls    = regexp.MustCompile(`[\x00-\x08\x0a-\x1f\x7f]`)
)

// check refuses what net/http would refuse at the time of sending. Header values are not shown: they may be secrets.
func (r *Request) check() error {
	if r.Target == nil {
		return fmt.Errorf("request: %w: none was given", ErrTarget)
	}
	if _, err := http.NewRequest(r.Method, r.Target.url.String(), http.NoBody); err != nil { //nolint:noctx // it is never sent
		return fmt.Errorf("request to %v: method %q: %w", r.Target, r.Method, ErrTarget)
	}
	for name, values := range r.Header {
		if !headerNames.MatchString(name) || slices.ContainsFunc(values, controls.MatchString) {
			return fmt.Errorf("request to %v: header %q: %w: use a token as name and no control characters", r.Target, name, ErrTarget)
		}
	}
	return nil
}

// label is what the engine adds to each request.
type label struct {
	run     string
	bundled bool
}

// build makes the message of one arrival. X-Request-Id and User-Agent always are the engine's own.
func (l label) build(ctx context.Context, r *Request, a *workload.Arrival) *http.Request {
	q := &http.Request{Method: r.Method, URL: r.Target.url, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: l.header(r, a)}
	if len(r.Body) > 0 {
		q.Body, q.ContentLength = io.NopCloser(bytes.NewReader(r.Body)), int64(len(r.Body))
	}
	q.Host = r.Header.Get("Host")
	return q.WithContext(ctx)
}

func (l label) header(r *Request, a *workload.Arrival) http.Header {
	h := make(http.Header, len(r.Header)+4)
	for name, values := range r.Header {
		h[name] = values
	}
	if u := r.Target.url.User; u != nil && h.Get("Authorization") == "" {
		password, _ := u.Password()
		q := http.Request{Header: h}
		q.SetBasicAuth(u.Username(), password)
	}
	h[record.RequestIDHeader] = []string{l.run + "-" + strconv.FormatInt(a.Seq, 10)}
	h["User-Agent"] = []string{"coldwave/" + l.run}
	if l.bundled {
		h[workload.DemandHeader] = []string{a.Demand.String()}
	}
	return h
}
