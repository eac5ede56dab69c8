package scheduler

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
)

// beginOn returns a core on nodes that has begun at instant 0.
func beginOn(p Policy, cfg Config, on Nodes) *Core {
	c := NewOn(p, cfg, on, 42)
	c.Configure(nil, 0, cfg)
	return c
}

// onCommand is a policy that runs what the test says at each sample of instance 0, which does not exist; it queues arrivals.
type onCommand struct {
	do   func(c *Control)
	seen []Kind
}

func (p *onCommand) Handle(c *Control, ev Event) {
	p.seen = append(p.seen, ev.Kind)
	if ev.Kind == Arrival {
		c.Queue(ev.Req, clock.Never)
	}
	if p.do != nil && ev.Kind == Tick {
		p.do(c)
	}
}

// hand is a core with a policy that acts when the test wants it to.
type hand struct {
	*onCommand
	core *Core
	now  clock.Instant
}

func newHand(cfg Config, on Nodes) *hand {
	h := &hand{onCommand: &onCommand{}}
	h.core = beginOn(h.onCommand, cfg, on)
	return h
}

// act lets the policy act one nanosecond later.
func (h *hand) act(do func(c *Control)) []Action {
	h.do = do
	h.now++
	h.core.ticks.set(tick{at: h.now, name: 1})
	acts := h.core.Advance(nil, h.now)
	h.do = nil
	h.core.Check()
	return acts
}

func (h *hand) tell(ev Event) []Action {
	h.now++
	acts := h.core.Step(nil, h.now, ev)
	h.core.Check()
	return acts
}

func (h *hand) start(n int) []Action {
	return h.act(func(c *Control) {
		for range n {
			c.Start(0, 0)
		}
	})
}

// plain are decisions without their instants.
func plain(acts []Action) []string {
	var out []string
	for _, a := range acts {
		out = append(out, a.String())
	}
	return out
}

// TestPack: nodes are filled one after the other, and a new one is taken when those in use are full (PL-2, FC-2).
func TestPack(t *testing.T) {
	h := newHand(Config{Max: Unlimited}, Nodes{Count: 3, Slots: 2, Keep: time.Hour})
	same(t, "five starts", plain(h.start(5)), []string{
		"take n1", "start i1 on n1", "start i2 on n1", "take n2", "start i3 on n2", "start i4 on n2", "take n3", "start i5 on n3",
	})
	h.act(func(c *Control) { c.Stop(3); c.Stop(1) })
	same(t, "one that stops holds its room (PL-6)", plain(h.start(1)), []string{"start i6 on n3"})
	h.tell(stoppedEv(3))
	h.tell(stoppedEv(1))
	same(t, "the lowest number with room", plain(h.start(1)), []string{"start i7 on n1"})
	h.tell(ready(4))
	h.act(func(c *Control) { c.Stop(2); c.Stop(6) })
	h.tell(stoppedEv(2))
	h.tell(stoppedEv(6))
	same(t, "one that holds the code comes first", plain(h.start(2)), []string{"start i8 on n2", "start i9 on n1"})
}

// TestSpread: the node with the fewest instances is chosen, a new one counts as empty (PL-3).
func TestSpread(t *testing.T) {
	h := newHand(Config{Max: Unlimited}, Nodes{Count: 3, Slots: 2, Keep: time.Hour})
	h.act(func(c *Control) { c.PlaceBy(Spread) })
	same(t, "five starts", plain(h.start(5)), []string{
		"take n1", "start i1 on n1", "take n2", "start i2 on n2", "take n3", "start i3 on n3", "start i4 on n1", "start i5 on n2",
	})
	h.tell(ready(3))
	h.tell(ready(2))
	h.act(func(c *Control) { c.Stop(3); c.Stop(1); c.Stop(4) })
	for _, i := range []InstanceID{3, 1, 4} {
		h.tell(stoppedEv(i))
	}
	same(t, "of two empty ones the one with the code", plain(h.start(3)), []string{"start i6 on n3", "start i7 on n1", "start i8 on n3"})
}

