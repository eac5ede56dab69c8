package sim

import (
	"time"

	"coldwave/internal/hdr"
	"coldwave/record"
)

// Tally counts requests as they end, in memory that does not grow with them. Make one with NewTally.
type Tally struct {
	Outcomes [record.Outcomes]int64
	Starts   [record.StartKinds]int64 // of all that went to an instance, and record.Edge for those that did not
	StartBys [record.StartBys]int64   // of the same
	Waited   time.Duration            // request time spent waiting, in sum: 292 years at most
	Response *hdr.Histogram           // of the requests that were answered by an instance; complete when the run has ended

	same  time.Duration // the response time of the last
	times int64         // so often in a row, not yet in Response
}

// NewTally returns an empty tally of response times up to limit; longer ones count as overflow.
func NewTally(limit time.Duration) *Tally { return &Tally{Response: hdr.New(limit)} }

// Requests is the number of requests that have ended.
func (t *Tally) Requests() int64 {
	n := int64(0)
	for _, k := range t.Outcomes {
		n += k
	}
	return n
}

func (t *Tally) add(end fate, f *flight, waited time.Duration) {
	t.Outcomes[end.outcome]++
	t.Waited += waited
	if f.told.Inst == 0 {
		t.Starts[record.Edge]++
		t.StartBys[record.ByNone]++
		return
	}
	t.Starts[f.told.Start]++
	t.StartBys[f.told.StartBy]++
	if end.outcome != record.Canceled {
		t.respond(end.done.Sub(f.arrival.At))
	}
}

// respond counts a response time. Warm requests of a constant body all have the same one, so equal ones in a row are
// counted at once: 7 of 170 ns.
func (t *Tally) respond(d time.Duration) {
	if d != t.same {
		t.settle()
		t.same = d
	}
	t.times++
}

// settle puts what respond has counted into the histogram.
func (t *Tally) settle() {
	// A response time is never negative, and 2⁶³ of them never end: the histogram refuses nothing.
	_ = t.Response.RecordN(t.same, t.times)
	t.times = 0
}
