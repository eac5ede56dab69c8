package analysis

import (
	"cmp"
	"slices"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// Basis says what time a meter counts.
type Basis uint8

// The bases.
const (
	Executions Basis = iota // each request by itself, while it runs
	Stretches               // the time in which an instance has at least one request
	Lives                   // instances whole, from the decision to start until their end
)

// Meter is one way to bill the time of instances. Its zero value bills each execution to the nanosecond.
type Meter struct {
	Basis    Basis
	StartUps bool          // start-ups count too, each together with a request that follows at once. Lives hold them anyway
	Round    time.Duration // each span is rounded up to a multiple of it; 0: not at all
	Least    time.Duration // the shortest span that is billed; 0: none
}

// Tariff is how a platform bills, as far as its documents say. The sources stand in docs/policies/billing.md.
type Tariff struct {
	Platform   string
	ByRequest  *Meter // nil: not documented
	ByInstance *Meter // nil: not documented

	// Time with a rate of its own, in the bill by request.
	Kept          int           // so many instances cost while they are idle, less those that are active (CR-17)
	Reserved      int           // so many instances cost from the beginning to the end of the run, whatever they do (LA-6)
	ReservedRound time.Duration // that time is rounded up to a multiple of it
}

// Bill is the instance-time that a platform would bill for a run.
type Bill struct {
	ByRequest, ByInstance Charge
}

// Charge is what one meter counted.
type Charge struct {
	OK    bool          // false: not documented, or the run kept too little to tell
	Full  time.Duration // at the full rate
	Apart time.Duration // at a rate of its own: idle instances that are kept, or reserved ones
}

// BillOf returns what a platform with that tariff would bill for the instances of a run. A start-up counts until the
// instance is ready or has failed. Time in flight that no record tells, as that of a request whose client went away, is
// added as it is. How long the end of an instance takes is not in the table of instances and is not counted.
//
// Instances that live beyond the end of the schedule count until then, or until the end of their last request: what a
// run costs must not depend on how fast it is torn down.
func BillOf(t *Tariff, in Input) Bill {
	if t == nil {
		return Bill{}
	}
	b := newBooks(in)
	var out Bill
	if m := t.ByRequest; m != nil {
		out.ByRequest = Charge{OK: true, Full: b.full(*m), Apart: b.kept(t.Kept) + reserved(t, in.Schedule.Length)}
	}
	if m := t.ByInstance; m != nil {
		out.ByInstance = Charge{OK: true, Full: b.full(*m)}
	}
	return out
}

// reserved is the time of instances that are paid for all the time.
func reserved(t *Tariff, length time.Duration) time.Duration {
	return time.Duration(t.Reserved) * roundUp(length, t.ReservedRound)
}

// A stretch is a part of an instance's life.
type stretch struct{ from, to clock.Instant }

func (s stretch) length() time.Duration { return s.to.Sub(s.from) }

// account is one instance with what ran on it.
type account struct {
	*record.Instance
	runs []stretch // in order of their beginning
	end  clock.Instant
}

// books are the accounts of all instances of a run.
type books []account

func newBooks(in Input) books {
	b := make(books, len(in.Instances))
	place := make(map[int32]int, len(b))
	for i := range b {
		b[i].Instance, b[i].end = &in.Instances[i], clock.Instant(in.Schedule.Length)
		place[b[i].ID] = i
	}
	for i := range in.Records {
		r := &in.Records[i]
		k, known := place[InstanceID(r.Server.Instance)]
		if e := ExecutionOf(in.Schedule, r); known && e.From < e.To {
			b[k].runs = append(b[k].runs, stretch{e.From, e.To})
			b[k].end = max(b[k].end, e.To)
		}
	}
	for i := range b {
		b[i].end = min(b[i].end, b[i].Stopped)
		slices.SortFunc(b[i].runs, func(x, y stretch) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to)) })
	}
	return b
}

// full adds up what a meter counts.
func (b books) full(m Meter) (sum time.Duration) {
	for i := range b {
		a := &b[i]
		if m.Basis == Lives {
			sum += m.price(span(a.Started, a.end, a.end))
			continue
		}
		for _, s := range a.spans(m) {
			sum += m.price(s.length())
		}
		sum += a.untold()
	}
	return sum
}

// price rounds one span.
func (m Meter) price(d time.Duration) time.Duration { return roundUp(max(d, m.Least), m.Round) }

func roundUp(d, unit time.Duration) time.Duration {
	if unit <= 0 {
		return d
	}
	return (d + unit - 1) / unit * unit
}

// spans lists what a meter counts of an instance's executions, and of its start-up if the meter counts it.
func (a *account) spans(m Meter) []stretch {
	spans := a.runs
	if m.Basis == Stretches {
		spans = united(spans)
	}
	up := stretch{a.Started, min(a.Ready, a.end)}
	switch {
	case !m.StartUps || up.from >= up.to:
	case len(spans) > 0 && spans[0].from <= up.to:
		spans = slices.Clone(spans)
		spans[0] = stretch{up.from, max(up.to, spans[0].to)}
	default:
		spans = append([]stretch{up}, spans...)
	}
	return spans
}

// united merges stretches that touch; they are in order of their beginning.
func united(all []stretch) []stretch {
	var out []stretch
	for _, s := range all {
		if k := len(out) - 1; k >= 0 && s.from <= out[k].to {
			out[k].to = max(out[k].to, s.to)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// untold is the time in flight that no record tells.
func (a *account) untold() time.Duration {
	told := time.Duration(0)
	for _, s := range united(a.runs) {
		told += s.length()
	}
	return max(0, a.Busy-told)
}

// kept is the idle time of up to n instances, less those that are active at the same time (CR-17).
func (b books) kept(n int) (sum time.Duration) {
	if n <= 0 {
		return 0
	}
	type change struct {
		at            clock.Instant
		ready, active int
	}
	var changes []change
	add := func(s stretch, ready, active int) {
		if s.from < s.to {
			changes = append(changes, change{s.from, ready, active}, change{s.to, -ready, -active})
		}
	}
	for i := range b {
		a := &b[i]
		add(stretch{a.Ready, a.end}, 1, 0)
		for _, s := range united(a.runs) {
			add(stretch{max(s.from, a.Ready), min(s.to, a.end)}, 0, 1)
		}
	}
	slices.SortStableFunc(changes, func(x, y change) int { return cmp.Compare(x.at, y.at) })
	ready, active := 0, 0
	for i, c := range changes {
		if i > 0 {
			sum += time.Duration(max(0, min(ready-active, n-active))) * c.at.Sub(changes[i-1].at)
		}
		ready, active = ready+c.ready, active+c.active
	}
	return sum
}