// TestReclaim: an empty node is given back after Keep, and not if it is used again before; then its number is free (PL-4).
func TestReclaim(t *testing.T) {
	h := newHand(Config{Max: Unlimited}, Nodes{Count: 2, Slots: 1, Keep: 100, Cache: true})
	h.start(2)
	h.tell(ready(1))
	h.act(func(c *Control) { c.Stop(1); c.Stop(2) })
	h.tell(stoppedEv(1))
	since := h.now
	h.tell(stoppedEv(2))
	if got := h.core.Next(); got != since+100 {
		t.Errorf("Next() = %v, want %v", got, since+100)
	}
	acts := h.start(1)
	same(t, "used again", plain(acts), []string{"start i3 on n1"})
	if !h.core.Cached(3) {
		t.Error("the start on a node that holds the code does not skip the download (PL-5)")
	}
	same(t, "nothing at the first's time", texts(h.core.Advance(nil, since+100)), nil)
	same(t, "the other at its own", texts(h.core.Advance(nil, since+101)), []string{(since + 101).String() + " reclaim n2"})
	h.core.Check()
	h.now = since + 101
	h.act(func(c *Control) { c.Stop(3) })
	h.tell(stoppedEv(3))
	if h.core.Taken() != 1 {
		t.Errorf("Taken() = %d, want 1", h.core.Taken())
	}
	h.now += 100
	same(t, "the first, a while after its end", plain(h.core.Advance(nil, h.now)), []string{"reclaim n1"})
	same(t, "its number again, without the code", plain(h.start(1)), []string{"take n1", "start i4 on n1"})
	if h.core.Cached(4) || h.core.HasCode(1) {
		t.Error("the code outlived its node")
	}
}

// TestReclaimAtOnce: with Keep 0 a node goes with its last instance.
func TestReclaimAtOnce(t *testing.T) {
	h := newHand(Config{Max: Unlimited}, Nodes{Count: 1, Slots: 2})
	h.start(2)
	same(t, "one left", plain(h.tell(failed(1))), nil)
	same(t, "none left", plain(h.tell(failed(2))), []string{"reclaim n1"})
	if got := h.core.Next(); got != clock.Never {
		t.Errorf("Next() = %v, want never", got)
	}
}

// TestCacheOff: without Cache no start skips anything, also where the code is.
func TestCacheOff(t *testing.T) {
	h := newHand(Config{Max: Unlimited}, Nodes{Count: 1, Slots: 2})
	h.start(1)
	h.tell(ready(1))
	h.start(1)
	if !h.core.HasCode(1) || h.core.Cached(2) {
		t.Errorf("HasCode(1) = %t, Cached(2) = %t, want true and false", h.core.HasCode(1), h.core.Cached(2))
	}
}

// TestNodesLimit: Max is what the nodes have room for, so that whoever obeys it finds a node; when full nodes get room
// again through what was no longer alive, the policy is told (PL-7).
func TestNodesLimit(t *testing.T) {
	h := newHand(Config{Max: Unlimited, Min: 9}, Nodes{Count: 2, Slots: 2})
	limits := func(what string, least, most, room int) {
		t.Helper()
		if c := h.core.Config(); c.Min != least || c.Max != most || h.core.Room() != room {
			t.Errorf("%s: min %d, max %d, room %d, want %d, %d and %d", what, c.Min, c.Max, h.core.Room(), least, most, room)
		}
	}
	limits("at first", 4, 4, 4)
	h.start(4)
	limits("full", 4, 4, 0)
	h.tell(ready(1))
	h.tell(arrival(1))
	h.act(func(c *Control) { c.Assign(1, 1); c.Stop(1); c.Stop(2) })
	limits("one drains and one stops", 2, 2, 0)
	h.seen = nil
	h.tell(stoppedEv(2))
	limits("one has gone", 3, 3, 1)
	h.tell(failed(1))
	limits("the other has failed", 4, 4, 2)
	h.tell(failed(3))
	limits("one that was alive has failed", 4, 4, 3)
	if got, want := fmt.Sprint(h.seen), "[stopped configure stopped failed]"; got != want {
		t.Errorf("the policy saw %s, want %s", got, want)
	}
	h.core.Configure(nil, h.now, Config{Max: 1})
	limits("a lower max of the host", 0, 1, 3)
}

