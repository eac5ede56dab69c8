package policies

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

var lambda = Entry{
	Name:    "lambda",
	Summary: "a request that finds no idle environment waits for its own new one; what exceeds rate or limit gets 429",
	Source:  "AWS Lambda: LA-1 … LA-9, U-33",
	Bound:   true,
	Params: []Param{
		{
			Name: "account_concurrency", Type: Int, Default: "1000", Max: 1 << 20,
			Doc: "requests in flight at once that the account allows (LA-4); the quota is the function's reserved concurrency (LA-6)",
		},
		{
			Name: "provisioned", Type: Int, Default: "0", Max: 1 << 20,
			Doc: "environments that are always there (LA-6), within the quota; the core's minimum may raise it",
		},
		{
			Name: "scaling_rate", Type: Int, Default: "1000", Max: 1 << 20,
			Doc: "environments that may be started in 10 s, at most so many at once (LA-2, LA-3)",
		},
		{
			Name: "request_rate", Type: Int, Default: "10", Max: 1000,
			Doc: "requests in one second for each unit of the concurrency limit (LA-7); 0: no limit",
		},
		{
			Name: "rate_scaling", Type: Bool, Default: "false", Max: 1,
			Doc: "an environment stands for request_rate requests in one second, beyond them another one is started (LA-2 in requests/s)",
		},
		{
			Name: "idle_timeout", Type: Duration, Default: "600s", Max: int64(month),
			Doc: "idle environments above the provisioned ones are stopped after this time (LA-9, U-33); 0: never",
		},
		{
			Name: "wait_timeout", Type: Duration, Default: "60s", Max: int64(month),
			Doc: "a request whose environment has not started in this time is answered with 500; 0: no limit",
		},
	},
	bill: lambdaTariff,
	make: func(v values) scheduler.Policy { return NewLambda(lambdaOptions(v)) },
}

// LambdaOptions are the constants of the Lambda policy. The core's Max is the function's reserved concurrency (LA-6).
type LambdaOptions struct {
	AccountConcurrency int           // requests in flight (LA-4); 0: every request is throttled
	Provisioned        int           // environments that are always there (LA-6)
	ScalingRate        int           // environments in 10 s (LA-2); 0: none is started for a request
	RequestRate        int           // requests in a second per unit of the limit (LA-7); 0: no limit
	RateScaling        bool          // an environment stands for RequestRate requests in a second (LA-2)
	IdleTimeout        time.Duration // 0: never
	WaitTimeout        time.Duration // 0: no limit
}

func lambdaOptions(v values) LambdaOptions {
	return LambdaOptions{
		AccountConcurrency: int(v["account_concurrency"]),
		Provisioned:        int(v["provisioned"]),
		ScalingRate:        int(v["scaling_rate"]),
		RequestRate:        int(v["request_rate"]),
		RateScaling:        v.is("rate_scaling"),
		IdleTimeout:        v.duration("idle_timeout"),
		WaitTimeout:        v.duration("wait_timeout"),
	}
}

// Lambda is AWS Lambda for synchronous calls: one request in one environment (LA-1), no queue (LA-5). A request that
// finds no idle environment has one started and is bound to it (U-33), as far as the scaling rate and the concurrency
// limits go; else it is throttled at once.
//
// Like FCBound it keeps no books of its own about who is bound to what: that is the cause of a start.
type Lambda struct {
	o        LambdaOptions
	reaper   reaper
	refill   budget
	scaling  scalingRate
	accepted lastSecond
}

// NewLambda returns the policy of one core.
func NewLambda(o LambdaOptions) *Lambda {
	return &Lambda{
		o: o, reaper: reaper{timeout: o.IdleTimeout, keep: o.Provisioned, exact: true}, refill: newBudget(boundRefills), scaling: newScalingRate(o.ScalingRate),
	}
}

const (
	throttled = 429 // TooManyRequests (LA-5)
	initError = 500 // of a request whose environment did not start (U-39)
)

// Handle decides on one event.
func (p *Lambda) Handle(c *scheduler.Control, ev scheduler.Event) {
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
		c.Reject(ev.Req, initError)
	case scheduler.Failed:
		if r := c.Cause(ev.Inst); c.IsWaiting(r) {
			c.Reject(r, initError)
		}
		p.replace(c)
	case scheduler.Tick:
		p.tick(c, ev.Code)
	case scheduler.Done, scheduler.Cancel, scheduler.Stopped, scheduler.Sample:
		// A freed environment serves arrivals only: whoever waits has an environment of its own on the way (U-33).
	}
	p.reaper.arm(c)
}

