package policies

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/scheduler"
)

var knative = Entry{
	Name:    "knative",
	Summary: "the Knative autoscaler: stable and panic windows, an activator with a burst capacity, scale to zero",
	Source:  "Knative Serving: KN-1 to KN-18",
	Wait:    300 * time.Second,
	Params: []Param{
		{Name: "stable_window", Type: Duration, Default: "60s", Min: int64(6 * time.Second), Max: int64(time.Hour), Doc: "the stable window, in whole seconds (KN-3)"},
		{Name: "panic_window", Type: Int, Default: "10", Min: 1, Max: 100, Doc: "the panic window in percent of the stable one (KN-3)"},
		{Name: "panic_threshold", Type: Int, Default: "200", Min: 110, Max: 1000, Doc: "panic from this percentage of the ready instances on (KN-7)"},
		{Name: "target", Type: Int, Default: "0", Max: 1 << 20, Doc: "concurrency, or requests per second, of one instance; 0: its limit, or 100, or 200 requests per second (KN-5)"},
		{Name: "utilization", Type: Ratio, Default: "0.7", Min: 1, Max: 1000, Doc: "the part of it that is aimed at (KN-5)"},
		{Name: "rps", Type: Bool, Default: "false", Max: 1, Doc: "scale on requests per second instead of concurrency (KN-5)"},
		{Name: "unlimited", Type: Bool, Default: "false", Max: 1, Doc: "container concurrency 0: the limit of an instance is only the host's, and the less loaded of two random ones serves (KN-5, KN-16)"},
		{Name: "weighted", Type: Bool, Default: "false", Max: 1, Doc: "exponential weights in the windows (KN-4)"},
		{Name: "max_scale_up", Type: Int, Default: "1000", Min: 2, Max: 1 << 20, Doc: "largest growth of one decision, as a factor (KN-6)"},
		{Name: "max_scale_down", Type: Int, Default: "2", Min: 2, Max: 1 << 20, Doc: "largest reduction of one decision, as a divisor (KN-6)"},
		{Name: "burst_capacity", Type: Int, Default: "211", Min: -1, Max: 1 << 20, Doc: "target burst capacity; 0: the activator leaves the path, -1: it never does (KN-11)"},
		{Name: "activation_scale", Type: Int, Default: "1", Min: 1, Max: 1 << 20, Doc: "least count while any is wanted (KN-9)"},
		{Name: "scale_down_delay", Type: Duration, Default: "0s", Max: int64(time.Hour), Doc: "fewer instances only after they were not wanted for so long (KN-10)"},
		{Name: "initial_scale", Type: Int, Default: "0", Max: 1 << 20, Doc: "least count until so many were ready (KN-15); the source's 1 would spare the first request its cold start"},
		{Name: "scale_to_zero", Type: Bool, Default: "true", Max: 1, Doc: "false: one instance is kept (KN-14)"},
		{Name: "grace", Type: Duration, Default: "30s", Min: int64(6 * time.Second), Max: int64(time.Hour), Doc: "from the activator's entry into the path to the last stop (KN-14)"},
		{Name: "retention", Type: Duration, Default: "0s", Max: int64(24 * time.Hour), Doc: "the last instance stays so long after the revision became inactive (KN-14)"},
		{Name: "progress_deadline", Type: Duration, Default: "600s", Max: int64(24 * time.Hour), Doc: "an activation without a ready instance is given up 30 s after it (KN-14)"},
		{Name: "give_up", Type: Bool, Default: "true", Max: 1, Doc: "starts that nobody waits for any more are stopped after the grace time (AS-07); false: only after the progress deadline"},
		{Name: "queue", Type: Int, Default: "10000", Max: 1 << 24, Doc: "requests that wait at the activator; one more is answered with 503 (KN-16)"},
		{Name: "pod_queue", Type: Int, Default: "10", Max: 1 << 16, Doc: "requests that wait at the instances while the activator is out of the path, per unit of their concurrency (KN-18)"},
		{Name: "wait_timeout", Type: Duration, Default: "300s", Max: int64(month), Doc: "a request that has waited so long is answered with 503; 0: no limit (KN-17, KN-18)"},
	},
	make: func(v values) scheduler.Policy { return NewKnative(knativeOptions(v)) },
}

