package scheduler

import (
	"errors"
	"strings"
	"testing"
	"time"

	"coldwave/internal/clock"
)

// caught returns what f panics with.
func caught(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}

// TestIllegalActs: each wrong act of a policy stops the run, and the text leads back to it.
func TestIllegalActs(t *testing.T) {
	tests := []struct {
		name, want string
		act        func(c *Control) // at the arrival of r4: r1 runs on i1, r2 waits, i2 is starting, i3 is stopping
	}{
		{"an instance that is not ready", "instance 2: the instance is starting, not ready", func(c *Control) { c.Assign(4, 2) }},
		{"an instance that is full", "instance 1: the instance has no free slot", func(c *Control) { c.Assign(4, 1) }},
		{"an instance that never was", "instance 9: the instance is gone, not ready", func(c *Control) { c.Assign(4, 9) }},
		{"an instance that stops", "instance 3: the instance is stopping, not ready", func(c *Control) { c.Assign(4, 3) }},
		{"a request that runs", "request 1, instance 1: the request neither arrives nor waits", func(c *Control) { c.Assign(1, 1) }},
		{"a request that has ended", "request 3: the request neither arrives nor waits", func(c *Control) { c.Reject(3, 503) }},
		{"a request to come", "request 5: the request neither arrives nor waits", func(c *Control) { c.Queue(5, 100) }},
		{"queued twice", "request 2: it waits already", func(c *Control) { c.Queue(2, 100) }},
		{"a deadline now", "request 4: its deadline must lie after now", func(c *Control) { c.Queue(4, c.Now()) }},
		{"a moved deadline in the past", "request 2: its deadline must lie after now", func(c *Control) { c.Wait(2, c.Now()-1) }},
		{"a deadline of what does not wait", "request 4: it does not wait", func(c *Control) { c.Wait(4, 100) }},
		{"rejected with success", "request 4: the status must lie in 400 … 599", func(c *Control) { c.Reject(4, 200) }},
		{"more than max", "start: max is reached", func(c *Control) { c.Start(0, 0); c.Start(0, 0) }},
		{"a cause to come", "request 5: its cause has not arrived", func(c *Control) { c.Start(0, 5) }},
		{"stopped twice", "instance 3: the instance is stopping", func(c *Control) { c.Stop(3) }},
		{"stopped and never started", "instance 9: the instance is gone", func(c *Control) { c.Stop(9) }},
		{"no slot at all", "instance 1: the limit must be ≥ 1", func(c *Control) { c.SetLimit(1, 0) }},
		{"a limit of what is gone", "instance 9: the instance is gone", func(c *Control) { c.SetLimit(9, 1) }},
		{"a mark on what is gone", "instance 9: the instance is gone", func(c *Control) { c.Mark(9, 1) }},
		{"a period of nothing", "every: the period must be > 0", func(c *Control) { c.Every(1, 0) }},
		{"an alarm now", "alarm: the instant must lie after now", func(c *Control) { c.Alarm(1, c.Now()) }},
		{"nothing at all", "request 4: the policy forgot the request", func(*Control) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := puppet(greedy)
			c := New(puppet(func(c *Control, ev Event) { p(c, ev) }), Config{Max: 3}, 42)
			c.Configure(nil, 0, Config{Max: 3})
			drive(c, at{0, arrival(1)}, at{1, ready(1)}, at{2, arrival(2)}, at{3, arrival(3)}, at{4, cancel(3)})
			p = func(c *Control, _ Event) { c.Stop(3) }
			c.Step(nil, 5, Event{Kind: Sample, Inst: 1})
			p = func(c *Control, _ Event) { tt.act(c) }
			got := caught(func() { c.Step(nil, 6, arrival(4)) })
			var e Illegal
			if err, ok := got.(error); !ok || !errors.As(err, &e) || !strings.Contains(e.Error(), tt.want) {
				t.Fatalf("panic = %v, want Illegal with %q", got, tt.want)
			}
			if !strings.Contains(e.Error(), "(seed 42, event 8 arrival, at 6ns)") {
				t.Errorf("text = %q, want seed, event and instant in it", e.Error())
			}
		})
	}
}

