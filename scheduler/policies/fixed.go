package policies

import (
	"time"

	"coldwave/scheduler"
)

var fixed = Entry{
	Name:    "fixed",
	Summary: "a number of instances that is always there; requests that find no free slot wait in order of arrival",
	Source:  "manual scaling: a number of instances that somebody sets, and no autoscaler",
	Keeps:   defaultInstances,
	Params: []Param{
		{Name: "instances", Type: Int, Default: "2", Max: 1 << 20, Doc: "instances that are always there, within the limits of the core"},
		waitTimeout,
		{
			Name: "start_retries", Type: Int, Default: "10", Max: 1 << 20,
			Doc: "lost instances that are replaced in any one second; 0: none is, and without an instance requests get 503",
		},
	},
	make: func(v values) scheduler.Policy {
		return NewFixed(FixedOptions{
			Instances: int(v["instances"]), WaitTimeout: v.duration("wait_timeout"), StartRetries: int(v["start_retries"]),
		})
	},
}

// defaultInstances is the default of instances.
const defaultInstances = 2

// FixedOptions are the constants of the fixed policy.
type FixedOptions struct {
	Instances    int           // kept at all times; the core's Min may raise it and its Max lower it
	WaitTimeout  time.Duration // a request that has waited so long gets 503; 0: it waits without limit
	StartRetries int           // lost instances that are replaced in any one second; 0: none is
}

// Fixed is manual scaling: the same number of instances with and without traffic. All start when the core begins, so
// only requests of the first start-up meet a cold start. A request that finds no free slot waits, in order of arrival,
// for the first one that becomes free or ready.
type Fixed struct {
	o       FixedOptions
	restart budget
}

// NewFixed returns the policy of one core.
func NewFixed(o FixedOptions) *Fixed {
	return &Fixed{o: o, restart: newBudget(o.StartRetries)}
}

// Handle decides on one event.
func (p *Fixed) Handle(c *scheduler.Control, ev scheduler.Event) {
	switch ev.Kind {
	case scheduler.Configure:
		p.configure(c)
	case scheduler.Arrival:
		p.arrival(c, ev.Req)
	case scheduler.Ready, scheduler.Done:
		serve(c, ev.Inst)
	case scheduler.Timer:
		c.Reject(ev.Req, unavailable)
	case scheduler.Failed, scheduler.Tick:
		p.replace(c)
	case scheduler.Cancel, scheduler.Stopped, scheduler.Sample:
		// The number of instances does not follow the requests.
	}
}

// size returns how many instances there should be.
func (p *Fixed) size(c *scheduler.Control) int {
	return max(c.Config().Min, min(p.o.Instances, c.Config().Max))
}

func (p *Fixed) arrival(c *scheduler.Control, r scheduler.RequestID) {
	if i := freest(c); i != 0 {
		c.Assign(r, i) // a slot is free only if nobody waits
		return
	}
	if p.hopeless(c) {
		c.Reject(r, unavailable)
		return
	}
	c.Queue(r, waitUntil(c, p.o.WaitTimeout))
}

// hopeless reports whether nothing lives and nothing will.
func (p *Fixed) hopeless(c *scheduler.Control) bool {
	return c.Alive() == 0 && (p.size(c) == 0 || p.o.StartRetries == 0)
}

// freest returns the instance with the fewest requests in flight that has a free slot, or 0: an idle one, if there is
// one, in constant time. Else the time is linear in the number of instances, unless each has a single slot.
func freest(c *scheduler.Control) scheduler.InstanceID {
	if i := c.IdleNewest(); i != 0 || c.Config().Limit == 1 {
		return i
	}
	best, fewest := scheduler.InstanceID(0), 0
	for i := c.FirstAlive(); i != 0; i = c.Next(i) {
		n := c.InFlight(i)
		if c.Up(i) && n < int(c.Limit(i)) && (best == 0 || n < fewest) {
			best, fewest = i, n
		}
	}
	return best
}

// serve gives the free slots of i to those who wait longest.
func serve(c *scheduler.Control, i scheduler.InstanceID) {
	for r := c.Front(); r != 0 && c.Up(i) && c.InFlight(i) < int(c.Limit(i)); r = c.Front() {
		c.Assign(r, i)
	}
}

// configure obeys new limits.
func (p *Fixed) configure(c *scheduler.Control) {
	c.Shrink()
	for c.Alive() > c.Config().Max {
		c.Stop(c.LastAlive())
	}
	for i := c.IdleOldest(); i != 0 && c.Alive() > p.size(c); i = c.IdleOldest() {
		c.Stop(i)
	}
	fillTo(c, p.size(c))
	p.giveUp(c)
}

// replace starts what was lost as far as the budget goes, and comes back when it has room again.
func (p *Fixed) replace(c *scheduler.Control) {
	refillTo(c, &p.restart, p.size(c))
	p.giveUp(c)
}

// giveUp turns away those who wait for what will never come.
func (p *Fixed) giveUp(c *scheduler.Control) {
	if p.hopeless(c) {
		rejectAll(c)
	}
}