// KnativeOptions are the constants of the policy. The bounds of the scale (KN-15) are Min and Max of the core's Config,
// and the container concurrency is its Limit.
type KnativeOptions struct {
	Spec        KPASpec // without Target and Total, which follow from the limits
	PanicWindow time.Duration
	Annotation  float64 // target of one instance; 0: none
	Utilization float64 // in (0, 1]
	Rate        bool    // the metric is requests per second
	Unlimited   bool    // container concurrency 0
	Weighted    bool
	Initial     int
	Queue       int // requests that wait at the activator
	PodQueue    int // requests that wait at the instances, per unit of their concurrency
	WaitTimeout time.Duration
	zero        kpaZeroOptions
}

func knativeOptions(v values) KnativeOptions {
	stable := v.duration("stable_window").Truncate(time.Second)
	return KnativeOptions{
		Spec: KPASpec{
			BurstCapacity: float64(v["burst_capacity"]), PanicThreshold: float64(v["panic_threshold"]) / 100,
			MaxUp: float64(v["max_scale_up"]), MaxDown: float64(v["max_scale_down"]), StableWindow: stable,
			Activation: int(v["activation_scale"]), ScaleDownDelay: v.duration("scale_down_delay"),
		},
		PanicWindow: KPAPanicWindow(stable, float64(v["panic_window"])),
		Annotation:  float64(v["target"]), Utilization: float64(v["utilization"]) / 1000,
		Rate: v["rps"] != 0, Unlimited: v["unlimited"] != 0, Weighted: v["weighted"] != 0,
		Initial: int(v["initial_scale"]), Queue: int(v["queue"]), PodQueue: int(v["pod_queue"]),
		WaitTimeout: v.duration("wait_timeout"),
		zero: kpaZeroOptions{
			Disabled: v["scale_to_zero"] == 0, Stable: stable, Grace: v.duration("grace"), Retention: v.duration("retention"),
			Progress: v.duration("progress_deadline"), GiveUp: v["give_up"] != 0,
		},
	}
}

// The ticks of the policy, in the order in which simultaneous ones come. tickAgain is before them.
const (
	tickReport uint8 = iota + 10
	tickDecide
)

// Knative is the Knative pod autoscaler with its activator. Load is measured exactly at one activator; requests wait in
// one queue in order of arrival. Every report and decision falls on the same grid of seconds as if the ticks never
// stopped, but they do stop while nothing they can find would change anything.
type Knative struct {
	o       KnativeOptions
	d       replicas
	decider *KPADecider
	stable  *KPAWindow
	panicky *KPAWindow
	zero    kpaZero
	last    KPADecision
	meter   loadMeter
	arrived int  // since the last report
	early   bool // the first request was reported at once, and the next report leaves it out (KN-13)
	want    int  // wanted by the last decision, within the bounds
	initial bool // the initial scale has been reached (KN-15)
	awake   bool
	begun   bool
	draws   int64
}

// NewKnative returns the policy of one core.
func NewKnative(o KnativeOptions) *Knative {
	return &Knative{
		o: o, d: newReplicas(), decider: NewKPADecider(o.spec(1), 0, 0), stable: NewKPAWindow(o.Spec.StableWindow),
		panicky: NewKPAWindow(o.PanicWindow), zero: newKPAZero(o.zero), initial: o.Initial == 0,
	}
}

// Last returns the last decision, for those who watch.
func (p *Knative) Last() KPADecision { return p.last }

