package policies

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

var cloudRun = Entry{
	Name:    "cloudrun",
	Summary: "scales on CPU and concurrency every few seconds, and on demand when the queue of what starts and runs is longer",
	Source:  "Cloud Run's instance autoscaling, one revision: CR-1 … CR-28",
	Learns:  true,
	Wait:    defaultRequestTimeout,
	Params:  cloudRunParams,
	bill:    cloudRunTariff,
	make:    func(v values) scheduler.Policy { return NewCloudRun(cloudRunOptions(v)) },
}

// CloudRun is one revision of a Cloud Run service. Two mechanisms scale it (CR-1): every five seconds the metrics
// recommend a number of instances (CR-2 … CR-9), and an arrival that finds no free slot starts an instance at once if
// waiting for those that start or run would take longer (CR-18, CR-19). Min, Max and the concurrency are the core's
// Config.
type CloudRun struct {
	o       CloudRunOptions
	n       int64 // the recommendation
	driver  Why   // the driver that decided it last; 0: none yet
	demand  meter // requests
	cpu     meter // milli-CPUs
	servers scheduler.Table[server]
	order   []place // of the ready instances, a heap

	future  int64 // slots of the instances that start
	uses    int64
	service int64 // predicted service time in ns; 0: unknown
	cold    *coldStarts

	dropped  int64 // deprioritised in this episode, those that have stopped since included
	reserved int64 // of them, in the second group
	rounds   int64 // metric ticks

	ticking  bool // the alarm of the next metric tick is set
	reaper   reaper
	rate     budget
	restarts budget
	wakes    clock.Instant // when the alarm for a later start comes; Never: none is set
	spikes   int           // starts above max that are left
	spikeEnd clock.Instant
	replaced int
}

// NewCloudRun returns the policy of one core.
func NewCloudRun(o CloudRunOptions) *CloudRun {
	p := &CloudRun{
		o: o, service: int64(o.ServiceTime), cold: new(coldStarts), wakes: clock.Never, spikes: o.OvershootSpike, spikeEnd: clock.Never,
		rate: newBudget(o.StartRate), restarts: newBudget(o.StartRetries), reaper: reaper{timeout: o.idle()},
	}
	p.demand.reset()
	p.cpu.reset()
	return p
}

// Recommendation returns how many instances are recommended, and the driver that decided it: ForCPU, ForConcurrency or
// ForACT, 0 if none has yet (CR-25).
func (p *CloudRun) Recommendation() (n int64, driver Why) { return p.n, p.driver }

// Samples reports whether it wants them: the drivers do, and the use of an instance that is to stop (U-19).
func (p *CloudRun) Samples() bool { return p.o.CPU || p.o.Concurrency || p.o.ACT }

// Handle decides on one event.
func (p *CloudRun) Handle(c *scheduler.Control, ev scheduler.Event) {
	if p.demand.begin != clock.Never || c.Running()+c.Waiting() > 0 || ev.Kind == scheduler.Arrival || c.Config().Min > 0 {
		p.demand.advance(c.Now())
	}
	switch ev.Kind {
	case scheduler.Configure:
		p.configure(c)
	case scheduler.Arrival:
		p.arrival(c, ev.Req)
	case scheduler.Ready:
		p.ready(c, ev)
	case scheduler.Done:
		p.done(c, ev)
	case scheduler.Timer:
		p.timer(c, ev.Req)
	case scheduler.Failed:
		p.forget(c, ev.Inst)
		p.again(c)
	case scheduler.Sample:
		p.sample(c, ev)
	case scheduler.Tick:
		p.tick(c, ev.Code)
	case scheduler.Cancel, scheduler.Stopped:
		// The start that a request caused goes on without it (U-35).
	}
	p.demand.level = int64(c.Running())
	if p.o.CountPending {
		p.demand.level += int64(c.Waiting())
	}
	p.arm(c)
}

func (p *CloudRun) arrival(c *scheduler.Control, r scheduler.RequestID) {
	if i := p.best(); i != 0 { // a slot is free only if nobody waits
		p.assign(c, r, i)
		return
	}
	c.Queue(r, p.until(c, r))
	p.consider(c, r)
}

