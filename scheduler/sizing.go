package scheduler

// Sizer is a policy that knows how many instances a load needs. It is asked when traffic is about to move to its revision
// (CR-29). How many instances another policy needs is told from the slots that the others have (U-21).
type Sizer interface {
	Policy
	// Use returns the load of the policy's own revision, up to now. The call changes nothing.
	Use(c *Control) Use
	// Need returns how many instances of a core with those limits a load needs. Min and Max are the caller's to keep.
	Need(limits Config, load Use) int
}

// Relative is a policy that has something in common with the other revisions of its service, such as what a cold start
// takes (CR-21).
type Relative interface {
	Policy
	// Relate takes what is common from the policy of an older revision, and returns false if they have nothing in common.
	Relate(elder Policy) bool
}

// Use is the load of a revision, as means in millionths.
type Use struct {
	Minute     int64 // requests in flight or waiting, over the last minute
	TenMinutes int64 // the same over ten minutes
	MilliCPUs  int64 // over the last minute; 0 if nobody told
}

// million is what Use counts in.
const million = 1_000_000

func (u Use) plus(v Use) Use {
	return Use{u.Minute + v.Minute, u.TenMinutes + v.TenMinutes, u.MilliCPUs + v.MilliCPUs}
}

// percent returns that part of the load, rounded down to a millionth.
func (u Use) percent(n int) Use {
	part := func(v int64) int64 { return v/100*int64(n) + v%100*int64(n)/100 }
	return Use{part(u.Minute), part(u.TenMinutes), part(u.MilliCPUs)}
}

// use returns the load of a core as its policy has measured it. Of another policy it is the present one.
func (c *Core) use() Use {
	if p, ok := c.policy.(Sizer); ok {
		return p.Use(&c.Control)
	}
	now := int64(c.running+c.queue.size) * million
	return Use{Minute: now, TenMinutes: now}
}

// slots returns how many requests the alive instances of a core may have in flight.
func (c *Core) slots() int64 { return int64(c.alive.size) * int64(c.cfg.Limit) }

// need returns how many instances of core c a share of the traffic of the serving cores needs, at least one, within the
// limits (CR-29, U-21).
func need(c *Core, limits Config, percent int, serving []*Core) int {
	n := int64(0)
	if p, ok := c.policy.(Sizer); ok {
		var all Use
		for _, s := range serving {
			all = all.plus(s.use())
		}
		n = int64(p.Need(limits, all.percent(percent)))
	} else {
		for _, s := range serving {
			n += s.slots()
		}
		n = ceilDiv(ceilDiv(n*int64(percent), 100), int64(limits.Limit))
	}
	return int(min(max(n, int64(limits.Min), 1), int64(limits.Max)))
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
