package policies

import (
	"math/bits"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// coldStarts are those of all revisions of a service: one prediction serves them all (CR-21).
type coldStarts struct {
	seen  int64
	spent int64 // their sum in ns
}

// Relate takes the cold starts that an older revision has seen, and shares those to come. ACT values are not taken: they
// do not survive a deployment (CR-25).
func (p *CloudRun) Relate(elder scheduler.Policy) bool {
	e, ok := elder.(*CloudRun)
	if ok {
		p.cold = e.cold
	}
	return ok
}

// Use returns the means that the drivers look at. What was seen for less than a second is the present level.
func (p *CloudRun) Use(c *scheduler.Control) scheduler.Use {
	demand, cpu := p.demand, p.cpu // copies: the meters themselves go on as if nobody had asked
	level := int64(c.Running())
	if p.o.CountPending {
		level += int64(c.Waiting())
	}
	if demand.begin != clock.Never {
		demand.advance(c.Now())
	}
	if cpu.begin != clock.Never {
		cpu.advance(c.Now())
	}
	return scheduler.Use{
		Minute: demand.overMinute().millionths(int64(second), level), TenMinutes: demand.overTen().millionths(int64(second), level),
		MilliCPUs: inSeconds(cpu.overMinute()).millionths(1, 0),
	}
}

// inSeconds is for what was added once a second.
func inSeconds(u usage) usage {
	u.seen /= int64(second)
	return u
}

// millionths returns the mean in millionths, rounded down; of less than a second it is the level.
func (u usage) millionths(unit, level int64) int64 {
	if u.seen < unit {
		return level * million
	}
	hi, lo := bits.Mul64(uint64(u.sum), million)
	mean, _ := bits.Div64(hi, lo, uint64(u.seen))
	return int64(mean)
}

const million = 1_000_000

// Need returns the largest recommendation of the drivers for a load, with the capacity of a fresh revision (CR-5, CR-29).
func (p *CloudRun) Need(limits scheduler.Config, load scheduler.Use) int {
	capacity := min(int64(max(limits.Limit, 1)), mostAtOnce)
	n := int64(0)
	ask := func(on bool, mean, capacity, target int64) {
		if on {
			u := usage{sum: mean, seen: million, capacity: capacity, parts: 1}
			n = max(n, u.recommend(0, target))
		}
	}
	ask(p.o.CPU, load.MilliCPUs, p.o.MilliCPUs, p.o.CPUTarget)
	ask(p.o.Concurrency, max(load.Minute, load.TenMinutes), capacity, p.o.ConcurrencyTarget)
	ask(p.o.ACT, load.Minute, capacity, p.o.ConcurrencyTarget)
	if !p.o.CPU && !p.o.Concurrency && !p.o.ACT { // on demand alone: a slot for each request
		n = ceilDiv(load.Minute, million*capacity)
	}
	return int(n)
}
