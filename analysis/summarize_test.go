package analysis

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

const second = clock.Instant(time.Second)

// answer is a successful request of a wave: sent 1 ms late, last byte after the given response time.
func answer(seq int64, wave int32, at clock.Instant, response time.Duration, kind record.StartKind) record.Record {
	return record.Record{
		Seq: seq, Wave: wave, Intended: at, Sent: at.Add(ms), FirstByte: at.Add(response), Done: at.Add(response),
		Outcome: record.OK, Status: 200, Attempt: 1, Server: record.Server{Start: kind, Source: record.FromPlatform, Queue: 2 * ms, Init: ms},
	}
}

// example is a run of two waves and one stray request: one rejected, one timed out, one dropped.
func example() Input {
	records := []record.Record{
		answer(0, 0, 0, 2*time.Second, record.Cold),
		answer(1, 1, 10*second, 100*ms, record.Warm),
		answer(2, 1, 10*second, 200*ms, record.Queued),
		answer(3, 1, 10*second, 5*ms, record.Edge),
		answer(4, 1, 10*second, 60*time.Second, record.StartUnknown),
		answer(5, -1, 15*second, 300*ms, record.Warm),
		{Seq: 6, Wave: -1, Intended: 15 * second, Sent: clock.Never, FirstByte: clock.Never, Outcome: record.Dropped, Cause: "limit"},
	}
	records[3].Outcome, records[3].Status = record.Rejected, 503
	records[4].Outcome, records[4].Status = record.Timeout, 0
	records[5].Attempt = 3
	return Input{Schedule: scheduleOf(records, 20*time.Second), Records: records}
}

func scheduleOf(records []record.Record, length time.Duration) *workload.Schedule {
	s := &workload.Schedule{Length: length}
	for _, r := range records {
		s.Arrivals = append(s.Arrivals, workload.Arrival{Seq: r.Seq, At: r.Intended, Wave: r.Wave})
	}
	return s
}

func TestSummarizeCounts(t *testing.T) {
	s := Summarize(example())
	if s.Scheduled != 7 || s.Sent != 6 || s.Sent+s.Outcomes[record.Dropped] != s.Scheduled {
		t.Errorf("scheduled, sent, dropped = %d, %d, %d, want 7, 6, 1", s.Scheduled, s.Sent, s.Outcomes[record.Dropped])
	}
	want := [record.Outcomes]int{record.OK: 4, record.Rejected: 1, record.Timeout: 1, record.Dropped: 1}
	if s.Outcomes != want {
		t.Errorf("outcomes = %v, want %v", s.Outcomes, want)
	}
	if s.Resent != 2 {
		t.Errorf("resent = %d, want 2: three writes of one request", s.Resent)
	}
	if s.Waiting != 18*ms {
		t.Errorf("waiting = %v, want 18ms: 3 ms in each of six answers", s.Waiting)
	}
}

// Failed requests have a response time of their own, and none of them makes the successful ones look faster.
func TestSummarizeKeepsFailuresApart(t *testing.T) {
	s := Summarize(example())
	if s.All.N != 5 || s.All.Min != 5*ms {
		t.Errorf("all answers: n %d, min %v, want 5 and 5ms: the rejected one counts, the one that timed out has no answer", s.All.N, s.All.Min)
	}
	if s.OK.N != 4 || s.OK.Min != 100*ms || s.OK.Max != 2*time.Second {
		t.Errorf("successful: n %d, min %v, max %v, want 4, 100ms, 2s", s.OK.N, s.OK.Min, s.OK.Max)
	}
	if s.Service.Max != s.OK.Max-ms || s.SendLag.N != 6 || s.SendLag.Max != ms {
		t.Errorf("service max %v, send lag n %d max %v, want 1 ms below the response, 6, 1ms", s.Service.Max, s.SendLag.N, s.SendLag.Max)
	}
	n := 0
	for _, byStart := range s.ByStart {
		n += byStart.N
	}
	if n != s.OK.N || s.ByStart[record.Warm].N != 2 || s.ByStart[record.Edge].N != 0 {
		t.Errorf("by start kind: %d in all, %d warm, %d edge, want 4, 2, 0", n, s.ByStart[record.Warm].N, s.ByStart[record.Edge].N)
	}
}

func TestSummarizeWaves(t *testing.T) {
	want := []Wave{
		{Wave: 0, At: 0, N: 1, ByStart: [record.StartKinds]int{record.Cold: 1}, Response: Of([]time.Duration{2 * time.Second}), Makespan: 2 * time.Second},
		{Wave: 1, At: 10 * second, N: 4, Rejected: 1, ByStart: [record.StartKinds]int{record.Warm: 1, record.Queued: 1},
			Response: Of([]time.Duration{100 * ms, 200 * ms}), Makespan: 200 * ms},
	}
	if diff := cmp.Diff(want, Summarize(example()).Waves); diff != "" {
		t.Errorf("waves (-want +got):\n%s", diff)
	}
}

func TestSummarizeWindows(t *testing.T) {
	in := example()
	for _, c := range []struct {
		name   string
		length time.Duration
		n      []int // intended in the window
		ended  []int // successful answers that ended in it
	}{
		{"ten seconds unless asked", 0, []int{1, 6}, []int{1, 3}},
		{"a request counts where it was to start, an answer where it ended", 2 * time.Second,
			[]int{1, 0, 0, 0, 0, 4, 0, 2, 0, 0}, []int{0, 1, 0, 0, 0, 2, 0, 1, 0, 0}},
		{"a window that is longer than the run", time.Minute, []int{7}, []int{4}},
	} {
		in.Window = c.length
		var n, ended []int
		for _, w := range Summarize(in).Windows {
			n, ended = append(n, w.N), append(ended, w.Answered)
			if want := float64(w.Answered) / w.Length.Seconds(); w.TPS != want {
				t.Errorf("%s: TPS from %v = %v, want %v", c.name, w.From, w.TPS, want)
			}
		}
		if !slices.Equal(n, c.n) || !slices.Equal(ended, c.ended) {
			t.Errorf("%s: intended %v, answered %v, want %v, %v", c.name, n, ended, c.n, c.ended)
		}
	}
}

