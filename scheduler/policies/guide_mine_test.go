package policies

import (
	"time"

	"coldwave/scheduler"
)

var guideMine = Entry{
	Name: "mine", Summary: "like fc-race, but only a few instances start at once", Source: "our own",
	Params: []Param{idleTimeout, {
		Name: "at_once", Type: Int, Default: "2", Min: 1, Max: 1000, Doc: "instances that may be starting at the same time",
	}},
	make: func(v values) scheduler.Policy {
		return &GuideMine{atOnce: int(v["at_once"]), reaper: reaper{timeout: v.duration("idle_timeout")}}
	},
}

// GuideMine gives a free instance to the longest waiting request, and starts more for those who still wait, a few at once.
type GuideMine struct {
	atOnce int
	paused bool // an instance has failed, so none is started for half a second
	reaper reaper
}

// Handle decides on one event.
func (p *GuideMine) Handle(c *scheduler.Control, ev scheduler.Event) {
	switch ev.Kind {
	case scheduler.Arrival:
		c.Queue(ev.Req, waitUntil(c, time.Minute))
	case scheduler.Timer: // it has waited that minute
		c.Reject(ev.Req, unavailable)
	case scheduler.Failed:
		p.paused = true
		c.Alarm(tickAgain, c.Now().Add(time.Second/2))
	case scheduler.Tick:
		p.paused = p.paused && ev.Code != tickAgain
		if ev.Code == tickReap {
			p.reaper.reap(c)
		}
	case scheduler.Configure: // Max may have fallen
		c.Shrink()
		for c.Alive() > c.Config().Max {
			c.Stop(c.LastAlive())
		}
	case scheduler.Ready, scheduler.Done, scheduler.Cancel, scheduler.Stopped, scheduler.Sample: // nothing of their own
	}
	for c.Front() != 0 && c.IdleNewest() != 0 {
		c.Assign(c.Front(), c.IdleNewest())
	}
	if c.Config().Max == 0 {
		rejectAll(c) // nothing lives, and nothing may
	}
	if !p.paused {
		for r := withoutStart(c); r != 0 && c.Starting() < p.atOnce && c.Alive() < c.Config().Max; r = c.NextOn(r) {
			c.Start(uint8(ForRequest), r)
		}
		fill(c) // to Min
	}
	p.reaper.arm(c)
}
