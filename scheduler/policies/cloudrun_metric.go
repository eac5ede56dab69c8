package policies

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// CRMark is the code of a Mark.
type CRMark uint8

// What Cloud Run marks: whom requests go to first (CR-12), the groups in which the others wait for their end (CR-13,
// CR-14), and on the oldest instance which driver decides from now on (CR-25).
const (
	MarkRecommended CRMark = iota + 1
	MarkSpare
	MarkReserve
	MarkCPU
	MarkConcurrency
	MarkACT
)

func (m CRMark) String() string {
	names := [...]string{"", "recommended", "spare", "reserve", "scaling_driver=cpu", "scaling_driver=concurrency", "scaling_driver=act"}
	if m == 0 || int(m) >= len(names) {
		return "unknown"
	}
	return names[m]
}

// metric is the periodic look at the metrics (CR-11).
func (p *CloudRun) metric(c *scheduler.Control) {
	p.ticking = false
	p.rounds++
	p.fill(c)
	if c.Alive() == 0 {
		return // from zero only on-demand scaling acts (CR-1)
	}
	if p.cpu.begin != clock.Never {
		p.cpu.advance(c.Now())
	}
	n, driver := p.decide(p.drivers(c))
	p.follow(c, n, driver)
	p.mark(c)
	p.measure(c)
}

// demandOf is what one driver sees.
type demandOf struct {
	driver Why // 0: it is off
	target int64
	unit   int64 // a second in the time unit of use: with less seen it says nothing
	use    usage
}

// drivers returns what each driver that is on sees (CR-2, CR-3, CR-4). One that has seen nothing yet has seen = 0.
func (p *CloudRun) drivers(c *scheduler.Control) [3]demandOf {
	var d [3]demandOf
	if p.o.CPU {
		use := p.cpu.overMinute()
		use.seen, use.capacity = use.seen/int64(second), p.o.MilliCPUs
		d[0] = demandOf{ForCPU, p.o.CPUTarget, 1, use}
	}
	if p.o.Concurrency {
		use, ten := p.demand.overMinute(), p.demand.overTen()
		if ten.more(use) {
			use = ten
		}
		use.capacity = min(int64(c.Config().Limit), mostAtOnce)
		d[1] = demandOf{ForConcurrency, p.o.ConcurrencyTarget, int64(second), use}
	}
	if p.o.ACT {
		use := p.demand.overMinute()
		use.capacity, use.parts = p.capacity(c)
		d[2] = demandOf{ForACT, p.o.ConcurrencyTarget, int64(second), use}
	}
	return d
}

// capacity returns the sum of the limits of the recommended ready instances and their number, or the configured
// concurrency while none is ready (U-16).
func (p *CloudRun) capacity(c *scheduler.Control) (sum, n int64) {
	for i := c.FirstAlive(); i != 0; i = c.Next(i) {
		if c.Up(i) && p.servers.Get(int64(i)).rank == recommended {
			sum += min(int64(c.Limit(i)), mostAtOnce)
			n++
		}
	}
	if n == 0 {
		return min(int64(c.Config().Limit), mostAtOnce), 1
	}
	return sum, n
}

// decide returns the largest recommendation and its driver, the first among equals (CR-5, U-12). Without any it is the
// present one.
func (p *CloudRun) decide(drivers [3]demandOf) (n int64, driver Why) {
	n = -1
	for _, d := range drivers {
		if d.use.seen < d.unit || d.unit == 0 {
			continue
		}
		if want := d.use.recommend(p.n, d.target); want > n {
			n, driver = want, d.driver
		}
	}
	if driver == 0 {
		return p.n, 0
	}
	return n, driver
}

// follow makes a recommendation the present one, within min and max (CR-11), and starts what is missing. While a request
// is in flight or waits it is not 0 (CR-16).
func (p *CloudRun) follow(c *scheduler.Control, n int64, driver Why) {
	least := int64(c.Config().Min)
	if c.Running()+c.Waiting() > 0 {
		least = max(least, 1)
	}
	p.n = min(max(n, least), int64(c.Config().Max))
	if driver == 0 {
		return // no driver is on, or none has seen anything yet
	}
	if driver != p.driver {
		p.driver = driver
		c.Mark(c.FirstAlive(), uint8(MarkCPU)+uint8(driver-ForCPU))
	}
	for int64(c.Alive()) < p.n && p.start(c, driver, 0) {
	}
}