// TestLegalActs: acts that are near the edge and allowed.
func TestLegalActs(t *testing.T) {
	c := begin(puppet(func(c *Control, ev Event) {
		switch ev.Kind {
		case Configure:
			c.Start(3, 0)
		case Arrival:
			c.Queue(ev.Req, 100)
			c.Wait(ev.Req, clock.Never)
			c.SetLimit(1, 5)
			c.Mark(1, 9)
		default:
		}
	}), Config{Max: 1})
	got := drive(c, at{1, arrival(1)})
	same(t, "decisions", texts(got), []string{"1ns queue r1", "1ns mark i1 9"})
	if c.Limit(1) != 5 || c.Next() == clock.Never {
		t.Errorf("limit %d, next %v; an old deadline may wake the host early", c.Limit(1), c.Next())
	}
	if got := c.Advance(nil, 200); len(got) != 0 || !c.IsWaiting(1) {
		t.Errorf("Advance = %v, want nothing: the deadline was taken away", got)
	}
}

// TestOvershoot: with an overshoot alive may exceed max, to twice of it with the draining ones.
func TestOvershoot(t *testing.T) {
	more := 0
	c := begin(puppet(func(c *Control, _ Event) {
		for range more {
			c.Start(0, 0)
		}
	}), Config{Max: 2, Overshoot: true})
	more = 4
	c.Step(nil, 1, Event{Kind: Configure})
	if c.Alive() != 4 {
		t.Fatalf("%d alive, want 4", c.Alive())
	}
	more = 1
	got := caught(func() { c.Step(nil, 2, Event{Kind: Configure}) })
	if err, ok := got.(Illegal); !ok || err.Why != "twice max is reached" {
		t.Errorf("panic = %v, want twice max", got)
	}
}

// TestImpossibleEvents: a host that reports what cannot have happened is stopped.
func TestImpossibleEvents(t *testing.T) {
	tests := []struct {
		name, want string
		now        clock.Instant
		ev         Event
	}{
		{"a request out of turn", "request 4: an arrival must carry the next serial id", 10, arrival(4)},
		{"a request that comes twice", "request 1: an arrival must carry the next serial id", 10, arrival(1)},
		{"done and never arrived", "request 7: no such request has arrived", 10, done(7)},
		{"done while it waits", "request 2: a request that waits cannot be done", 10, done(2)},
		{"gone and never arrived", "request 7: no such request has arrived", 10, cancel(7)},
		{"no request", "no such request has arrived", 10, cancel(0)},
		{"ready and never started", "instance 7: no such instance was started", 10, ready(7)},
		{"ready twice", "instance 1: it is ready already", 10, ready(1)},
		{"failed and never started", "instance 7: no such instance was started", 10, failed(7)},
		{"stopped without being told", "instance 1: it was not told to stop", 10, stoppedEv(1)},
		{"a sample of nothing", "no such instance was started", 10, Event{Kind: Sample}},
		{"a timer from outside", "timers and ticks are the core's own", 10, Event{Kind: Timer, Req: 2}},
		{"a tick from outside", "timers and ticks are the core's own", 10, Event{Kind: Tick}},
		{"no kind", "unknown kind", 10, Event{Kind: 99}},
		{"an earlier instant", "time went back to 1ns", 1, done(1)},
		{"the end of time", "is no time", clock.Never / 2, done(1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := begin(puppet(greedy), Config{Max: 1})
			drive(c, at{0, arrival(1)}, at{1, arrival(2)}, at{5, ready(1)})
			got := caught(func() { c.Step(nil, tt.now, tt.ev) })
			if err, ok := got.(Illegal); !ok || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("panic = %v, want Illegal with %q", got, tt.want)
			}
		})
	}
}

// TestPolicyDuties: what a policy must do at an event, and where it may act.
func TestPolicyDuties(t *testing.T) {
	lazy := puppet(func(c *Control, ev Event) {
		switch ev.Kind {
		case Arrival:
			c.Queue(ev.Req, 10)
			if c.Alive() < c.Config().Max {
				c.Start(0, 0)
			}
		default:
		}
	})
	tests := []struct {
		name, want string
		do         func(c *Core)
	}{
		{"a deadline passes", "let a deadline pass", func(c *Core) { c.Advance(nil, 10) }},
		{"max is lowered and nothing stops", "more instances alive than max", func(c *Core) { c.Configure(nil, 1, Config{}) }},
		{"the host acts", "acts are legal only inside Handle", func(c *Core) { c.Start(0, 0) }},
		{"the host assigns", "acts are legal only inside Handle", func(c *Core) { c.Assign(1, 1) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := begin(lazy, Config{Max: 1})
			drive(c, at{0, arrival(1)})
			got := caught(func() { tt.do(c) })
			if err, ok := got.(Illegal); !ok || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("panic = %v, want Illegal with %q", got, tt.want)
			}
		})
	}
}

