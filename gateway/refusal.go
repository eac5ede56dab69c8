package gateway

import (
	"context"
	"errors"
	"net/http"
)

// refusal is an answer of the gateway itself.
type refusal struct {
	status int
	reason error  // one of the Err… values; its text names the reason
	text   string // what is wrong and what to do
	close  bool   // the rest of the request is not read, so the connection ends
	allow  string // value of Allow
}

// outcome is how a refused request is counted.
func (r *refusal) outcome() outcome {
	switch {
	case errors.Is(r.reason, ErrRejected): // with whatever status the policy says
		return outcomeRejected
	case r.status == http.StatusServiceUnavailable || r.status == http.StatusTooManyRequests:
		return outcomeRejected
	case r.status == http.StatusInternalServerError:
		return outcomeBroken
	case r.status >= http.StatusInternalServerError:
		return outcomeUpstream
	default:
		return outcomeRefused
	}
}

// statusOf is the status of a request that ended for that cause.
func statusOf(cause error) int {
	switch {
	case errors.Is(cause, ErrClosing), errors.Is(cause, context.Canceled):
		return http.StatusServiceUnavailable
	case errors.Is(cause, ErrBroken):
		return http.StatusInternalServerError
	default:
		return http.StatusBadGateway
	}
}
