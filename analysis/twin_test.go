package analysis

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

const tms = time.Millisecond

// twinRun is one wave of the requests on two instances that are ready from 1 ns on, at 10 s. Overhead before is pre[i],
// after it 1 ms, the body takes 100 ms. The first two to arrive are warm, the others wait in order.
func twinRun(pre ...time.Duration) *Run {
	r := &Run{Schedule: &workload.Schedule{}, Instances: []record.Instance{{ID: 1, Ready: 1}, {ID: 2, Ready: 1}}}
	at := clock.Instant(10 * time.Second)
	for i, p := range pre {
		d := workload.Demand{Pre: p, Exec: 100 * tms, Post: tms}
		r.Schedule.Arrivals = append(r.Schedule.Arrivals, workload.Arrival{Seq: int64(i), At: at, Demand: d})
		r.Records = append(r.Records, record.Record{Seq: int64(i), Intended: at, Sent: at, Outcome: record.OK})
	}
	order := make([]int, len(pre))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(pre[a] - pre[b]) })
	free := []clock.Instant{0, 0}
	for k, i := range order {
		arrived := at.Add(pre[i])
		begin := max(arrived, free[k%2])
		free[k%2] = begin.Add(100 * tms)
		rec := &r.Records[i]
		rec.Server = record.Server{Queue: begin.Sub(arrived), Exec: 100 * tms, Start: record.Warm}
		if begin > arrived {
			rec.Server.Start = record.Queued
		}
		rec.Done = begin.Add(101 * tms)
	}
	return r
}

// late delays what a request sees by d after its send, as the wire does.
func late(r *Run, seq int, d time.Duration) { r.Records[seq].Done = r.Records[seq].Done.Add(d) }

func TestTwinOfItself(t *testing.T) {
	r := twinRun(2*tms, 5*tms, 9*tms)
	d := Twin(r, r)
	want := Distance{
		Starts: 2, TwinStarts: 2, Compared: 3, Later: Of(make([]time.Duration, 3)),
		Waves: []WaveDistance{{Wave: 0, Wire: Served{ByIdle: 2, ByFreed: 1}, Twin: Served{ByIdle: 2, ByFreed: 1}}},
	}
	if diff := cmp.Diff(want, d); diff != "" || d.SameWaves() != 1 {
		t.Errorf("Twin of a run with itself (-want +got):\n%s", diff)
	}
}

// Only requests whose order is certain are compared one by one: in the twin by TwinGap, on the wire by the bounds of the
// arrival, which are the send + pre and the answer less post, body and wait.
func TestOrderThatIsCertain(t *testing.T) {
	for _, c := range []struct {
		why      string
		pre      []time.Duration
		change   func(wire *Run)
		compared int
	}{
		{"3 ms apart", []time.Duration{2 * tms, 5 * tms, 8 * tms}, nil, 3},
		{"exactly 2 ms apart", []time.Duration{2 * tms, 4 * tms, 6 * tms}, nil, 3},
		{"two of three nearer than 2 ms", []time.Duration{2 * tms, 4*tms - 1, 9 * tms}, nil, 1},
		{"all at once", []time.Duration{tms, tms, tms}, nil, 0},
		{"an answer 2 ms late leaves the order of 3 ms certain", []time.Duration{2 * tms, 5 * tms, 8 * tms}, func(r *Run) { late(r, 0, 2*tms) }, 3},
		{"3 ms late: it may have come after the second", []time.Duration{2 * tms, 5 * tms, 8 * tms}, func(r *Run) { late(r, 0, 3*tms) }, 1},
		{"6 ms late: after all of them", []time.Duration{2 * tms, 5 * tms, 8 * tms}, func(r *Run) { late(r, 0, 6*tms) }, 0},
		{"the last may be late as it likes", []time.Duration{2 * tms, 5 * tms, 8 * tms}, func(r *Run) { late(r, 2, time.Second) }, 3},
		{"sent 3 ms late: the first came with the second", []time.Duration{2 * tms, 5 * tms, 8 * tms}, func(r *Run) {
			r.Records[0].Sent = r.Records[0].Sent.Add(3 * tms)
			late(r, 0, 3*tms)
		}, 1},
		{"an answer that does not tell could have come at any time before", []time.Duration{2 * tms, 5 * tms, 8 * tms}, func(r *Run) {
			r.Records[0].Outcome = record.Timeout
		}, 0},
	} {
		wire := twinRun(c.pre...)
		if c.change != nil {
			c.change(wire)
		}
		if got := Twin(wire, twinRun(c.pre...)).Compared; got != c.compared {
			t.Errorf("%s: %d requests compared, want %d", c.why, got, c.compared)
		}
	}
}

