package analysis

import (
	"cmp"
	"slices"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// maxWindows is the most windows of one run. A run that is longer in windows has its tail in the last one.
const maxWindows = 1_000_000

// waves groups the records by wave, in order; records without a wave are left out.
func waves(records []record.Record) []Wave {
	groups := map[int32][]*record.Record{}
	for i := range records {
		if w := records[i].Wave; w >= 0 {
			groups[w] = append(groups[w], &records[i])
		}
	}
	out := make([]Wave, 0, len(groups))
	for number, group := range groups {
		out = append(out, wave(number, group))
	}
	slices.SortFunc(out, func(a, b Wave) int { return cmp.Compare(a.Wave, b.Wave) })
	return out
}

func wave(number int32, group []*record.Record) Wave {
	w := Wave{Wave: number, At: clock.Never, N: len(group)}
	var response []time.Duration
	last := clock.Instant(0)
	for _, r := range group {
		w.At = min(w.At, r.Intended)
		if answered(r) {
			last = max(last, r.Done)
		}
		if r.Outcome == record.Rejected {
			w.Rejected++
		}
		if r.Outcome == record.OK {
			w.ByStart[kind(r)]++
			response = append(response, r.Response())
		}
	}
	w.Response = Of(response)
	w.Makespan = max(last.Sub(w.At), 0)
	return w
}

// windows cuts time from 0 to the end of the run, or to the last successful answer if that is later.
func windows(records []record.Record, length, each time.Duration) []Window {
	end := length
	for i := range records {
		end = max(end, time.Duration(records[i].Intended)+1)
		if records[i].Outcome == record.OK {
			end = max(end, time.Duration(records[i].Done)+1)
		}
	}
	out := make([]Window, min((end+each-1)/each, maxWindows))
	response := make([][]time.Duration, len(out))
	at := func(t clock.Instant) int { return int(max(0, min(time.Duration(t)/each, time.Duration(len(out)-1)))) }
	for i := range records {
		r := &records[i]
		out[at(r.Intended)].N++
		if r.Outcome == record.OK {
			out[at(r.Done)].Answered++
			response[at(r.Intended)] = append(response[at(r.Intended)], r.Response())
		}
	}
	for i := range out {
		w := &out[i]
		w.From, w.Length = clock.Instant(time.Duration(i)*each), each
		w.TPS = float64(w.Answered) / each.Seconds()
		w.Response = Of(response[i])
	}
	return out
}
