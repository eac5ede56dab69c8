package policies

import (
	"math/bits"
	"time"
)

// The histogram of idle times (AZ-2).
const (
	idleBins = 240
	idleBin  = time.Minute
	// idleMost is when all counts are halved, so that they stay small and the past fades. A cloud's own policy forgets
	// too, but in a way that is not published.
	idleMost = 1 << 16
)

// idleTimes is what an application knows about its idle times.
type idleTimes struct {
	counts  [idleBins]int64
	total   int64 // of the counts
	squares int64 // sum of the squares of the counts
	out     int64 // idle times that are longer than the histogram

	last []time.Duration // of those, a ring; next is the oldest
	next int
	seen int // how many of last are in use
}

func newIdleTimes(last int) idleTimes { return idleTimes{last: make([]time.Duration, last)} }

// add counts an idle time.
func (t *idleTimes) add(idle time.Duration) {
	if t.total+t.out >= idleMost {
		t.halve()
	}
	bin := int64(idle / idleBin)
	if bin < idleBins {
		t.squares += 2*t.counts[bin] + 1
		t.counts[bin]++
		t.total++
		return
	}
	t.out++
	if len(t.last) > 0 {
		t.last[t.next] = idle
		t.next = (t.next + 1) % len(t.last)
		t.seen = min(t.seen+1, len(t.last))
	}
}

func (t *idleTimes) halve() {
	t.total, t.squares, t.out = 0, 0, t.out/2
	for bin := range t.counts {
		t.counts[bin] /= 2
		t.total += t.counts[bin]
		t.squares += t.counts[bin] * t.counts[bin]
	}
}

// representative reports whether the coefficient of variation of the counts is above a number of thousandths (AZ-4). With the n bins'
// sum S and sum of squares Q its square is (n·Q − S²) / S² for the population and n·(n·Q − S²) / ((n − 1)·S²) for a
// sample.
func (t *idleTimes) representative(mille int64, sample bool) bool {
	square := t.total * t.total
	above, below := uint64(idleBins*t.squares-square), uint64(square)
	if sample {
		above, below = above*idleBins, below*(idleBins-1)
	}
	high, low := bits.Mul64(above, 1000*1000)
	most, least := bits.Mul64(below, uint64(mille*mille))
	return t.total > 0 && (high > most || high == most && low > least)
}

// percentile returns the bin of the nearest rank at a percentage; the histogram must not be empty.
func (t *idleTimes) percentile(percent int64) int {
	rank, sum := (t.total*percent+99)/100, int64(0)
	for bin, n := range t.counts {
		if sum += n; sum >= rank {
			return bin
		}
	}
	return idleBins - 1
}

// prediction returns the mean of the last idle times out of bounds, of which there must be one.
func (t *idleTimes) prediction() time.Duration {
	var mean time.Duration
	for _, d := range t.last[:t.seen] {
		mean += d / time.Duration(t.seen) // a sum could overflow
	}
	return mean
}
