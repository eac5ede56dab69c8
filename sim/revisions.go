package sim

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/scheduler"
)

// revisions is a run of several cores under one service. Each revision is a run of its own that is fed event by event, in
// the order that one agenda would have: instant, kind, revision, id. A run without commands does not pass through here.
type revisions struct {
	cfg     Config // of the first revision
	service *scheduler.Service
	runs    []*run // by revision - 1
	front   *run   // without a core: the arrivals, and as Configure the commands
	orders  []scheduler.Order
	told    scheduler.Event // what a core was told last
	number  int32           // instances of all revisions so far
	now     clock.Instant

	records   []record.Record
	instances []record.Instance // by ID - 1
	notices   []record.Notice
	decisions []Decision
	sum       hash.Hash // nil: no digest
}

// runRevisions runs a schedule through a service.
func runRevisions(cfg Config) (Result, error) {
	cfg.Revision, cfg.Run = cmp.Or(cfg.Revision, FirstRevision), cmp.Or(cfg.Run, "sim")
	cfg.Limits.Limit = cmp.Or(cfg.Limits.Limit, cfg.concurrency())
	cfg.Patience = cmp.Or(cfg.Patience, DefaultPatience)
	s := &revisions{
		cfg: cfg, front: &run{cfg: cfg, horizon: clock.Never},
		service: scheduler.NewService(scheduler.ServiceConfig{Seed: cfg.Seed, Deadline: cfg.Deadline}),
	}
	if cfg.Trace != NoTrace {
		s.sum = sha256.New()
	}
	err := s.run()
	return s.result(), err
}

func (s *revisions) run() error {
	for k, c := range s.cfg.Commands {
		s.front.agenda.push(entry{c.At, keyOf(scheduler.Configure, 0, int64(k))})
	}
	s.front.open()
	if err := s.deploy(&Deployment{Name: s.cfg.Revision, Policy: s.cfg.Policy, Limits: s.cfg.Limits}); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	for {
		head, from, plain := s.soonest()
		due := min(s.due(), s.service.Next())
		if s.wake(min(head.at, due)) {
			continue
		}
		if next := min(head.at, due); next > s.front.horizon {
			if s.left() == 0 {
				return s.front.err
			}
			if next > s.front.horizon.Add(s.cfg.Patience) {
				return s.stuck()
			}
		}
		s.turn(head, from, plain, due)
	}
}

// turn lets happen what is next: at one instant first events, then what the cores themselves have to do, then the service.
func (s *revisions) turn(head entry, from *run, plain bool, due clock.Instant) {
	switch {
	case due < head.at && s.due() == due:
		s.now = due
		for _, r := range s.runs {
			if r.core.Next() == due {
				s.feed(r, func() { r.advance(due) })
			}
		}
	case due < head.at:
		s.now = due
		s.obey(s.service.Advance(s.orders[:0], due))
	case plain:
		s.now = head.at
		s.arrive(func(r *run) { r.arrive(s.front.coming.head()) })
		s.front.draw()
	case from == s.front:
		s.now = head.at
		s.own(s.front.agenda.pop())
	default:
		s.now = head.at
		s.feed(from, func() { from.handle(from.agenda.pop()) })
	}
}

// soonest returns the next event that is not a core's own, whose it is, and whether it is an arrival that was never planned.
func (s *revisions) soonest() (first entry, from *run, plain bool) {
	at, plain := s.front.soonest()
	first, from = s.front.agenda.top(), s.front
	if plain {
		first = entry{at, afterPlanned}
	}
	for _, r := range s.runs {
		e := r.agenda.top()
		if e.at < first.at || e.at == first.at && e.kind() < first.kind() {
			first, from, plain = e, r, false
		}
	}
	return first, from, plain
}

// due returns when the next core has something to do by itself.
func (s *revisions) due() clock.Instant {
	at := clock.Never
	for _, r := range s.runs {
		at = min(at, r.core.Next())
	}
	return at
}

// wake looks at the instance that is to be looked at first, if that is due up to an instant.
func (s *revisions) wake(until clock.Instant) bool {
	var first *run
	for _, r := range s.runs {
		if at := r.wakes(); at != clock.Never && at <= until && (first == nil || at < first.wakes()) {
			first = r
		}
	}
	if first == nil {
		return false
	}
	first.wake()
	return true
}

// left returns how many requests have not ended or still are on an instance.
func (s *revisions) left() int {
	n := s.front.early.Len()
	for _, r := range s.runs {
		n += r.flights.Len()
	}
	return n
}

func (s *revisions) stuck() error {
	waiting := 0
	for _, r := range s.runs {
		waiting += r.core.Waiting()
	}
	return fmt.Errorf("%w: %d are left at %v, %d of them wait: give the policies a wait limit, or a larger patience than %v",
		ErrStuck, s.left(), s.now, waiting, s.cfg.Patience)
}

