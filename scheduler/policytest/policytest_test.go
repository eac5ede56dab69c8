package policytest

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/sim"
)

// model is a small correct policy, and the mutants of it are wrong in one place each.
type model struct {
	mutant  string
	garbage []byte
	begun   bool
}

func (p *model) is(mutant string) bool { return p.mutant == mutant }

const reap = 1

func (p *model) Handle(c *scheduler.Control, ev scheduler.Event) {
	if p.is("allocates at each event") {
		p.garbage = make([]byte, 64)
	}
	switch ev.Kind {
	case scheduler.Configure:
		p.configure(c)
	case scheduler.Arrival:
		p.arrival(c, ev.Req)
	case scheduler.Ready:
		p.serve(c, ev.Inst)
	case scheduler.Done:
		if !p.is("forgets who waits when a slot frees") {
			p.serve(c, ev.Inst)
		}
	case scheduler.Failed:
		if !p.is("does not start again") {
			p.start(c)
		}
	case scheduler.Timer:
		if !p.is("lets a deadline pass") {
			c.Reject(ev.Req, 503)
		}
	case scheduler.Cancel:
		if p.is("assigns a canceled request") {
			c.Assign(ev.Req, c.FirstAlive())
		}
	case scheduler.Tick:
		p.reap(c)
	case scheduler.Stopped, scheduler.Sample:
	}
}

func (p *model) configure(c *scheduler.Control) {
	if !p.begun && !p.is("never reaps") {
		p.begun = true
		c.Every(reap, clock.Instant(time.Second))
	}
	if p.is("ignores a lowered max") {
		return
	}
	if p.is("keeps an idle instance above max") && c.IdleNewest() != 0 {
		return
	}
	c.Shrink()
	for c.Alive() > c.Config().Max {
		c.Stop(c.LastAlive())
	}
	for c.Alive() < c.Config().Min && !p.is("ignores min") {
		c.Start(1, 0)
	}
	if c.Config().Max == 0 {
		for r := c.Front(); r != 0; r = c.Front() {
			c.Reject(r, 503)
		}
	}
	p.start(c)
}

func (p *model) arrival(c *scheduler.Control, r scheduler.RequestID) {
	i := c.IdleNewest()
	switch {
	case p.is("assigns a busy instance") && c.Running() > 0 && i == 0:
		for i = c.FirstAlive(); c.State(i) != scheduler.Busy; i = c.Next(i) {
		}
		c.Assign(r, i)
	case p.is("assigns a starting instance") && c.Starting() > 0 && i == 0:
		c.Assign(r, c.LastAlive())
	case p.is("does not return the slot") && c.InFlight(1) == 0 && c.Up(1) && c.Starting() == 0 && c.Alive() == 1 && c.FirstOn(1) == 0 && r > 3:
		c.Queue(r, c.Now().Add(time.Minute)) // its own book still says that instance 1 is taken
	case p.is("chooses at random") && i != 0:
		for i := range map[scheduler.InstanceID]bool{c.IdleOldest(): true, c.IdleNewest(): true} {
			c.Assign(r, i) // the order of a map is random
			return
		}
	case p.is("does not forget") && i != 0 && r > 150:
		c.Assign(r, c.IdleOldest())
	case i != 0:
		c.Assign(r, i)
	case c.Config().Max == 0 && !p.is("lets requests wait without end for nothing"):
		c.Reject(r, 503)
	case p.is("forgets to queue"):
	default:
		deadline := c.Now().Add(time.Minute)
		if p.is("lets requests wait without end for nothing") {
			deadline = clock.Never
		}
		c.Queue(r, deadline)
		p.start(c)
	}
}

func (p *model) start(c *scheduler.Control) {
	for c.Starting() < c.Waiting() && c.Alive() < c.Config().Max {
		if p.is("names a full node") && c.Nodes().On() {
			c.StartOn(1, 1, c.Front())
			continue
		}
		c.Start(1, c.Front())
	}
	if p.is("starts one too many") && c.Waiting() > 0 && c.Alive() == c.Config().Max {
		c.Start(1, c.Front())
	}
}