func TestTwinFindsOtherWays(t *testing.T) {
	for _, c := range []struct {
		why       string
		change    func(r *record.Record)
		different []int64
		wire      Served
	}{
		{"a waiter that a new instance served", func(r *record.Record) { r.Server.Start, r.Server.StartBy = record.Cold, record.ByOther }, []int64{2}, Served{ByIdle: 2, ByNewStart: 1}},
		{"its own start", func(r *record.Record) { r.Server.Start, r.Server.StartBy = record.Cold, record.ByOwn }, []int64{2}, Served{ByIdle: 2, ByOwnStart: 1}},
		{"waiting for a start and then taking a freed one is no difference", func(r *record.Record) { r.Server.Start = record.ColdWait }, nil, Served{ByIdle: 2, ByFreed: 1}},
		{"a refusal", func(r *record.Record) { r.Outcome, r.Server.Start = record.Rejected, record.Edge }, []int64{2}, Served{ByIdle: 2, ByNothing: 1}},
		{"no label", func(r *record.Record) { r.Server.Start = record.StartUnknown }, []int64{2}, Served{ByIdle: 2, ByUntold: 1}},
		{"a label that does not exist", func(r *record.Record) { r.Server.Start = record.StartKinds }, []int64{2}, Served{ByIdle: 2, ByUntold: 1}},
		{"a time-out", func(r *record.Record) { r.Outcome = record.Timeout }, []int64{2}, Served{ByIdle: 2, ByUntold: 1}},
	} {
		wire := twinRun(2*tms, 5*tms, 8*tms)
		c.change(&wire.Records[2])
		d := Twin(wire, twinRun(2*tms, 5*tms, 8*tms))
		if !slices.Equal(d.Different, c.different) || d.Waves[0].Wire != c.wire || d.Waves[0].Same() != (c.different == nil) {
			t.Errorf("%s: requests %v differ, wave %v, want %v and %v", c.why, d.Different, d.Waves[0].Wire, c.different, c.wire)
		}
	}
}

// Before any instance is ready it is a matter of milliseconds who shares the first one.
func TestTwinOfAWaveFromNothing(t *testing.T) {
	twin, wire := twinRun(2*tms, 5*tms), twinRun(2*tms, 5*tms)
	for i := range twin.Instances {
		twin.Instances[i].Ready = clock.Instant(12 * time.Second)
	}
	for i := range twin.Records {
		twin.Records[i].Server.Start, wire.Records[i].Server.Start = record.Cold, record.Cold
	}
	wire.Records[1].Server.Start = record.Queued
	if d := Twin(wire, twin); d.SameWaves() != 1 || len(d.Different) != 0 || d.Compared != 2 {
		t.Errorf("Twin = %+v, want no difference", d)
	}
	for i := range twin.Instances { // the same on instances that were ready is one
		twin.Instances[i].Ready = clock.Instant(9 * time.Second)
	}
	if d := Twin(wire, twin); d.SameWaves() != 0 || len(d.Different) != 1 {
		t.Errorf("with instances: Twin = %+v, want a difference", d)
	}
}

// Response times are compared by rank in their wave: a swap of two requests is no distance, and a later answer is.
func TestLaterByRank(t *testing.T) {
	twin := twinRun(2*tms, 2*tms, 2*tms)
	wire := twinRun(2*tms, 2*tms, 2*tms)
	wire.Records[0].Done, wire.Records[2].Done = wire.Records[2].Done, wire.Records[0].Done
	if d := Twin(wire, twin); d.Later != Of(make([]time.Duration, 3)) {
		t.Errorf("two requests swapped: %+v, want no distance", d.Later)
	}
	late(wire, 1, 4*tms)
	if d := Twin(wire, twin); d.Later.Max != 4*tms || d.Later.P50 != 0 || d.Later.N != 3 {
		t.Errorf("one answer 4 ms later: %+v, want a maximum of 4 ms and a median of 0", d.Later)
	}
	wire.Records[1].Outcome = record.Timeout
	if d := Twin(wire, twin); d.Later.N != 0 {
		t.Errorf("an answer missing: %d compared, want none: ranks would not match", d.Later.N)
	}
	wire.Records = wire.Records[:2]
	if d := Twin(wire, twin); len(d.Waves) != 1 || d.Waves[0].Twin != (Served{ByIdle: 2}) {
		t.Errorf("a record missing: %+v, want only those with a record", d.Waves)
	}
}

func TestWayNames(t *testing.T) {
	for w := range Ways {
		if w.String() == "" {
			t.Errorf("way %d has no name", w)
		}
	}
	if got := Ways.String(); got != "untold" {
		t.Errorf("a way that does not exist is %q, want untold", got)
	}
}
