package bundle

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/reports"
)

// Events is the name of the file that tells a run in order of time: one JSON object a line.
const Events = "events.ndjson"

// ErrEvents is the error of a file of events that cannot be read.
var ErrEvents = errors.New("malformed " + Events)

// maxEvent is the longest line of a file of events that is read, in bytes.
const maxEvent = 1 << 20

// The kinds of events, in the order in which those of one instant are written. Readers skip kinds that they do not know.
const (
	RunStart      = "run_start"
	WaveStart     = "wave"           // Wave, N: its requests
	InstanceStop  = "instance_stop"  // Instance, Code: "failed" if it ended by itself
	InstanceReady = "instance_ready" // Instance
	NodeReclaim   = "node_reclaim"   // Node
	NodeTake      = "node_take"      // Node
	InstanceStart = "instance_start" // Instance, Request: the arrival that caused it, Node, Code: "cached" if it skipped the download
	Rejected      = "rejected"       // N requests that were to start within Length were refused by the platform
	Dropped       = "dropped"        // N arrivals within Length were never sent
	Warned        = "warning"        // Code, Text; at the end, since it is found then
	RunEnd        = "run_end"        // N: arrivals; Code: how it ended
)

var eventOrder = []string{RunStart, WaveStart, InstanceStop, InstanceReady, NodeReclaim, NodeTake, InstanceStart, Rejected, Dropped, Warned, RunEnd}

// How a run ended, the Code of RunEnd.
const (
	EndComplete  = "complete"
	EndStopped   = "stopped"   // before its schedule was over
	EndRecovered = "recovered" // killed; this is what was left
)

// countEvery is the stretch of time for which rejected and dropped arrivals are counted: a run may refuse millions.
const countEvery = time.Second

// Event is something that happened in a run. Fields that a kind does not use are left out of the file.
type Event struct {
	At       clock.Instant `json:"at_ns"` // since the run's epoch
	Kind     string        `json:"event"`
	Wave     *int32        `json:"wave,omitempty"`
	N        *int64        `json:"n,omitempty"`
	Length   time.Duration `json:"length_ns,omitempty"`
	Instance int32         `json:"instance,omitempty"`
	Node     int32         `json:"node,omitempty"`
	Request  string        `json:"request,omitempty"` // X-Request-Id
	Code     string        `json:"code,omitempty"`
	Text     string        `json:"text,omitempty"`
}

// WriteEvents writes the events of a run. It reads the records once. Its errors are those of w and of the sequence.
func WriteEvents(w io.Writer, run *analysis.Run, records iter.Seq2[record.Record, error]) error {
	s := story{run: run}
	if err := s.read(records); err != nil {
		return err
	}
	s.sort()
	out := bufio.NewWriter(w)
	for _, m := range s.moments {
		if err := reports.Line(out, s.event(m)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// ReadEvents reads what WriteEvents wrote, line by line; it ends at the first error, which wraps ErrEvents or is that of r.
func ReadEvents(r io.Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxEvent)
		n := 0
		for lines.Scan() {
			n++
			var e Event
			err := json.Unmarshal(bytes.TrimSpace(lines.Bytes()), &e)
			if err == nil && e.Kind == "" {
				err = errors.New(`no "event"`)
			}
			if err != nil {
				err = fmt.Errorf("%w: line %d: %w", ErrEvents, n, err)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Event{}, fmt.Errorf("%w: line %d: %w", ErrEvents, n+1, err))
		}
	}
}

// story is what happened in a run. It holds where each event is told, since the events themselves would be larger than
// what they tell.
type story struct {
	run     *analysis.Run
	counts  [2]map[clock.Instant]int64 // rejected and dropped, by the begin of their stretch
	arrived int64
	end     clock.Instant
	moments []moment
}

// moment is one event: its kind, and the index of what it tells.
type moment struct {
	at    clock.Instant
	order int8 // index of eventOrder
	index int32
}

func (s *story) read(records iter.Seq2[record.Record, error]) error {
	s.counts = [2]map[clock.Instant]int64{{}, {}}
	if s.run.Schedule != nil {
		s.end = clock.Instant(s.run.Schedule.Length)
	}
	for r, err := range records {
		if err != nil {
			return err
		}
		s.arrived++
		if r.Done != clock.Never {
			s.end = max(s.end, r.Done)
		}
		stretch := r.Intended - r.Intended%clock.Instant(countEvery)
		switch r.Outcome { //nolint:exhaustive // the others are no events
		case record.Rejected:
			s.counts[0][stretch]++
		case record.Dropped:
			s.counts[1][stretch]++
		}
	}
	return nil
}

func (s *story) add(at clock.Instant, kind string, index int) {
	if at != clock.Never {
		s.moments = append(s.moments, moment{at, int8(slices.Index(eventOrder, kind)), int32(index)})
	}
}

func (s *story) sort() {
	s.add(0, RunStart, 0)
	for i, w := range s.run.Summary.Waves {
		s.add(w.At, WaveStart, i)
	}
	for i := range s.run.Instances {
		in := &s.run.Instances[i]
		s.end = max(s.end, in.Started)
		s.add(in.Started, InstanceStart, i)
		s.add(in.Ready, InstanceReady, i)
		s.add(in.Stopped, InstanceStop, i)
	}
	for i, n := range s.run.Nodes {
		s.end = max(s.end, n.Taken)
		s.add(n.Taken, NodeTake, i)
		s.add(n.Reclaimed, NodeReclaim, i)
	}
	for i, kind := range []string{Rejected, Dropped} {
		for at := range s.counts[i] {
			s.add(at, kind, 0)
		}
	}
	for _, m := range s.moments {
		s.end = max(s.end, m.at)
	}
	for i := range s.run.Summary.Warnings {
		s.add(s.end, Warned, i)
	}
	s.add(s.end, RunEnd, 0)
	slices.SortFunc(s.moments, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order), cmp.Compare(a.index, b.index))
	})
}

func (s *story) event(m moment) Event {
	e := Event{At: m.at, Kind: eventOrder[m.order]}
	switch e.Kind {
	case WaveStart:
		w := &s.run.Summary.Waves[m.index]
		n := int64(w.N)
		e.Wave, e.N = &w.Wave, &n
	case InstanceStart, InstanceReady, InstanceStop:
		s.life(&e, &s.run.Instances[m.index])
	case NodeTake, NodeReclaim:
		e.Node = s.run.Nodes[m.index].ID
	case Rejected, Dropped:
		n := s.counts[slices.Index([]string{Rejected, Dropped}, e.Kind)][m.at]
		e.N, e.Length = &n, countEvery
	case Warned:
		w := &s.run.Summary.Warnings[m.index]
		e.Code, e.Text = w.Code, w.Text
	case RunEnd:
		e.N, e.Code = &s.arrived, s.ending()
	}
	return e
}

func (s *story) life(e *Event, in *record.Instance) {
	e.Instance = in.ID
	switch {
	case e.Kind == InstanceStart:
		e.Request, e.Node = in.Cause, in.Node
		if in.Cached {
			e.Code = "cached"
		}
	case e.Kind == InstanceStop && in.Failed:
		e.Code = "failed"
	}
}

// ending is how the run ended, by its warnings.
func (s *story) ending() string {
	for _, w := range s.run.Summary.Warnings {
		switch w.Code {
		case analysis.WarnRecovered:
			return EndRecovered
		case analysis.WarnStopped:
			return EndStopped
		}
	}
	return EndComplete
}
