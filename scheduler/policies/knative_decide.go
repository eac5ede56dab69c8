package policies

import (
	"math"
	"time"

	"coldwave/internal/clock"
)

// KPASpec is what a KPADecider decides by. Float64, as in the source.
type KPASpec struct {
	Target         float64       // wanted per instance, > 0; from KPATarget
	Total          float64       // what an instance can take
	BurstCapacity  float64       // target burst capacity; 0: the activator leaves the path; −1: it never does
	PanicThreshold float64       // panic count over ready instances, as a ratio; 2.0
	MaxUp, MaxDown float64       // factors of one decision; 1000 and 2
	StableWindow   time.Duration // 60 s
	Activation     int           // least positive count; below 2: none (KN-9)
	ScaleDownDelay time.Duration // 0: none (KN-10)
	Unreachable    bool          // no route leads to the revision, so that nothing delays its end
}

// Defaults of the sources.
const (
	kpaTick         = 2 * time.Second // of decisions (KN-1)
	kpaUnlimited    = 100.0           // total of an unlimited container concurrency (KN-5)
	kpaRate         = 200.0           // total of requests per second (KN-5)
	kpaLeastTarget  = 0.01
	kpaPerActivator = 100.0 // burst capacity of one activator (KN-11)
	kpaActivators   = 2
)

// KPATarget returns target and total (KN-5): total is the annotation's target if it is above 0, but never more than the
// container concurrency; without one the container concurrency, or 100 if that is unlimited (0). For requests per second
// it is the annotation's target or 200.
func KPATarget(annotation, concurrency, utilization float64, rate bool) (target, total float64) {
	switch {
	case annotation > 0:
		total = annotation
	case rate:
		total = kpaRate
	case concurrency > 0:
		total = concurrency
	default:
		total = kpaUnlimited
	}
	if !rate && concurrency > 0 {
		total = math.Min(total, concurrency)
	}
	return math.Max(kpaLeastTarget, total*utilization), total
}

// KPAActivators returns how many activators stand in the path of a revision (KN-11). The policy here is one.
func KPAActivators(ready int, total, burst float64) int {
	return int(math.Max(kpaActivators, math.Ceil((float64(ready)*total+burst)/kpaPerActivator)))
}

// KPASample returns how many of n instances a scrape asks (KN-19): all up to 3, else the size of a sample with 95 %
// confidence. The policy here knows all of them exactly.
func KPASample(n int) int {
	const confidence = 15.3664
	if n <= 3 {
		return n
	}
	return int(math.Ceil(float64(n) * confidence / (float64(n) + confidence - 1)))
}

// KPAInput is what is known at one decision.
type KPAInput struct {
	Now           clock.Instant
	Stable, Panic float64 // means of the two windows
	Ready         int     // ready instances
	NoData        bool    // the stable window is empty: that is not 0
}

// KPADecision is one decision, and why.
type KPADecision struct {
	Valid       bool // false: there was no data, nothing may change (KN-6 needs some)
	Desired     int
	ExcessBurst int // below 0: the activator stays in the path (KN-11)
	Panicking   bool
	StableCount int // what the stable window alone asks for
	PanicCount  int // what the panic window alone asks for
	Held        int // the floor of this panic, or what the scale-down delay keeps; 0: neither changed the outcome
}

// KPADecider turns the means of two windows into a number of instances. It is deterministic: equal inputs give equal
// decisions.
type KPADecider struct {
	spec      KPASpec
	panicking bool
	since     clock.Instant // when the panic count was last over the threshold
	floor     int           // the largest count of this panic
	delay     maxWindow
}

// NewKPADecider returns a decider that begins at now with that many ready instances. With more than one it begins in
// panic: it has no history, and would scale down for no other reason (KN-8).
func NewKPADecider(spec KPASpec, ready int, now clock.Instant) *KPADecider {
	d := &KPADecider{spec: spec, panicking: ready > 1, since: now, floor: ready}
	if spec.ScaleDownDelay > 0 {
		d.delay = newMaxWindow(int((spec.ScaleDownDelay + kpaTick - 1) / kpaTick))
	}
	return d
}

// Decide decides once (KN-6 to KN-11).
func (d *KPADecider) Decide(in KPAInput) KPADecision {
	if in.NoData {
		return KPADecision{}
	}
	ready := math.Max(1, float64(in.Ready))
	stable, panicky := math.Ceil(in.Stable/d.spec.Target), math.Ceil(in.Panic/d.spec.Target)
	out := KPADecision{
		Valid: true, StableCount: d.clamp(stable, ready), PanicCount: d.clamp(panicky, ready),
		ExcessBurst: d.excess(in),
	}
	d.alarm(in.Now, panicky/ready >= d.spec.PanicThreshold)
	out.Desired, out.Panicking = out.StableCount, d.panicking
	if d.panicking {
		d.floor = max(d.floor, out.StableCount, out.PanicCount)
		out.Desired = d.floor
	}
	if n := d.delayed(in.Now, out.Desired); n != out.Desired {
		out.Desired = n
	}
	if out.Desired > max(out.StableCount, out.PanicCount) {
		out.Held = out.Desired
	}
	return out
}

// clamp keeps a count within the factors of one decision, and lifts it to the activation scale if it is positive.
func (d *KPADecider) clamp(raw, ready float64) int {
	down := 0.0
	if !d.spec.Unreachable {
		down = math.Floor(ready / d.spec.MaxDown)
	}
	n := int(math.Min(math.Max(raw, down), math.Ceil(d.spec.MaxUp*ready)))
	if raw > 0 && d.spec.Activation > 1 {
		n = max(n, d.spec.Activation)
	}
	return n
}

// alarm begins, extends and ends the panic. Only being over the threshold extends it, not the growth of the count: the
// panic ends one stable window after the last decision over the threshold (KN-7).
func (d *KPADecider) alarm(now clock.Instant, over bool) {
	switch {
	case over:
		d.panicking, d.since = true, now
	case d.panicking && d.since.Add(d.spec.StableWindow) < now:
		d.panicking, d.floor = false, 0
	}
}

// delayed returns the largest count of the scale-down delay.
func (d *KPADecider) delayed(now clock.Instant, n int) int {
	if len(d.delay.slots) == 0 || d.spec.Unreachable {
		return n
	}
	return d.delay.add(int64(now)/int64(kpaTick), n)
}

// excess returns the excess burst capacity.
func (d *KPADecider) excess(in KPAInput) int {
	switch b := d.spec.BurstCapacity; {
	case b == 0:
		return 0
	case b < 0:
		return -1
	default:
		return int(math.Floor(float64(in.Ready)*d.spec.Total - b - in.Panic))
	}
}

// calm reports that equal inputs will give equal decisions from now on, whatever the time.
func (d *KPADecider) calm() bool { return !d.panicking && d.delay.even() }
