package hdr

import "math"

// Rank returns the nearest rank ceil(q·n) of quantile q among n values, in [1, n]; n must be ≥ 1. A product that is a
// whole number but for rounding counts as whole: 0.07·100 is 7, although floating point gives 7.000000000000001.
func Rank(q float64, n int64) int64 {
	r := q * float64(n)
	if whole := math.Round(r); math.Abs(r-whole) <= 4*epsilon*whole {
		r = whole
	}
	r = math.Ceil(r)
	if !(r > 1) { // also NaN
		return 1
	}
	if r >= float64(n) {
		return n
	}
	return int64(r)
}

const epsilon = 0x1p-52
