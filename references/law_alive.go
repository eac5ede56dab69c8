package references

import "coldwave/internal/clock"

// aliveAt judges the number of instances that start or serve.
func aliveAt(v view) (string, findings) {
	return v.level("alive", func(at clock.Instant) int { return v.last(Alive, at) })
}

// last returns the count of the last event of a sort up to and including an instant, 0 before the first.
func (v view) last(what What, at clock.Instant) (n int) {
	for _, e := range v.Events {
		if e.At > at {
			break
		}
		if e.What == what {
			n = e.Count
		}
	}
	return n
}
