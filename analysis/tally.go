package analysis

import (
	"cmp"
	"math"
	"slices"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

// Tally adds up a run record by record, in any order, and gives the summary that Summarize gives of all of them: exact
// order statistics, waves and windows. Of a record it keeps four numbers, 25 bytes, and needs 8 more while it adds up. A
// bill by request is left out, because it is made of single spans.
type Tally struct {
	window time.Duration
	rows   rows
	counts [record.Outcomes]int
	uses   Attribution
	resent int
	waves  map[int32]*waveTally

	first, last clock.Instant // intended starts
	sent        clock.Instant // the last actual send
	end         time.Duration // just after the last intended start, or the last good answer
	perWindow   []Window      // N and Answered
}

// rows are the columns of the records: response time and send lag, the wave, what the request was, and the window of its
// intended start.
type rows struct {
	response []time.Duration
	lag      []time.Duration // notSent: never sent
	wave     []int32
	window   []int32
	fate     []fate
}

// notSent is the send lag of what was never sent. No lag is that small.
const notSent = time.Duration(math.MinInt64)

// fate says of which samples a record is: none, those of the answered, or those of the successful by start kind.
type fate uint8

const (
	unanswered fate = iota
	failed
	successful // + start kind
)

// waveTally is what is counted of a wave.
type waveTally struct {
	Wave
	last clock.Instant
}

// NewTally returns a tally without a record, of windows of that length (0: DefaultWindow), with room for that many records.
func NewTally(window time.Duration, room int) *Tally {
	return &Tally{
		window: cmp.Or(max(window, 0), DefaultWindow), waves: map[int32]*waveTally{}, first: clock.Never,
		rows: rows{
			response: make([]time.Duration, 0, room), lag: make([]time.Duration, 0, room),
			wave: make([]int32, 0, room), window: make([]int32, 0, room), fate: make([]fate, 0, room),
		},
	}
}

// Add counts one record. It does not keep it.
func (t *Tally) Add(r *record.Record) {
	o := min(r.Outcome, record.Outcomes)
	if o < record.Outcomes {
		t.counts[o]++
	}
	t.uses.add(r)
	t.resent += max(int(r.Attempt)-1, 0)
	t.first, t.last = min(t.first, r.Intended), max(t.last, r.Intended)
	lag := notSent
	if r.Sent != clock.Never {
		lag, t.sent = r.SendLag(), max(t.sent, r.Sent)
	}
	window := t.windowOf(r)
	t.rows.add(r, lag, window)
	if r.Wave >= 0 {
		t.waveOf(r)
	}
}

func (t *rows) add(r *record.Record, lag time.Duration, window int) {
	f, response := unanswered, time.Duration(0)
	if answered(r) {
		f, response = failed, r.Response()
		if r.Outcome == record.OK {
			f = successful + fate(kind(r))
		}
	}
	t.response, t.lag, t.fate = append(t.response, response), append(t.lag, lag), append(t.fate, f)
	t.wave, t.window = append(t.wave, r.Wave), append(t.window, int32(window))
}

// windowOf counts the record in its windows and returns that of its intended start.
func (t *Tally) windowOf(r *record.Record) int {
	window := t.at(r.Intended)
	t.perWindow[window].N++
	t.end = max(t.end, time.Duration(r.Intended)+1)
	if r.Outcome == record.OK {
		t.end = max(t.end, time.Duration(r.Done)+1)
		t.perWindow[t.at(r.Done)].Answered++
	}
	return window
}

// at returns the window of an instant, and makes it.
func (t *Tally) at(at clock.Instant) int {
	k := int(max(0, min(time.Duration(at)/t.window, maxWindows-1)))
	for len(t.perWindow) <= k {
		t.perWindow = append(t.perWindow, Window{})
	}
	return k
}

func (t *Tally) waveOf(r *record.Record) {
	w := t.waves[r.Wave]
	if w == nil {
		w = &waveTally{Wave: Wave{Wave: r.Wave, At: clock.Never}}
		t.waves[r.Wave] = w
	}
	w.N++
	w.At = min(w.At, r.Intended)
	if answered(r) {
		w.last = max(w.last, r.Done)
	}
	switch r.Outcome { //nolint:exhaustive // the others are no part of a wave's line
	case record.Rejected:
		w.Rejected++
	case record.OK:
		w.ByStart[kind(r)]++
	}
}

// Summary returns what the records added up to. Scheduled is the number of arrivals; of the schedule only the length is
// needed. The tally can go on afterwards.
func (t *Tally) Summary(scheduled int, in Input) Summary {
	end := clock.Instant(in.Schedule.Length)
	s := Summary{Scheduled: scheduled, Outcomes: t.counts, Sent: sent(t.counts), Uses: t.uses, Resent: t.resent}
	s.ofInstances(in)
	for _, waited := range t.uses.Waiting {
		s.Waiting += waited
	}
	t.samples(&s)
	s.Waves, s.Windows = t.waveLines(), t.windowLines(in.Schedule.Length)
	s.Uses.starts(in.Instances, end)
	s.Bill = BillOf(in.Tariff, Input{Schedule: &workload.Schedule{Length: in.Schedule.Length}, Instances: in.Instances})
	s.Bill.ByRequest = Charge{}
	s.Warnings = warnings(&s, t.rateShare(&s))
	return s
}

// samples fills in everything that is a sample over the whole run.
func (t *Tally) samples(s *Summary) {
	r := &t.rows
	isOK := func(i int) int { return yes(r.fate[i] >= successful) }
	one := func(group func(i int) int, value func(i int) time.Duration) Stats {
		return t.grouped(1, group, value)[0]
	}
	response := func(i int) time.Duration { return r.response[i] }
	s.SendLag = one(func(i int) int { return yes(r.lag[i] != notSent) }, func(i int) time.Duration { return r.lag[i] })
	s.OK = one(isOK, response)
	if s.All = s.OK; slices.Contains(r.fate, failed) { // else the same sample would be sorted twice
		s.All = one(func(i int) int { return yes(r.fate[i] != unanswered) }, response)
	}
	if s.Service = s.OK; slices.ContainsFunc(r.lag, func(lag time.Duration) bool { return lag != 0 }) {
		s.Service = one(isOK, func(i int) time.Duration { return r.service(i) })
	}
	copy(s.ByStart[:], t.grouped(len(s.ByStart), func(i int) int { return int(r.fate[i]) - int(successful) }, response))
}

// service is the service time of row i, and zero if nothing was sent.
func (t *rows) service(i int) time.Duration {
	if t.lag[i] == notSent {
		return 0
	}
	return t.response[i] - t.lag[i]
}

// yes is the only group there is, or none.
func yes(in bool) int {
	if in {
		return 0
	}
	return -1
}

// grouped describes the values of n groups. Group returns the group of a row, or a negative number for none.
func (t *Tally) grouped(n int, group func(i int) int, value func(i int) time.Duration) []Stats {
	ends := make([]int, n+1)
	for i := range t.rows.fate {
		if g := group(i); g >= 0 {
			ends[g+1]++
		}
	}
	for g := range n {
		ends[g+1] += ends[g]
	}
	values := make([]time.Duration, ends[n])
	at := slices.Clone(ends)
	for i := range t.rows.fate {
		if g := group(i); g >= 0 {
			values[at[g]] = value(i)
			at[g]++
		}
	}
	out := make([]Stats, n)
	for g := range out {
		out[g] = ofOwn(values[ends[g]:ends[g+1]])
	}
	return out
}

func (t *Tally) waveLines() []Wave {
	out := make([]Wave, 0, len(t.waves))
	for _, w := range t.waves {
		line := w.Wave
		line.Makespan = max(w.last.Sub(w.At), 0)
		out = append(out, line)
	}
	slices.SortFunc(out, func(a, b Wave) int { return cmp.Compare(a.Wave, b.Wave) })
	place := make(map[int32]int, len(out))
	for i := range out {
		place[out[i].Wave] = i
	}
	stats := t.grouped(len(out), func(i int) int {
		if t.rows.wave[i] < 0 || t.rows.fate[i] < successful {
			return -1
		}
		return place[t.rows.wave[i]]
	}, func(i int) time.Duration { return t.rows.response[i] })
	for i := range out {
		out[i].Response = stats[i]
	}
	return out
}

// windowLines cuts time from 0 to the end of the run, or to the last successful answer if that is later.
func (t *Tally) windowLines(length time.Duration) []Window {
	end := max(length, t.end)
	out := make([]Window, min((end+t.window-1)/t.window, maxWindows))
	copy(out, t.perWindow)
	stats := t.grouped(len(out), func(i int) int {
		if t.rows.fate[i] < successful {
			return -1
		}
		return int(t.rows.window[i])
	}, func(i int) time.Duration { return t.rows.response[i] })
	for i := range out {
		w := &out[i]
		w.From, w.Length = clock.Instant(time.Duration(i)*t.window), t.window
		w.TPS = float64(w.Answered) / t.window.Seconds()
		w.Response = stats[i]
	}
	return out
}

// rateShare is that of Summarize, with the intended starts that were seen.
func (t *Tally) rateShare(s *Summary) float64 {
	if s.Scheduled == 0 {
		return 1
	}
	share := float64(s.Sent) / float64(s.Scheduled)
	if len(t.rows.fate) == 0 {
		return share
	}
	return share * reached(t.last.Sub(t.first), t.sent.Sub(t.last))
}