// TestNotBegun: the first event must be Configure.
func TestNotBegun(t *testing.T) {
	got := caught(func() { New(puppet(greedy), Config{Max: 1}, 1).Step(nil, 0, arrival(1)) })
	if err, ok := got.(Illegal); !ok || !strings.Contains(err.Error(), "has not begun") {
		t.Errorf("panic = %v, want that the core has not begun", got)
	}
}

// TestConfigValidate: limits that contradict each other are refused, all problems at once.
func TestConfigValidate(t *testing.T) {
	tests := []struct {
		name string
		cfg  Config
		want []string // parts of the text; none: valid
	}{
		{"the zero value: nothing may run", Config{}, nil},
		{"no limit", Config{Max: Unlimited}, nil},
		{"min above max", Config{Min: 3, Max: 2}, []string{"min 3 above max 2"}},
		{"all negative", Config{Min: -1, Max: -2, Limit: -3}, []string{"min -1", "max -2", "limit -3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.cfg.Validate()
			if (err == nil) != (tt.want == nil) || err != nil && !errors.Is(err, ErrConfig) {
				t.Fatalf("Validate() = %v, want %q", err, tt.want)
			}
			for _, part := range tt.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("Validate() = %v, want %q in it", err, part)
				}
			}
			if err == nil {
				return
			}
			if caught(func() { New(puppet(greedy), tt.cfg, 1) }) == nil {
				t.Error("New takes it")
			}
			if caught(func() { begin(puppet(greedy), Config{}).Configure(nil, 1, tt.cfg) }) == nil {
				t.Error("Configure takes it")
			}
		})
	}
}

// TestCheckBites: books that were tampered with are found.
func TestCheckBites(t *testing.T) {
	tests := []struct {
		name   string
		tamper func(c *Core)
	}{
		{"a slot is lost", func(c *Core) { c.running++ }},
		{"a waiting request is unlinked", func(c *Core) { c.queue.remove(c.requests.Get(2)) }},
		{"an idle instance is counted as starting", func(c *Core) { c.starting++ }},
		{"a deadline is lost", func(c *Core) { c.deadlines = deadlines{} }},
		{"an instance leaves the alive list", func(c *Core) { c.alive.ends().next = c.alive.last() }},
		{"an instance counts one request too many", func(c *Core) { c.instances.Get(1).on.size++ }},
		{"a request is undecided", func(c *Core) { c.requests.Get(2).state = arrived }},
		{"a request runs nowhere", func(c *Core) { c.requests.Get(1).on = &instance{id: 9} }},
		{"a busy instance says it is idle", func(c *Core) { c.instances.Get(1).state = Idle }},
		{"a draining one is counted twice", func(c *Core) { c.draining++ }},
		{"a node counts one instance too many", func(c *Core) { c.nodes.all[1].size++ }},
		{"an instance leaves its node", func(c *Core) { c.nodes.all[1].first = 0 }},
		{"a node with room is not found", func(c *Core) { c.nodes.open.drop(2) }},
		{"a node in use counts as new", func(c *Core) { c.nodes.vacant.add(1) }},
		{"a node forgets its code", func(c *Core) { c.nodes.all[1].code = false }},
		{"an empty node is not in line", func(c *Core) { c.nodes.empty.first, c.nodes.empty.last = 0, 0 }},
		{"nobody comes for an empty node", func(c *Core) { c.nodes.armed = false }},
		{"a slot on a node is lost", func(c *Core) { c.nodes.used++ }},
		{"max is more than the nodes hold", func(c *Core) { c.cfg.Max++ }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := beginOn(puppet(greedy), Config{Max: Unlimited}, Nodes{Count: 3, Slots: 1, Keep: time.Second})
			drive(c, at{0, arrival(1)}, at{1, ready(1)}, at{2, arrival(2)}, at{3, arrival(3)}, at{4, failed(2)})
			c.Check()
			tt.tamper(c)
			if _, ok := caught(c.Check).(Illegal); !ok {
				t.Error("Check finds nothing wrong")
			}
		})
	}
}

// TestNames: every kind, action and state has a name.
func TestNames(t *testing.T) {
	for k := Configure; k <= Tick; k++ {
		if k.String() == "invalid" {
			t.Errorf("kind %d has no name", k)
		}
	}
	for d := Assign; d <= Reclaim; d++ {
		if d.String() == "invalid" {
			t.Errorf("action %d has no name", d)
		}
	}
	for s := Gone; s <= Stopping; s++ {
		if s.String() == "invalid" {
			t.Errorf("state %d has no name", s)
		}
	}
	if got := (Action{Do: 99}).String() + Kind(99).String() + State(99).String(); got != "invalidinvalidinvalid" {
		t.Errorf("names of nothing = %q", got)
	}
}
