package worker

import (
	"errors"
	"fmt"
	"io"
	"net/http"

	"coldwave/platform"
	"coldwave/record"
)

// ReasonHeader names why a worker refused a request: the text of one of the Err… values.
const ReasonHeader = record.ReasonHeader

// Why a request is refused. The text is the value of ReasonHeader.
var (
	ErrConcurrency = errors.New("concurrency_limit") // 503: more requests in flight than Config.Concurrency
	ErrBodyLimit   = errors.New("body_limit")        // 413: the body is longer than Config.BodyMax
	ErrBodyRead    = errors.New("body_read")         // 400: the body ended early or stood still
	ErrURLLimit    = errors.New("url_limit")         // 414: the target is longer than URLMax
	ErrMethod      = errors.New("method")            // 405: CONNECT and TRACE
	ErrSleep       = errors.New("sleep_limit")       // 400: /sleep/<ms> is no number or beyond Config.SleepMax
	ErrDemand      = errors.New("demand")            // 400: the demand header cannot be read or is beyond its caps
	ErrFailed      = errors.New("failed_on_purpose") // 500: Config.FailRatio
	ErrMemory      = platform.ErrMemory              // 503: and the worker ends
	ErrClientGone  = errors.New("client_gone")       // 499: for the log; a client that only closed its sending side reads it
)

// refusal is an answer other than the function's.
type refusal struct {
	status int
	reason error
	text   string
}

// clientGone is the answer to a client that has gone. Without one, net/http would write an empty 200.
var clientGone = &refusal{499, ErrClientGone, "the function was given up"}

func (c *call) refuse(no *refusal) {
	if !errors.Is(no.reason, ErrBodyRead) { // then the deadline has passed already, and what is left is not waited for
		c.limitRead()
	}
	c.w.Header().Set(ReasonHeader, no.reason.Error())
	writeText(c.w, no.status, fmt.Sprintf("instance %s: %v: %s\n", c.h.cfg.Name, no.reason, no.text))
}

func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	write(w, status, text)
}

func write(w http.ResponseWriter, status int, text string) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // it fails only when the client has gone
}