// own handles an event that belongs to no revision yet.
func (s *revisions) own(e entry) {
	if e.kind() == scheduler.Arrival {
		s.arrive(func(r *run) { r.arrive(s.front.early.Get(e.id())) })
		s.front.early.Drop(e.id())
		return
	}
	c := s.cfg.Commands[e.id()]
	if err := s.command(c); err != nil {
		s.notices = s.service.Notices(s.notices)
		s.notices = append(s.notices, record.Notice{At: s.now, What: record.Refused, Revision: c.about(), Why: err.Error()})
	}
}

// about names the revision that a command is about, if it is about one.
func (c Command) about() string {
	if c.Deploy != nil {
		return c.Deploy.Name
	}
	return c.Remove
}

func (s *revisions) command(c Command) (err error) {
	orders := s.orders[:0]
	switch {
	case c.Deploy != nil:
		return s.deploy(c.Deploy)
	case c.Shift != nil:
		orders, err = s.service.Shift(orders, s.now, c.Shift)
	default:
		orders, err = s.service.Remove(orders, s.now, c.Remove)
	}
	s.obey(orders)
	return err
}

// deploy adds a revision, if the service takes it.
func (s *revisions) deploy(d *Deployment) error {
	cfg := s.cfg.fresh(d)
	cfg.Observe, cfg.ObserveInstance, cfg.Watch = s.observe(), s.keepInstance, s.watch(scheduler.RevisionID(len(s.runs)+1))
	cfg.Trace = NoTrace
	r := newRun(cfg)
	r.number = &s.number
	orders, _, err := s.service.Deploy(s.orders[:0], s.now, scheduler.Deployment{
		Name: d.Name, Core: r.core, Limits: cfg.Limits, Split: d.Split,
	})
	if err == nil {
		s.runs = append(s.runs, r)
		s.obey(orders)
	}
	return err
}

// obey carries out orders of the service.
func (s *revisions) obey(orders []scheduler.Order) {
	s.orders = orders
	s.service.Obey(orders, s.now, func(o scheduler.Order) {
		r := s.runs[o.Rev-1]
		r.now = s.now
		r.configure(o.Limits)
	})
	s.notices = s.service.Notices(s.notices)
}

// arrive routes an arrival.
func (s *revisions) arrive(hand func(*run)) {
	r := s.runs[s.service.Route("")-1]
	r.now = s.now
	s.feed(r, func() { hand(r) })
}

// feed lets a run handle one event, and the service look at it.
func (s *revisions) feed(r *run, handle func()) {
	handle()
	rev := scheduler.RevisionID(slices.Index(s.runs, r) + 1)
	s.obey(s.service.Saw(s.orders[:0], s.now, rev, s.told))
}

// watch returns what sees the calls of the core of a revision.
func (s *revisions) watch(rev scheduler.RevisionID) func(*Step) {
	return func(step *Step) {
		s.told = step.Event
		if s.sum == nil {
			return
		}
		var b []byte
		for _, a := range step.Actions {
			if s.cfg.Trace == Actions {
				s.decisions = append(s.decisions, Decision{rev, a})
			}
			b = scheduler.AppendAction(binary.LittleEndian.AppendUint32(b, uint32(rev)), a)
		}
		s.sum.Write(b)
	}
}

// observe returns who gets the records: who asked for them, or the Result. Nil: nobody.
func (s *revisions) observe() func(*record.Record) {
	switch {
	case s.cfg.Observe != nil || s.cfg.Tally != nil:
		return s.cfg.Observe
	default:
		return s.keepRecord
	}
}

func (s *revisions) keepRecord(r *record.Record) {
	for int64(len(s.records)) <= r.Seq {
		s.records = append(s.records, record.Record{})
	}
	s.records[r.Seq] = *r
}

func (s *revisions) keepInstance(in *record.Instance) {
	if s.cfg.ObserveInstance != nil {
		s.cfg.ObserveInstance(in)
		return
	}
	for len(s.instances) < int(in.ID) {
		s.instances = append(s.instances, record.Instance{})
	}
	s.instances[in.ID-1] = *in
}

// result closes the books.
func (s *revisions) result() Result {
	out := Result{Requests: s.front.coming.drawn(), Length: s.front.length, End: s.now}
	for _, r := range s.runs {
		r.endLives()
		out.Events += r.core.Events()
		out.Stale += r.core.Stale()
	}
	if s.cfg.Tally != nil {
		s.cfg.Tally.settle()
	}
	out.Records, out.Instances, out.Notices, out.Decisions = s.records, s.instances, s.notices, s.decisions
	if s.sum != nil {
		s.sum.Sum(out.Digest[:0])
	}
	return out
}