func (p *model) serve(c *scheduler.Control, i scheduler.InstanceID) {
	if r := c.Front(); r != 0 && (c.Up(i) || p.is("assigns a draining instance")) {
		c.Assign(r, i)
		if p.is("assigns two at once") && c.Front() != 0 {
			c.Assign(c.Front(), i)
		}
	}
}

func (p *model) reap(c *scheduler.Control) {
	for i := c.IdleOldest(); i != 0 && c.Now().Sub(c.IdleSince(i)) > 20*time.Second; i = c.IdleOldest() {
		if c.Alive() <= c.Config().Min && !p.is("reaps below min") {
			return
		}
		c.Stop(i)
	}
	if !p.is("does not start again") {
		p.start(c)
	}
	for range 1000 {
		if p.is("acts without end") && c.FirstAlive() != 0 {
			c.Mark(c.FirstAlive(), 1)
		}
	}
}

// TestModel: the suite finds nothing wrong with a correct policy.
func TestModel(t *testing.T) {
	Run(t, func() scheduler.Policy { return &model{} }, Options{})
	t.Run("on nodes", func(t *testing.T) {
		Run(t, func() scheduler.Policy { return &model{} }, Options{Nodes: few})
	})
}

// few are nodes that are full, and empty again, all the time.
var few = scheduler.Nodes{Count: 2, Slots: 2, Keep: time.Second}

// TestNodeMutant: the suite finds a policy that does not look whether the node that it names has room.
func TestNodeMutant(t *testing.T) {
	var v Violation
	err := Find(func() scheduler.Policy { return &model{mutant: "names a full node"} }, Options{Nodes: few})
	if !errors.As(err, &v) || v.Rule != Legal {
		t.Errorf("Find = %v, want a violation of %q", err, Legal)
	}
}

// TestNodeBooks: the books find what the core itself would have to be wrong for, on two nodes with room for one. Instance 1
// is on node 1, and node 2 is not in use.
func TestNodeBooks(t *testing.T) {
	start := func(i scheduler.InstanceID, n int16) scheduler.Action {
		return scheduler.Action{Do: scheduler.Start, Inst: i, Status: n}
	}
	take := func(n int16) scheduler.Action { return scheduler.Action{Do: scheduler.Take, Status: n} }
	reclaim := func(n int16) scheduler.Action { return scheduler.Action{Do: scheduler.Reclaim, Status: n} }
	tests := []struct {
		name string
		rule Rule
		acts []scheduler.Action
	}{
		{"nothing wrong", "", nil},
		{"one too many on a node", WithinNodes, []scheduler.Action{start(2, 1)}},
		{"a start on a node that was not taken", NodesAddUp, []scheduler.Action{start(2, 2)}},
		{"a start that is placed nowhere", NodesAddUp, []scheduler.Action{start(2, 0)}},
		{"a node that is taken twice", NodesAddUp, []scheduler.Action{take(1)}},
		{"a node that the core does not know to be taken", WithinNodes, []scheduler.Action{take(2)}},
		{"a node that is given back under its instance", NodesAddUp, []scheduler.Action{reclaim(1)}},
		{"a node that is given back and was not in use", NodesAddUp, []scheduler.Action{reclaim(2)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{Nodes: scheduler.Nodes{Count: 2, Slots: 1}}.withDefaults()
			b, cfg := newBooks(o, quiet(o, 2)), scheduler.Config{Min: 1, Max: 2}
			b.core = scheduler.NewOn(&model{}, cfg, o.Nodes, 0)
			b.watch(&sim.Step{Actions: b.core.Configure(nil, 0, cfg), Core: b.core})
			err := guard(0, func() {
				for _, a := range tt.acts {
					b.decided(a)
				}
				b.judgeNodes()
			})
			var v Violation
			if tt.rule == "" && err != nil || tt.rule != "" && (!errors.As(err, &v) || v.Rule != tt.rule) {
				t.Errorf("after %v: %v, want a violation of %q", tt.acts, err, tt.rule)
			}
		})
	}
}

