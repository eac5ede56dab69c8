package policies

import (
	"math"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// rank says what the autoscaler wants of an instance.
type rank uint8

const (
	recommended rank = iota
	spare            // deprioritised, in the first group: it may stop as soon as it is hardly used (CR-13)
	reserve          // deprioritised, in the second group: it stays until it was idle for long (CR-14)
)

// snapshots is how many past metric ticks an instance remembers; the shortest tick makes a minute of them.
const snapshots = 12

// server is what the policy knows of one alive instance.
type server struct {
	rank    rank
	full    bool // it was at its limit since the last sample (CR-24)
	pos     int32
	level   int32 // requests in flight
	most    int32 // the configured concurrency, which ACT never exceeds
	used    int64 // order of its last use
	sampled clock.Instant
	since   clock.Instant // load is summed up to
	load    int64         // millionths of its capacity × ns; it wraps, only differences count
	part    int64         // of load since the last sample
	ago     [snapshots]int64
}

// limits of the numbers that keys are made of.
const (
	whole       = 1_000_000 // millionths
	mostAtOnce  = 1 << 16   // larger concurrencies are treated as this one
	keyFull     = math.MaxInt64
	keyNonFirst = 1 << 62
)

// place is a ready instance in the order in which requests go to them.
type place struct {
	key int64
	id  scheduler.InstanceID
}

func (a place) before(b place) bool { return a.key < b.key || a.key == b.key && a.id < b.id }

// key orders the ready instances: recommended ones by their share in use, then the others, the one used last first
// (CR-12), then those without a free slot.
func (s *server) key(limit int32) int64 {
	switch {
	case s.level >= limit:
		return keyFull
	case s.rank == recommended:
		return int64(s.level) << 32 / int64(limit)
	default:
		return keyNonFirst - s.used
	}
}

// best returns the instance that gets the next request, or 0 if none has a free slot.
func (p *CloudRun) best() scheduler.InstanceID {
	if len(p.order) == 0 || p.order[0].key == keyFull {
		return 0
	}
	return p.order[0].id
}

// enter puts an instance that has become ready into the order.
func (p *CloudRun) enter(c *scheduler.Control, i scheduler.InstanceID, s *server) {
	s.pos = int32(len(p.order))
	p.order = append(p.order, place{s.key(c.Limit(i)), i})
	p.up(int(s.pos))
}

// rekey finds the new place of an instance.
func (p *CloudRun) rekey(c *scheduler.Control, i scheduler.InstanceID, s *server) {
	if s.pos < 0 {
		return
	}
	k := int(s.pos)
	p.order[k].key = s.key(c.Limit(i))
	if p.up(k) == k {
		p.down(k)
	}
}

// quit takes an instance out of the order.
func (p *CloudRun) quit(s *server) {
	if s.pos < 0 {
		return
	}
	k, last := int(s.pos), len(p.order)-1
	s.pos = -1
	moved := p.order[last]
	p.order = p.order[:last]
	if k == last {
		return
	}
	p.put(k, moved)
	if p.up(k) == k {
		p.down(k)
	}
}

func (p *CloudRun) put(k int, at place) {
	p.order[k] = at
	p.servers.Get(int64(at.id)).pos = int32(k)
}

func (p *CloudRun) up(k int) int {
	at := p.order[k]
	for k > 0 {
		parent := (k - 1) / 2
		if !at.before(p.order[parent]) {
			break
		}
		p.put(k, p.order[parent])
		k = parent
	}
	p.put(k, at)
	return k
}

func (p *CloudRun) down(k int) {
	at := p.order[k]
	for child := 2*k + 1; child < len(p.order); child = 2*k + 1 {
		if child+1 < len(p.order) && p.order[child+1].before(p.order[child]) {
			child++
		}
		if !p.order[child].before(at) {
			break
		}
		p.put(k, p.order[child])
		k = child
	}
	p.put(k, at)
}

// sum brings the load of an instance up to now.
func (s *server) sum(now clock.Instant, limit int32) {
	d := int64(s.level) * whole / int64(limit) * int64(now-s.since)
	s.load += d
	s.part = min(s.part+d, whole*int64(tenMinutes))
	s.since = now
}

// touch follows a change of what is in flight on an instance, or of its limit.
func (p *CloudRun) touch(c *scheduler.Control, i scheduler.InstanceID, s *server) {
	s.level = int32(c.InFlight(i))
	if s.level >= c.Limit(i) {
		s.full = true
	}
	p.rekey(c, i, s)
}
