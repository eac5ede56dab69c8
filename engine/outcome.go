package engine

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"

	"coldwave/internal/clock"
	"coldwave/record"
)

// The classes of transport errors: the cause of a record with that outcome.
const (
	ClassDial      = "dial"       // no connection
	ClassDNS       = "dns"        // the host's name could not be resolved
	ClassTLS       = "tls"        // the handshake failed, or the certificate is not trusted
	ClassReset     = "reset"      // the target reset the connection
	ClassEOF       = "eof"        // the target closed the connection before a complete answer
	ClassBroken    = "broken"     // the target was gone when the request was written
	ClassProtocol  = "protocol"   // the answer is no HTTP/1.1
	ClassBodyLimit = "body_limit" // the answer's body is longer than MaxBody
	ClassRefused   = "refused"    // the guard stopped the dial; the run ends
	ClassOther     = "other"
)

// Causes of the end of a request's context.
var (
	errTimeLimit = errors.New("time limit of the request")
	errCanceled  = errors.New("run stopped")
	errBodyLimit = errors.New("body above its limit")
	errSwitched  = errors.New("protocol switched without being asked to")
)

// answered returns the outcome of a complete answer.
//
// 429 and 503 may come from the function as well as from the platform. The bundled gateway tells its own answers by
// the start kind edge; of any other target nothing is known, so there both statuses count as the platform's.
func answered(status int, s record.Server, bundled bool) record.Outcome {
	refusal := status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
	switch {
	case status < http.StatusBadRequest:
		return record.OK
	case refusal && (!bundled || s.Start == record.Edge):
		return record.Rejected
	default:
		return record.HTTPError
	}
}

// failed returns the outcome and class of an exchange without a complete answer. w is nil if there was no connection.
func failed(ctx context.Context, err error, w *wire, t *trip) (record.Outcome, string) {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errTimeLimit):
		return record.Timeout, ""
	case errors.Is(cause, errCanceled):
		return record.Canceled, ""
	case w == nil:
		return record.TransportError, dialClass(err)
	default:
		return record.TransportError, wireClass(err, w, t)
	}
}

func dialClass(err error) string {
	var refused *RefusedError
	var dns *net.DNSError
	switch {
	case errors.As(err, &refused):
		return ClassRefused
	case errors.As(err, &dns):
		return ClassDNS
	case isTLS(err):
		return ClassTLS
	default:
		return ClassDial
	}
}

func isTLS(err error) bool {
	var verify *tls.CertificateVerificationError
	var header tls.RecordHeaderError
	var alert tls.AlertError
	var host x509.HostnameError
	return errors.As(err, &verify) || errors.As(err, &header) || errors.As(err, &alert) || errors.As(err, &host)
}

// wireClass goes by the connection's own first error: net/http wraps, replaces and races the errors that it returns.
func wireClass(err error, w *wire, t *trip) string {
	if errors.Is(err, errBodyLimit) {
		return ClassBodyLimit
	}
	if p := w.fault.Load(); p != nil {
		err = *p
	}
	switch {
	case errors.Is(err, syscall.ECONNRESET):
		return ClassReset
	case errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return ClassBroken
	case w.fault.Load() != nil && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		return ClassEOF
	case isTLS(err):
		return ClassTLS
	case t.first.Load() != int64(clock.Never): // it answered, but not so that one can read it
		return ClassProtocol
	default:
		return ClassOther
	}
}

// reasonMax is the length in bytes of the longest reason.
const reasonMax = 40

// reasonOf returns the reason that the bundled stack gave for an error: one word of a–z and _, else nothing.
func reasonOf(text string) string {
	if len(text) > reasonMax {
		return ""
	}
	for i := range len(text) {
		if (text[i] < 'a' || text[i] > 'z') && text[i] != '_' {
			return ""
		}
	}
	return text
}
