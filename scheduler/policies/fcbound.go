package policies

import "coldwave/scheduler"

var fcBound = Entry{
	Name:    "fc-bound",
	Summary: "a request that finds no idle instance waits for its own new instance",
	Source:  "Function Compute before the change: FC-1, FC-4, FC-5, FC-6, FC-10",
	Bound:   true,
	Params: []Param{
		idleTimeout,
		waitTimeout,
		{
			Name: "start_retries", Type: Int, Default: "1", Max: 255,
			Doc: "failed starts that are tried again for one request before it is answered with 503",
		},
		spread,
	},
	bill: fcTariff,
	make: func(v values) scheduler.Policy { return NewFCBound(fcOptions(v)) },
}

// FCBound is Function Compute before the change (FC-6): a request that finds no idle instance waits for the instance
// that was started for it, even if another one becomes idle meanwhile. Above the quota it is turned away (FC-10).
//
// It keeps no books of its own: the request that an instance is bound to is the cause of its start, for as long as
// that request waits. When it has gone, the start goes on and the instance becomes a spare.
type FCBound struct {
	o      FCOptions
	reaper reaper
	refill budget
}

// NewFCBound returns the policy of one core.
func NewFCBound(o FCOptions) *FCBound {
	return &FCBound{o: o, reaper: reaper{timeout: o.IdleTimeout}, refill: newBudget(boundRefills)}
}

// boundRefills is how many instances below Min are replaced in any one second.
const boundRefills = 10

// Handle decides on one event.
func (p *FCBound) Handle(c *scheduler.Control, ev scheduler.Event) {
	switch ev.Kind {
	case scheduler.Configure:
		p.configure(c)
	case scheduler.Arrival:
		p.arrival(c, ev.Req)
	case scheduler.Ready:
		if r := c.Cause(ev.Inst); c.IsWaiting(r) {
			c.Assign(r, ev.Inst)
		}
	case scheduler.Timer:
		c.Reject(ev.Req, unavailable)
	case scheduler.Failed:
		p.failed(c, ev.Inst)
	case scheduler.Tick:
		p.tick(c, ev.Code)
	case scheduler.Done, scheduler.Cancel, scheduler.Stopped, scheduler.Sample:
		// That Done does not look at who waits is the defect that this policy models (FC-6).
	}
	p.reaper.arm(c)
}

func (p *FCBound) arrival(c *scheduler.Control, r scheduler.RequestID) {
	switch i := c.IdleNewest(); {
	case i != 0:
		c.Assign(r, i)
	case c.Alive() >= c.Config().Max:
		c.Reject(r, unavailable)
	default:
		c.Queue(r, waitUntil(c, p.o.WaitTimeout))
		c.Start(uint8(ForRequest), r)
	}
}

// failed starts again for the request that was bound to the instance, a few times.
func (p *FCBound) failed(c *scheduler.Control, i scheduler.InstanceID) {
	if r := c.Cause(i); c.IsWaiting(r) {
		if tag := c.Tag(r); int(*tag) < p.o.StartRetries && c.Alive() < c.Config().Max {
			*tag++
			c.Start(uint8(Again), r)
		} else {
			c.Reject(r, unavailable)
		}
	}
	refill(c, &p.refill)
}

// configure obeys new limits.
func (p *FCBound) configure(c *scheduler.Control) {
	p.o.place(c)
	shrinkBound(c, unavailable)
	fill(c)
}

// shrinkBound brings what is alive down to Max, newest first, where each waiting request is bound to its own start: a
// start that must go takes its request along, with that status.
func shrinkBound(c *scheduler.Control, status int16) {
	c.Shrink()
	for c.Alive() > c.Config().Max {
		i := c.LastAlive()
		c.Stop(i)
		if r := c.Cause(i); c.IsWaiting(r) {
			c.Reject(r, status)
		}
	}
}

func (p *FCBound) tick(c *scheduler.Control, name uint8) {
	switch name {
	case tickReap:
		p.reaper.reap(c)
	case tickAgain:
		refill(c, &p.refill)
	}
}