func (p *CloudRun) assign(c *scheduler.Control, r scheduler.RequestID, i scheduler.InstanceID) {
	s := p.servers.Get(int64(i))
	s.sum(c.Now(), c.Limit(i))
	c.Assign(r, i)
	p.use(s)
	p.touch(c, i, s)
}

func (p *CloudRun) use(s *server) {
	p.uses++
	s.used = p.uses
}

// drain gives free slots to those who wait, in order of arrival.
func (p *CloudRun) drain(c *scheduler.Control) {
	for r := c.Front(); r != 0; r = c.Front() {
		i := p.best()
		if i == 0 {
			return
		}
		p.assign(c, r, i)
	}
}

func (p *CloudRun) ready(c *scheduler.Control, ev scheduler.Event) {
	p.cold.seen++
	p.cold.spent += ev.Value
	s := p.servers.Get(int64(ev.Inst))
	p.future -= int64(s.most)
	s.since = c.Now()
	p.enter(c, ev.Inst, s)
	p.drain(c)
}

func (p *CloudRun) done(c *scheduler.Control, ev scheduler.Event) {
	if p.service == 0 {
		p.service = ev.Value
	} else {
		p.service += (ev.Value - p.service) * p.o.ServiceWeight / 1000
	}
	if s := p.servers.Get(int64(ev.Inst)); s != nil {
		s.sum(c.Now(), c.Limit(ev.Inst))
		p.use(s)
		p.touch(c, ev.Inst, s)
	}
	p.drain(c)
	p.consider(c, c.Front()) // on-demand scaling sees changes of the latency too (CR-18)
}

// timer ends the wait of a request at the pending limit. Below max it starts an instance and lets the request wait once
// more (CR-20); at max, or the second time, the answer is 429 (CR-21). At the request timeout it is 504 (CR-22).
func (p *CloudRun) timer(c *scheduler.Control, r scheduler.RequestID) {
	if p.o.RequestTimeout > 0 && c.Now() >= c.Since(r).Add(p.o.RequestTimeout) {
		c.Reject(r, statusTimeout)
		return
	}
	if tag := c.Tag(r); *tag == 0 && p.start(c, ForPendingLimit, r) {
		*tag = 1
		c.Wait(r, p.until(c, r))
		return
	}
	c.Reject(r, statusTooMany)
}

const (
	statusTooMany = 429
	statusTimeout = 504
)

// until returns the deadline of a request that waits from now on.
func (p *CloudRun) until(c *scheduler.Control, r scheduler.RequestID) clock.Instant {
	until := c.Now().Add(p.pendingLimit())
	if p.o.RequestTimeout > 0 {
		until = min(until, c.Since(r).Add(p.o.RequestTimeout))
	}
	return until
}

// pendingLimit is the longer of ten seconds and 3.5 predicted cold starts (CR-20, CR-21).
func (p *CloudRun) pendingLimit() time.Duration {
	return max(10*time.Second, time.Duration(p.coldStart()*7/2))
}

// coldStart returns the predicted cold start in ns: the mean of all that were seen (U-13).
func (p *CloudRun) coldStart() int64 {
	if p.cold.seen == 0 {
		return int64(p.o.ColdStart)
	}
	return p.cold.spent / p.cold.seen
}

// tick decides on one of the policy's own alarms.
func (p *CloudRun) tick(c *scheduler.Control, name uint8) {
	switch name {
	case tickReap:
		p.reap(c)
	case tickAgain:
		p.wakes = clock.Never
		p.again(c)
		p.fill(c)
	case tickMetric:
		p.metric(c)
	case tickReplace:
		p.replace(c)
	}
}

// arm sets the alarms that are due. While nothing lives, nothing waits and all windows are empty there is no metric tick,
// and what comes then finds the meters as they were at first.
func (p *CloudRun) arm(c *scheduler.Control) {
	p.reaper.arm(c)
	if p.ticking {
		return
	}
	if c.Alive() == 0 && c.Waiting() == 0 && c.Config().Min == 0 && p.demand.quiet() {
		p.demand.reset()
		p.cpu.reset()
		return
	}
	period := clock.Instant(p.o.MetricTick)
	over := c.Now() % period
	if over < 0 {
		over += period
	}
	c.Alarm(tickMetric, c.Now()-over+period)
	p.ticking = true
}
