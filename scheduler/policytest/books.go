package policytest

import (
	"errors"
	"fmt"
	"slices"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/sim"
)

// books are kept beside a run from nothing but what the core was told and what it decided. After each call they are
// compared with what the core says, and with the rules.
type books struct {
	o    Options
	seed uint64
	over clock.Instant // when everything must be over

	core      *scheduler.Core
	now       clock.Instant
	requests  []request  // by id; [0] is unused
	instances []instance // by id; [0] is unused
	past      int        // all instances before it have gone
	count     count
	before    count         // as it was before the call
	peak      int           // most requests that waited or ran at once
	hungry    clock.Instant // since when requests wait while nothing lives; Never: they do not
	nodes     nodes
	log       []scheduler.Action
	reached   Reached
	instant   instant
}

// count is the state in numbers.
type count struct {
	waiting, running, ended int // requests; running: in flight, abandoned ones included
	abandoned               int // in flight, but their clients have gone
	starting, alive         int // instances
	events, stale           int64
}

type request struct {
	ended, waits bool
	canceled     bool // its client went away
	gone         bool // and it is, or was, still on its instance
	arrived      clock.Instant
	inst         scheduler.InstanceID
}

type instance struct {
	ready, stopping, gone bool
	leaving               bool                  // draining or stopping
	node                  int16                 // 0: it is placed nowhere
	on                    []scheduler.RequestID // in flight
	cause                 scheduler.RequestID
}

func newBooks(o Options, s *scenario) *books {
	return &books{
		o: o, seed: s.seed, over: s.settled(o), requests: make([]request, 1), instances: make([]instance, 1),
		hungry: clock.Never, nodes: make(nodes, o.Nodes.Count+1), reached: make(Reached, len(rareStates)),
	}
}

func (b *books) broken(rule Rule, format string, args ...any) {
	panic(Violation{rule, b.seed, b.now, fmt.Sprintf(format, args...)})
}

// watch follows one call of the core.
func (b *books) watch(s *sim.Step) {
	b.core, b.now = s.Core, s.At
	b.before = b.count
	b.peak = max(b.peak, b.before.waiting+b.before.running) // a metric may answer to what was there a minute ago
	load := b.count.waiting + len(b.instances) + b.peak
	if !s.Advance {
		b.told(s.Event)
	}
	b.count.events, b.count.stale = s.Core.Events(), s.Core.Stale()
	if most := int(b.count.events-b.before.events)*8 + 2*(load+s.Core.Config().Min+b.before.waiting) + b.before.running; len(s.Actions) > most+8 {
		b.broken(Bounded, "%d acts in one step", len(s.Actions))
	}
	b.instant.note(s)
	for _, a := range s.Actions {
		b.decided(a)
	}
	b.judge()
	b.spot(s)
}

// told writes an event into the books.
func (b *books) told(ev scheduler.Event) {
	switch ev.Kind {
	case scheduler.Arrival:
		b.requests = append(b.requests, request{arrived: b.now})
	case scheduler.Done:
		in := &b.instances[b.requests[ev.Req].inst]
		if k := slices.Index(in.on, ev.Req); k >= 0 { // it may have been lost
			in.on = slices.Delete(in.on, k, k+1)
			b.leaves(ev.Req)
		}
	case scheduler.Ready:
		in := &b.instances[ev.Inst]
		if in.ready = !in.stopping && !in.gone; in.ready {
			b.count.starting--
		}
	case scheduler.Failed, scheduler.Stopped:
		b.ends(ev.Inst)
	default:
	}
}

// leaves takes a request off its instance.
func (b *books) leaves(r scheduler.RequestID) {
	b.count.running--
	if b.requests[r].gone {
		b.count.abandoned--
	}
}

// ends takes an instance out of the books, with all that is on it.
func (b *books) ends(i scheduler.InstanceID) {
	in := &b.instances[i]
	if in.gone {
		return
	}
	if !in.stopping && !in.ready {
		b.count.starting--
	}
	in.gone = true
	b.left(in)
	for _, r := range in.on {
		b.leaves(r)
	}
	in.on = nil
}

// decided writes a decision into the books, and checks it against them.
func (b *books) decided(a scheduler.Action) {
	b.log = append(b.log, a)
	switch a.Do {
	case scheduler.Assign:
		b.assigned(a)
	case scheduler.Queue:
		b.open(a).waits = true
		b.count.waiting++
	case scheduler.Start:
		b.instances = append(b.instances, instance{cause: a.Req, node: a.Status})
		b.placed(a)
		b.count.starting++
	case scheduler.Stop:
		b.stopped(a)
	case scheduler.Reject, scheduler.Lost, scheduler.End:
		b.endOf(a)
	case scheduler.Take:
		b.took(a)
	case scheduler.Reclaim:
		b.reclaimed(a)
	case scheduler.Mark:
	}
}

