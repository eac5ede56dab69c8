package policies

import (
	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// replicas keeps a wanted number of instances alive, as a Kubernetes Deployment does for its autoscaler.
type replicas struct {
	pods
	want     int
	restarts budget
}

// deploymentRestarts is how many lost instances are replaced in any one second.
const deploymentRestarts = 10

func newReplicas() replicas { return replicas{restarts: newBudget(deploymentRestarts)} }

// scale makes n the wanted number, within the limits of the core, and starts or stops the difference. The first start is
// for the request cause (0: for none), the next ones for those behind it.
func (d *replicas) scale(c *scheduler.Control, n int, why Why, cause scheduler.RequestID) {
	d.want = min(max(n, c.Config().Min), c.Config().Max)
	for c.Alive() > d.want {
		d.stop(c, d.surplus(c))
	}
	for c.Alive() < d.want {
		d.start(c, why, cause)
		cause = c.NextOn(cause)
	}
}

func (d *replicas) start(c *scheduler.Control, why Why, cause scheduler.RequestID) {
	c.Start(uint8(why), cause)
	d.started()
}

func (d *replicas) stop(c *scheduler.Control, i scheduler.InstanceID) {
	c.Stop(i)
	d.drop(i)
}

// surplus returns the instance that goes when fewer are wanted: the one that has been idle longest, then the youngest
// (U-32). A busy one drains.
func (d *replicas) surplus(c *scheduler.Control) scheduler.InstanceID {
	if i := c.IdleOldest(); i != 0 {
		return i
	}
	return c.LastAlive()
}

// configure obeys new limits.
func (d *replicas) configure(c *scheduler.Control) {
	c.Shrink()
	d.sweep(c)
	d.scale(c, d.want, ForMin, 0)
	if c.Alive() == 0 && c.Config().Max == 0 {
		rejectAll(c)
	}
}

// restore replaces lost instances as far as the budget goes, and comes back when it has room again.
func (d *replicas) restore(c *scheduler.Control) {
	for c.Alive() < d.want {
		if !d.restarts.take(c.Now()) {
			wake(c, &d.restarts)
			return
		}
		d.start(c, Again, withoutStart(c))
	}
}

// served looks again at an instance that may have lost a request.
func (d *replicas) served(c *scheduler.Control, i scheduler.InstanceID) {
	if c.Up(i) {
		d.note(c, i)
	}
}

// assign sends a request to an instance with a free slot.
func (d *replicas) assign(c *scheduler.Control, r scheduler.RequestID, i scheduler.InstanceID) {
	c.Assign(r, i)
	d.note(c, i)
}

// loadMeter measures the load of a core over time: the integral of the requests that wait or run.
type loadMeter struct {
	level int
	since clock.Instant
	area  int64 // request-nanoseconds since it was last taken; 2⁶³ of them are an hour at 2.5 million requests
}

// set notes the level that holds from now on.
func (m *loadMeter) set(now clock.Instant, level int) {
	m.area += int64(m.level) * int64(now-m.since)
	m.level, m.since = level, now
}

// take returns the request-nanoseconds since the last take, and begins anew.
func (m *loadMeter) take(now clock.Instant) int64 {
	m.set(now, m.level)
	area := m.area
	m.area = 0
	return area
}

// nextMultiple returns the first multiple of the period after now.
func nextMultiple(now, period clock.Instant) clock.Instant {
	over := now % period
	if over < 0 {
		over += period
	}
	return now - over + period
}