// mark recommends the oldest instances and deprioritises the others (CR-12, U-17). Who was deprioritised stays in its
// group. New ones are divided so that the second group holds its share of all that were deprioritised since there last
// were none, rounded up; it gets the youngest (CR-13, CR-14, U-18).
func (p *CloudRun) mark(c *scheduler.Control) {
	fresh, left := p.count(c)
	if left == 0 {
		p.dropped, p.reserved = 0, 0
	}
	p.dropped += fresh
	toReserve := min(max(ceilDiv(p.dropped*p.o.Reserve, 1000)-p.reserved, 0), fresh)
	p.reserved += toReserve
	at := int64(0)
	for i := c.FirstAlive(); i != 0; i = c.Next(i) {
		s := p.servers.Get(int64(i))
		at++
		if at <= p.n || s.rank != recommended {
			continue
		}
		if fresh > toReserve {
			p.give(c, i, s, spare, MarkSpare)
		} else {
			p.give(c, i, s, reserve, MarkReserve)
		}
		fresh--
	}
}

// count recommends again whom the recommendation covers. It returns how many are to be deprioritised now, and how many
// were so before and still are.
func (p *CloudRun) count(c *scheduler.Control) (fresh, left int64) {
	at := int64(0)
	for i := c.FirstAlive(); i != 0; i = c.Next(i) {
		s := p.servers.Get(int64(i))
		at++
		switch {
		case at > p.n && s.rank == recommended:
			fresh++
		case at > p.n:
			left++
		case s.rank != recommended:
			p.dropped--
			if s.rank == reserve {
				p.reserved--
			}
			p.give(c, i, s, recommended, MarkRecommended)
		}
	}
	return fresh, left
}

func (p *CloudRun) give(c *scheduler.Control, i scheduler.InstanceID, s *server, r rank, m CRMark) {
	s.rank = r
	p.rekey(c, i, s)
	c.Mark(i, uint8(m))
}

// measure stops the instances of the first group that were hardly used for a minute: below a tenth, and nothing in
// flight (CR-13, U-19). The last one alive has to wait until it was idle for long.
func (p *CloudRun) measure(c *scheduler.Control) {
	rounds := ceilDiv(int64(time.Minute), int64(p.o.MetricTick))
	window := rounds * int64(p.o.MetricTick)
	slot, before := p.rounds%snapshots, (p.rounds-rounds+snapshots)%snapshots
	for i := c.FirstAlive(); i != 0; {
		s, next := p.servers.Get(int64(i)), c.Next(i)
		if c.Up(i) {
			s.sum(c.Now(), c.Limit(i))
			used := s.load - s.ago[before]
			s.ago[slot] = s.load
			old := int64(c.Now()-c.ReadyAt(i)) >= window
			if old && s.rank == spare && s.level == 0 && used < whole/10*window && c.Alive() > max(1, c.Config().Min) {
				p.stop(c, i)
			}
		}
		i = next
	}
}

// sample follows the CPU use of an instance in the last second: it counts for the CPU driver and for the use of the
// instance, and above 90 % the instance may have one request fewer in flight, below 70 % and at its limit one more
// (CR-23, CR-24). Reports of one instance that follow within half a second are not counted.
func (p *CloudRun) sample(c *scheduler.Control, ev scheduler.Event) {
	s := p.servers.Get(int64(ev.Inst))
	if c.Now()-s.sampled < second/2 {
		return
	}
	s.sampled = c.Now()
	used := max(0, ev.Value)
	p.cpu.add(c.Now(), used)
	limit := c.Limit(ev.Inst)
	s.sum(c.Now(), limit)
	s.load += max(0, used*whole/p.o.MilliCPUs*int64(second)-s.part)
	s.part = 0
	if p.o.ACT {
		p.throttle(c, ev.Inst, s, used)
	}
	s.full = s.level >= c.Limit(ev.Inst)
}

func (p *CloudRun) throttle(c *scheduler.Control, i scheduler.InstanceID, s *server, used int64) {
	limit := c.Limit(i)
	switch {
	case 10*used > 9*p.o.MilliCPUs && limit > 1:
		c.SetLimit(i, limit-1)
	case 10*used < 7*p.o.MilliCPUs && s.full && limit < s.most:
		c.SetLimit(i, limit+1)
	default:
		return
	}
	p.rekey(c, i, s)
	p.drain(c)
}
