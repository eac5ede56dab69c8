package policies

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

var hpa = Entry{
	Name:    "hpa",
	Summary: "the Kubernetes horizontal autoscaler: every 15 s by load, requests or CPU, with tolerance and stabilization",
	Source:  "Kubernetes HorizontalPodAutoscaler: HPA-1 to HPA-13",
	Params: []Param{
		{Name: "concurrency_target", Type: Ratio, Default: "0.7", Max: 1000, Doc: "mean requests that wait or run, as a part of the limit of all instances; 0: not a metric"},
		{Name: "rate_target", Type: Int, Default: "0", Max: 1 << 20, Doc: "requests per second of one instance, the traffic of a Gateway (HPA-2); 0: not a metric"},
		{Name: "cpu_target", Type: Int, Default: "0", Max: 1000, Doc: "CPU in percent of the request (HPA-5); 0: not a metric"},
		{Name: "cpu_request", Type: Int, Default: "1000", Min: 1, Max: 1 << 20, Fact: InstanceCPUs, Doc: "CPU that one instance requests, in thousandths of a CPU"},
		{Name: "tolerance", Type: Ratio, Default: "0.1", Max: 1000, Doc: "no change while the ratio is so close to 1 (HPA-3)"},
		{Name: "old_tolerance", Type: Bool, Default: "false", Max: 1, Doc: "the older arithmetic of its edges (HPA-4, U-31)"},
		{Name: "behavior", Type: Bool, Default: "true", Max: 1, Doc: "false: as without a behavior field; the up and down parameters except down_window then have no effect (HPA-11, HPA-12)"},
		{Name: "up_window", Type: Duration, Default: "0s", Max: int64(time.Hour), Doc: "stabilization before more instances (HPA-11)"},
		{Name: "up_pods", Type: Int, Default: "4", Max: 1 << 20, Doc: "instances that may be added in a period; 0: no such rule"},
		{Name: "up_percent", Type: Int, Default: "100", Max: 1 << 20, Doc: "percentage that may be added in a period; 0: no such rule"},
		{Name: "up_period", Type: Duration, Default: "15s", Min: int64(time.Second), Max: int64(30 * time.Minute), Doc: "period of both"},
		{Name: "up_select", Type: Int, Default: "0", Max: 2, Doc: "0: the larger change of the two counts, 1: the smaller, 2: no change (HPA-12)"},
		{Name: "down_window", Type: Duration, Default: "300s", Max: int64(time.Hour), Doc: "stabilization before fewer instances (HPA-11)"},
		{Name: "down_pods", Type: Int, Default: "0", Max: 1 << 20, Doc: "instances that may go in a period; 0: no such rule"},
		{Name: "down_percent", Type: Int, Default: "100", Max: 100, Doc: "percentage that may go in a period; 0: no such rule"},
		{Name: "down_period", Type: Duration, Default: "15s", Min: int64(time.Second), Max: int64(30 * time.Minute), Doc: "period of both"},
		{Name: "down_select", Type: Int, Default: "0", Max: 2, Doc: "as up_select"},
		{Name: "from_zero", Type: Bool, Default: "true", Max: 1, Doc: "a request that finds nothing starts one instance at once; false: it waits for the next decision (HPA-10)"},
		{Name: "queue", Type: Int, Default: "10000", Max: 1 << 24, Doc: "requests that wait; one more is answered with 503"},
		waitTimeout,
	},
	make: func(v values) scheduler.Policy { return NewHPA(hpaOptions(v)) },
}

// HPAOptions are the constants of the policy. Its bounds are Min and Max of the core's Config.
type HPAOptions struct {
	Concurrency float64 // target, as a part of the limit; 0: not a metric
	Rate        float64 // target, requests per second of one instance; 0: not a metric
	CPU         int64   // target, percent of CPURequest; 0: not a metric
	CPURequest  int64   // thousandths of a CPU
	Tolerance   HPATolerance
	Behavior    HPABehavior
	FromZero    bool
	Queue       int
	WaitTimeout time.Duration // 0: none
}

