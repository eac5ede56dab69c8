package worker

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// Log writes one JSON line for each event, each with a single Write, so several processes may append to one file. It is
// safe for concurrent use; a nil Log writes nothing.
type Log struct {
	mu   sync.Mutex
	w    io.Writer
	wall func() time.Time
	err  error
}

// NewLog returns a log on w. wall labels each line with the wall time and may be nil; durations never come from it
// (R10).
func NewLog(w io.Writer, wall func() time.Time) *Log { return &Log{w: w, wall: wall} }

// Err returns the first error of writing. After it nothing more is written: a log with a hole in it proves nothing.
func (l *Log) Err() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Line is one event of a worker.
type Line struct {
	Time     string        `json:"time,omitempty"` // RFC 3339, UTC; a label
	At       clock.Instant `json:"at_ns"`          // on the worker's clock
	Event    string        `json:"event"`          // start, finish, refuse
	Request  string        `json:"request"`        // X-Request-Id; empty: none, or not acceptable
	Instance string        `json:"instance"`
	Function string        `json:"function,omitempty"`
	Method   string        `json:"method"`
	Path     string        `json:"path"`              // without the query, which may hold secrets; cut at 256 bytes
	Start    string        `json:"start,omitempty"`   // of a start: cold or warm
	Status   int           `json:"status,omitempty"`  // of a finish or refuse; 499: the client had gone
	Exec     time.Duration `json:"exec_ns,omitempty"` // of a finish
	Reason   string        `json:"reason,omitempty"`  // value of ReasonHeader
}

// pathMax is the length in bytes to which a logged path is cut.
const pathMax = 256

func (c *call) line(event string, at clock.Instant) Line {
	path := c.r.URL.Path
	return Line{
		At: at, Event: event, Request: c.id, Instance: c.h.cfg.Name, Function: c.h.cfg.Function,
		Method: c.r.Method, Path: path[:min(len(path), pathMax)],
	}
}

func (c *call) started(at clock.Instant, kind record.StartKind) Line {
	l := c.line("start", at)
	l.Start = kind.String()
	return l
}

func (c *call) finished(start, end clock.Instant, no *refusal) Line {
	l := c.line("finish", end)
	l.Status, l.Exec = 200, end.Sub(start)
	if no != nil {
		l.Status, l.Reason = no.status, no.reason.Error()
	}
	return l
}

func (c *call) refused() Line {
	l := c.line("refuse", c.h.cfg.Clock.Now())
	l.Status, l.Reason = 503, ErrConcurrency.Error()
	return l
}

func (l *Log) write(e Line) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return
	}
	if l.wall != nil {
		e.Time = l.wall().UTC().Format(time.RFC3339Nano)
	}
	text, err := json.Marshal(e)
	if err == nil {
		_, err = l.w.Write(append(text, '\n'))
	}
	l.err = err
}
