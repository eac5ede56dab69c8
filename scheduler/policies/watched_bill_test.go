package policies

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// watchTariff says which time of an instance is billed (CR-31). The sources give no rounding and no price of idle time, so
// they are parameters (U-23).
type watchTariff struct {
	ByInstance bool          // its whole life; else its starts, its requests and its end
	Round      time.Duration // each span is rounded up to a multiple of it; 0: not at all
	Least      time.Duration // the shortest span that is billed; 0: none
}

// watchedBill is a billing meter of one core that computes from what the core was told and what it decided: another way to the
// numbers of analysis.BillOf, which computes from records.
type watchedBill struct {
	t         watchTariff
	instances scheduler.Table[billed]
	on        map[scheduler.RequestID]scheduler.InstanceID // where each running request is
	closed    time.Duration                                // spans that cannot grow any more
	idle      time.Duration
	ready     int // instances that are ready and have no request
	active    int // instances with a request in flight
	least     int // Min
	last      clock.Instant
}

// billed is the present span of one instance that has not ended.
type billed struct {
	up, leaving bool
	requests    int
	open        bool
	from, to    clock.Instant // to: where it was closed
}

// newWatchedBill returns a meter that has seen nothing.
func newWatchedBill(t watchTariff) *watchedBill {
	return &watchedBill{t: t, on: map[scheduler.RequestID]scheduler.InstanceID{}}
}

// Watch follows one call of a core: at what instant it was, what the core was told, and what it decided. For a call that
// told it nothing, as Advance, told is false. The instants must not go back.
func (b *watchedBill) Watch(c *scheduler.Control, at clock.Instant, told bool, ev scheduler.Event, acts []scheduler.Action) {
	b.idle += time.Duration(min(b.ready, max(0, b.least-b.active))) * at.Sub(b.last)
	b.last, b.least = at, c.Config().Min
	if told {
		b.event(at, ev)
	}
	for _, a := range acts {
		b.action(a)
	}
}

func (b *watchedBill) event(at clock.Instant, ev scheduler.Event) {
	switch ev.Kind {
	case scheduler.Done:
		i := b.on[ev.Req]
		delete(b.on, ev.Req)
		b.change(at, i, func(v *billed) { v.requests-- })
	case scheduler.Ready:
		b.change(at, ev.Inst, func(v *billed) { v.up = true })
	case scheduler.Failed, scheduler.Stopped:
		b.end(at, ev.Inst)
	default:
	}
}

func (b *watchedBill) action(a scheduler.Action) {
	switch a.Do {
	case scheduler.Start:
		b.instances.Add(billed{open: true, from: a.At, to: clock.Never})
	case scheduler.Assign:
		b.on[a.Req] = a.Inst
		b.change(a.At, a.Inst, func(v *billed) { v.requests++ })
	case scheduler.Stop:
		b.change(a.At, a.Inst, func(v *billed) { v.leaving = true })
	case scheduler.Lost:
		delete(b.on, a.Req)
	default:
	}
}

// change makes a change to an instance that has not ended, and opens or closes its span.
func (b *watchedBill) change(at clock.Instant, i scheduler.InstanceID, f func(*billed)) {
	v := b.instances.Get(int64(i))
	if v == nil {
		return
	}
	b.count(v, -1)
	f(v)
	b.count(v, 1)
	costs := b.t.ByInstance || !v.up || v.leaving || v.requests > 0
	switch {
	case costs == v.open:
	case !costs:
		v.open, v.to = false, at
	case at == v.to:
		v.open = true // nothing lies between: the span goes on
	default:
		b.closed += b.t.price(v.to.Sub(v.from))
		v.open, v.from = true, at
	}
}

// count adds n to the number of ready or of active instances, whichever v is.
func (b *watchedBill) count(v *billed, n int) {
	switch {
	case v.requests > 0:
		b.active += n
	case v.up && !v.leaving:
		b.ready += n
	}
}

func (b *watchedBill) end(at clock.Instant, i scheduler.InstanceID) {
	v := b.instances.Get(int64(i))
	if v == nil {
		return
	}
	b.count(v, -1)
	b.closed += b.t.price(v.until(at).Sub(v.from))
	b.instances.Drop(int64(i))
}

func (v *billed) until(at clock.Instant) clock.Instant {
	if v.open {
		return at
	}
	return v.to
}

// price rounds one span.
func (t watchTariff) price(d time.Duration) time.Duration {
	d = max(d, t.Least)
	if t.Round > 0 {
		d = time.Duration(ceilDiv(int64(d), int64(t.Round))) * t.Round
	}
	return d
}

// Total returns the instance time that is billed up to now: at the full rate and, unless whole lives are billed, the idle
// time of instances that Min keeps (CR-17), which has a rate of its own.
func (b *watchedBill) Total(now clock.Instant) (full, idle time.Duration) {
	full = b.closed
	for _, v := range b.instances.All() {
		full += b.t.price(v.until(now).Sub(v.from))
	}
	if b.t.ByInstance {
		return full, 0
	}
	return full, b.idle + time.Duration(min(b.ready, max(0, b.least-b.active)))*now.Sub(b.last)
}