func hpaOptions(v values) HPAOptions {
	tolerance := float64(v["tolerance"]) / 1000
	return HPAOptions{
		Concurrency: float64(v["concurrency_target"]) / 1000, Rate: float64(v["rate_target"]),
		CPU: v["cpu_target"], CPURequest: v["cpu_request"],
		Tolerance: HPATolerance{Down: tolerance, Up: tolerance, Old: v["old_tolerance"] != 0},
		Behavior:  HPABehavior{Without: v["behavior"] == 0, Up: hpaRules(v, "up"), Down: hpaRules(v, "down")},
		FromZero:  v["from_zero"] != 0, Queue: int(v["queue"]), WaitTimeout: v.duration("wait_timeout"),
	}
}

func hpaRules(v values, direction string) HPARules {
	r := HPARules{Select: HPASelect(v[direction+"_select"]), Stabilization: v.duration(direction + "_window")}
	period := v.duration(direction + "_period")
	if n := v[direction+"_pods"]; n > 0 {
		r.Rules = append(r.Rules, HPARule{int(n), false, period})
	}
	if n := v[direction+"_percent"]; n > 0 {
		r.Rules = append(r.Rules, HPARule{int(n), true, period})
	}
	if len(r.Rules) == 0 {
		r.Select = HPADisabled
	}
	return r
}

// Times of the rules for CPU (HPA-6), and what a sample of the host covers.
var hpaTimes = HPATimes{Initialization: 5 * time.Minute, Readiness: 30 * time.Second}

const (
	hpaWindow = time.Second     // of a CPU sample
	hpaStale  = 4 * hpaPeriod   // a sample that old counts as missing
	tickHPA   = tickDecide + 10 // after tickAgain
)

// HPA is the Kubernetes horizontal autoscaler in front of one queue, whose requests go round robin over the ready
// instances, as behind a Service. It decides on the grid of its period as if the ticks never stopped, but they do stop
// while there is neither a request nor an instance above Min.
type HPA struct {
	o       HPAOptions
	d       replicas
	r       *HPARecommender
	meter   loadMeter
	arrived int         // in the period
	cpu     []hpaSample // the last one of the instance in each place
	last    HPAStep
	awake   bool
}

type hpaSample struct {
	inst  scheduler.InstanceID
	milli int64
	at    clock.Instant
}

// NewHPA returns the policy of one core.
func NewHPA(o HPAOptions) *HPA {
	return &HPA{o: o, d: newReplicas(), r: NewHPARecommender(o.Behavior)}
}

// Last returns the last step, for those who watch.
func (p *HPA) Last() HPAStep { return p.last }

// Samples reports whether it wants them.
func (p *HPA) Samples() bool { return p.o.CPU > 0 }

// Handle decides on one event.
func (p *HPA) Handle(c *scheduler.Control, ev scheduler.Event) {
	switch ev.Kind {
	case scheduler.Configure:
		p.d.configure(c)
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
	case scheduler.Sample:
		p.sample(c, ev)
	case scheduler.Tick:
		p.tick(c, ev.Code)
	case scheduler.Cancel, scheduler.Stopped:
		// The meter sees below who has gone.
	}
	p.meter.set(c.Now(), c.Running()+c.Waiting())
	if p.meter.level > 0 || c.Alive() > c.Config().Min {
		p.wake(c)
	}
}

func (p *HPA) arrival(c *scheduler.Control, r scheduler.RequestID) {
	p.arrived++
	i := p.d.next()
	switch {
	case i != 0:
		p.d.assign(c, r, i)
	case c.Waiting() >= p.o.Queue || c.Config().Max == 0 && c.Alive() == 0:
		c.Reject(r, unavailable)
	default:
		c.Queue(r, hpaUntil(c, p.o.WaitTimeout))
		if p.d.want == 0 && p.o.FromZero {
			p.d.scale(c, 1, ForRequest, r)
		}
	}
}

func hpaUntil(c *scheduler.Control, most time.Duration) clock.Instant {
	if most == 0 {
		return clock.Never
	}
	return c.Now().Add(most)
}

// serve gives free slots to those who wait, in order of arrival.
func (p *HPA) serve(c *scheduler.Control) {
	for r := c.Front(); r != 0; r = c.Front() {
		i := p.d.next()
		if i == 0 {
			return
		}
		p.d.assign(c, r, i)
	}
}

