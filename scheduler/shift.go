package scheduler

import (
	"cmp"
	"fmt"
	"slices"

	"coldwave/internal/clock"
	"coldwave/record"
)

// begin prepares a split: every revision whose share grows by it gets what it needs of the present load.
func (s *Service) begin(now clock.Instant, fresh RevisionID, split Split) {
	m := &move{deployed: fresh, split: split, deadline: now.Add(s.o.Deadline)}
	var loaded []*Core
	for k, r := range s.revisions {
		if s.wheel.percent(RevisionID(k+1)) > 0 {
			loaded = append(loaded, r.core)
		}
	}
	target := s.wheelOf(split, cmp.Or(fresh, s.latest))
	for k, r := range s.revisions {
		rev := RevisionID(k + 1)
		if share := target.percent(rev); share > s.wheel.percent(rev) || rev == fresh {
			n := need(r.core, r.own, share, loaded)
			m.gains = append(m.gains, gain{rev: rev, need: n, before: r.floor})
			r.floor = max(r.floor, n)
			s.tell(record.Notice{At: now, What: record.Prepared, Revision: r.name, Need: n, Split: split.String()})
		}
	}
	s.move, s.busy = m, true
}

// wheelOf resolves a split. Parts stand in the order of the split; Latest adds to a part of the same revision.
func (s *Service) wheelOf(split Split, latest RevisionID) wheel {
	w := wheel{seed: s.seedOf()}
	for _, share := range split {
		rev := latest
		if share.Revision != Latest {
			rev = s.find(share.Revision)
		}
		w.parts = append(w.parts, part{rev: rev, percent: share.Percent})
	}
	return w
}

// Saw looks at what a core was told, after the call: an instance that the traffic waits for is ready, or a new revision
// cannot start one (U-21); the last request of a revision that leaves has ended. Its time is constant while nothing of that
// kind is under way.
func (s *Service) Saw(dst []Order, now clock.Instant, rev RevisionID, ev Event) []Order {
	if !s.busy {
		return dst
	}
	r := s.revisions[rev-1]
	if r.state != serving {
		return s.leave(dst, now, rev)
	}
	if s.move == nil || !s.move.gainsBy(rev) {
		return dst
	}
	if ev.Kind == Failed && rev == s.move.deployed && r.core.neverWas(ev.Inst) {
		return s.abandon(dst, now, fmt.Sprintf("a start of revision %s failed", r.name))
	}
	return s.shiftIfReady(dst, now)
}

// neverWas reports whether i has ended in the last call and never was ready.
func (c *Control) neverWas(i InstanceID) bool {
	in := c.instances.Get(int64(i))
	return in != nil && in.state == Gone && in.ready == clock.Never
}

func (m *move) gainsBy(rev RevisionID) bool {
	for _, g := range m.gains {
		if g.rev == rev {
			return true
		}
	}
	return false
}

// shiftIfReady puts the split that is on its way in force if every revision that gains has its instances.
func (s *Service) shiftIfReady(dst []Order, now clock.Instant) []Order {
	for _, g := range s.move.gains {
		r := s.revisions[g.rev-1]
		if r.core.Alive()-r.core.Starting() < min(g.need, r.own.Max) {
			return s.settle(dst)
		}
	}
	m := s.move
	s.latest = cmp.Or(m.deployed, s.latest)
	s.move, s.calm = nil, now.Add(s.o.Settle)
	what := record.Ready
	if s.adopt(m.split) {
		what = record.Shifted
	}
	s.tell(record.Notice{At: now, What: what, Revision: s.nameOf(m.deployed), Split: m.split.String()})
	return s.settle(dst)
}

// adopt puts a split in force, and returns false if it gives each what it had: then the turns go on as they were.
func (s *Service) adopt(split Split) bool {
	s.split = split
	w := s.wheelOf(split, s.latest)
	if slices.EqualFunc(w.parts, s.wheel.parts, func(a, b part) bool { return a.rev == b.rev && a.percent == b.percent }) {
		return false
	}
	s.wheel = w
	return true
}

func (s *Service) nameOf(rev RevisionID) string {
	if rev == 0 {
		return ""
	}
	return s.revisions[rev-1].name
}

