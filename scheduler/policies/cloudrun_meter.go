package policies

import (
	"math/bits"
	"time"

	"coldwave/internal/clock"
)

const (
	second     = clock.Instant(time.Second)
	minute     = 60 * second
	tenMinutes = 600 * second
)

// meter sums a level, or what is added, over the last 60 and 600 full seconds. The sums run along, so that reading
// them costs nothing however long the windows are.
type meter struct {
	level int64         // what holds since last
	begin clock.Instant // since when it sees; Never: not yet
	last  clock.Instant // summed up to
	now   int64         // of the second that has not ended
	past  [600]int64    // of each full second, a ring
	head  int           // the oldest of past, which is overwritten next
	short int64         // sum of the last 60 of past
	long  int64         // sum of past
}

// advance sums the level up to t, which does not lie before an earlier t.
func (m *meter) advance(t clock.Instant) {
	if m.begin == clock.Never {
		m.begin, m.last = t, t
		return
	}
	if t-m.last > tenMinutes+second {
		m.last, m.now = floorSecond(t)-tenMinutes, 0 // what came before has left both windows when the loop ends
	}
	for end := floorSecond(m.last) + second; end <= t; end += second {
		m.close(m.now + m.level*int64(end-m.last))
		m.last, m.now = end, 0
	}
	m.now += m.level * int64(t-m.last)
	m.last = t
}

// close ends a second with its sum.
func (m *meter) close(sum int64) {
	leaves := m.head - 60
	if leaves < 0 {
		leaves += len(m.past)
	}
	m.short += sum - m.past[leaves]
	m.long += sum - m.past[m.head]
	m.past[m.head] = sum
	if m.head++; m.head == len(m.past) {
		m.head = 0
	}
}

// add puts v into the second that ends at or after t: a report on the last second that comes when it ends belongs to it.
func (m *meter) add(t clock.Instant, v int64) {
	if m.begin == clock.Never {
		m.begin = floorSecond(t - 1)
		m.last = m.begin
	}
	m.advance(max(t-1, m.last))
	m.now += v
}

// quiet reports whether nothing was there for as long as it remembers, and nothing is.
func (m *meter) quiet() bool { return m.level == 0 && m.now == 0 && m.long == 0 }

func (m *meter) reset() { *m = meter{begin: clock.Never} }

// seen returns how much of the window before the last full second the meter has seen (U-10).
func (m *meter) seen(window clock.Instant) clock.Instant {
	if m.begin == clock.Never {
		return 0
	}
	return min(window, floorSecond(m.last)-m.begin)
}

// overMinute and overTen return the sums of the two windows as uses of capacity.
func (m *meter) overMinute() usage {
	return usage{sum: m.short, parts: 1, seen: int64(m.seen(minute))}
}

func (m *meter) overTen() usage {
	return usage{sum: m.long, parts: 1, seen: int64(m.seen(tenMinutes))}
}

// floorSecond returns the last full second that is not after t.
func floorSecond(t clock.Instant) clock.Instant {
	over := t % second
	if over < 0 {
		over += second
	}
	return t - over
}

// usage is what was used of a capacity: sum/seen in the mean, of capacity/parts for each instance.
type usage struct {
	sum      int64
	seen     int64 // in the time unit of sum; 0: nothing was seen
	capacity int64 // of parts instances together
	parts    int64
}

// more reports whether the mean of u is larger than that of v. Both saw something.
func (u usage) more(v usage) bool {
	uh, ul := bits.Mul64(uint64(u.sum), uint64(v.seen))
	vh, vl := bits.Mul64(uint64(v.sum), uint64(u.seen))
	return uh > vh || uh == vh && ul > vl
}

// recommend returns how many instances a driver asks for when n are recommended and its target is in thousandths: n
// while the utilisation of n instances lies within a tenth of the target, both ends included (CR-7), else what brings
// the use to the target, rounded up (CR-8, CR-9).
//
// The ends are documented as inclusive, so they are compared in integers, and the products have 128 bits.
func (u usage) recommend(n, target int64) int64 {
	hi, lo := bits.Mul64(uint64(u.sum), uint64(10_000*u.parts))
	quo, rem := bits.Div64(hi, lo, uint64(u.seen))
	low, high := int64(quo), int64(quo)
	if rem > 0 {
		high++
	}
	full := target * u.capacity
	if 9*full*n <= low && high <= 11*full*n {
		return n
	}
	return ceilDiv(high, 10*full)
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