func (p *HPA) tick(c *scheduler.Control, name uint8) {
	switch name {
	case tickAgain:
		p.d.restore(c)
	case tickHPA:
		p.decide(c)
		p.awake = p.meter.level > 0 || c.Alive() > c.Config().Min
		if p.awake {
			c.Alarm(tickHPA, nextMultiple(c.Now(), clock.Instant(hpaPeriod)))
		}
	}
}

// wake starts the ticks. While they stood still each would have proposed nothing.
func (p *HPA) wake(c *scheduler.Control) {
	if p.awake {
		return
	}
	p.awake = true
	next := nextMultiple(c.Now(), clock.Instant(hpaPeriod))
	p.r.Rest(next.Add(-hpaPeriod))
	c.Alarm(tickHPA, next)
}

// decide takes the largest proposal of the metrics, and the step that it allows.
func (p *HPA) decide(c *scheduler.Control) {
	area, arrived := p.meter.take(c.Now()), p.arrived
	p.arrived = 0
	current := p.d.want
	var all HPALargest
	if p.o.Concurrency > 0 {
		mean := float64(area) / float64(hpaPeriod)
		all.Add(HPATotal(current, mean, p.o.Concurrency*float64(c.Config().Limit), p.o.Tolerance), nil)
	}
	if p.o.Rate > 0 {
		all.Add(HPATotal(current, float64(arrived)/hpaPeriod.Seconds(), p.o.Rate, p.o.Tolerance), nil)
	}
	if p.o.CPU > 0 {
		all.Add(HPAUtilization(current, p.load(c), p.o.CPU, p.o.Tolerance))
	}
	proposed, ok := all.Replicas(current)
	if p.meter.level > 0 {
		proposed = max(proposed, 1) // nobody waits for what is scaled to nothing
	} else if !ok {
		return
	}
	p.last = p.r.Recommend(c.Now(), current, proposed, c.Config().Min, c.Config().Max)
	p.r.Scaled(c.Now(), current, p.last.Replicas)
	p.d.scale(c, p.last.Replicas, ForLoad, withoutStart(c))
}

// sample notes the CPU of an instance.
func (p *HPA) sample(c *scheduler.Control, ev scheduler.Event) {
	if p.o.CPU == 0 {
		return
	}
	k := p.d.placeOf(ev.Inst)
	if k < 0 {
		return
	}
	for len(p.cpu) <= k {
		p.cpu = append(p.cpu, hpaSample{})
	}
	p.cpu[k] = hpaSample{ev.Inst, ev.Value, c.Now()}
}

// sampleOf returns the last sample of an instance; at is Never if there is none that is fresh.
func (p *HPA) sampleOf(c *scheduler.Control, i scheduler.InstanceID) hpaSample {
	k := p.d.placeOf(i)
	if k < 0 || k >= len(p.cpu) || p.cpu[k].inst != i || c.Now().Sub(p.cpu[k].at) >= hpaStale {
		return hpaSample{at: clock.Never}
	}
	return p.cpu[k]
}

// load sums the CPU of the instances by group, in time linear in their number.
func (p *HPA) load(c *scheduler.Control) HPALoad {
	var l HPALoad
	for i := c.FirstAlive(); i != 0; i = c.Next(i) {
		s := p.sampleOf(c, i)
		switch hpaTimes.Group(c.Now(), hpaPod(c, i, s.at)) {
		case HPACounted:
			l.Counted, l.Usage, l.Request = l.Counted+1, l.Usage+s.milli, l.Request+p.o.CPURequest
		case HPAIgnored:
			l.Ignored, l.IgnoredRequest = l.Ignored+1, l.IgnoredRequest+p.o.CPURequest
		case HPAMissing:
			l.Missing, l.MissingRequest = l.Missing+1, l.MissingRequest+p.o.CPURequest
		case HPAGone: // those that are alive are not
		}
	}
	return l
}

func hpaPod(c *scheduler.Control, i scheduler.InstanceID, sampled clock.Instant) HPAPod {
	return HPAPod{
		Pending: c.State(i) == scheduler.Starting, Ready: c.Up(i), Began: c.Began(i), Changed: c.ReadyAt(i),
		Sampled: sampled, Window: hpaWindow,
	}
}