// TestMutants: the suite finds each planted mistake, by the rule that it breaks.
func TestMutants(t *testing.T) {
	tests := []struct {
		mutant string
		rules  []Rule // any of them
	}{
		{"forgets who waits when a slot frees", []Rule{NoIdleWait}},
		{"does not return the slot", []Rule{NoIdleWait}},
		{"assigns a busy instance", []Rule{Legal}},
		{"assigns a starting instance", []Rule{Legal}},
		{"assigns a draining instance", []Rule{Legal}},
		{"assigns two at once", []Rule{Legal}},
		{"assigns a canceled request", []Rule{Legal}},
		{"starts one too many", []Rule{Legal}},
		{"forgets to queue", []Rule{Legal}},
		{"lets a deadline pass", []Rule{Legal}},
		{"ignores a lowered max", []Rule{Legal}},
		{"keeps an idle instance above max", []Rule{Legal}},
		{"does not start again", []Rule{NoHang}},
		{"lets requests wait without end for nothing", []Rule{Drains}},
		{"never reaps", []Rule{ToZero}},
		{"ignores min", []Rule{KeepsMin}},
		{"reaps below min", []Rule{KeepsMin}},
		{"chooses at random", []Rule{Deterministic}},
		{"allocates at each event", []Rule{NoAllocation}},
		{"acts without end", []Rule{Bounded}},
		{"does not forget", []Rule{Renews}},
	}
	for _, tt := range tests {
		t.Run(tt.mutant, func(t *testing.T) {
			err := Find(func() scheduler.Policy { return &model{mutant: tt.mutant} }, Options{})
			var v Violation
			if !errors.As(err, &v) {
				t.Fatalf("Find = %v, want a violation of %q", err, tt.rules)
			}
			if !slices.Contains(tt.rules, v.Rule) {
				t.Errorf("Find = %v, want a violation of %q", err, tt.rules)
			}
			if !strings.Contains(err.Error(), "seed") {
				t.Errorf("Find = %v, want the seed in it", err)
			}
		})
	}
}

// TestReach: what the seeds inject does happen, and a state that was not reached is named.
func TestReach(t *testing.T) {
	var all Reached
	for seed := range uint64(300) {
		reached, err := Play(func() scheduler.Policy { return &model{} }, Options{}, seed)
		if err != nil {
			t.Fatal(err)
		}
		all.Add(reached)
	}
	for seed := range uint64(150) { // what happens only where many share an instance
		e, err := policies.Find("cloudrun")
		if err != nil {
			t.Fatal(err)
		}
		o := OptionsOf(e)
		o.Limit = 6
		reached, err := Play(func() scheduler.Policy {
			p, err := policies.New(e.Name)
			if err != nil {
				t.Error(err)
			}
			return p
		}, o, seed)
		if err != nil {
			t.Fatal(err)
		}
		all.Add(reached)
	}
	if missing := all.Missing(); len(missing) > 0 {
		t.Errorf("never reached in 300 seeds: %q\n%v", missing, all)
	}
	if got := (Reached{}).Missing(); len(got) != len(rareStates) {
		t.Errorf("Missing() of nothing has %d names, want all %d", len(got), len(rareStates))
	}
}

// idle returns books of a run in which r1 runs on i1, which is full; r2 waits; r3 has ended; i2 is starting.
func idle(t *testing.T) *books {
	t.Helper()
	o := Options{}.withDefaults()
	b := newBooks(o, quiet(o, 2))
	cfg := scheduler.Config{Max: 2}
	core := scheduler.New(&model{}, cfg, 0)
	now := clock.Instant(0)
	watch := func(ev scheduler.Event, acts []scheduler.Action) {
		b.watch(&sim.Step{At: now, Event: ev, Actions: acts, Core: core})
	}
	watch(scheduler.Event{}, core.Configure(nil, 0, cfg))
	for _, ev := range []scheduler.Event{
		{Kind: scheduler.Arrival, Req: 1}, {Kind: scheduler.Arrival, Req: 2}, {Kind: scheduler.Arrival, Req: 3},
		{Kind: scheduler.Cancel, Req: 3}, {Kind: scheduler.Ready, Inst: 1},
	} {
		now++
		watch(ev, core.Step(nil, now, ev))
	}
	return b
}

