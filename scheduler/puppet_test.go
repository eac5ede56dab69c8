package scheduler

import (
	"slices"
	"testing"

	"coldwave/internal/clock"
)

// puppet is a policy that a test writes on the spot.
type puppet func(c *Control, ev Event)

func (p puppet) Handle(c *Control, ev Event) { p(c, ev) }

// begin returns a core that has begun at instant 0.
func begin(p Policy, cfg Config) *Core {
	c := New(p, cfg, 42)
	c.Configure(nil, 0, cfg)
	return c
}

// greedy assigns to whatever has a free slot, first come first served, and starts one for each arrival that finds none.
// Its timer rejects.
func greedy(c *Control, ev Event) {
	switch ev.Kind {
	case Arrival:
		c.Queue(ev.Req, c.Now()+1000)
		if free(c) == 0 && c.Alive() < c.Config().Max {
			c.Start(0, ev.Req)
		}
	case Timer:
		c.Reject(ev.Req, 503)
	case Configure:
		c.Shrink()
		for c.Alive() > c.Config().Max {
			c.Stop(c.LastAlive())
		}
	default:
	}
	for r, i := c.Front(), free(c); r != 0 && i != 0; r, i = c.Front(), free(c) {
		c.Assign(r, i)
	}
}

func free(c *Control) InstanceID {
	for i := c.FirstAlive(); i != 0; i = c.Next(i) {
		if c.Up(i) && c.InFlight(i) < int(c.Limit(i)) {
			return i
		}
	}
	return 0
}

// drive steps the core through events at one instant each.
type at struct {
	now clock.Instant
	ev  Event
}

func drive(c *Core, events ...at) []Action {
	var acts []Action
	for _, e := range events {
		acts = c.Step(acts, e.now, e.ev)
		c.Check()
	}
	return acts
}

func arrival(r RequestID) Event    { return Event{Kind: Arrival, Req: r} }
func done(r RequestID) Event       { return Event{Kind: Done, Req: r} }
func cancel(r RequestID) Event     { return Event{Kind: Cancel, Req: r} }
func ready(i InstanceID) Event     { return Event{Kind: Ready, Inst: i} }
func failed(i InstanceID) Event    { return Event{Kind: Failed, Inst: i} }
func stoppedEv(i InstanceID) Event { return Event{Kind: Stopped, Inst: i} }

func texts(acts []Action) []string {
	var out []string
	for _, a := range acts {
		out = append(out, a.At.String()+" "+a.String())
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s = %q, want %q", what, got, want)
	}
}