// Handle decides on one event.
func (p *Knative) Handle(c *scheduler.Control, ev scheduler.Event) {
	switch ev.Kind {
	case scheduler.Configure:
		p.configure(c)
	case scheduler.Arrival:
		p.arrival(c, ev.Req)
	case scheduler.Ready:
		p.d.add(c, ev.Inst)
		p.serve(c)
	case scheduler.Done:
		p.d.served(c, ev.Inst)
		p.serve(c)
	case scheduler.Timer:
		c.Reject(ev.Req, unavailable)
	case scheduler.Failed:
		p.d.drop(ev.Inst)
		p.d.restore(c)
	case scheduler.Tick:
		p.tick(c, ev.Code)
	case scheduler.Cancel, scheduler.Stopped, scheduler.Sample:
		// The meter sees below who has gone.
	}
	p.meter.set(c.Now(), c.Running()+c.Waiting())
	if p.meter.level > 0 {
		p.wake(c)
	}
}

// spec returns what is decided by when instances have that limit.
func (o KnativeOptions) spec(limit int32) KPASpec {
	spec, concurrency := o.Spec, float64(limit)
	if o.Unlimited {
		concurrency = 0
	}
	spec.Target, spec.Total = KPATarget(o.Annotation, concurrency, o.Utilization, o.Rate)
	return spec
}

// configure takes the limits in force. The decider keeps its state.
func (p *Knative) configure(c *scheduler.Control) {
	p.decider.spec = p.o.spec(c.Config().Limit)
	if !p.begun {
		p.begun = true
		p.d.want = p.o.Initial
	}
	p.d.configure(c)
	p.want = p.bounded(c, p.want)
	if c.Alive() > 0 {
		p.wake(c)
	}
}

// bounded applies the bounds of the scale (KN-15).
func (p *Knative) bounded(c *scheduler.Control, n int) int {
	least := c.Config().Min
	if !p.initial {
		least = max(least, p.o.Initial)
	}
	return min(max(n, least), c.Config().Max)
}

func (p *Knative) arrival(c *scheduler.Control, r scheduler.RequestID) {
	if c.Config().Max == 0 && c.Alive() == 0 {
		c.Reject(r, unavailable)
		return
	}
	p.poke(c, r)
	p.arrived++
	switch i := p.pick(c); {
	case i != 0:
		p.d.assign(c, r, i)
	case c.Waiting() < p.room(c):
		c.Queue(r, p.until(c))
	default:
		c.Reject(r, unavailable)
	}
}

// until returns the deadline of a request that starts to wait now.
func (p *Knative) until(c *scheduler.Control) clock.Instant {
	if p.o.WaitTimeout == 0 {
		return clock.Never
	}
	return c.Now().Add(p.o.WaitTimeout)
}

// poke is the immediate report of the first request of an idle revision, and the decision on it (KN-13).
func (p *Knative) poke(c *scheduler.Control, r scheduler.RequestID) {
	idle := p.want == 0 && p.meter.level == 0 && p.meter.area == 0 && p.arrived == 0
	if !idle && p.d.want > 0 {
		return
	}
	p.wake(c)
	if !p.early {
		p.early = true
		p.record(c, 1)
	}
	p.decide(c, 1, r)
}

// room returns how many requests may wait: at the activator while it is in the path or nothing is ready (KN-16), else at
// the instances (KN-18).
func (p *Knative) room(c *scheduler.Control) int {
	if p.proxying() || p.d.ready == 0 {
		return p.o.Queue
	}
	return p.o.PodQueue * int(c.Config().Limit) * p.d.ready
}

// proxying reports whether the activator is in the path: the excess burst capacity is negative or nothing is wanted.
func (p *Knative) proxying() bool { return p.zero.proxied != clock.Never }

// pick returns the instance for the next request, or 0: the less loaded of two for an unlimited container concurrency,
// the first with a free slot up to 3, round robin above (KN-16).
func (p *Knative) pick(c *scheduler.Control) scheduler.InstanceID {
	switch {
	case p.o.Unlimited && len(p.d.at) > 1:
		p.draws++
		draw := twoChoices.Draw(p.draws)
		n := int64(len(p.d.at))
		return p.d.lesser(c, int(draw.Int64N(n)), int(draw.Int64N(n)))
	case p.o.Unlimited || c.Config().Limit <= 3:
		return p.d.first()
	default:
		return p.d.next()
	}
}

const twoChoices = rng.Key(0x6b6e6174697665)

