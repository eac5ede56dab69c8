package gateway

import "coldwave/record"

// outcome is how a request on the data port ended. The values are labels of metrics.
type outcome string

const (
	outcomeOwn       outcome = "own"            // a question to the gateway itself, such as /healthz; not counted
	outcomeOK        outcome = "ok"             // an instance answered with a status below 400
	outcomeHTTPError outcome = "http_error"     // an instance answered with 400 or above
	outcomeRejected  outcome = "rejected"       // 429 or 503 by the gateway, or by the policy's decision
	outcomeRefused   outcome = "refused"        // another 4xx by the gateway: the request was no good
	outcomeCanceled  outcome = "canceled"       // the client had gone (RP-11)
	outcomeUpstream  outcome = "upstream_error" // 502: the instance gave no answer
	outcomeCut       outcome = "cut"            // the instance's answer broke off; the client's was cut too (RP-09)
	outcomeBroken    outcome = "broken"         // 500: the scheduler loop has stopped
	outcomePanic     outcome = "panic"          // a bug while serving; the connection was closed
)

// outcomes are all that are counted, in the order in which they are shown.
var outcomes = []outcome{outcomeOK, outcomeHTTPError, outcomeRejected, outcomeRefused, outcomeCanceled, outcomeUpstream,
	outcomeCut, outcomeBroken, outcomePanic}

// record is what the core is told of a request that has left its instance.
func (o outcome) record() record.Outcome {
	switch o {
	case outcomeOK:
		return record.OK
	case outcomeHTTPError:
		return record.HTTPError
	case outcomeCanceled:
		return record.Canceled
	default:
		return record.TransportError
	}
}
