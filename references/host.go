package references

import (
	"fmt"
	"time"
)

// host judges FR-0: sleeps before the run ended in time. A host that is too busy makes times void, not wrong.
func host(in input) outcome {
	h := in.evidence.Host
	if h.Overshoot.N == 0 && !h.Busy {
		return outcome{verdict: NotComparable, reason: "no host was calibrated: virtual time has none"}
	}
	measured := fmt.Sprintf("sleep overshoot p95 %s (n=%d), loopback p95 %s (n=%d)",
		milli(h.Overshoot.P95), h.Overshoot.N, milli(h.Loopback.P95), h.Loopback.N)
	if h.During.N > 0 {
		measured += ", longest stall during the run " + milli(h.During.Max)
	}
	limit := in.ms("overshoot_max_ms", in.evidence.Law)
	switch {
	case h.Overshoot.P95 > limit:
		return outcome{measured, Void, fmt.Sprintf("sleep overshoot p95 %s is above %s: the host is too busy", milli(h.Overshoot.P95), milli(limit))}
	case h.Busy:
		return outcome{measured, Void, h.Reason}
	}
	return outcome{measured: measured}
}

// stated says why a statement is not judged: it has no number, or another claim judges what can be judged of it.
func stated(in input) outcome { return outcome{verdict: NotComparable, reason: in.Why} }

// The longest stall of the host that a check bears: what the tolerances of FR-2 and FR-9 leave for times, and half of the
// least margin between two classes for counts (FR-1).
const (
	timingStall = 15 * time.Millisecond
	countStall  = 250 * time.Millisecond
)

// excuse makes a disagreement void if the host stood still for longer than the check bears while the run was on: then
// nobody can say whose fault it was. An agreement in spite of a stall stands.
func excuse(o outcome, in input, k check) outcome {
	limit := countStall
	if k.timing {
		limit = timingStall
	}
	stall := in.evidence.Host.During.Max
	for _, s := range in.sides {
		stall = max(stall, s.Run.Host.During.Max)
	}
	if o.verdict != Disagrees || stall <= limit {
		return o
	}
	o.verdict = Void
	o.reason = fmt.Sprintf("the host stood still for %s while the run was on, and this check bears %s; else it would disagree: %s",
		milli(stall), milli(limit), o.reason)
	return o
}
