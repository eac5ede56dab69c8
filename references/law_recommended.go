package references

import "coldwave/internal/clock"

// The marks of instances that are not recommended (CR-13, CR-14), and of those that are again (CR-12).
const (
	markSpare       = "spare"
	markReserve     = "reserve"
	markRecommended = "recommended"
)

// recommendedAt judges the number of recommended instances: those that start or serve and are in no group that waits for
// its end.
func recommendedAt(v view) (string, findings) {
	return v.level("recommended", func(at clock.Instant) int {
		others := map[int32]bool{}
		for _, e := range v.Events {
			switch {
			case e.At > at:
			case e.What == Mark && (e.Text == markSpare || e.Text == markReserve):
				others[e.Instance] = true
			case e.What == Stop, e.What == Mark && e.Text == markRecommended:
				delete(others, e.Instance)
			}
		}
		return v.last(Alive, at) - len(others)
	})
}
