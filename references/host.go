package references

import "fmt"

// host judges FR-0: sleeps before the run ended in time. A host that is too busy makes times void, not wrong.
func host(in input) outcome {
	h := in.evidence.Host
	if h.Overshoot.N == 0 && !h.Busy {
		return outcome{verdict: NotComparable, reason: "no host was calibrated: virtual time has none"}
	}
	measured := fmt.Sprintf("sleep overshoot p95 %s (n=%d), loopback p95 %s (n=%d)",
		milli(h.Overshoot.P95), h.Overshoot.N, milli(h.Loopback.P95), h.Loopback.N)
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
