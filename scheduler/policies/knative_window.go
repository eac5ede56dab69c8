package policies

import (
	"math"
	"time"
)

// KPAWindow is the mean of what was reported in the last seconds, in buckets of one second (KN-4). Seconds are counted
// from any origin. Float64, as in the source: its rounding is part of its behaviour.
type KPAWindow struct {
	buckets     []float64 // second s is at s mod len
	first, last int64     // seconds of the first and the last write
	total       float64
	busy        int // buckets that are not 0
	written     bool
	coefficient float64
}

// KPA windows: bucket, rounding, and the weight that a window of exponential weights must reach.
const (
	kpaBucket     = time.Second
	kpaDigits     = 1e6
	kpaWeight     = 0.9999
	kpaLeastDecay = 0.2
)

// NewKPAWindow returns the empty window of a length of whole seconds, at least one.
func NewKPAWindow(length time.Duration) *KPAWindow {
	n := max(1, int(length/kpaBucket))
	return &KPAWindow{buckets: make([]float64, n), coefficient: KPADecay(n)}
}

// KPADecay is the weight of the newest of n buckets under exponential weights (KN-4).
func KPADecay(n int) float64 {
	return math.Max(1-math.Pow(1-kpaWeight, 1/float64(n)), kpaLeastDecay)
}

// KPAPanicWindow returns the panic window of a stable window: its percentage, rounded to whole seconds, at least one (KN-3).
func KPAPanicWindow(stable time.Duration, percent float64) time.Duration {
	return max(time.Duration(float64(stable)*percent/100).Round(time.Second), time.Second)
}

func (w *KPAWindow) index(second int64) int {
	n := int64(len(w.buckets))
	return int(((second % n) + n) % n)
}

// Record adds a value to the bucket of a second. Seconds that were left out in between count as 0, unless a whole window
// was silent: then a new one begins. What comes late goes to its own second, or nowhere if that has left the window.
func (w *KPAWindow) Record(second int64, value float64) {
	switch {
	case w.Empty(second):
		clear(w.buckets)
		w.total, w.busy, w.first, w.last, w.written = 0, 0, second, second, true
	case second <= w.last-int64(len(w.buckets)):
		return
	case second > w.last:
		w.forget(w.last+1, second)
		w.last = second
	}
	w.first = min(w.first, second)
	b := &w.buckets[w.index(second)]
	if *b == 0 && value != 0 {
		w.busy++
	}
	*b += value
	w.total += value
}

// forget empties the buckets that the seconds from … to take.
func (w *KPAWindow) forget(from, to int64) {
	for s := from; s <= to; s++ {
		b := &w.buckets[w.index(s)]
		if *b != 0 {
			w.total -= *b
			*b = 0
			w.busy--
		}
	}
	if w.busy == 0 {
		w.total = 0 // what rounding has left of the sum
	}
}

// Empty reports that nothing was written for longer than the window: there is no data, which is not the same as 0.
func (w *KPAWindow) Empty(now int64) bool { return !w.written || now-w.last > int64(len(w.buckets)) }

// Quiet reports that every bucket is 0.
func (w *KPAWindow) Quiet() bool { return w.busy == 0 }

// Rest is what a report of 0 in each second up to now would have left of a window that is quiet.
func (w *KPAWindow) Rest(now int64) {
	if w.written && w.busy == 0 {
		w.last = max(w.last, now)
	}
}

// Mean returns the sum of the buckets over the number of valid ones: those since the first write, less those since the
// last, rounded down to 6 digits; 0 after the silence of a window (KN-4).
func (w *KPAWindow) Mean(now int64) float64 {
	n := int64(len(w.buckets))
	silent := max(0, now-w.last)
	if !w.written || silent >= n {
		return 0
	}
	total := w.total
	for s := w.last + 1; s <= now; s++ {
		total -= w.buckets[w.index(s)]
	}
	valid := min(w.last-w.first+1, n-silent)
	return math.Floor(total/float64(valid)*kpaDigits) / kpaDigits
}

// Weighted returns the mean under exponential weights, the newest second weighing most (KN-4). Its time is linear in the
// length of the window.
func (w *KPAWindow) Weighted(now int64) float64 {
	if w.Empty(now) {
		return 0
	}
	return exponential(w.coefficient, now-w.last, len(w.buckets), func(age int) float64 {
		return w.buckets[w.index(w.last-int64(age))]
	})
}

// exponential weighs n values, of which the newest silent ones are missing and count as 0.
func exponential(coefficient float64, silent int64, n int, value func(age int) float64) float64 {
	weight := coefficient
	if silent > 0 {
		weight *= math.Pow(1-coefficient, float64(silent))
	}
	sum := 0.0
	for age := range max(0, n-int(max(0, silent))) {
		sum += value(age) * weight
		weight *= 1 - coefficient
	}
	return sum
}

// maxWindow keeps the largest of the counts that were wanted in the last slots of time (KN-10).
type maxWindow struct {
	slots []slot // a ring of falling counts, the largest one first
	head  int
	size  int
}

type slot struct {
	at    int64
	count int
}

func newMaxWindow(slots int) maxWindow { return maxWindow{slots: make([]slot, slots)} }

// add notes a count in the slot at, which does not lie before an earlier one, and returns the largest of the window.
func (w *maxWindow) add(at int64, count int) int {
	n := len(w.slots)
	for w.size > 0 && w.slots[w.head].at <= at-int64(n) {
		w.head, w.size = (w.head+1)%n, w.size-1
	}
	for w.size > 0 && w.slots[(w.head+w.size-1)%n].count <= count {
		w.size--
	}
	if w.size == 0 || w.slots[(w.head+w.size-1)%n].at != at { // else the slot holds a larger one
		w.slots[(w.head+w.size)%n] = slot{at, count}
		w.size++
	}
	return w.slots[w.head].count
}

// even reports that the whole window holds one count, so that time changes nothing.
func (w *maxWindow) even() bool { return w.size <= 1 }
