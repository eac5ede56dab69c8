package platform

import (
	"cmp"
	"errors"
	"math"
	"math/bits"
	"slices"
	"time"

	"coldwave/internal/clock"
	"coldwave/workload"
)

// ErrMemory is why an instance fails that needs more memory than it has.
var ErrMemory = errors.New("memory_limit")

// Instance is what happens on one ready instance: its bodies wait and compute, and where they ask for more CPU than there
// is, each that computes gets an equal share (processor sharing). It owns no clock: it is told the time, and Next says when
// to come back.
//
// A body first waits, as for what it calls, and then computes. With nothing in its way it takes its execution time; its CPU
// time is a part of that. A body on several threads works on all of them at once.
//
// Times are whole nanoseconds and work is counted in thousandths of one, so that nothing depends on how often it was asked:
// a body ends in the first nanosecond in which its work is done, and what its share leaves of that goes to the others. An
// event costs the logarithm of the number of bodies, Leave their number.
type Instance struct {
	r     Resources
	since clock.Instant // it was ready
	now   clock.Instant

	// All that compute have the same share, so one number says what each has got.
	got      uint64 // by one that has computed from the start, in thousandths of a nanosecond; it wraps
	carry    uint64 // work that was done and does not divide by their number; less than that
	runnable heap[runner]
	asleep   heap[sleeper]

	used  cpuTime // background included
	ended []Ended
	peak  int // most requests in flight at once
}

// Ended is a body that is over.
type Ended struct {
	ID int64
	At clock.Instant
}

// runner is a body that computes: until got reaches its end.
type runner struct {
	end uint64
	id  int64
}

func (a runner) before(b runner) bool {
	if d := int64(a.end - b.end); d != 0 {
		return d < 0
	}
	return a.id < b.id
}

// sleeper is a body that does not compute yet.
type sleeper struct {
	at   clock.Instant
	id   int64
	work time.Duration // afterwards
}

func (a sleeper) before(b sleeper) bool { return a.at < b.at || a.at == b.at && a.id < b.id }

// Instance returns an instance of these resources that becomes ready at an instant. They must pass Check.
func (r Resources) Instance(ready clock.Instant) *Instance {
	return &Instance{r: r, since: ready, now: ready}
}

// Arrive lets the body of request id begin, at an instant not before the last one. With ErrMemory it does not: the
// instance has failed, and all that is on it is lost.
func (i *Instance) Arrive(at clock.Instant, id int64, d workload.Demand) error {
	i.Advance(at)
	if m := i.r.Memory; m.Limit > 0 && i.memory(i.InFlight()+1) > m.Limit {
		return ErrMemory
	}
	work := max(0, d.CPU)
	wait := max(0, d.Exec-i.r.alone(work))
	i.asleep.push(sleeper{at.Add(wait), id, work})
	i.peak = max(i.peak, i.InFlight())
	i.settle()
	return nil
}

// Leave takes away a body that is not over, and reports whether there was one.
func (i *Instance) Leave(at clock.Instant, id int64) bool {
	i.Advance(at)
	if i.asleep.remove(func(s sleeper) bool { return s.id == id }) {
		return true
	}
	found := i.runnable.remove(func(r runner) bool { return r.id == id })
	i.divide()
	return found
}

// Advance brings the instance to an instant not before the last one.
func (i *Instance) Advance(to clock.Instant) {
	for at := i.Next(); at <= to; at = i.Next() {
		i.flow(at)
		i.settle()
	}
	i.flow(to)
}

// Next returns when something happens next on the instance, Never if nothing does. A body may end then, but need not.
func (i *Instance) Next() clock.Instant {
	next := clock.Never
	if len(i.asleep) > 0 {
		next = i.asleep[0].at
	}
	if len(i.runnable) == 0 {
		return next
	}
	peak, until := i.r.Background.peak(i.now.Sub(i.since))
	if until != math.MaxInt64 {
		next = min(next, i.since.Add(until))
	}
	left := i.runnable[0].end - i.got
	if int64(left) <= 0 {
		return i.now
	}
	rate, capacity := i.r.rate(), i.r.capacity(peak)
	n := int64(len(i.runnable))
	if n*rate <= capacity {
		return min(next, i.now+clock.Instant((left+uint64(rate)-1)/uint64(rate)))
	}
	hi, lo := bits.Mul64(uint64(n), left)
	lo, borrow := bits.Sub64(lo, i.carry, 0)
	hi -= borrow
	lo, over := bits.Add64(lo, uint64(capacity-1), 0)
	if hi += over; hi >= uint64(capacity) {
		return next
	}
	wait, _ := bits.Div64(hi, lo, uint64(capacity))
	if wait >= uint64(clock.Never-i.now) {
		return next
	}
	return min(next, i.now+clock.Instant(wait))
}

