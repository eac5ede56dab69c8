package analysis

import (
	"cmp"
	"slices"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// TwinGap is how far apart two arrivals must be for their order to be no matter of chance (FR-8).
const TwinGap = 2 * time.Millisecond

// Distance says how far a run on the wire is from its virtual twin: the same schedule, policy, platform and seed in
// virtual time. Both drivers run one core, so what does not hang on milliseconds must be the same (FR-8).
type Distance struct {
	Starts, TwinStarts int
	Waves              []WaveDistance // by number; arrivals without a wave are one, number −1
	Compared           int            // requests that must have been served in the twin's way
	Different          []int64        // seq of those of them that were not
	Later              Stats          // response time − that of the same rank in the twin's wave; negative: earlier
}

// WaveDistance compares how the requests of one wave were served.
type WaveDistance struct {
	Wave       int32
	Wire, Twin Served
}

// Way is what served a request.
type Way uint8

// The ways.
const (
	ByIdle     Way = iota // an instance that was idle
	ByFreed               // an instance that another request had left
	ByOwnStart            // a new instance, started for this request
	ByNewStart            // a new instance, started for another request or for none
	ByNothing             // the scheduler refused it
	ByUntold              // there was no good answer that tells
	Ways                  // number of ways
)

var wayNames = [Ways]string{"idle", "freed", "own_start", "new_start", "refused", "untold"}

func (w Way) String() string { return wayNames[min(w, ByUntold)] }

// Served counts requests by what served them.
type Served [Ways]int

// Same says whether the wave was served in the twin's way.
func (w WaveDistance) Same() bool { return w.Wire == w.Twin }

// SameWaves counts the waves that were served in the twin's way.
func (d *Distance) SameWaves() (n int) {
	for _, w := range d.Waves {
		if w.Same() {
			n++
		}
	}
	return n
}

// Twin compares a run on the wire with its twin, which must hold its schedule, its records and its instances. A request
// that came before any instance was ready counts as served by a freed one, whatever it waited for: whether two of them
// share the first ready instance hangs on milliseconds.
func Twin(wire, twin *Run) Distance {
	pairs := twinPairs(wire, twin)
	d := Distance{Starts: len(wire.Instances), TwinStarts: len(twin.Instances)}
	for _, wave := range byWave(pairs) {
		d.Waves = append(d.Waves, waveDistance(wave))
	}
	d.compareOrdered(pairs)
	d.Later = Of(later(pairs))
	return d
}

// twinPair is one arrival in both runs. Its fields of the wire are meaningless if sent is false.
type twinPair struct {
	wire, twin   *record.Record
	at           clock.Instant // arrival at the scheduler in the twin
	least, most  clock.Instant // on the wire it lies between these: no wait ends early
	cold         bool          // it came before any instance was ready
	before, past clock.Instant // the latest most of those before it in the twin, the earliest least of those after it
}

// twinPairs joins the records by seq, in the twin's order of arrival. A request that has no record on the wire is left out.
func twinPairs(wire, twin *Run) []*twinPair {
	bySeq := make(map[int64]*record.Record, len(wire.Records))
	for i := range wire.Records {
		bySeq[wire.Records[i].Seq] = &wire.Records[i]
	}
	nothing := fromNothing(twin)
	var pairs []*twinPair
	for i := range twin.Records {
		t := &twin.Records[i]
		if w, ok := bySeq[t.Seq]; ok {
			p := &twinPair{wire: w, twin: t, cold: t.Intended < nothing}
			p.place(twin)
			pairs = append(pairs, p)
		}
	}
	slices.SortStableFunc(pairs, func(a, b *twinPair) int { return cmp.Compare(a.at, b.at) })
	return pairs
}

// fromNothing returns the instant at which the first instance was ready.
func fromNothing(r *Run) clock.Instant {
	first := clock.Never
	for i := range r.Instances {
		first = min(first, r.Instances[i].Ready)
	}
	return first
}

// place sets the arrival in the twin, and the bounds of that on the wire: it came after the send and the overhead before
// the scheduler, and before the answer less everything that came between, none of which can have been shorter.
func (p *twinPair) place(twin *Run) {
	demand := twin.Schedule.Arrivals[p.twin.Seq].Demand
	p.at = p.twin.Intended.Add(demand.Pre)
	p.least, p.most = p.wire.Intended.Add(demand.Pre), p.wire.Done
	if p.wire.Sent != clock.Never {
		p.least = p.wire.Sent.Add(demand.Pre)
	}
	if p.wire.Outcome == record.OK {
		p.most = p.wire.Done.Add(-demand.Post - p.wire.Server.Exec - p.wire.Server.Wait())
	}
}

func byWave(pairs []*twinPair) [][]*twinPair {
	groups := map[int32][]*twinPair{}
	for _, p := range pairs {
		groups[p.twin.Wave] = append(groups[p.twin.Wave], p)
	}
	out := make([][]*twinPair, 0, len(groups))
	for _, g := range groups {
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b []*twinPair) int { return cmp.Compare(a[0].twin.Wave, b[0].twin.Wave) })
	return out
}

