package gateway

import (
	"context"
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

// errGone is the reason of a call whose client has gone. Nobody is left to read it.
var errGone = errors.New("client_gone")

// exchange is one request on the data port from its first byte to its last.
type exchange struct {
	g       *Gateway
	s       *service // nil: it belongs to no function
	w       *answer
	r       *http.Request
	route   route
	id      string
	demand  workload.Demand
	told    bool // the client stated a demand
	body    []byte
	read    bool  // the whole body was read
	held    int64 // bytes taken from the budget for the body
	arrived clock.Instant

	ctx     context.Context // ends when the client, the instance or the gateway's time is gone
	abort   context.CancelCauseFunc
	call    *call
	leg     leg
	server  record.Server
	decided clock.Instant
	outcome outcome
	whole   bool // the instance's answer was passed on to its end
	late    bool // the client had gone before that answer came: an instance that learns of it may still answer
}

// serve is the life of a request. Its order is the wire contract: check, read the body, wait for pre, let the scheduler
// decide, pass it on, give the slot back, wait for post, answer.
func (x *exchange) serve() {
	defer x.close()
	if x.own() {
		return
	}
	if ref := x.check(); ref != nil {
		x.refuse(ref)
		return
	}
	x.ctx, x.abort = context.WithCancelCause(x.r.Context())
	defer x.abort(nil)
	defer context.AfterFunc(x.g.hard, func() { x.abort(ErrClosing) })()
	if x.g.cfg.Clock.WaitUntil(x.ctx, x.arrived.Add(x.demand.Pre)) != nil {
		x.giveUp()
		return
	}
	v := x.schedule()
	if v.reason != nil {
		x.turnAway(v)
		return
	}
	x.forward(v)
}

// own answers what is the gateway's own.
func (x *exchange) own() bool {
	if x.r.Method == http.MethodConnect || len(x.r.RequestURI) > x.g.cfg.Limits.URLBytes {
		return false
	}
	rt, err := parseRoute(x.r.RequestURI)
	if err != nil || rt.own == "" {
		return false
	}
	x.outcome = outcomeOwn
	x.g.health(x.w)
	return true
}

// schedule posts the arrival and waits for the decision.
func (x *exchange) schedule() verdict {
	x.call = newCall(x.id, x.demand, x.abort)
	if !x.s.arrive(x.call) {
		return x.g.endedVerdict()
	}
	select {
	case v := <-x.call.verdict:
		return v
	case <-x.s.loop.Ended():
		return x.g.endedVerdict()
	case <-x.ctx.Done():
	}
	x.s.cancel(x.call)
	select {
	case v := <-x.call.verdict:
		if v.reason == nil { // the decision was faster than the cancel: nothing was sent, so the slot is free
			x.s.done(x.call, record.Canceled)
		}
	case <-x.s.loop.Ended():
	}
	return verdict{status: statusClientGone, reason: errGone}
}

// statusClientGone is the status of a request whose client has gone. It is only counted: nobody reads it.
const statusClientGone = 499

// turnAway answers a request that no instance will serve.
func (x *exchange) turnAway(v verdict) {
	if errors.Is(v.reason, errGone) || errors.Is(v.reason, ErrLost) {
		x.giveUp()
		return
	}
	x.server.Queue = max(0, x.g.cfg.Clock.Now().Sub(x.arrived)-x.demand.Pre)
	x.refuse(&refusal{status: v.status, reason: v.reason, text: "the request was not scheduled"})
}

// giveUp ends a request whose context is done before an instance had it.
func (x *exchange) giveUp() {
	if x.r.Context().Err() != nil {
		x.outcome = outcomeCanceled
		return
	}
	cause := context.Cause(x.ctx)
	if errors.Is(cause, ErrClosing) {
		cause = x.g.endedVerdict().reason
	}
	x.refuse(&refusal{status: statusOf(cause), reason: cause, text: "the request was not served"})
}

// forward passes the request to its instance and the answer back.
func (x *exchange) forward(v verdict) {
	x.server, x.decided = v.server, v.at
	held := x.hold()
	aborted, replied := x.onInstance(v.addr, held)
	if aborted {
		if held != nil {
			held.drop()
		}
		panic(http.ErrAbortHandler) // closes the connection, so that the client sees that the answer is cut (RP-09)
	}
	if held != nil {
		x.answerLater(held, replied.Add(x.demand.Post))
	}
}

// onInstance is the time in which the request has a slot. The slot is given back on every path, a panic included.
func (x *exchange) onInstance(addr string, held *heldAnswer) (aborted bool, replied clock.Instant) {
	gone := sync.OnceFunc(func() { x.s.cancel(x.call) })
	stop := context.AfterFunc(x.ctx, gone)
	defer func() {
		if x.outcome == outcomeCanceled {
			gone() // before the slot is given back, whichever goroutine is faster
		}
		stop()
		replied = x.g.cfg.Clock.Now()
		x.giveBack(replied)
	}()
	return x.relay(addr, held), 0
}

// answerLater sends a held answer when the demand's post is over.
func (x *exchange) answerLater(held *heldAnswer, at clock.Instant) {
	if x.g.cfg.Clock.WaitUntil(x.ctx, at) != nil && x.r.Context().Err() != nil {
		held.drop()
		x.outcome = outcomeCanceled
		return
	}
	_ = held.release() // a failed write means that the client has gone
}

// hold returns what keeps the answer back, or nil if the demand has no post.
func (x *exchange) hold() *heldAnswer {
	if x.demand.Post <= 0 {
		return nil
	}
	return &heldAnswer{next: x.w, header: http.Header{}, max: x.g.cfg.Limits.AnswerBytes, budget: &x.g.heldBytes}
}

// giveBack frees the slot: when the instance has ended its work, plus the time that a slot takes to change hands.
func (x *exchange) giveBack(replied clock.Instant) {
	how := x.outcome.record()
	if x.whole && x.s.fn.Handover == 0 {
		x.leg.release()
		x.s.done(x.call, how)
		return
	}
	x.g.gate.enter()
	x.g.work.Go(func() {
		defer x.g.gate.leave()
		x.awaitSlot(replied)
		x.s.done(x.call, how)
	})
}

// awaitSlot waits until the slot is free. The end of the gateway cuts the wait.
func (x *exchange) awaitSlot(replied clock.Instant) {
	if x.whole {
		x.leg.release()
		_ = x.g.cfg.Clock.WaitUntil(x.g.hard, replied.Add(x.s.fn.Handover))
		return
	}
	if over := x.leg.over(); over != nil {
		select {
		case <-over:
		case <-x.g.hard.Done():
		}
	}
	_ = x.g.cfg.Clock.WaitUntil(x.g.hard, replied+1) // no delay is zero: it must follow the cancel that caused it
}

// refuse answers for the gateway itself.
func (x *exchange) refuse(ref *refusal) {
	if x.outcome == "" {
		x.outcome = ref.outcome()
	}
	if x.w.begun() {
		return
	}
	if !x.read { // net/http reads on for a while, so that the client gets to see the answer
		readWithin(x.w.w, x.g.cfg.Limits.BodyTime)
	}
	x.writeRefusal(x.w, ref)
}

func (x *exchange) writeRefusal(w http.ResponseWriter, ref *refusal) {
	h := w.Header()
	clear(h)
	x.server.Start, x.server.StartBy = record.Edge, record.ByNone
	x.server.Headers(h.Set)
	h.Set(record.RequestIDHeader, x.id)
	h.Set(ReasonHeader, ref.reason.Error())
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	if ref.status == http.StatusServiceUnavailable || ref.status == http.StatusTooManyRequests {
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	if ref.close || x.g.draining.Load() {
		h.Set("Connection", "close")
	}
	if ref.allow != "" {
		h.Set("Allow", ref.allow)
	}
	w.WriteHeader(ref.status)
	_, _ = w.Write([]byte(ref.reason.Error() + ": " + ref.text + "\n")) // a failed write means that the client has gone
}

// retryAfter is when a client that was turned away may come back, in seconds.
const retryAfter = 1

// close counts the request. A panic is counted too and closes the connection; it does not end the gateway (4.6).
func (x *exchange) close() {
	p := recover()
	x.g.heldBytes.give(x.held)
	if p != nil && p != http.ErrAbortHandler { //nolint:errorlint // net/http panics with this very value
		x.outcome = outcomePanic
		x.g.cfg.Log.Error("panic while serving", "request", x.id, "panic", p, "stack", string(debug.Stack()))
		p = http.ErrAbortHandler
	}
	x.g.stats.count(x, x.g.cfg.Clock.Now().Sub(x.arrived))
	if p != nil {
		panic(p)
	}
}
