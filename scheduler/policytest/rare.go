package policytest

import (
	"fmt"
	"slices"
	"strings"

	"coldwave/internal/clock"
	"coldwave/scheduler"
	"coldwave/sim"
)

// A soak in which nothing rare happens proves nothing. Each state that is worth reaching has a name here, and a soak that
// did not reach one of them fails.

// rareState is one of them: what must be so after a call of the core.
type rareState struct {
	name string
	seen func(b *books, s *sim.Step) bool
}

// told makes a state that is looked for at one kind of event.
func told(kind scheduler.Kind, name string, seen func(b *books, s *sim.Step) bool) rareState {
	return rareState{name, func(b *books, s *sim.Step) bool { return !s.Advance && s.Event.Kind == kind && seen(b, s) }}
}

var rareStates = []rareState{
	told(scheduler.Cancel, "a client left while its request waited", func(_ *books, s *sim.Step) bool {
		return ends(s, scheduler.End, func(a scheduler.Action) bool { return a.Inst == 0 })
	}),
	told(scheduler.Cancel, "a client left while its request ran", func(b *books, _ *sim.Step) bool {
		return b.count.abandoned > b.before.abandoned
	}),
	told(scheduler.Cancel, "a client left after its answer", stale),
	told(scheduler.Cancel, "a client left at the instant at which a slot was freed", func(b *books, _ *sim.Step) bool {
		return b.instant.had(scheduler.Done)
	}),
	told(scheduler.Failed, "a start failed whose request had been canceled", func(b *books, s *sim.Step) bool {
		in := b.instances[s.Event.Inst]
		return !in.ready && in.cause != 0 && b.requests[in.cause].canceled && !b.requests[in.cause].gone
	}),
	told(scheduler.Failed, "the last start failed while requests waited", func(b *books, s *sim.Step) bool {
		return !b.instances[s.Event.Inst].ready && b.before.waiting > 0 && b.before.starting == 1
	}),
	told(scheduler.Failed, "nothing was left alive while requests waited", func(b *books, s *sim.Step) bool {
		return b.before.waiting > 0 && b.before.alive == 1 && !b.instances[s.Event.Inst].stopping
	}),
	told(scheduler.Failed, "an instance crashed with requests on it while others waited", func(b *books, s *sim.Step) bool {
		return b.before.waiting > 0 && ends(s, scheduler.Lost, nil)
	}),
	told(scheduler.Failed, "an instance crashed while its client had left", func(b *books, _ *sim.Step) bool {
		return b.count.abandoned < b.before.abandoned
	}),
	told(scheduler.Failed, "an instance crashed at the instant of its answer", func(b *books, s *sim.Step) bool {
		return b.instant.freed == s.Event.Inst
	}),
	told(scheduler.Failed, "an instance crashed while it was draining or stopping", func(b *books, s *sim.Step) bool {
		return b.instances[s.Event.Inst].leaving && b.count.stale == b.before.stale
	}),
	told(scheduler.Failed, "an instance failed after its end", stale),
	told(scheduler.Failed, "an instance ran out of memory", func(_ *books, s *sim.Step) bool {
		return s.Event.Code == scheduler.OutOfMemory && ends(s, scheduler.Lost, nil)
	}),
	told(scheduler.Sample, "a limit fell below what was in flight", func(_ *books, s *sim.Step) bool {
		return s.Core.InFlight(s.Event.Inst) > int(s.Core.Limit(s.Event.Inst))
	}),
	told(scheduler.Sample, "a raised limit let a waiting request go", func(_ *books, s *sim.Step) bool {
		return ends(s, scheduler.Assign, nil)
	}),
	told(scheduler.Done, "an answer came from an instance that was gone", stale),
	told(scheduler.Done, "the last request left a draining instance", func(_ *books, s *sim.Step) bool {
		return ends(s, scheduler.Stop, nil)
	}),
	told(scheduler.Done, "a request was served at the instant of its deadline", func(b *books, s *sim.Step) bool {
		return ends(s, scheduler.Assign, func(a scheduler.Action) bool { return b.requests[a.Req].arrived.Add(b.o.Wait) == s.At })
	}),
	told(scheduler.Ready, "an instance was ready and nobody waited", func(b *books, _ *sim.Step) bool {
		return b.before.waiting == 0
	}),
	told(scheduler.Ready, "an instance was ready after it was told to stop", stale),
	told(scheduler.Ready, "an instance was ready at the instant at which another became free", func(b *books, _ *sim.Step) bool {
		return b.instant.had(scheduler.Done)
	}),
	told(scheduler.Arrival, "a request was turned away at its arrival", func(_ *books, s *sim.Step) bool {
		return ends(s, scheduler.Reject, nil)
	}),
	told(scheduler.Arrival, "a request arrived at the instant at which a slot was freed", func(b *books, _ *sim.Step) bool {
		return b.instant.had(scheduler.Done)
	}),
	told(scheduler.Arrival, "a request found every instance on its way out", func(b *books, s *sim.Step) bool {
		return b.before.alive == 0 && s.Core.Draining() > 0
	}),
	told(scheduler.Configure, "max fell below what was alive", func(b *books, s *sim.Step) bool {
		return b.before.alive > s.Core.Config().Max
	}),
	told(scheduler.Configure, "max fell below what was busy", func(_ *books, s *sim.Step) bool { return s.Core.Draining() > 0 }),
	told(scheduler.Configure, "max fell to 0 while requests waited", func(b *books, s *sim.Step) bool {
		return b.before.waiting > 0 && s.Core.Config().Max == 0
	}),
	told(scheduler.Configure, "max rose while requests waited", func(b *books, _ *sim.Step) bool {
		return b.before.waiting > 0 && b.count.alive > b.before.alive
	}),
	{"a deadline passed", func(_ *books, s *sim.Step) bool {
		return s.Advance && ends(s, scheduler.Reject, nil)
	}},
	{"an idle instance was reclaimed", func(_ *books, s *sim.Step) bool { return s.Advance && ends(s, scheduler.Stop, nil) }},
	{"ten events came at one instant", func(b *books, _ *sim.Step) bool { return b.instant.events == 10 }},
	{"forty requests waited", func(b *books, _ *sim.Step) bool { return b.count.waiting >= 40 && b.before.waiting < 40 }},
}

