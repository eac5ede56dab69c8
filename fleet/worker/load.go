package worker

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
)

// Load returns the present load, as it is told at record.LoadPath.
func (h *Handler) Load() record.Load {
	l, s := h.bodies.load(), h.Stats()
	out := record.Load{InFlight: s.InFlight, Concurrency: h.cfg.Concurrency, Served: s.Finished + s.Canceled + s.Failed, Memory: l.Memory, MemoryPeak: l.Peak}
	if h.cfg.Resources.Modelled() {
		cpu := int64(l.CPU)
		out.Age, out.CPU = int64(max(0, l.At.Sub(h.cfg.Ready))), &cpu
	}
	return out
}

func (h *Handler) serveLoad(w http.ResponseWriter) {
	text, err := json.Marshal(h.Load())
	if err != nil { // numbers only: it cannot fail
		writeText(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set(record.LoadHeader, h.report.text(h))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	write(w, http.StatusOK, string(text)+"\n")
}

// report makes the load report of each answer: what was used within the last second or two.
type report struct {
	mu            sync.Mutex
	before, after mark // after is the younger one; a report is of the time since before
}

// mark is what was counted up to an instant.
type mark struct {
	at     clock.Instant
	cpu    time.Duration
	served int64
	failed int64
}

// text is the report in the text form of ORCA: utilizations from 0 on, 1 is all that there is; requests and errors per
// second. What is not known is left out.
func (r *report) text(h *Handler) string {
	l, s := h.bodies.load(), h.Stats()
	now := mark{at: h.cfg.Clock.Now(), cpu: l.CPU, served: s.Finished + s.Canceled + s.Failed, failed: s.Failed}
	before := r.since(now)
	var parts []string
	add := func(name string, v float64) {
		text := strconv.FormatFloat(max(0, v), 'f', 4, 64)
		parts = append(parts, name+"="+strings.TrimSuffix(strings.TrimRight(text, "0"), "."))
	}
	seconds := now.at.Sub(before.at).Seconds()
	resources := h.cfg.Resources
	if total := resources.Total(); total > 0 && seconds > 0 {
		add("cpu_utilization", (now.cpu-before.cpu).Seconds()/seconds/(float64(total)/1000))
	}
	if limit := resources.Memory.Limit; limit > 0 {
		add("mem_utilization", float64(l.Memory)/float64(limit))
	}
	add("application_utilization", float64(s.InFlight)/float64(h.cfg.Concurrency))
	if seconds > 0 {
		add("rps_fractional", float64(now.served-before.served)/seconds)
		add("eps", float64(now.failed-before.failed)/seconds)
	}
	return "TEXT " + strings.Join(parts, ",")
}

// since returns the mark to compare with: at least a second old, if there is one.
func (r *report) since(now mark) mark {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.at.Sub(r.after.at) >= platform.SampleEvery {
		r.before, r.after = r.after, now
	}
	return r.before
}
