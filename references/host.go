package references

import (
	"fmt"
	"maps"
	"strings"
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

// excuse makes a disagreement void if the host stood still for longer than the check bears while the run was on, and the
// stall can explain it: then nobody can say whose fault it was. What is further off than two such stalls disagrees all
// the same, and an agreement in spite of a stall stands.
func excuse(o outcome, in input, k check) outcome {
	stall := in.evidence.Host.During.Max
	for _, s := range in.sides {
		stall = max(stall, s.Run.Host.During.Max)
	}
	bears := countStall
	if k.timing {
		bears = timingStall
	}
	if o.verdict != Disagrees || stall <= bears {
		return o
	}
	if k.timing {
		in.Claim.Limits = widened(in.Limits, 2*stall)
		if k.judge(in).verdict == Disagrees {
			return o
		}
	}
	o.verdict = Void
	o.reason = fmt.Sprintf("the host stood still for %s while the run was on, and this check bears %s; else it would disagree: %s",
		milli(stall), milli(bears), o.reason)
	return o
}

// shortestP99 is the least p99 that the claims about ratios divide by: two executions of 100 ms.
const shortestP99 = 200 * time.Millisecond

// widened returns the limits for times that a delay may have lengthened. A ratio may have fallen as much as the delay
// lengthened its divisor.
func widened(limits map[string]float64, delay time.Duration) map[string]float64 {
	out := maps.Clone(limits)
	ms := float64(delay) / float64(time.Millisecond)
	for key := range out {
		switch name, _, _ := strings.Cut(key, "@"); {
		case strings.HasSuffix(name, "max_ms"), name == "wire_ms", name == "cold_slack_ms":
			out[key] += ms
		case strings.HasSuffix(name, "min_ms"):
			out[key] -= ms
		case name == "ratio_min":
			out[key] *= float64(shortestP99) / float64(shortestP99+delay)
		}
	}
	return out
}