// stale reports whether the event came too late.
func stale(b *books, _ *sim.Step) bool { return b.count.stale > b.before.stale }

// ends reports whether something was decided, and, unless that is nil, what of it is so.
func ends(s *sim.Step, do scheduler.Do, so func(scheduler.Action) bool) bool {
	return slices.ContainsFunc(s.Actions, func(a scheduler.Action) bool { return a.Do == do && (so == nil || so(a)) })
}

// instant is what was told at one instant.
type instant struct {
	at     clock.Instant
	kinds  uint16
	events int
	freed  scheduler.InstanceID // whose request was answered last
}

func (n *instant) note(s *sim.Step) {
	if s.Advance {
		return
	}
	if n.at != s.At {
		*n = instant{at: s.At}
	}
	n.events++
	n.kinds |= 1 << s.Event.Kind
	for _, a := range s.Actions {
		if a.Do == scheduler.End && s.Event.Kind == scheduler.Done {
			n.freed = a.Inst
		}
	}
}

func (n *instant) had(kind scheduler.Kind) bool { return n.kinds>>kind&1 == 1 }

// spot counts the rare states that were reached.
func (b *books) spot(s *sim.Step) {
	for k := range rareStates {
		if rareStates[k].seen(b, s) {
			b.reached[k]++
		}
	}
}

// Reached counts how often each rare state was reached.
type Reached []int64

// Add adds what others reached. The zero Reached is empty.
func (r *Reached) Add(other Reached) {
	if *r == nil {
		*r = make(Reached, len(rareStates))
	}
	for k, n := range other {
		(*r)[k] += n
	}
}

// Missing names the rare states that were never reached.
func (r Reached) Missing() []string {
	var names []string
	var all Reached
	all.Add(r)
	for k, n := range all {
		if n == 0 {
			names = append(names, rareStates[k].name)
		}
	}
	return names
}

// String is a table of the rare states, one in a line.
func (r Reached) String() string {
	var t strings.Builder
	for k, n := range r {
		fmt.Fprintf(&t, "%12d  %s\n", n, rareStates[k].name)
	}
	return t.String()
}
