package platform

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"coldwave/internal/rng"
)

// ErrLaw is wrapped by every error about the text or the numbers of a law.
var ErrLaw = errors.New("no such law")

// Law is a probability law of durations. A law is a value without state: what it draws depends on d only.
type Law interface {
	// Name is the canonical text; ParseLaw reads it back, unless it is the name of a list that came from a file.
	Name() string
	// Draw returns one duration, never negative.
	Draw(d *rng.Draw) time.Duration
	// Mean is the expected duration.
	Mean() time.Duration
	// Range is the shortest and the longest duration that Draw returns.
	Range() (shortest, longest time.Duration)
	// Check says why the numbers make no law. Draw needs a law that passes.
	Check() error
}

var (
	_ Law = Uniform{}
	_ Law = Constant(0)
	_ Law = Lognormal{}
	_ Law = Empirical{}
)

// Uniform draws every nanosecond of [Min, Max] equally often.
type Uniform struct{ Min, Max time.Duration }

// EndToEnd is the stated range of a request that waited for its own cold start: 1.7–3 s (FC-12, U-7).
func EndToEnd() Uniform { return Uniform{Min: 1700 * time.Millisecond, Max: 3 * time.Second} }

// Name is "uniform" for the stated range, else such as "uniform:1.7s-3s".
func (u Uniform) Name() string {
	if u == EndToEnd() {
		return "uniform"
	}
	return fmt.Sprintf("uniform:%v-%v", u.Min, u.Max)
}

func (u Uniform) Draw(d *rng.Draw) time.Duration {
	return u.Min + time.Duration(d.Int64N(int64(u.Max-u.Min)+1))
}

func (u Uniform) Mean() time.Duration { return u.Min + (u.Max-u.Min)/2 }

func (u Uniform) Range() (shortest, longest time.Duration) { return u.Min, u.Max }

func (u Uniform) Check() error {
	if u.Min < 0 || u.Max < u.Min || u.Max == math.MaxInt64 {
		return fmt.Errorf("uniform from %v to %v: %w: give 0 ≤ shortest ≤ longest", u.Min, u.Max, ErrLaw)
	}
	return nil
}

// Constant is always the same duration.
type Constant time.Duration

// Name is such as "constant:2.35s".
func (c Constant) Name() string { return "constant:" + time.Duration(c).String() }

func (c Constant) Draw(*rng.Draw) time.Duration { return time.Duration(c) }

func (c Constant) Mean() time.Duration { return time.Duration(c) }

func (c Constant) Range() (shortest, longest time.Duration) {
	return time.Duration(c), time.Duration(c)
}

func (c Constant) Check() error {
	if c < 0 {
		return fmt.Errorf("constant %v: %w: give 0 or more", time.Duration(c), ErrLaw)
	}
	return nil
}

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

func (l Lognormal) Range() (shortest, longest time.Duration) {
	if l.Sigma == 0 {
		return l.Median, l.Median
	}
	return 0, l.cap()
}

func (l Lognormal) Check() error {
	switch {
	case l.Median <= 0 || l.Median > l.cap():
		return fmt.Errorf("lognormal median %v: %w: give more than 0 and at most the cap %v", l.Median, ErrLaw, l.cap())
	case !(l.Sigma >= 0 && l.Sigma <= maxSigma): // also true for NaN
		return fmt.Errorf("lognormal sigma %v: %w: give 0 to %d", l.Sigma, ErrLaw, maxSigma)
	}
	return nil
}

// Empirical draws one of the values, each equally often.
type Empirical struct {
	Label  string          // replaces the list in Name; empty: the list itself
	Values []time.Duration // at least one; a value that is listed twice comes twice as often
}

// Name is the label, or such as "empirical:1s,2s".
func (e Empirical) Name() string {
	if e.Label != "" {
		return e.Label
	}
	texts := make([]string, len(e.Values))
	for i, v := range e.Values {
		texts[i] = v.String()
	}
	return "empirical:" + strings.Join(texts, ",")
}

func (e Empirical) Draw(d *rng.Draw) time.Duration { return e.Values[d.Int64N(int64(len(e.Values)))] }

func (e Empirical) Mean() time.Duration {
	sum := 0.0
	for _, v := range e.Values {
		sum += float64(v)
	}
	return time.Duration(math.Round(sum / float64(len(e.Values))))
}

func (e Empirical) Range() (shortest, longest time.Duration) {
	return slices.Min(e.Values), slices.Max(e.Values)
}

func (e Empirical) Check() error {
	if len(e.Values) == 0 {
		return fmt.Errorf("empirical list: %w: it is empty: give at least one duration", ErrLaw)
	}
	for i, v := range e.Values {
		if v < 0 {
			return fmt.Errorf("empirical value %d, %v: %w: give 0 or more", i+1, v, ErrLaw)
		}
	}
	return nil
}