// Take returns the bodies that are over since it was asked last, in order of instant and then of id. They are good until
// the next call of any method.
func (i *Instance) Take() []Ended {
	all := i.ended
	i.ended = i.ended[:0]
	return all
}

// InFlight is the number of bodies that are not over.
func (i *Instance) InFlight() int { return len(i.asleep) + len(i.runnable) }

// flow lets the time to an instant pass, within which nothing happens.
func (i *Instance) flow(to clock.Instant) {
	d := to.Sub(i.now)
	if d <= 0 {
		return
	}
	b, age := i.r.Background, i.now.Sub(i.since)
	i.used.add(b.Milli, d)
	i.used.add(b.Peak, b.inPeaks(age+d)-b.inPeaks(age))
	if n := int64(len(i.runnable)); n > 0 {
		peak, _ := b.peak(age)
		i.share(n, i.r.capacity(peak), d)
	}
	i.now = to
}

// share divides what the CPUs do in a time among n bodies.
func (i *Instance) share(n, capacity int64, d time.Duration) {
	rate := i.r.rate()
	if n*rate <= capacity {
		i.got += uint64(rate) * uint64(d)
		i.used.add(n*rate, d)
		return
	}
	hi, lo := bits.Mul64(uint64(capacity), uint64(d))
	lo, over := bits.Add64(lo, i.carry, 0)
	each, rest := bits.Div64(hi+over, lo, uint64(n)) // Next came before any body had more than an Arrive may bring
	i.used.add(capacity, d)
	i.used.addPart(int64(i.carry) - int64(rest))
	i.got += each
	i.carry = rest
}

// settle ends the bodies that are done and lets those compute whose wait is over.
func (i *Instance) settle() {
	from := len(i.ended)
	for {
		switch {
		case len(i.runnable) > 0 && int64(i.got-i.runnable[0].end) >= 0:
			i.end()
		case len(i.asleep) > 0 && i.asleep[0].at <= i.now:
			s := i.asleep.pop()
			i.runnable.push(runner{i.got + 1000*uint64(s.work), s.id})
		default:
			if len(i.ended)-from > 1 {
				slices.SortFunc(i.ended[from:], func(a, b Ended) int { return cmp.Compare(a.ID, b.ID) })
			}
			return
		}
	}
}

// end ends the body that is done first. What it got of the last nanosecond beyond its work goes to the others, if they
// lack CPU.
func (i *Instance) end() {
	r := i.runnable.pop()
	over := i.got - r.end
	i.used.addPart(-int64(over))
	peak, _ := i.r.Background.peak(i.now.Sub(i.since))
	if int64(len(i.runnable))*i.r.rate() > i.r.capacity(peak) {
		i.carry += over
	}
	i.ended = append(i.ended, Ended{r.id, i.now})
	i.divide()
}

// divide gives what was left over to those who are left.
func (i *Instance) divide() {
	n := uint64(len(i.runnable))
	if n == 0 {
		i.carry = 0
		return
	}
	each := i.carry / n
	i.got += each
	i.carry %= n
	i.used.addPart(int64(each * n))
}

// memory is what n requests in flight need.
func (i *Instance) memory(n int) int64 {
	m := i.r.Memory
	if m.Request > 0 && int64(n) > MaxMemory/m.Request {
		return math.MaxInt64
	}
	return m.Base + m.Request*int64(n)
}

// Load is what an instance reports of itself.
type Load struct {
	At       clock.Instant
	CPU      time.Duration // used since it was ready, background included
	InFlight int
	Memory   int64 // bytes in use
	Peak     int64 // most bytes at once since it was ready
}

// Load returns the load at the instant to which the instance was brought last.
func (i *Instance) Load() Load {
	return Load{
		At: i.now, CPU: time.Duration(i.used.ns), InFlight: i.InFlight(), Memory: i.memory(i.InFlight()), Peak: i.memory(i.peak),
	}
}

// SampleEvery is the time between two samples of an instance's load.
const SampleEvery = time.Second

// MilliCPUs is the CPU use from one load to a later one, in thousandths of a CPU, rounded down. What lies within one
// SampleEvery counts as its use: an instance that has just become ready has not used the whole of it.
func (l Load) MilliCPUs(before Load) int64 {
	return int64((l.CPU - before.CPU) * 1000 / max(SampleEvery, l.At.Sub(before.At)))
}

// cpuTime is CPU time in nanoseconds and thousandths of them.
type cpuTime struct {
	ns, part int64 // 0 ≤ part < 1000
}

// add adds the time d on so many thousandths of a CPU.
func (t *cpuTime) add(milli int64, d time.Duration) {
	t.ns += int64(d) / 1000 * milli
	t.addPart(int64(d) % 1000 * milli)
}

// addPart adds thousandths of a nanosecond.
func (t *cpuTime) addPart(part int64) {
	part += t.part
	t.ns += part / 1000
	if t.part = part % 1000; t.part < 0 {
		t.part += 1000
		t.ns--
	}
}
