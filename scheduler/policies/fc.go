package policies

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// Function Compute's two policies differ in one thing: what a waiting request looks at. This file has what they share.

// FCOptions are the constants of the Function Compute policies. The quota is the Max of the core's Config.
type FCOptions struct {
	IdleTimeout     time.Duration // idle instances are reclaimed after it (FC-4); 0: never
	WaitTimeout     time.Duration // a request that has waited so long gets 503; 0: it waits without limit
	StartRetries    int           // fc-bound: restarts for one request, up to 255; fc-race: restarts in any one second
	Spread          bool          // instances go to the emptiest node (PL-3), not to the fullest (PL-2)
	StartPerRequest bool          // fc-race: FC-8 to the letter, one start for each request that finds nothing idle
}

func fcOptions(v values) FCOptions {
	return FCOptions{
		IdleTimeout:     v.duration("idle_timeout"),
		WaitTimeout:     v.duration("wait_timeout"),
		StartRetries:    int(v["start_retries"]),
		StartPerRequest: v["start_per_request"] != 0,
		Spread:          v.is("spread"),
	}
}

const month = 30 * 24 * time.Hour

var (
	idleTimeout = Param{
		Name: "idle_timeout", Type: Duration, Default: "300s", Max: int64(month),
		Doc: "idle instances are reclaimed after this time, at full seconds (FC-4); 0: never",
	}
	waitTimeout = Param{
		Name: "wait_timeout", Type: Duration, Default: "60s", Max: int64(month),
		Doc: "a request that has waited so long is answered with 503; 0: no limit",
	}
)

var spread = Param{
	Name: "spread", Type: Bool, Default: "false", Max: 1,
	Doc: "instances go to the node with the fewest of them (PL-3), not to the first one with room (PL-2); needs nodes",
}

// place says on which node instances go.
func (o FCOptions) place(c *scheduler.Control) {
	if o.Spread {
		c.PlaceBy(scheduler.Spread)
	}
}

// Why is the code of a Start.
type Why uint8

// Why an instance was started.
const (
	ForRequest      Why = iota + 1 // a request found nothing idle
	Again                          // an earlier start failed, or an instance was lost while requests wait
	ForMin                         // fewer than Min are alive
	ForLoad                        // the policy's metric asks for more
	Ahead                          // a request is expected
	ForQueue                       // cloudrun: those who wait would wait longer without it (CR-19)
	ForPendingLimit                // cloudrun: a request has waited for as long as it may (CR-20)
	ForCPU                         // cloudrun: the CPU driver asks for it (CR-2)
	ForConcurrency                 // cloudrun: the concurrency driver does (CR-3)
	ForACT                         // cloudrun: the ACT driver does (CR-4)
	ForReplacement                 // cloudrun: maintenance takes an instance away (CR-27)
	ForPrewarm                     // openwhisk: a container of no action yet (OW-8)
)

var whyNames = [...]string{
	ForRequest: "request", Again: "again", ForMin: "min", ForLoad: "load", Ahead: "ahead", ForQueue: "on-demand",
	ForPendingLimit: "pending limit", ForCPU: "cpu", ForConcurrency: "concurrency", ForACT: "act", ForReplacement: "replacement",
	ForPrewarm: "prewarm",
}

// String returns the reason in a word or two.
func (w Why) String() string {
	if w == 0 || int(w) >= len(whyNames) {
		return "unknown"
	}
	return whyNames[w]
}

// The ticks of the Function Compute policies.
const (
	tickReap uint8 = iota + 1
	tickAgain
)

// unavailable is ServiceUnavailable, the status of a request that the quota or the wait limit turns away (FC-10).
const unavailable = 503

// waitUntil returns the deadline of a request that starts to wait now for at most that time; 0: without limit.
func waitUntil(c *scheduler.Control, most time.Duration) clock.Instant {
	if most == 0 {
		return clock.Never
	}
	return c.Now().Add(most)
}

// reaper stops instances that have been idle for a timeout, at full seconds as a reaper that ticks each second would,
// but without a tick while nothing is idle.
type reaper struct {
	timeout time.Duration // 0: it never stops any
	keep    int           // instances that it keeps where Min is lower
	exact   bool          // it stops them at the instant, not at the next full second
	armed   bool
}

// arm sets the alarm for the instance that has been idle longest. A later change of that instance only moves its time
// further on, so an alarm that is set stays, and looks again when it comes.
func (p *reaper) arm(c *scheduler.Control) {
	if p.armed || p.timeout == 0 || c.IdleOldest() == 0 || c.Alive() <= p.kept(c) {
		return
	}
	due := max(c.IdleSince(c.IdleOldest()).Add(p.timeout), c.Now()+1)
	if !p.exact {
		due = fullSecond(due)
	}
	c.Alarm(tickReap, due)
	p.armed = true
}

func (p *reaper) kept(c *scheduler.Control) int { return max(c.Config().Min, p.keep) }

// reap stops what is due, the longest idle first, but keeps Min.
func (p *reaper) reap(c *scheduler.Control) {
	p.armed = false
	for i := c.IdleOldest(); i != 0 && c.Alive() > p.kept(c); i = c.IdleOldest() {
		if c.Now().Sub(c.IdleSince(i)) < p.timeout {
			return
		}
		c.Stop(i)
	}
}

// fullSecond returns the first full second that is not before t.
func fullSecond(t clock.Instant) clock.Instant {
	second := clock.Instant(time.Second)
	over := t % second
	if over > 0 {
		over -= second
	}
	return t - over
}

// budget allows a number of restarts in any one second, so that an instance that cannot start is not started in a
// tight loop.
type budget struct {
	last []clock.Instant // of the last restarts, a ring; next is the oldest
	next int
}

func newBudget(perSecond int) budget {
	b := budget{last: make([]clock.Instant, perSecond)}
	for k := range b.last {
		b.last[k] = -clock.Never / 2
	}
	return b
}

// take uses one restart if there is one.
func (b *budget) take(now clock.Instant) bool {
	if b.opens() > now {
		return false
	}
	b.last[b.next] = now
	b.next = (b.next + 1) % len(b.last)
	return true
}

// opens returns since when the next restart is allowed, Never if none ever is.
func (b *budget) opens() clock.Instant {
	if len(b.last) == 0 {
		return clock.Never
	}
	return b.last[b.next].Add(time.Second)
}

// fill starts what is missing to Min.
func fill(c *scheduler.Control) { fillTo(c, c.Config().Min) }

// fillTo starts what is missing to a number that is not above Max.
func fillTo(c *scheduler.Control, size int) {
	for c.Alive() < size {
		c.Start(uint8(ForMin), 0)
	}
}

// refill replaces lost instances below Min as far as the budget goes, and comes back when it has room again.
func refill(c *scheduler.Control, b *budget) { refillTo(c, b, c.Config().Min) }

// refillTo is refill for a number that is not above Max.
func refillTo(c *scheduler.Control, b *budget, size int) {
	for c.Alive() < size {
		if !b.take(c.Now()) {
			wake(c, b)
			return
		}
		c.Start(uint8(ForMin), 0)
	}
}

// wake asks for a tick when the budget has room again.
func wake(c *scheduler.Control, b *budget) {
	if at := b.opens(); at != clock.Never {
		c.Alarm(tickAgain, at)
	}
}
