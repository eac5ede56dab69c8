package worker

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
)

// Handler is one fake worker. It is safe for concurrent use.
type Handler struct {
	cfg    Config
	slots  chan struct{} // one element for each request in flight
	draws  platform.Draws
	bodies bodies
	report report
	stats  struct{ started, finished, canceled, failed, refused, overlapped atomic.Int64 }
}

// Stats counts what a worker did. Started = Finished + Canceled + Failed + InFlight when nothing is moving.
type Stats struct {
	Started    int64 `json:"started"`    // requests that got a slot
	Finished   int64 `json:"finished"`   // answered with the function's result
	Canceled   int64 `json:"canceled"`   // the client had gone
	Failed     int64 `json:"failed"`     // answered with an error after they had a slot
	Refused    int64 `json:"refused"`    // turned away without a slot; behind our own gateway this stays 0
	Overlapped int64 `json:"overlapped"` // found no slot at once; see Config.Grace
	InFlight   int64 `json:"in_flight"`  // holding a slot now
}

// New returns a worker that has served nothing yet.
func New(cfg Config) (*Handler, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.setDefaults()
	h := &Handler{
		cfg:   cfg,
		slots: make(chan struct{}, cfg.Concurrency),
		draws: platform.Profile{ErrorRatio: cfg.FailRatio, CPU: cfg.CPU, Resources: cfg.Resources}.Draws(cfg.Seed),
	}
	h.bodies = newBodies(&h.cfg)
	h.report.before.at, h.report.after.at = cfg.Ready, cfg.Ready
	return h, nil
}

// Stats returns the counts so far.
func (h *Handler) Stats() Stats {
	s := &h.stats
	return Stats{
		Started: s.started.Load(), Finished: s.finished.Load(), Canceled: s.canceled.Load(), Failed: s.failed.Load(),
		Refused: s.refused.Load(), Overlapped: s.overlapped.Load(), InFlight: int64(len(h.slots)),
	}
}

// ServeHTTP answers /healthz at once and everything else as the function: /sleep/<ms> takes that long, any other path
// takes what X-Coldwave-Demand asks for or else Config.Body; /echo answers with length and SHA-256 of the body.
//
// The whole body is read before the execution time has passed, so that a client which goes away is noticed while the
// function runs: the wait ends and the slot is free.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(record.InstanceHeader, h.cfg.Name)
	if r.URL.Path == "/healthz" {
		writeText(w, http.StatusOK, "ok\n")
		return
	}
	if r.URL.Path == record.LoadPath {
		h.serveLoad(w)
		return
	}
	c := &call{h: h, w: w, r: r, id: RequestID(r.Header.Get(record.RequestIDHeader))}
	if c.id != "" {
		w.Header().Set(record.RequestIDHeader, c.id)
	}
	if h.enter(r.Context()) {
		defer func() { <-h.slots }()
		c.run()
		return
	}
	h.stats.refused.Add(1)
	h.cfg.Log.write(c.refused())
	c.refuse(&refusal{http.StatusServiceUnavailable, ErrConcurrency, "limit is " + strconv.Itoa(h.cfg.Concurrency)})
}

// enter takes a slot and reports whether it got one.
func (h *Handler) enter(ctx context.Context) bool {
	select {
	case h.slots <- struct{}{}:
		return true
	default:
	}
	h.stats.overlapped.Add(1)
	limit := h.cfg.Clock.NewTimer()
	limit.Reset(h.cfg.Clock.Now().Add(h.cfg.Grace))
	defer limit.Reset(clock.Never)
	select {
	case h.slots <- struct{}{}:
		return true
	case <-limit.C():
	case <-ctx.Done():
	}
	return false
}

// call is one request.
type call struct {
	h    *Handler
	w    http.ResponseWriter
	r    *http.Request
	id   string
	echo string // answer of /echo
}

// run is the life of a request that has a slot.
func (c *call) run() {
	serial := c.h.stats.started.Add(1)
	start, kind := c.h.cfg.Clock.Now(), record.Warm
	if serial == 1 {
		kind = record.Cold
	}
	c.w.Header().Set(record.StartHeader, kind.String())
	c.h.cfg.Log.write(c.started(start, kind))

	no := c.execute(start, serial)
	end := c.h.cfg.Clock.Now()
	c.w.Header().Set(record.TimingHeader, "exec;dur="+millis(end.Sub(start)))
	c.w.Header().Set(record.LoadHeader, c.h.report.text(c.h))
	c.answer(no)
	c.h.cfg.Log.write(c.finished(start, end, no))
}

// execute does the work of the function: it reads the body and lets the execution time pass.
func (c *call) execute(start clock.Instant, serial int64) *refusal {
	seq := arrival(c.id, serial)
	demand, no := c.h.demand(c.r, seq)
	if no == nil {
		no = c.readBody()
	}
	if no != nil {
		return no
	}
	wait, err := c.h.call()
	if err != nil {
		return &refusal{http.StatusInternalServerError, err, "its call to the backing service failed"}
	}
	demand.Exec += wait
	switch err := c.h.bodies.run(c.r.Context(), start, demand); {
	case errors.Is(err, platform.ErrMemory):
		c.h.die(err)
		return &refusal{http.StatusServiceUnavailable, ErrMemory, "the instance needs more memory than it has, and ends"}
	case err != nil:
		return clientGone
	}
	if c.h.draws.RequestFails(seq) {
		return &refusal{http.StatusInternalServerError, ErrFailed, "fail ratio is " + strconv.FormatFloat(c.h.cfg.FailRatio, 'g', -1, 64)}
	}
	return nil
}

// call makes the call of a request to the backing service, and returns for how long it waits.
func (h *Handler) call() (time.Duration, error) {
	if h.cfg.Call == nil {
		return 0, nil
	}
	return h.cfg.Call()
}

// die ends a worker that is out of memory.
func (h *Handler) die(err error) {
	if h.cfg.Die != nil {
		h.cfg.Die(err)
	}
}

// arrival is the number of the arrival that <run>-<seq> names. Without one it is the worker's own count.
func arrival(id string, serial int64) int64 {
	if seq, err := strconv.ParseInt(id[strings.LastIndexByte(id, '-')+1:], 10, 64); err == nil {
		return seq
	}
	return serial
}

// answer writes the response and counts how the request ended.
func (c *call) answer(no *refusal) {
	switch no {
	case nil:
		c.h.stats.finished.Add(1)
		c.result()
		return
	case clientGone:
		c.h.stats.canceled.Add(1)
	default:
		c.h.stats.failed.Add(1)
	}
	c.refuse(no)
}

func (c *call) result() {
	if c.echo == "" {
		writeText(c.w, http.StatusOK, "ok\n")
		return
	}
	c.w.Header().Set("Content-Type", "application/json")
	write(c.w, http.StatusOK, c.echo)
}

// millis writes d in milliseconds with the fewest decimals that keep every nanosecond (up to 104 days).
func millis(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64)
}
