package patterns

import (
	"fmt"
	"math/rand/v2"
	"time"

	"coldwave/internal/clock"
	"coldwave/workload"
)

// Poisson sends independently at random: the times between requests, and before the first one, are exponential with
// mean 1/Rate, rounded to the nearest nanosecond. Exactly one of Duration and Requests is set.
type Poisson struct {
	Rate     Rate          // > 0, the mean
	Duration time.Duration // requests lie in [0, Duration); their number is random
	Requests int64         // that many; the end is random
}

// Open draws one number from r for each arrival, and one more for the first after the duration.
func (p Poisson) Open(r *rand.Rand) func() (workload.Intent, bool) {
	mean := p.Rate.period()
	at, sent := clock.Instant(0), int64(0)
	return func() (workload.Intent, bool) {
		if p.Requests > 0 && sent == p.Requests {
			return workload.Intent{}, false
		}
		// The conversion keeps the product from being fused with the sum, which would round otherwise on some processors.
		at += clock.Instant(float64(r.ExpFloat64()*mean) + 0.5)
		if p.Requests == 0 && time.Duration(at) >= p.Duration {
			return workload.Intent{}, false
		}
		sent++
		return workload.Intent{At: at, Wave: -1}, true
	}
}

// Length is the duration, or 0: a number of requests ends with the last one.
func (p Poisson) Length() time.Duration { return p.Duration }

// String is such as "{kind: poisson, rate: 100/s, duration: 1m}".
func (p Poisson) String() string {
	return fmt.Sprintf("{kind: poisson, rate: %v, %s}", p.Rate, extent(p.Duration, p.Requests))
}

// Override takes a rate, and either a duration or a number of requests instead of the one before.
func (p Poisson) Override(s Settings) (Pattern, error) {
	if err := first(s.only("poisson", "rate", "duration", "requests")); err != nil {
		return nil, err
	}
	if s.Rate.Count != 0 {
		p.Rate = s.Rate
	}
	if s.Duration != 0 || s.Requests != 0 {
		p.Duration, p.Requests = s.Duration, s.Requests
	}
	return checked(p, s.Limits)
}

// Check wants a rate above 0 and an end.
func (p Poisson) Check(l Limits) error {
	l = l.or()
	return first(p.Rate.check("rate", l, false), checkExtent(p.Rate, p.Duration, p.Requests, l))
}

// buildPoisson reads the keys of the kind.
func buildPoisson(f *fields) Pattern {
	p := Poisson{Rate: f.rate("rate")}
	if f.has("requests") {
		p.Requests = f.number("requests")
	}
	if f.has("duration") || !f.has("requests") {
		p.Duration = f.duration("duration")
	}
	return p
}
