package gateway

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// bodyStep is by how much the memory of a body of unknown length grows at least.
const bodyStep = 8 << 10

// readBody reads the whole body before the request is scheduled. So a client that sends slowly holds no slot, and one
// that goes away while it waits is noticed: net/http watches a connection only when the body has been read.
func (x *exchange) readBody() *refusal {
	if x.r.Body == nil || x.r.Body == http.NoBody {
		x.read = true
		return nil
	}
	l := x.g.cfg.Limits
	if x.r.ContentLength > l.BodyBytes {
		return bodyTooLong(l.BodyBytes)
	}
	in := &slowBody{w: x.w.w, body: http.MaxBytesReader(x.w.w, x.r.Body, l.BodyBytes), limit: l.BodyTime}
	err := x.collect(in)
	var tooLong *http.MaxBytesError
	switch {
	case err == nil:
		readFreely(x.w.w)
		x.read = true
		return nil
	case errors.Is(err, ErrHeldLimit):
		return &refusal{status: http.StatusServiceUnavailable, reason: ErrHeldLimit, close: true,
			text: fmt.Sprintf("%d bytes of bodies are held already", l.HeldBytes)}
	case errors.As(err, &tooLong):
		return bodyTooLong(l.BodyBytes)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &refusal{status: http.StatusRequestTimeout, reason: ErrBodyTime, close: true,
			text: fmt.Sprintf("the body stood still for %v after %d bytes", l.BodyTime, len(x.body))}
	default:
		return &refusal{status: http.StatusBadRequest, reason: ErrBodyRead, close: true,
			text: fmt.Sprintf("the body ended after %d bytes", len(x.body))}
	}
}

func bodyTooLong(limit int64) *refusal {
	return &refusal{status: http.StatusRequestEntityTooLarge, reason: ErrBodyLimit, close: true,
		text: fmt.Sprintf("the body is longer than %d bytes", limit)}
}

// collect reads the body into memory that the budget has granted beforehand.
func (x *exchange) collect(in io.Reader) error {
	first := x.r.ContentLength
	if first <= 0 {
		first = bodyStep
	}
	if err := x.grow(first); err != nil {
		return err
	}
	for {
		if len(x.body) == cap(x.body) {
			if err := x.grow(max(int64(cap(x.body)), bodyStep)); err != nil {
				return err
			}
		}
		n, err := in.Read(x.body[len(x.body):cap(x.body)])
		x.body = x.body[:len(x.body)+n]
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// grow makes room for n more bytes.
func (x *exchange) grow(n int64) error {
	if !x.g.heldBytes.take(n) {
		return ErrHeldLimit
	}
	x.held += n
	grown := make([]byte, len(x.body), int64(cap(x.body))+n)
	copy(grown, x.body)
	x.body = grown
	return nil
}

// slowBody gives each read of a body its own deadline.
type slowBody struct {
	w     http.ResponseWriter
	body  io.Reader
	limit time.Duration
}

func (s *slowBody) Read(p []byte) (int, error) {
	readWithin(s.w, s.limit)
	return s.body.Read(p)
}
