package analysis

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Wilson returns Wilson's score limits of a share of which k in n were seen, each missed with about that probability, such
// as 0.025 for an interval at 95 %. Without a sample there are none. Source: Wilson 1927.
func Wilson(k, n int, tail float64) Span {
	if n <= 0 {
		return Span{}
	}
	z, share, size := normal.Quantile(1-tail), float64(k)/float64(n), float64(n)
	middle := share + z*z/(2*size)
	half := z * math.Sqrt(share*(1-share)/size+z*z/(4*size*size))
	scale := 1 + z*z/size
	s := Span{Low: (middle - half) / scale, High: (middle + half) / scale, OK: true}
	if k <= 0 {
		s.Low = 0 // but for rounding
	}
	if k >= n {
		s.High = 1
	}
	return s
}

// ClopperPearson returns the limits that are each missed with at most that probability, whatever the share: wider than
// Wilson's, which hold on average only. Source: Clopper & Pearson 1934.
func ClopperPearson(k, n int, tail float64) Span {
	if n <= 0 {
		return Span{}
	}
	s := Span{Low: 0, High: 1, OK: true}
	if k > 0 {
		s.Low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
	}
	if k < n {
		s.High = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - tail)
	}
	return s
}
