package scheduler

import "coldwave/internal/clock"

// tick is one periodic tick or one alarm of the policy.
type tick struct {
	at     clock.Instant
	period clock.Instant // 0: an alarm, which fires once
	name   uint8
}

// ticks holds a policy's few ticks, in order of name; soonest is the earliest of them.
type ticks struct {
	all     []tick
	soonest clock.Instant
}

// set puts t in the place of the tick of its name. At = Never takes it out.
func (q *ticks) set(t tick) {
	k := 0
	for k < len(q.all) && q.all[k].name < t.name {
		k++
	}
	found := k < len(q.all) && q.all[k].name == t.name
	switch {
	case t.at == clock.Never && found:
		q.all = append(q.all[:k], q.all[k+1:]...)
	case t.at == clock.Never:
		return
	case found:
		q.all[k] = t
	default:
		q.all = append(q.all, tick{})
		copy(q.all[k+1:], q.all[k:])
		q.all[k] = t
	}
	q.settle()
}

func (q *ticks) settle() {
	q.soonest = clock.Never
	for _, t := range q.all {
		q.soonest = min(q.soonest, t.at)
	}
}

// take returns the earliest tick, by name among equals, and moves it on: by its period, or out.
func (q *ticks) take() tick {
	k := 0
	for q.all[k].at != q.soonest {
		k++
	}
	t := q.all[k]
	if t.period > 0 {
		q.all[k].at += t.period
	} else {
		q.all = append(q.all[:k], q.all[k+1:]...)
	}
	q.settle()
	return t
}

// Every makes a periodic Tick of that name, which is below 255, first at now + period. Asked again with the same name it replaces the
// earlier one, so a second Configure does not double the ticks. The time is linear in the number of names in use.
func (c *Control) Every(name uint8, period clock.Instant) {
	c.acting("every", 0, 0)
	c.ownName("every", name)
	if period <= 0 {
		c.illegal("every", 0, 0, "the period must be > 0")
	}
	c.ticks.set(tick{at: c.now + period, period: period, name: name})
}

// Alarm makes one Tick of that name, which is below 255, at the instant at, which lies after now; Never takes it back. Asked again with the
// same name it replaces the earlier one. A reaper uses it, so that nothing runs while nothing is idle.
func (c *Control) Alarm(name uint8, at clock.Instant) {
	c.acting("alarm", 0, 0)
	c.ownName("alarm", name)
	if at <= c.now {
		c.illegal("alarm", 0, 0, "the instant must lie after now, or time would stand still")
	}
	c.ticks.set(tick{at: at, name: name})
}

// ownName refuses the name of the core's own tick.
func (c *Control) ownName(do string, name uint8) {
	if name == nodeTick {
		c.illegal(do, 0, 0, "the name 255 is the core's own")
	}
}
