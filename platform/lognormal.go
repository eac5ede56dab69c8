package platform

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"coldwave/internal/rng"
)

// DefaultCap is the longest draw of a lognormal law that names no other.
const DefaultCap = time.Hour

// Lognormal draws Median·exp(Sigma·N), N standard normal; a longer draw than Cap counts as Cap.
//
// Note: its draws may differ by a nanosecond between processor families, because exp and log are not rounded alike
// everywhere. Every other law gives the same bytes on all of them.
type Lognormal struct {
	Median time.Duration // > 0
	Sigma  float64       // of the logarithm, in [0, 5]
	Cap    time.Duration // ≥ Median; 0: DefaultCap
}

// maxSigma bounds the spread: exp(5·8) is far beyond any cap, and a larger sigma is a typing error.
const maxSigma = 5

// Name is such as "lognormal:median=2s,sigma=0.3" or "lognormal:median=2s,sigma=0.3,cap=10s".
func (l Lognormal) Name() string {
	name := fmt.Sprintf("lognormal:median=%v,sigma=%s", l.Median, strconv.FormatFloat(l.Sigma, 'g', -1, 64))
	if l.Cap != 0 {
		name += fmt.Sprintf(",cap=%v", l.Cap)
	}
	return name
}

func (l Lognormal) cap() time.Duration {
	if l.Cap == 0 {
		return DefaultCap
	}
	return l.Cap
}

// Draw implements Law.
func (l Lognormal) Draw(d *rng.Draw) time.Duration {
	v := float64(l.Median) * math.Exp(l.Sigma*d.NormFloat64())
	if v >= float64(l.cap()) {
		return l.cap()
	}
	return time.Duration(v)
}

// Mean is that of the capped law: with k = ln(Cap/Median)/Sigma,
// Median·exp(Sigma²/2)·Φ(k−Sigma) + Cap·(1−Φ(k)).
func (l Lognormal) Mean() time.Duration {
	if l.Sigma == 0 {
		return l.Median
	}
	k := math.Log(float64(l.cap())/float64(l.Median)) / l.Sigma
	below := float64(l.Median) * math.Exp(l.Sigma*l.Sigma/2) * normalBelow(k-l.Sigma)
	return time.Duration(below + float64(l.cap())*(1-normalBelow(k)))
}

// normalBelow is Φ, the share of the standard normal law below x.
func normalBelow(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// Range implements Law.
func (l Lognormal) Range() (shortest, longest time.Duration) {
	if l.Sigma == 0 {
		return l.Median, l.Median
	}
	return 0, l.cap()
}

// Check implements Law.
func (l Lognormal) Check() error {
	switch {
	case l.Median <= 0 || l.Median > l.cap():
		return fmt.Errorf("lognormal median %v: %w: give more than 0 and at most the cap %v", l.Median, ErrLaw, l.cap())
	case !(l.Sigma >= 0 && l.Sigma <= maxSigma): // also true for NaN
		return fmt.Errorf("lognormal sigma %v: %w: give 0 to %d", l.Sigma, ErrLaw, maxSigma)
	}
	return nil
}
