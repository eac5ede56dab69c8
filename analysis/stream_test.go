package analysis

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/record"
)

// virtualRun is a run as the simulator records it: nothing is sent late. The response times are bimodal, as with cold
// starts.
func virtualRun(n int) Input {
	r := rng.Stream(1, "stream")
	records := make([]record.Record, n)
	for i := range records {
		at := clock.Instant(i) * clock.Instant(ms)
		response, kind, by := time.Duration(100_000_000+r.Int64N(20_000_000)), record.Warm, record.ByNone
		if r.Int64N(20) == 0 {
			response, kind, by = time.Duration(1_700_000_000+r.Int64N(1_300_000_000)), record.Cold, record.ByOwn
		}
		records[i] = record.Record{
			Seq: int64(i), Wave: -1, Intended: at, Sent: at, FirstByte: at.Add(response), Done: at.Add(response), Outcome: record.OK,
			Status: 200, Attempt: 1, Server: record.Server{Start: kind, StartBy: by, Init: response / 2, Source: record.FromPlatform},
		}
	}
	records[3].Outcome, records[3].Server = record.Rejected, record.Server{Start: record.Edge, StartBy: record.ByNone, Queue: ms}
	records[4].Outcome = record.HTTPError
	return Input{Schedule: scheduleOf(records, time.Duration(n)*ms), Records: records, Instances: []record.Instance{
		{ID: 1, Cause: "r-0", First: "r-0", Ready: second, Stopped: clock.Never, Served: 9, Busy: time.Second}, {ID: 2, Cause: "r-1", Ready: clock.Never, Stopped: clock.Never},
	}}
}

func streamed(t *testing.T, in Input) Summary {
	t.Helper()
	s := NewStream()
	for i := range in.Records {
		s.Add(&in.Records[i])
	}
	out, err := s.Summary(len(in.Schedule.Arrivals), in.Schedule.Length, in.Instances, in.Tariff)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A stream gives what Summarize gives, but for waves, windows and the third digit of quantiles.
func TestStreamEqualsSummarize(t *testing.T) {
	in := virtualRun(20_000)
	in.Tariff = &Tariff{ByRequest: &Meter{}, ByInstance: &Meter{Basis: Lives, Round: time.Minute}}
	want, got := Summarize(in), streamed(t, in)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Summary{}, "Waves", "Windows", "Buckets"), cmpopts.IgnoreFields(Bill{}, "ByRequest"), cmpopts.IgnoreFields(Stats{}, "P50", "P90", "P95", "P99")); diff != "" {
		t.Errorf("streamed summary (-exact +streamed):\n%s", diff)
	}
	if !got.Buckets || want.Buckets {
		t.Errorf("buckets: streamed %v, exact %v, want true and false", got.Buckets, want.Buckets)
	}
	if got.Bill.ByRequest.OK || !want.Bill.ByRequest.OK || !got.Bill.ByInstance.OK {
		t.Errorf("bills: streamed %+v, exact %+v, want one by request of the exact run only", got.Bill, want.Bill)
	}
	for _, q := range []struct {
		name        string
		exact, from time.Duration
	}{
		{"p50", want.OK.P50, got.OK.P50}, {"p90", want.OK.P90, got.OK.P90}, {"p95", want.OK.P95, got.OK.P95}, {"p99", want.OK.P99, got.OK.P99},
		{"p99 of the cold ones", want.ByStart[record.Cold].P99, got.ByStart[record.Cold].P99},
	} {
		if q.from < q.exact || q.from > q.exact+q.exact/1000 {
			t.Errorf("%s = %v, want %v or up to 0.1 %% more", q.name, q.from, q.exact)
		}
	}
}

func TestStreamOfNothing(t *testing.T) {
	s := streamed(t, Input{Schedule: scheduleOf(nil, 0)})
	if s.OK.N != 0 || s.OK != (Stats{}) || s.Sent != 0 || len(s.Warnings) != 0 {
		t.Errorf("summary of nothing = %+v, want zeros", s)
	}
}

func TestStreamTellsWhatItCouldNotCount(t *testing.T) {
	s := NewStream()
	s.Add(&record.Record{Seq: 7, Outcome: record.OK, Intended: 10, Done: 5})
	if _, err := s.Summary(1, time.Second, nil, nil); err == nil || !strings.Contains(err.Error(), "request 7") {
		t.Errorf("an answer before its request: %v, want an error that names request 7", err)
	}
	s = NewStream()
	s.Add(&record.Record{Outcome: record.Outcomes})
	if got, err := s.Summary(2, time.Second, nil, nil); err != nil || got.Outcomes[record.Unknown] != 1 || len(got.Warnings) != 1 {
		t.Errorf("an outcome that does not exist: %+v, %v, want one unknown and a warning that one record is missing", got, err)
	}
}

// No memory for a request: this is what the stream is for.
func TestStreamAllocatesNothing(t *testing.T) {
	s, r := NewStream(), &virtualRun(10).Records[0]
	if n := testing.AllocsPerRun(1000, func() { s.Add(r) }); n != 0 {
		t.Errorf("Add allocates %v times, want 0", n)
	}
}

func BenchmarkStreamAdd(b *testing.B) {
	s, in := NewStream(), virtualRun(1000)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		s.Add(&in.Records[i])
		i = (i + 1) % len(in.Records)
	}
}
