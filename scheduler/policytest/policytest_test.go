package policytest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// model is a small correct policy, and the mutants of it are wrong in one place each.
type model struct {
	mutant  string
	garbage []byte
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
	if !p.is("never reaps") {
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

// TestReach: what the seeds inject does happen. A suite in which nothing fails proves nothing.
func TestReach(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(60) {
		w := newWorld(&model{}, Options{}.withDefaults(), swarm(seed, Options{}.withDefaults()))
		w.play(0)
		for _, a := range w.log {
			seen[a.Do.String()]++
			if a.Do == scheduler.End && a.Status == 499 && a.Inst != 0 {
				seen["client left while its request ran"]++
			}
			if a.Do == scheduler.End && a.Status == 499 && a.Inst == 0 {
				seen["client left while its request waited"]++
			}
		}
		seen["event that came too late"] += int(w.core.Stale())
	}
	for _, want := range []string{
		"assign", "queue", "start", "stop", "reject", "lost", "end", "event that came too late",
		"client left while its request ran", "client left while its request waited",
	} {
		if seen[want] < 10 {
			t.Errorf("%q happened %d times in 60 seeds, want ≥ 10", want, seen[want])
		}
	}
	t.Log(seen)
}

// TestBooks: the host's own books find what the core itself would have to be wrong for. R1 runs on i1, which is full; r2
// waits; r3 has ended; i2 is starting.
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
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(&model{}, Options{}.withDefaults(), quiet(2))
			w.requests = make([]request, 4)
			w.instances = []instance{{}, {ready: true, inFlight: 1}, {}}
			w.requests[1].inst, w.requests[2].waits, w.requests[3].ended = 1, true, true
			err := guard(0, func() { w.absorb([]scheduler.Action{tt.act}) })
			var v Violation
			if !errors.As(err, &v) || v.Rule != tt.rule {
				t.Errorf("absorb(%v) = %v, want a violation of %q", tt.act, err, tt.rule)
			}
		})
	}
}

// TestState: what must hold after a step is found when it does not.
func TestState(t *testing.T) {
	tests := []struct {
		name  string
		rule  Rule
		spoil func(w *world)
	}{
		{"more alive than max", WithinMax, func(w *world) { w.cfg.Max = 0 }},
		{"a waiting request that the core does not know", EndsOnce, func(w *world) { w.waiting++ }},
		{"a request that never ends", Drains, func(w *world) { w.requests[1].ended = false; w.over() }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(&model{}, Options{}.withDefaults(), quiet(2, 1))
			w.plan(0, scheduler.Event{Kind: scheduler.Arrival, Req: 1})
			w.until(clock.Instant(5 * time.Second))
			err := guard(0, func() { tt.spoil(w); w.judge() })
			var v Violation
			if !errors.As(err, &v) || v.Rule != tt.rule {
				t.Errorf("judge() = %v, want a violation of %q", err, tt.rule)
			}
		})
	}
}
