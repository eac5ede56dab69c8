// Package hdr is hdrhistogram-go with its traps covered: quantiles in [0, 1] by nearest rank, exact count, minimum,
// maximum and sum kept beside the buckets, values beyond the range counted, and no value where there is none.
package hdr

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"time"

	hdrhistogram "github.com/HdrHistogram/hdrhistogram-go"
)

// Digits is the precision of the buckets: a quantile is at most 10⁻³ of itself above the exact order statistic.
const Digits = 3

// The limits of a histogram's range.
const (
	DefaultLimit = time.Hour           // range that holds every latency of a run with the default time limit
	MinLimit     = 2 * time.Nanosecond // smallest range that the buckets can have
)

// Errors of a histogram. In each case the histogram is unchanged.
var (
	ErrNegative = errors.New("negative duration")
	ErrRange    = errors.New("histograms of different range")
	ErrFull     = errors.New("histogram is full")
)

// Histogram counts durations. It is not safe for concurrent use. Make one with New.
type Histogram struct {
	buckets  *hdrhistogram.Histogram
	limit    time.Duration
	count    int64
	over     int64
	min, max time.Duration
	sumHigh  uint64
	sumLow   uint64
}

// New returns an empty histogram for durations in [0, limit]; longer ones are counted as overflow. A limit below MinLimit
// counts as MinLimit.
func New(limit time.Duration) *Histogram {
	limit = max(limit, MinLimit)
	return &Histogram{buckets: hdrhistogram.New(1, int64(limit), Digits), limit: limit}
}

// Record counts d once.
func (h *Histogram) Record(d time.Duration) error { return h.RecordN(d, 1) }

// RecordN counts d n times. It fails with ErrNegative if d or n is negative, and with ErrFull at 2⁶³ values.
func (h *Histogram) RecordN(d time.Duration, n int64) error {
	if d < 0 || n < 0 {
		return fmt.Errorf("%w: %d times %v", ErrNegative, n, d)
	}
	if n > math.MaxInt64-h.count {
		return fmt.Errorf("%w: %d values and %d more", ErrFull, h.count, n)
	}
	if n == 0 {
		return nil
	}
	if d > h.limit {
		h.over += n
	} else if err := h.buckets.RecordValues(int64(d), n); err != nil {
		return fmt.Errorf("%v in a histogram up to %v: %w", d, h.limit, err)
	}
	h.note(d, d, n)
	high, low := bits.Mul64(uint64(d), uint64(n))
	h.add(high, low)
	return nil
}

func (h *Histogram) note(low, high time.Duration, n int64) {
	if h.count == 0 || low < h.min {
		h.min = low
	}
	h.max = max(h.max, high)
	h.count += n
}

func (h *Histogram) add(high, low uint64) {
	var carry uint64
	h.sumLow, carry = bits.Add64(h.sumLow, low, 0)
	h.sumHigh, _ = bits.Add64(h.sumHigh, high, carry)
}

// Merge adds everything that from counted, bucket for bucket. Both must have the same range.
func (h *Histogram) Merge(from *Histogram) error {
	if h.limit != from.limit {
		return fmt.Errorf("%w: up to %v and up to %v", ErrRange, h.limit, from.limit)
	}
	if from.count > math.MaxInt64-h.count {
		return fmt.Errorf("%w: %d values and %d more", ErrFull, h.count, from.count)
	}
	if from.count == 0 {
		return nil
	}
	if lost := h.buckets.Merge(from.buckets); lost != 0 {
		return fmt.Errorf("%w: %d values did not fit", ErrRange, lost) // cannot be: equal ranges have equal buckets
	}
	h.over += from.over
	h.note(from.min, from.max, from.count)
	h.add(from.sumHigh, from.sumLow)
	return nil
}

// Limit returns the end of the range.
func (h *Histogram) Limit() time.Duration { return h.limit }

// Count returns how many values were recorded, those beyond the range included.
func (h *Histogram) Count() int64 { return h.count }

// Overflow returns how many values lie beyond the range.
func (h *Histogram) Overflow() int64 { return h.over }

// Min returns the exact minimum; false if nothing was recorded.
func (h *Histogram) Min() (time.Duration, bool) { return h.min, h.count > 0 }

// Max returns the exact maximum, even beyond the range; false if nothing was recorded.
func (h *Histogram) Max() (time.Duration, bool) { return h.max, h.count > 0 }

// Sum returns the exact sum in nanoseconds.
func (h *Histogram) Sum() *big.Int {
	sum := new(big.Int).SetUint64(h.sumHigh)
	return sum.Lsh(sum, 64).Add(sum, new(big.Int).SetUint64(h.sumLow))
}

// Mean returns the mean of the exact sum; false if nothing was recorded.
func (h *Histogram) Mean() (time.Duration, bool) {
	if h.count == 0 {
		return 0, false
	}
	mean, _ := bits.Div64(h.sumHigh, h.sumLow, uint64(h.count)) // the mean is at most the maximum: no overflow
	return time.Duration(mean), true
}

// Value is a quantile: a duration, or a lower limit of it when it lies beyond the range.
type Value struct {
	At     time.Duration
	Beyond bool // the quantile is ≥ At
}

func (v Value) String() string {
	if v.Beyond {
		return ">= " + v.At.String()
	}
	return v.At.String()
}

// Quantile returns the value of nearest rank for q in [0, 1]; a q outside counts as the nearer end. The value is at
// least the exact order statistic and at most 10⁻³ of it above, never above the exact maximum. It returns false if
// nothing was recorded.
func (h *Histogram) Quantile(q float64) (Value, bool) {
	if h.count == 0 {
		return Value{}, false
	}
	rank := Rank(q, h.count)
	if rank == h.count {
		return Value{At: h.max}, true
	}
	inside := h.buckets.TotalCount()
	if rank > inside {
		return Value{At: h.limit, Beyond: true}, true
	}
	// The library rounds rank·100/n to the nearest rank, so half a rank less cannot be rounded up by floating point.
	at := time.Duration(h.buckets.ValueAtPercentile((float64(rank) - 0.25) / float64(inside) * 100))
	return Value{At: min(max(at, h.min), h.max, h.limit)}, true
}