// serve gives free slots to those who wait, in order of arrival.
func (p *Knative) serve(c *scheduler.Control) {
	for r := c.Front(); r != 0; r = c.Front() {
		i := p.pick(c)
		if i == 0 {
			return
		}
		p.d.assign(c, r, i)
	}
}

func (p *Knative) tick(c *scheduler.Control, name uint8) {
	now := c.Now()
	switch name {
	case tickAgain:
		p.d.restore(c)
	case tickReport:
		p.report(c)
		c.Alarm(tickReport, nextMultiple(now, clock.Instant(kpaBucket)))
	case tickDecide:
		p.decide(c, 0, withoutStart(c))
		if p.restful(c) {
			p.awake = false
			c.Alarm(tickReport, clock.Never)
			return
		}
		c.Alarm(tickDecide, nextMultiple(now, clock.Instant(kpaTick)))
	}
}

// wake starts the ticks. While they stood still the instances would have reported 0.
func (p *Knative) wake(c *scheduler.Control) {
	if p.awake {
		return
	}
	p.awake = true
	now := c.Now()
	if c.Alive() > 0 {
		p.stable.Rest(secondOf(now - 1))
		p.panicky.Rest(secondOf(now - 1))
	}
	c.Alarm(tickReport, nextMultiple(now, clock.Instant(kpaBucket)))
	c.Alarm(tickDecide, nextMultiple(now, clock.Instant(kpaTick)))
}

// secondOf returns the second that t lies in.
func secondOf(t clock.Instant) int64 {
	return int64(nextMultiple(t, clock.Instant(time.Second))/clock.Instant(time.Second)) - 1
}

// report adds the mean of the last second to the windows (KN-2). A revision without instances and without requests
// reports nothing.
func (p *Knative) report(c *scheduler.Control) {
	value := float64(p.meter.take(c.Now())) / float64(time.Second)
	if p.o.Rate {
		value = float64(p.arrived)
	}
	if p.early {
		value = max(0, value-1)
	}
	p.early, p.arrived = false, 0
	if value > 0 || p.meter.level > 0 || c.Alive() > 0 {
		p.record(c, value)
	}
}

func (p *Knative) record(c *scheduler.Control, value float64) {
	now := secondOf(c.Now())
	p.stable.Record(now, value)
	p.panicky.Record(now, value)
}

// decide asks the decider, applies the bounds and the way to zero, and scales.
func (p *Knative) decide(c *scheduler.Control, least int, cause scheduler.RequestID) {
	now := secondOf(c.Now())
	in := KPAInput{Now: c.Now(), Ready: p.d.ready, NoData: p.stable.Empty(now)}
	if p.o.Weighted {
		in.Stable, in.Panic = p.stable.Weighted(now), p.panicky.Weighted(now)
	} else {
		in.Stable, in.Panic = p.stable.Mean(now), p.panicky.Mean(now)
	}
	out := p.decider.Decide(in)
	if !out.Valid {
		return
	}
	p.last = out
	p.initial = p.initial || p.d.ready >= p.o.Initial
	want := out.Desired
	if c.Running()+c.Waiting() > 0 {
		want = max(want, 1) // nobody waits for what is scaled to nothing, however few requests a second there are
	}
	p.want = p.bounded(c, max(want, least))
	p.zero.route(c.Now(), out.ExcessBurst < 0 || p.want == 0)
	if n, apply := p.zero.scale(c.Now(), p.want, p.d.ready); apply {
		p.d.scale(c, n, ForLoad, cause)
	}
}

// restful reports that nothing changes before the next event of the host.
func (p *Knative) restful(c *scheduler.Control) bool {
	if p.meter.level > 0 || p.early || !p.stable.Quiet() || !p.panicky.Quiet() || !p.decider.calm() {
		return false
	}
	if c.Alive() == 0 {
		p.draws = 0
		return p.d.want == 0
	}
	least := c.Config().Min
	if p.o.zero.Disabled {
		least = max(least, 1)
	}
	return p.d.ready == c.Alive() && p.d.want == c.Alive() && c.Alive() == least && p.want <= least
}