// TestBooks: the books find what the core itself would have to be wrong for.
func TestBooks(t *testing.T) {
	tests := []struct {
		name string
		rule Rule
		act  scheduler.Action
	}{
		{"a second end", EndsOnce, scheduler.Action{Do: scheduler.End, Status: 200, Req: 3}},
		{"an assignment after the end", EndsOnce, scheduler.Action{Do: scheduler.Assign, Req: 3, Inst: 1}},
		{"one too many in flight", WithinLimit, scheduler.Action{Do: scheduler.Assign, Req: 2, Inst: 1}},
		{"an instance that is not ready", ToReady, scheduler.Action{Do: scheduler.Assign, Req: 2, Inst: 2}},
		{"a loss without a crash", KillsNone, scheduler.Action{Do: scheduler.Lost, Status: 502, Req: 1, Inst: 1}},
		{"a stop under a request", Legal, scheduler.Action{Do: scheduler.Stop, Inst: 1}},
		{"an end that the core does not know", AddsUp, scheduler.Action{Do: scheduler.Reject, Status: 503, Req: 2}},
		{"a start that the core does not know", AddsUp, scheduler.Action{Do: scheduler.Start, Inst: 3}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := idle(t)
			err := guard(0, func() { b.decided(tt.act); b.judge() })
			var v Violation
			if !errors.As(err, &v) || v.Rule != tt.rule {
				t.Errorf("decided(%v) = %v, want a violation of %q", tt.act, err, tt.rule)
			}
		})
	}
}

// TestState: what must hold after a step, or at the end, is found when it does not.
func TestState(t *testing.T) {
	tests := []struct {
		name  string
		rule  Rule
		spoil func(b *books)
	}{
		{"a waiting request that the core does not know", AddsUp, func(b *books) { b.count.waiting++ }},
		{"a request that arrived and is nowhere", AddsUp, func(b *books) { b.requests = append(b.requests, request{}) }},
		{"a slot that is not returned", AddsUp, func(b *books) { b.count.running-- }},
		{"something is left when all should be over", Drains, func(b *books) { b.over = b.now - 1 }},
		{"a request that never ends", Drains, func(b *books) { b.close(sim.Result{}, nil) }},
		{"a run that got stuck", Drains, func(b *books) { b.close(sim.Result{}, sim.ErrStuck) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := idle(t)
			err := guard(0, func() { tt.spoil(b); b.judge() })
			var v Violation
			if !errors.As(err, &v) || v.Rule != tt.rule {
				t.Errorf("judge() = %v, want a violation of %q", err, tt.rule)
			}
		})
	}
}

// TestSwarm: each kind of fault is off in some seeds and on in others, and a scenario is a function of its seed.
func TestSwarm(t *testing.T) {
	o := Options{}.withDefaults()
	kinds := []struct {
		name string
		on   func(s *scenario) bool
	}{
		{"failed starts", func(s *scenario) bool { return s.fail > 0 }},
		{"slow starts", func(s *scenario) bool { return s.slower > 0 }},
		{"unheard readiness", func(s *scenario) bool { return s.unheard > 0 }},
		{"crashes", func(s *scenario) bool { return s.crash > 0 }},
		{"crashes around an answer", func(s *scenario) bool { return s.breaks > 0 }},
		{"clients that leave", func(s *scenario) bool { return s.leave > 0 }},
		{"changes of the limits", func(s *scenario) bool { return len(s.changes) > 0 }},
		{"slow stops", func(s *scenario) bool { return s.lingers > 0 }},
		{"many ties", func(s *scenario) bool { return s.grid > 1 }},
		{"a handover", func(s *scenario) bool { return s.handover > 0 }},
	}
	for _, k := range kinds {
		on := 0
		for seed := range uint64(100) {
			if k.on(swarm(seed, o)) {
				on++
			}
		}
		if on < 10 || on > 90 {
			t.Errorf("%s: on in %d of 100 seeds, want some on and some off", k.name, on)
		}
	}
	if a, b := swarm(7, o), swarm(7, o); !reflect.DeepEqual(a, b) {
		t.Errorf("swarm(7) = %+v, then %+v", a, b)
	}
}