// An answer after the schedule's end has a window of its own, so that no answer is lost from the sum.
func TestWindowsReachTheLastAnswer(t *testing.T) {
	in := Input{Records: []record.Record{answer(0, 0, 9*second, 25*time.Second, record.Cold)}}
	in.Schedule = scheduleOf(in.Records, 10*time.Second)
	got := Summarize(in).Windows
	if len(got) != 4 || got[3].Answered != 1 || got[0].Response.N != 1 {
		t.Errorf("windows = %+v, want four, the answer in the last, its response time in the first", got)
	}
}

// A clock that ran away does not take the memory of a window for each second of it.
func TestWindowsAreBounded(t *testing.T) {
	in := Input{Records: []record.Record{answer(0, 0, 0, 1<<62, record.Cold)}, Window: 1}
	in.Schedule = scheduleOf(in.Records, time.Second)
	if got := Summarize(in).Windows; len(got) != maxWindows || got[maxWindows-1].Answered != 1 {
		t.Errorf("%d windows, want %d with the answer in the last", len(got), maxWindows)
	}
}

func TestSummarizeNothing(t *testing.T) {
	s := Summarize(Input{Schedule: &workload.Schedule{}})
	if s.OK.N != 0 || len(s.Waves)+len(s.Windows)+len(s.Warnings) != 0 {
		t.Errorf("Summarize(nothing) = %+v, want nothing", s)
	}
}

// calm returns a run of n requests, one each 10 ms, that nothing can be said against.
func calm(n int) Input {
	var in Input
	for i := range n {
		r := answer(int64(i), -1, clock.Instant(i)*second/100, 100*ms, record.Warm)
		in.Records = append(in.Records, r)
	}
	in.Schedule = scheduleOf(in.Records, time.Duration(n)*10*ms)
	return in
}

func TestWarnings(t *testing.T) {
	late := func(in *Input, from int, by time.Duration) {
		for i := from; i < len(in.Records); i++ {
			in.Records[i].Sent = in.Records[i].Intended.Add(by)
		}
	}
	for _, c := range []struct {
		name   string
		change func(in *Input)
		code   string // "": none
		text   string
		valid  bool
	}{
		{"1 ms late at 100 ms median is within 5 %", func(*Input) {}, "", "", true},
		{"5 % of the median is allowed", func(in *Input) { late(in, 0, 5*ms) }, "", "", true},
		{"6 % is not (R6)", func(in *Input) { late(in, 0, 6*ms) }, WarnSendLag, "send lag p99 6ms is above 5ms", false},
		{"one late request of 200 is not p99", func(in *Input) { late(in, 199, 6*ms) }, "", "", true},
		{"the last request 40 ms late misses the rate", func(in *Input) { late(in, 199, 40*ms) }, WarnRate, "98.0 % of the scheduled rate", false},
		{"one dropped arrival (R6)", func(in *Input) { in.Records[3].Outcome, in.Records[3].Sent = record.Dropped, clock.Never }, WarnDropped, "1 of 200 arrivals were dropped", false},
		{"an arrival without a record (R3)", func(in *Input) { in.Records = in.Records[:199] }, WarnAccount, "200 arrivals were scheduled, 199 were recorded", false},
		{"a re-sent request is told, but the numbers stand", func(in *Input) { in.Records[3].Attempt = 2 }, WarnResent, "1 requests were written", true},
		{"unknown start kinds are told", func(in *Input) { in.Records[3].Server.Start = 0 }, WarnStart, "1 of 200 successful answers", true},
		{"an impossible start kind is unknown", func(in *Input) { in.Records[3].Server.Start = 99 }, WarnStart, "1 of 200 successful answers", true},
	} {
		in := calm(200)
		c.change(&in)
		s := Summarize(in)
		ok, reasons := Valid(s)
		if ok != c.valid || ok != (len(reasons) == 0) {
			t.Errorf("%s: Valid = %v, %q, want %v", c.name, ok, reasons, c.valid)
		}
		if c.code == "" && len(s.Warnings) > 0 || c.code != "" && !warned(s, c.code, c.text) {
			t.Errorf("%s: warnings = %q, want %q with %q", c.name, s.Warnings, c.code, c.text)
		}
	}
}

func warned(s Summary, code, text string) bool {
	return slices.ContainsFunc(s.Warnings, func(w Warning) bool { return w.Code == code && strings.HasPrefix(w.Text, text) })
}

// A failed run whose answers come at once must still be judged against a millisecond.
func TestSendLagLimitHasAFloor(t *testing.T) {
	for median, want := range map[time.Duration]time.Duration{0: ms, 20 * ms: ms, 100 * ms: 5 * ms} {
		if got := SendLagLimit(median); got != want {
			t.Errorf("SendLagLimit(%v) = %v, want %v", median, got, want)
		}
	}
}

func BenchmarkSummarize(b *testing.B) {
	in := calm(1000)
	b.ReportAllocs()
	for b.Loop() {
		Summarize(in)
	}
}