func waveDistance(wave []*twinPair) WaveDistance {
	d := WaveDistance{Wave: wave[0].twin.Wave}
	for _, p := range wave {
		d.Wire[servedBy(p.wire, p.cold)]++
		d.Twin[servedBy(p.twin, p.cold)]++
	}
	return d
}

// servedBy returns what served a request. One that waited and was not the first on its instance used a freed one, whatever
// it had waited for.
func servedBy(r *record.Record, cold bool) Way {
	switch {
	case r.Outcome == record.Rejected:
		return ByNothing
	case r.Outcome != record.OK:
		return ByUntold
	}
	switch kind(r) {
	case record.Warm:
		return ByIdle
	case record.Queued, record.ColdWait:
		return ByFreed
	case record.Cold:
		return coldWay(r, cold)
	case record.Edge, record.StartUnknown, record.StartKinds:
	}
	return ByUntold
}

func coldWay(r *record.Record, cold bool) Way {
	switch {
	case cold:
		return ByFreed
	case r.Server.StartBy == record.ByOwn:
		return ByOwnStart
	}
	return ByNewStart
}

// compareOrdered compares request by request where the scheduler saw them in the same order: TwinGap apart in the twin,
// and in that order for certain on the wire.
func (d *Distance) compareOrdered(pairs []*twinPair) {
	latest, earliest := clock.Instant(-1), clock.Never
	for i, p := range pairs {
		p.before = latest
		latest = max(latest, p.most)
		back := pairs[len(pairs)-1-i]
		back.past = earliest
		earliest = min(earliest, back.least)
	}
	for i, p := range pairs {
		near := i > 0 && p.at.Sub(pairs[i-1].at) < TwinGap || i+1 < len(pairs) && pairs[i+1].at.Sub(p.at) < TwinGap
		if near || p.before >= p.least || p.past <= p.most {
			continue
		}
		d.Compared++
		if servedBy(p.wire, p.cold) != servedBy(p.twin, p.cold) {
			d.Different = append(d.Different, p.twin.Seq)
		}
	}
}

// later compares the response times of each wave rank by rank, where both runs answered equally many requests: which of two
// requests gets a place is a race, the places are not.
func later(pairs []*twinPair) []time.Duration {
	var out []time.Duration
	for _, wave := range byWave(pairs) {
		var wire, twin []time.Duration
		for _, p := range wave {
			wire, twin = appendOK(wire, p.wire), appendOK(twin, p.twin)
		}
		if len(wire) != len(twin) {
			continue
		}
		slices.Sort(wire)
		slices.Sort(twin)
		for i := range wire {
			out = append(out, wire[i]-twin[i])
		}
	}
	return out
}

func appendOK(to []time.Duration, r *record.Record) []time.Duration {
	if r.Outcome != record.OK {
		return to
	}
	return append(to, r.Response())
}
