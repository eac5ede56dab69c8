package analysis

import (
	"errors"
	"fmt"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/hdr"
	"coldwave/record"
	"coldwave/workload"
)

// DefaultExact is the number of requests up to which every response time of a run is kept.
const DefaultExact = 1_000_000

// streamRange is the range of the histograms of a Stream: a request may wait as long as the simulator's patience, a day.
const streamRange = 25 * time.Hour

// Stream adds up a run of the simulator record by record, in memory that does not grow with the number of records: the
// response times are counted in histograms of three digits. Waves and windows, which would need one histogram each, are
// left out, and so is a bill by request, which is made of single spans. In virtual time nothing can be late, so service times are response times and no send lag is counted.
type Stream struct {
	counts    [record.Outcomes]int
	byStart   [record.StartKinds]*hdr.Histogram // successful requests
	others    *hdr.Histogram                    // other answers
	uses      Attribution
	unwritten error
}

// NewStream returns a stream that has seen nothing.
func NewStream() *Stream {
	s := &Stream{others: hdr.New(streamRange)}
	for k := range s.byStart {
		s.byStart[k] = hdr.New(streamRange)
	}
	return s
}

// Add counts one record. It does not keep it.
func (s *Stream) Add(r *record.Record) {
	o := r.Outcome
	if o >= record.Outcomes {
		o = record.Unknown
	}
	s.counts[o]++
	s.uses.add(r)
	if !answered(r) {
		return
	}
	h := s.others
	if o == record.OK {
		h = s.byStart[kind(r)]
	}
	if err := h.Record(r.Response()); err != nil && s.unwritten == nil {
		s.unwritten = fmt.Errorf("request %d: %w", r.Seq, err)
	}
}

// Summary returns what the records added up to. Scheduled is the number of arrivals, length that of the schedule; the
// tariff may be nil. An error says that a response time could not be counted.
func (s *Stream) Summary(scheduled int, length time.Duration, instances []record.Instance, t *Tariff) (Summary, error) {
	end := clock.Instant(length)
	out := Summary{
		Scheduled: scheduled, Sent: sent(s.counts), Outcomes: s.counts, Buckets: true, Instances: Total(instances, end), Usage: UsageOf(instances), Uses: s.uses,
	}
	all, ok := hdr.New(streamRange), hdr.New(streamRange)
	errs := []error{s.unwritten}
	for k, h := range s.byStart {
		out.ByStart[k] = describeBuckets(h)
		out.Waiting += s.uses.Waiting[k]
		errs = append(errs, ok.Merge(h))
	}
	errs = append(errs, all.Merge(ok), all.Merge(s.others))
	out.All, out.OK = describeBuckets(all), describeBuckets(ok)
	out.Service = out.OK
	out.SendLag = Stats{N: out.Sent}
	out.Uses.starts(instances, end)
	out.Bill = BillOf(t, Input{Schedule: &workload.Schedule{Length: length}, Instances: instances})
	out.Bill.ByRequest = Charge{}
	out.Warnings = warnings(&out, 1)
	return out, errors.Join(errs...)
}

// describeBuckets describes a sample by its histogram. N, mean, minimum and maximum are exact.
func describeBuckets(h *hdr.Histogram) Stats {
	if h.Count() == 0 {
		return Stats{}
	}
	at := func(q float64) time.Duration { v, _ := h.Quantile(q); return v.At }
	out := Stats{N: int(h.Count()), P50: at(0.50), P90: at(0.90), P95: at(0.95), P99: at(0.99)}
	out.Mean, _ = h.Mean()
	out.Min, _ = h.Min()
	out.Max, _ = h.Max()
	return out
}