// open returns the request of a decision, which must not have ended.
func (b *books) open(a scheduler.Action) *request {
	r := &b.requests[a.Req]
	if r.ended {
		b.broken(EndsOnce, "%v, but it has ended", a)
	}
	return r
}

func (b *books) unqueue(r *request) {
	if r.waits {
		r.waits = false
		b.count.waiting--
	}
}

func (b *books) assigned(a scheduler.Action) {
	r, in := b.open(a), &b.instances[a.Inst]
	if !in.ready || in.stopping || in.gone || r.inst != 0 {
		b.broken(ToReady, "%v", a)
	}
	if in.on = append(in.on, a.Req); len(in.on) > int(b.o.Limit) {
		b.broken(WithinLimit, "%v makes %d in flight", a, len(in.on))
	}
	b.unqueue(r)
	r.inst = a.Inst
	b.count.running++
}

func (b *books) stopped(a scheduler.Action) {
	in := &b.instances[a.Inst]
	if len(in.on) > 0 || in.stopping || in.gone {
		b.broken(Legal, "%v with %d in flight", a, len(in.on))
	}
	if !in.ready {
		b.count.starting--
	}
	in.stopping = true
}

func (b *books) endOf(a scheduler.Action) {
	r := b.open(a)
	r.ended = true
	b.count.ended++
	b.unqueue(r)
	r.canceled = a.Do == scheduler.End && a.Status == statusClientGone
	if r.gone = r.canceled && a.Inst != 0; r.gone {
		b.count.abandoned++
	}
	if a.Do == scheduler.Lost && !b.instances[r.inst].gone {
		b.broken(KillsNone, "%v, but its instance lives", a)
	}
}

const statusClientGone = 499

// judge checks the state after a call.
func (b *books) judge() {
	b.core.Check()
	b.sums()
	for b.past < len(b.instances)-1 && (b.past == 0 || b.instances[b.past].gone) {
		b.past++
	}
	b.count.alive = 0
	for k := b.past; k < len(b.instances); k++ {
		i, in := scheduler.InstanceID(k), &b.instances[k]
		s := b.core.State(i)
		in.leaving = s == scheduler.Draining || s == scheduler.Stopping || in.leaving
		if s == scheduler.Starting || b.core.Up(i) {
			b.count.alive++
		}
		if b.count.waiting > 0 && !b.o.Bound && in.ready && b.core.Up(i) && len(in.on) < int(b.core.Limit(i)) {
			b.broken(NoIdleWait, "%d wait while instance %d has a free slot", b.count.waiting, i)
		}
	}
	if limit := b.core.Config().Max; b.count.alive > limit {
		b.broken(WithinMax, "%d alive, max %d", b.count.alive, limit)
	}
	b.fed()
	b.judgeNodes()
	if n := b.count.waiting + b.count.running; n > 0 && b.now > b.over {
		b.broken(Drains, "%d requests are left, and all should have been over at %v", n, b.over)
	}
}

// sums compares what the books and the core count.
func (b *books) sums() {
	c := &b.count
	if c.waiting != b.core.Waiting() || c.running != b.core.Running() || c.starting != b.core.Starting() {
		b.broken(AddsUp, "%d wait, %d run and %d instances start; the core says %d, %d and %d",
			c.waiting, c.running, c.starting, b.core.Waiting(), b.core.Running(), b.core.Starting())
	}
	if arrived := len(b.requests) - 1; arrived != c.ended+c.waiting+c.running-c.abandoned {
		b.broken(AddsUp, "%d arrived, but %d ended, %d wait and %d run for a client", arrived, c.ended, c.waiting, c.running-c.abandoned)
	}
}

// fed checks that something lives, or soon does, while requests wait.
func (b *books) fed() {
	switch {
	case b.count.waiting == 0 || b.count.alive > 0 || b.core.Config().Max == 0:
		b.hungry = clock.Never
	case b.hungry == clock.Never:
		b.hungry = b.now
	case b.now.Sub(b.hungry) > b.o.Hang:
		b.broken(NoHang, "%d wait since %v", b.count.waiting, b.hungry)
	}
}

// close checks what must hold when the run is over.
func (b *books) close(res sim.Result, err error) {
	if errors.Is(err, sim.ErrStuck) {
		b.broken(Drains, "%v", err)
	} else if err != nil {
		panic(err)
	}
	for k := 1; k < len(b.requests); k++ {
		if !b.requests[k].ended {
			b.broken(Drains, "request %d never ended", k)
		}
	}
	if b.count.running != 0 || b.count.waiting != 0 {
		b.broken(Drains, "%d run and %d wait", b.count.running, b.count.waiting)
	}
	limits := b.core.Config()
	if kept := max(limits.Min, min(b.o.Keeps, limits.Max)); b.core.Alive() > kept {
		b.broken(ToZero, "%d are alive, kept are %d", b.core.Alive(), kept)
	}
	b.closeNodes()
	if err := record.Account(res.Records, int(res.Requests)); err != nil {
		b.broken(AddsUp, "%v", err)
	}
}
