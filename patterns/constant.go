package patterns

import (
	"fmt"
	"math/rand/v2"
	"time"

	"coldwave/workload"
)

// Constant sends at a fixed rate, the k-th request at floor(k·period) nanoseconds from k = 0 on, with no rounding that
// adds up. Exactly one of Duration and Requests is set.
type Constant struct {
	Rate     Rate          // > 0
	Duration time.Duration // requests lie in [0, Duration)
	Requests int64         // that many
}

// Open ignores r: nothing is random.
func (c Constant) Open(*rand.Rand) func() (workload.Intent, bool) {
	k := int64(0)
	end := c.Length()
	return func() (workload.Intent, bool) {
		at, ok := c.Rate.at(k, end)
		if !ok || time.Duration(at) >= end || c.Requests > 0 && k == c.Requests {
			return workload.Intent{}, false
		}
		k++
		return alone(at), true
	}
}

// Length is the duration, or ceil(Requests·period): where the next request would come.
func (c Constant) Length() time.Duration {
	if c.Requests == 0 {
		return c.Duration
	}
	return c.Rate.covers(c.Requests)
}

// String is such as "{kind: constant, rate: 6/m, duration: 1m}".
func (c Constant) String() string {
	return fmt.Sprintf("{kind: constant, rate: %v, %s}", c.Rate, extent(c.Duration, c.Requests))
}

// extent writes the one of the two that is set.
func extent(d time.Duration, requests int64) string {
	if requests != 0 {
		return fmt.Sprintf("requests: %d", requests)
	}
	return "duration: " + span(d)
}

// Override takes a rate, a duration and a number of requests. The new ones count; of the old ones stays what is needed:
// the rate, unless both others are set, else the duration or the number.
func (c Constant) Override(s Settings) (Pattern, error) {
	if err := first(s.only("constant", "rate", "duration", "requests")); err != nil {
		return nil, err
	}
	rate, d, n := s.Rate, s.Duration, s.Requests
	if d == 0 && n == 0 {
		d, n = c.Duration, c.Requests
	}
	if rate.Count == 0 && (d == 0 || n == 0) {
		rate = c.Rate
	}
	made, problem := constant(rate, d, n)
	if problem != nil {
		return nil, problem
	}
	return checked(made, s.Limits)
}

// constant makes the pattern from two of the three; 0 is not given. n requests in d are the rate n/d, which sends exactly
// n in [0, d).
func constant(rate Rate, d time.Duration, n int64) (Constant, *Error) {
	switch given := rate.Per != 0; {
	case given && d != 0 && n != 0:
		return Constant{}, wrong("requests", "leave one of them out", "rate, duration and requests are all given")
	case given:
		return Constant{Rate: rate, Duration: d, Requests: n}, nil
	default:
		return Constant{Rate: Rate{Count: n, Per: d}, Duration: d}, nil
	}
}

// Check wants a rate above 0 and an end.
func (c Constant) Check(l Limits) error {
	l = l.or()
	return first(c.Rate.check("rate", l, false), checkExtent(c.Rate, c.Duration, c.Requests, l))
}

// checkExtent wants exactly one of the two, in the limits.
func checkExtent(r Rate, d time.Duration, requests int64, l Limits) *Error {
	switch {
	case d != 0 && requests != 0:
		return wrong("requests", "leave one of them out", "duration and requests are both given")
	case requests == 0:
		return within("duration", d, l.Duration)
	}
	if p := between("requests", requests, 1, l.Requests); p != nil {
		return p
	}
	if _, ok := r.at(requests, l.Duration); !ok {
		return above("duration", fmt.Sprintf("of %d requests at %v", requests, r), span(l.Duration))
	}
	return nil
}

// buildConstant reads the keys of the kind: two of three.
func buildConstant(f *fields) Pattern {
	if f.has("rate") && f.has("duration") && f.has("requests") {
		f.fail("requests", "leave one of rate, duration and requests out", "rate, duration and requests are all given")
	}
	if !f.has("rate") && f.has("requests") && f.has("duration") {
		d := f.duration("duration")
		return Constant{Rate: Rate{Count: f.number("requests"), Per: d}, Duration: d}
	}
	c := Constant{Rate: f.rate("rate")}
	if f.has("requests") {
		c.Requests = f.number("requests")
	} else {
		c.Duration = f.duration("duration")
	}
	return c
}