// TestNoNodes: without nodes there is always room, and no start names one.
func TestNoNodes(t *testing.T) {
	h := newHand(Config{Max: 2}, Nodes{})
	same(t, "a start", plain(h.start(1)), []string{"start i1"})
	c := h.core
	if c.Room() != Unlimited || c.Pick(Pack) != 0 || c.Node(1) != 0 || c.Taken() != 0 || c.CountOn(1) != 0 || c.RoomOn(1) != 0 || c.Nodes().On() {
		t.Error("a core without nodes has some")
	}
}

// TestIllegalPlaces: a start that names a wrong node stops the run.
func TestIllegalPlaces(t *testing.T) {
	on := Nodes{Count: 2, Slots: 1}
	tests := []struct {
		name, want string
		on         Nodes
		act        func(c *Control)
	}{
		{"a node above the count", "there is no such node", on, func(c *Control) { c.StartOn(3, 0, 0) }},
		{"a negative node", "there is no such node", on, func(c *Control) { c.StartOn(-1, 0, 0) }},
		{"a full node", "no node has room, or not this one", on, func(c *Control) { c.StartOn(1, 0, 0); c.StartOn(1, 0, 0) }},
		{"no room at all", "start: max is reached", on, func(c *Control) { c.Start(0, 0); c.Start(0, 0); c.Start(0, 0) }},
		{"a node where there are none", "there are no nodes to name one", Nodes{}, func(c *Control) { c.StartOn(1, 0, 0) }},
		{"the core's own tick", "the name 255 is the core's own", on, func(c *Control) { c.Alarm(255, c.Now()+1) }},
		{"the core's own period", "the name 255 is the core's own", on, func(c *Control) { c.Every(255, 1) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHand(Config{Max: Unlimited}, tt.on)
			var e Illegal
			if err, ok := caught(func() { h.act(tt.act) }).(error); !ok || !errors.As(err, &e) || !strings.Contains(e.Error(), tt.want) {
				t.Errorf("panic = %v, want Illegal with %q", err, tt.want)
			}
		})
	}
}

// TestNodesValidate: every problem is named.
func TestNodesValidate(t *testing.T) {
	for _, tt := range []struct {
		name string
		on   Nodes
		want string // empty: fine
	}{
		{"none", Nodes{}, ""},
		{"the most", Nodes{Count: MaxNodes, Slots: Unlimited / MaxNodes, Keep: time.Hour}, ""},
		{"a negative count", Nodes{Count: -1}, "-1 nodes"},
		{"too many", Nodes{Count: MaxNodes + 1, Slots: 1}, "32768 nodes"},
		{"no room on a node", Nodes{Count: 1}, "0 instances on a node"},
		{"too much room", Nodes{Count: 1, Slots: Unlimited}, "instances on a node"},
		{"a negative time", Nodes{Count: 1, Slots: 1, Keep: -1}, "keep -1ns"},
	} {
		err := tt.on.Validate()
		if (err == nil) != (tt.want == "") || err != nil && (!errors.Is(err, ErrNodes) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: Validate() = %v, want %q", tt.name, err, tt.want)
		}
	}
	if caught(func() { NewOn(puppet(greedy), Config{}, Nodes{Count: 1}, 0) }) == nil {
		t.Error("NewOn takes nodes without room")
	}
}

// TestNodesBooks plays starts, ends and failures at random on many nodes: the books agree after each, and what a node
// says of its instances is what they say of it.
func TestNodesBooks(t *testing.T) {
	for seed := range uint64(20) {
		d := rng.NewKey(seed, "nodes").Draw(0)
		h := newHand(Config{Max: 400}, Nodes{Count: 150, Slots: 3, Keep: time.Duration(d.Int64N(40))})
		for range 600 {
			i := InstanceID(1 + d.Int64N(max(1, h.core.instances.Last())))
			switch h.core.State(i) {
			case Starting:
				h.tell([]Event{ready(i), failed(i)}[d.Int64N(2)])
			case Idle:
				h.act(func(c *Control) { c.Stop(i) })
			case Stopping:
				h.tell(stoppedEv(i))
			case Gone, Busy, Draining:
			}
			if h.core.Alive() < h.core.Config().Max {
				h.act(func(c *Control) { c.PlaceBy(Place(d.Int64N(2))); c.StartOn(c.Pick(Place(d.Int64N(2))), 0, 0) })
			}
		}
		if h.core.Taken() < 2 {
			t.Errorf("seed %d: %d nodes in use, want some", seed, h.core.Taken())
		}
	}
}
