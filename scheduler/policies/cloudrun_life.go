package policies

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// The ticks that only Cloud Run has.
const (
	tickMetric uint8 = iota + tickAgain + 1
	tickReplace
)

// overshootSpan is how long a spike may exceed max, from its first start on.
const overshootSpan = 15 * time.Minute

// consider starts an instance for r if more requests wait than those that start have slots, and those that run will
// free, before a new one could be ready (CR-19, U-14).
func (p *CloudRun) consider(c *scheduler.Control, r scheduler.RequestID) {
	if p.short(c) {
		p.start(c, ForQueue, r)
	}
}

func (p *CloudRun) short(c *scheduler.Control) bool {
	missing := int64(c.Waiting()) - p.future
	return missing > 0 && p.hasRoom(c, ForQueue) && p.freed(c, missing) < missing
}

// freed estimates how many slots running requests will free within a cold start, each slot as often as it can. It stops
// as soon as these are enough; else its time is linear in the number of running requests.
func (p *CloudRun) freed(c *scheduler.Control, enough int64) int64 {
	if p.service == 0 {
		return 0
	}
	n, cold := int64(0), p.coldStart()
	for i := c.FirstAlive(); i != 0 && n < enough; i = c.Next(i) {
		for r := c.FirstOn(i); r != 0 && n < enough; r = c.NextOn(r) {
			if left := max(0, p.service-int64(c.Now()-c.Dispatched(r))); left <= cold {
				n += 1 + (cold-left)/p.service
			}
		}
	}
	return n
}

// hasRoom reports whether the limits allow one more instance. Draining instances do not count against max, but together
// they stay within twice of it (CR-27, U-20), unless nothing else is left alive.
func (p *CloudRun) hasRoom(c *scheduler.Control, why Why) bool {
	limit := c.Config().Max
	if c.Alive() < limit {
		return c.Alive() == 0 || c.Alive()+c.Draining() < 2*limit
	}
	onDemand := why == ForQueue || why == ForPendingLimit
	return onDemand && c.Config().Overshoot && p.spikes > 0 && c.Now() < p.spikeEnd && c.Alive()+c.Draining() < 2*limit
}

// start starts an instance if the limits and the rate of starts allow it (CR-26, CR-28).
func (p *CloudRun) start(c *scheduler.Control, why Why, r scheduler.RequestID) bool {
	if !p.hasRoom(c, why) {
		return false
	}
	if p.o.StartRate > 0 && !p.rate.take(c.Now()) {
		p.wakeAt(c, p.rate.opens())
		return false
	}
	if c.Alive() >= c.Config().Max {
		p.spikes--
		p.spikeEnd = min(p.spikeEnd, c.Now().Add(overshootSpan))
	}
	i := c.Start(uint8(why), r)
	most := c.Limit(i)
	p.servers.Add(server{pos: -1, most: most, sampled: -clock.Never / 2, since: c.Now()})
	p.future += int64(most)
	if why == ForQueue || why == ForPendingLimit || why == Again {
		p.n = max(p.n, int64(min(c.Alive(), c.Config().Max))) // (U-11)
	}
	return true
}

// wakeAt sets the alarm for starts that must wait.
func (p *CloudRun) wakeAt(c *scheduler.Control, at clock.Instant) {
	if at < p.wakes {
		p.wakes = at
		c.Alarm(tickAgain, at)
	}
}

// again starts for those who wait in vain after a failure, as far as the budget goes, and comes back when it has room.
func (p *CloudRun) again(c *scheduler.Control) {
	for p.short(c) {
		if at := p.restarts.opens(); at > c.Now() {
			p.wakeAt(c, at)
			return
		}
		if !p.start(c, Again, c.Front()) {
			return
		}
		p.restarts.take(c.Now())
	}
}

// fill keeps min alive, without traffic and after losses too (CR-17).
func (p *CloudRun) fill(c *scheduler.Control) {
	for c.Alive() < c.Config().Min && p.start(c, ForMin, 0) {
	}
	p.n = max(p.n, int64(c.Config().Min))
}

// forget drops what is known of an instance that is no longer alive.
func (p *CloudRun) forget(c *scheduler.Control, i scheduler.InstanceID) {
	s := p.servers.Get(int64(i))
	if s.pos < 0 {
		p.future -= int64(s.most)
	}
	p.quit(s)
	p.servers.Drop(int64(i))
	if c.Alive() == 0 { // to zero, from which only a request leads back (CR-1, CR-16)
		p.n, p.dropped, p.reserved = int64(c.Config().Min), 0, 0
	}
}

func (p *CloudRun) stop(c *scheduler.Control, i scheduler.InstanceID) {
	c.Stop(i)
	p.forget(c, i)
}

// reap stops what was idle for too long, the longest idle first, but keeps min (CR-14, CR-15). Only idleness counts: a
// last instance that uses CPU in the background goes too (CR-16).
func (p *CloudRun) reap(c *scheduler.Control) {
	p.reaper.armed = false
	for i := c.IdleOldest(); i != 0 && c.Alive() > c.Config().Min; i = c.IdleOldest() {
		if c.Now().Sub(c.IdleSince(i)) < p.reaper.timeout {
			return
		}
		p.stop(c, i)
	}
}

// configure obeys new limits. Above max idle instances go first, then starting ones, then busy ones drain. Those who wait
// for them keep waiting, for a raised max or the pending limit.
func (p *CloudRun) configure(c *scheduler.Control) {
	for c.Alive() > c.Config().Max && c.IdleOldest() != 0 {
		p.stop(c, c.IdleOldest())
	}
	p.shrink(c, scheduler.Starting)
	p.shrink(c, scheduler.Busy)
	p.n = min(p.n, int64(c.Config().Max))
	p.fill(c)
	for p.short(c) && p.start(c, ForQueue, c.Front()) {
	}
	if at := clock.Instant(p.o.ReplaceAt); p.o.Replace > 0 && p.replaced == 0 {
		c.Alarm(tickReplace, max(at, c.Now()+1))
	}
}

// shrink stops instances in that state, the oldest first, until max holds.
func (p *CloudRun) shrink(c *scheduler.Control, in scheduler.State) {
	for i := c.FirstAlive(); i != 0 && c.Alive() > c.Config().Max; {
		next := c.Next(i)
		if c.State(i) == in {
			p.stop(c, i)
		}
		i = next
	}
}

// replace is maintenance: the oldest instance drains while its replacement starts (CR-27). While too many drain it waits.
func (p *CloudRun) replace(c *scheduler.Control) {
	if c.Alive()+c.Draining() >= 2*c.Config().Max {
		c.Alarm(tickReplace, c.Now()+second)
		return
	}
	p.replaced++
	if p.replaced < p.o.Replace {
		c.Alarm(tickReplace, c.Now().Add(p.o.ReplaceOver/time.Duration(p.o.Replace)))
	}
	if i := c.FirstAlive(); c.Up(i) {
		p.stop(c, i)
		p.start(c, ForReplacement, 0)
	}
}
