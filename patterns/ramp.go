package patterns

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"time"

	"coldwave/internal/clock"
	"coldwave/workload"
)

// Ramp changes the rate evenly from From to To. The rate integrated from 0 to t is
//
//	N(t) = from·t + (to−from)·t²/(2·duration)
//
// and request k, from k = 0 on, is sent at the last nanosecond t with N(t) ≤ k, as long as k < N(duration). So a ramp
// between equal rates is the constant pattern.
type Ramp struct {
	From, To Rate          // ≥ 0, not both 0
	Duration time.Duration // > 0
}

// Open ignores r: nothing is random.
func (p Ramp) Open(*rand.Rand) func() (workload.Intent, bool) {
	s := p.solver()
	k := int64(0)
	return func() (workload.Intent, bool) {
		if !s.before(k) {
			return workload.Intent{}, false
		}
		k++
		return alone(s.at(k - 1)), true
	}
}

// Length is the duration.
func (p Ramp) Length() time.Duration { return p.Duration }

// String is such as "{kind: ramp, from: 10/s, to: 100/s, duration: 1m}".
func (p Ramp) String() string {
	return fmt.Sprintf("{kind: ramp, from: %v, to: %v, duration: %s}", p.From, p.To, span(p.Duration))
}

// Override takes a duration.
func (p Ramp) Override(s Settings) (Pattern, error) {
	if err := first(s.only("ramp", "duration")); err != nil {
		return nil, err
	}
	p.Duration = preset(s.Duration, p.Duration)
	return checked(p, s.Limits)
}

// Check wants two rates, not both 0, and a duration above 0.
func (p Ramp) Check(l Limits) error {
	l = l.or()
	err := first(p.From.check("from", l, true), p.To.check("to", l, true), within("duration", p.Duration, l.Duration))
	if err == nil && p.From.Count == 0 && p.To.Count == 0 {
		return wrong("to", "give a rate above 0, such as 100/s", "from and to are both 0")
	}
	return err
}

// rampSolver solves N(t) = k in whole numbers. With a common denominator D of the rates, from = a/D, to = b/D and
// T = duration, it is (b−a)·t² + 2·T·a·t − 2·T·D·k = 0, and for b ≠ a
//
//	t = (√(T²a² + 2·T·D·k·(b−a)) − T·a) / (b−a)
//
// The root is rounded to the side that makes the floor of the quotient exact: floor((⌊√x⌋−c)/m) = floor((√x−c)/m).
type rampSolver struct {
	rise  big.Int // b−a
	start big.Int // T·a
	scale big.Int // 2·T·D
	total big.Int // 2·T·D·N(T) = T²·(a+b)
	root  big.Int // scratch, so that an arrival allocates little
	step  big.Int // scratch
}

func (p Ramp) solver() *rampSolver {
	length, from, to := big.NewInt(int64(p.Duration)), fraction(p.From, p.To), fraction(p.To, p.From)
	s := &rampSolver{}
	s.rise.Sub(to, from)
	s.start.Mul(length, from)
	s.scale.Mul(length, big.NewInt(int64(p.From.Per)))
	s.scale.Mul(&s.scale, big.NewInt(int64(p.To.Per)))
	s.scale.Lsh(&s.scale, 1)
	s.total.Add(from, to)
	s.total.Mul(&s.total, length)
	s.total.Mul(&s.total, length)
	return s
}

// fraction is the numerator of r over the common denominator r.Per·other.Per.
func fraction(r, other Rate) *big.Int {
	n := big.NewInt(r.Count)
	return n.Mul(n, big.NewInt(int64(other.Per)))
}

// before says whether k < N(duration).
func (s *rampSolver) before(k int64) bool {
	s.step.SetInt64(k)
	s.step.Mul(&s.step, &s.scale)
	return s.step.Cmp(&s.total) < 0
}

// at is the instant of request k.
func (s *rampSolver) at(k int64) clock.Instant {
	s.step.SetInt64(k)
	s.step.Mul(&s.step, &s.scale) // 2·T·D·k
	if s.rise.Sign() == 0 {
		return s.level()
	}
	s.step.Mul(&s.step, &s.rise)
	s.root.Mul(&s.start, &s.start)
	s.step.Add(&s.step, &s.root) // x
	s.root.Sqrt(&s.step)
	if s.rise.Sign() < 0 && !s.square() {
		s.root.Add(&s.root, big.NewInt(1)) // ⌈√x⌉, as the numerator is start − √x
	}
	s.root.Sub(&s.root, &s.start)
	s.root.Quo(&s.root, &s.rise) // both have the sign of the rise or are 0, so this is the floor
	return clock.Instant(s.root.Int64())
}

// level is t = 2·T·D·k / (2·T·a), for equal rates.
func (s *rampSolver) level() clock.Instant {
	s.root.Lsh(&s.start, 1)
	s.root.Quo(&s.step, &s.root)
	return clock.Instant(s.root.Int64())
}

// square says whether root² = step.
func (s *rampSolver) square() bool {
	var sq big.Int
	return sq.Mul(&s.root, &s.root).Cmp(&s.step) == 0
}

// buildRamp reads the keys of the kind.
func buildRamp(f *fields) Pattern {
	return Ramp{From: f.rate("from"), To: f.rate("to"), Duration: f.duration("duration")}
}
