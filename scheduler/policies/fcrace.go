package policies

import "coldwave/scheduler"

var fcRace = Entry{
	Name:    "fc-race",
	Summary: "a waiting request takes what comes first, a freed instance or a new one, while starts go on",
	Source:  "Function Compute after the change: FC-1, FC-4, FC-5, FC-7, FC-8, FC-9, FC-10",
	Params: []Param{
		idleTimeout,
		waitTimeout,
		{
			Name: "start_retries", Type: Int, Default: "10", Max: 1 << 20,
			Doc: "restarts in any one second after failed starts; beyond it the longest waiting request is answered with 503",
		},
		{
			Name: "start_per_request", Type: Bool, Default: "false", Max: 1,
			Doc: "one start for each request that finds nothing idle (FC-8 to the letter), instead of as many as wait",
		},
		spread,
	},
	bill: fcTariff,
	make: func(v values) scheduler.Policy { return NewFCRace(fcOptions(v)) },
}

// FCRace is Function Compute after the change: a waiting request goes to the first instance that becomes free or ready
// (FC-7), and a start that was begun goes on and adds a spare (FC-8). Waiters are served in order of arrival.
//
// An arrival that finds nothing idle starts an instance only while fewer are starting than requests wait: read word
// for word FC-8 starts one for each, which costs more starts than fc-bound and so contradicts FC-10. StartPerRequest
// keeps the literal reading.
type FCRace struct {
	o        FCOptions
	reaper   reaper
	restarts budget
}

// NewFCRace returns the policy of one core.
func NewFCRace(o FCOptions) *FCRace {
	return &FCRace{o: o, reaper: reaper{timeout: o.IdleTimeout}, restarts: newBudget(o.StartRetries)}
}

// Handle decides on one event.
func (p *FCRace) Handle(c *scheduler.Control, ev scheduler.Event) {
	switch ev.Kind {
	case scheduler.Configure:
		p.configure(c)
	case scheduler.Arrival:
		p.arrival(c, ev.Req)
	case scheduler.Ready, scheduler.Done:
		if r := c.Front(); r != 0 && c.Up(ev.Inst) {
			c.Assign(r, ev.Inst)
		}
	case scheduler.Timer:
		c.Reject(ev.Req, unavailable)
	case scheduler.Failed:
		p.failed(c, ev.Inst)
	case scheduler.Tick:
		p.tick(c, ev.Code)
	case scheduler.Cancel, scheduler.Stopped, scheduler.Sample:
		// The start that a request caused goes on without it (FC-8).
	}
	p.reaper.arm(c)
}

func (p *FCRace) arrival(c *scheduler.Control, r scheduler.RequestID) {
	if i := c.IdleNewest(); i != 0 {
		c.Assign(r, i) // something is idle only if nobody waits
		return
	}
	if c.Alive() == 0 && c.Config().Max == 0 {
		c.Reject(r, unavailable) // nothing lives, and nothing may: it would wait in vain
		return
	}
	c.Queue(r, waitUntil(c, p.o.WaitTimeout))
	if c.Alive() < c.Config().Max && (p.o.StartPerRequest || c.Starting() < c.Waiting()) {
		c.Start(uint8(ForRequest), r)
	}
}

// short reports whether more requests wait than instances are starting, and one more may be started.
func short(c *scheduler.Control) bool {
	return c.Starting() < c.Waiting() && c.Alive() < c.Config().Max
}

// withoutStart returns the first waiting request for which no instance is starting, counted from the front, or 0. Its
// time is linear in the number of starting instances.
func withoutStart(c *scheduler.Control) scheduler.RequestID {
	r := c.Front()
	for n := c.Starting(); n > 0 && r != 0; n-- {
		r = c.NextOn(r)
	}
	return r
}

// failed starts again if somebody waits for it. Without the budget the longest waiting request pays for the loss.
func (p *FCRace) failed(c *scheduler.Control, i scheduler.InstanceID) {
	if short(c) && p.restarts.take(c.Now()) {
		r := c.Cause(i)
		if !c.IsWaiting(r) {
			r = withoutStart(c)
		}
		c.Start(uint8(Again), r)
	} else if short(c) {
		c.Reject(c.Front(), unavailable)
	}
	p.again(c)
}

// again starts for those who wait and have no start, and for Min, as far as the budget goes; it comes back when the
// budget has room. If it never has, nobody may wait for what will not come.
func (p *FCRace) again(c *scheduler.Control) {
	for r := withoutStart(c); short(c) && p.restarts.take(c.Now()); r = c.NextOn(r) {
		c.Start(uint8(Again), r)
	}
	if p.o.StartRetries == 0 && c.Alive() == 0 {
		rejectAll(c)
	}
	if short(c) {
		wake(c, &p.restarts)
	}
	refill(c, &p.restarts)
}

// configure obeys new limits: what is above Max goes, and a raised Max lets those who wait have their starts.
func (p *FCRace) configure(c *scheduler.Control) {
	p.o.place(c)
	c.Shrink()
	for c.Alive() > c.Config().Max {
		c.Stop(c.LastAlive())
	}
	for r := withoutStart(c); short(c); r = c.NextOn(r) {
		c.Start(uint8(ForRequest), r)
	}
	fill(c)
	if c.Alive() == 0 {
		rejectAll(c)
	}
}

func rejectAll(c *scheduler.Control) {
	for r := c.Front(); r != 0; r = c.Front() {
		c.Reject(r, unavailable)
	}
}

func (p *FCRace) tick(c *scheduler.Control, name uint8) {
	switch name {
	case tickReap:
		p.reaper.reap(c)
	case tickAgain:
		p.again(c)
	}
}