// arrival decides at once (LA-5): an idle environment, a new one, or 429.
func (p *Lambda) arrival(c *scheduler.Control, r scheduler.RequestID) {
	if p.overLimit(c) {
		c.Reject(r, throttled)
		return
	}
	i := c.IdleNewest()
	switch {
	case i != 0 && !p.spent(c):
		c.Assign(r, i)
	case c.Alive() < p.limit(c) && p.scaling.take(c.Now()):
		c.Queue(r, waitUntil(c, p.o.WaitTimeout))
		c.Start(uint8(ForRequest), r)
	default:
		c.Reject(r, throttled)
		return
	}
	if p.o.RequestRate > 0 {
		p.accepted.add(c.Now())
	}
}

// limit returns the concurrency limit of the function (LA-4, LA-6).
func (p *Lambda) limit(c *scheduler.Control) int {
	return min(c.Config().Max, p.o.AccountConcurrency)
}

// overLimit reports whether one more request exceeds the limit of those in flight (LA-4) or of those in a second
// (LA-7). One that waits for its environment is in flight.
func (p *Lambda) overLimit(c *scheduler.Control) bool {
	limit := p.limit(c)
	return c.Running()+c.Waiting() >= limit ||
		p.o.RequestRate > 0 && p.accepted.count(c.Now()) >= p.o.RequestRate*limit
}

// spent reports whether the environments that are held have had all the requests of this second.
func (p *Lambda) spent(c *scheduler.Control) bool {
	return p.o.RateScaling && p.o.RequestRate > 0 && p.accepted.count(c.Now()) >= p.o.RequestRate*c.Alive()
}

// configure obeys new limits.
func (p *Lambda) configure(c *scheduler.Control) {
	shrinkBound(c, throttled)
	fillTo(c, p.provisioned(c)) // provisioned environments do not count against the scaling rate
}

func (p *Lambda) tick(c *scheduler.Control, name uint8) {
	switch name {
	case tickReap:
		p.reaper.reap(c)
	case tickAgain:
		p.replace(c)
	}
}

// replace starts lost environments of the provisioned ones again.
func (p *Lambda) replace(c *scheduler.Control) { refillTo(c, &p.refill, p.provisioned(c)) }

// provisioned returns how many environments are always there.
func (p *Lambda) provisioned(c *scheduler.Control) int {
	return max(c.Config().Min, min(p.o.Provisioned, c.Config().Max))
}

// scalingWindow is the time to which the scaling rate refers (LA-2).
const scalingWindow = 10 * time.Second

// scalingRate is a token bucket that holds perWindow tokens, is full at first and fills up in one window (LA-3). It
// counts in shares of a token, perWindow of which come in each nanosecond, so that nothing is ever rounded.
type scalingRate struct {
	perWindow int64
	shares    int64 // scalingWindow of them make a token
	last      clock.Instant
}

func newScalingRate(perWindow int) scalingRate {
	return scalingRate{perWindow: int64(perWindow), shares: int64(perWindow) * int64(scalingWindow)}
}

// take uses one token if there is one.
func (b *scalingRate) take(now clock.Instant) bool {
	passed := min(now.Sub(b.last), scalingWindow)
	b.shares = min(b.shares+int64(passed)*b.perWindow, b.perWindow*int64(scalingWindow))
	b.last = now
	if b.shares < int64(scalingWindow) {
		return false
	}
	b.shares -= int64(scalingWindow)
	return true
}

// lastSecond holds the instants of what was accepted in the last second, the present instant included: a ring that
// grows to the largest number that it has seen.
type lastSecond struct {
	ring       []clock.Instant // its length is a power of two
	head, tail uint64          // positions in the ring, taken modulo its length
}

// count returns how many there are. Amortised constant time.
func (s *lastSecond) count(now clock.Instant) int {
	for s.head != s.tail && now.Sub(s.ring[s.head&uint64(len(s.ring)-1)]) >= time.Second {
		s.head++
	}
	return int(s.tail - s.head)
}

func (s *lastSecond) add(now clock.Instant) {
	if s.count(now) == len(s.ring) {
		s.grow()
	}
	s.ring[s.tail&uint64(len(s.ring)-1)] = now
	s.tail++
}

func (s *lastSecond) grow() {
	ring := make([]clock.Instant, max(16, 2*len(s.ring)))
	for k := s.head; k != s.tail; k++ {
		ring[k&uint64(len(ring)-1)] = s.ring[k&uint64(len(s.ring)-1)]
	}
	s.ring = ring
}