// abandon keeps the old split. A revision that was deployed for the new one never had a request and is retired.
func (s *Service) abandon(dst []Order, now clock.Instant, why string) []Order {
	m := s.move
	s.move = nil
	s.tell(record.Notice{At: now, What: record.Abandoned, Revision: s.nameOf(m.deployed), Why: why + "; the split stays " + s.split.String()})
	for _, g := range m.gains {
		s.revisions[g.rev-1].floor = 0
		if s.calm != clock.Never {
			s.revisions[g.rev-1].floor = g.before
		}
	}
	if m.deployed != 0 {
		s.revisions[m.deployed-1].state = leaving
		dst = s.leave(dst, now, m.deployed)
	}
	return s.settle(dst)
}

// leave moves a revision that leaves on: without a request it is retired, without an instance it is gone.
func (s *Service) leave(dst []Order, now clock.Instant, rev RevisionID) []Order {
	r := s.revisions[rev-1]
	if r.state == leaving && r.core.requestsLeft() == 0 {
		r.state = retired
		s.tell(record.Notice{At: now, What: record.Retired, Revision: r.name})
		dst = s.settle(dst)
	}
	if r.state == retired && r.inForce.Max == 0 && r.core.instancesLeft() == 0 {
		r.state = departed
		s.tell(record.Notice{At: now, What: record.Gone, Revision: r.name})
	}
	s.look()
	return dst
}

// requestsLeft returns how many requests have not ended or still hold a slot.
func (c *Control) requestsLeft() int { return c.queue.size + c.running }

// instancesLeft returns how many instances have not ended, those that were told to stop included.
func (c *Control) instancesLeft() int { return c.instances.Len() - len(c.gone) }

// look remembers whether Saw has anything to look at.
func (s *Service) look() {
	s.busy = s.move != nil
	for _, r := range s.revisions {
		s.busy = s.busy || r.state == leaving || r.state == retired
	}
}

// settle orders what brings each core to the limits that it should have now.
func (s *Service) settle(dst []Order) []Order {
	for k, r := range s.revisions {
		if want := s.limits(RevisionID(k+1), r); want != r.inForce {
			r.inForce = want
			dst = append(dst, Order{RevisionID(k + 1), want})
		}
	}
	s.look()
	return dst
}

// limits returns what a revision is allowed now: without traffic it keeps no minimum of its own.
func (s *Service) limits(rev RevisionID, r *revision) Config {
	want := r.own
	switch {
	case r.state == retired || r.state == departed:
		want.Min, want.Max = 0, 0
		return want
	case s.wheel.percent(rev) == 0:
		want.Min = 0
	}
	want.Min = min(max(want.Min, r.floor), want.Max)
	return want
}

// Next returns when the host should call Advance, Never if there is no need.
func (s *Service) Next() clock.Instant {
	if s.move != nil {
		return min(s.calm, s.move.deadline)
	}
	return s.calm
}

// Advance does what is due at now: traffic whose instances are not ready in time stays where it is, and revisions that got
// traffic a while ago are left to their policies.
func (s *Service) Advance(dst []Order, now clock.Instant) []Order {
	if s.move != nil && s.move.deadline <= now {
		dst = s.abandon(dst, now, fmt.Sprintf("the instances of %s were not ready within %v", s.waitsFor(), s.o.Deadline))
	}
	if s.calm <= now {
		s.calm = clock.Never
		for k, r := range s.revisions {
			if s.move == nil || !s.move.gainsBy(RevisionID(k+1)) {
				r.floor = 0
			}
		}
		dst = s.settle(dst)
	}
	return dst
}

// waitsFor names a revision that the traffic waits for.
func (s *Service) waitsFor() string {
	for _, g := range s.move.gains {
		if r := s.revisions[g.rev-1]; r.core.Alive()-r.core.Starting() < g.need {
			return r.name
		}
	}
	return s.move.split.String()
}

// Obey carries out orders and what follows from them: configure hands the limits to the core of a revision and carries out
// what that core decides.
func (s *Service) Obey(orders []Order, now clock.Instant, configure func(Order)) {
	for len(orders) > 0 {
		o := orders[0]
		configure(o)
		orders = s.Saw(orders[1:], now, o.Rev, Event{Kind: Configure})
	}
}
