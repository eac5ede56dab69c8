package scheduler

import (
	"math/bits"

	"coldwave/internal/clock"
)

// nodes are the books of the nodes of one core.
type nodes struct {
	limits Nodes
	given  Config // the limits as they were given; Control.cfg holds what the nodes leave of them
	by     Place
	all    []node // by number; [0] is unused
	open   set    // in use, with room
	code   set    // in use, with the code
	vacant set    // numbers in all that are not in use
	taken  int
	used   int // slots
	empty  struct{ first, last NodeID }
	armed  bool // a tick comes for the first of the empty ones, or earlier
}

// node is one node.
type node struct {
	taken, code bool
	size        int32         // instances on it
	first, last InstanceID    // of them, in order of start
	since       clock.Instant // size 0: when it became empty
	prev, next  NodeID        // size 0: neighbours in the order in which nodes became empty
}

// nodeTick is the name of the core's own tick: an empty node is to be reclaimed. No policy can use it.
const nodeTick = 255

func newNodes(n Nodes) *nodes { return &nodes{limits: n, all: make([]node, 1)} }

func (n *nodes) free() int { return n.limits.Count*n.limits.Slots - n.used }

// packed returns the node of Pack. There is room.
func (n *nodes) packed() NodeID {
	if k := n.open.firstOf(n.code); k != 0 {
		return k
	}
	if k := n.open.first(); k != 0 {
		return k
	}
	return n.fresh()
}

// fresh returns the number of a new node.
func (n *nodes) fresh() NodeID {
	if k := n.vacant.first(); k != 0 {
		return k
	}
	return NodeID(len(n.all))
}

// emptiest returns the node of Spread. There is room.
func (n *nodes) emptiest() NodeID {
	best := NodeID(0)
	for k := range n.all {
		if m := &n.all[k]; m.taken && (best == 0 || m.before(&n.all[best])) {
			best = NodeID(k)
		}
	}
	if n.taken < n.limits.Count && (best == 0 || n.all[best].size > 0) {
		return n.fresh()
	}
	return best
}

// before reports whether Spread prefers m to the node o of a lower number.
func (m *node) before(o *node) bool {
	return m.size < o.size || m.size == o.size && m.code && !o.code
}

// room returns the node of a start: n, or for 0 the one that the rule chooses.
func (c *Control) room(n NodeID, r RequestID) NodeID {
	if c.nodes == nil {
		c.illegal("start", r, 0, "there are no nodes to name one")
	}
	if n == 0 {
		n = c.Pick(c.nodes.by)
	}
	switch {
	case n < 0 || int(n) > c.nodes.limits.Count:
		c.illegal("start", r, 0, "there is no such node")
	case c.RoomOn(n) == 0:
		c.illegal("start", r, 0, "no node has room, or not this one")
	}
	return n
}

// put places an instance that starts on node n, which has room.
func (c *Control) put(i InstanceID, in *instance, n NodeID) {
	b := c.nodes
	for int(n) >= len(b.all) {
		b.vacant.add(NodeID(len(b.all)))
		b.all = append(b.all, node{})
	}
	m := &b.all[n]
	switch {
	case !m.taken:
		m.taken = true
		b.taken++
		b.vacant.drop(n)
		b.open.add(n)
		c.act(Take, 0, int16(n), 0, 0)
	case m.size == 0:
		b.leave(m)
	}
	in.node, in.cached, in.beside = n, b.limits.Cache && m.code, beside{prev: m.last}
	if m.last == 0 {
		m.first = i
	} else {
		c.instances.Get(int64(m.last)).beside.next = i
	}
	m.last = i
	m.size++
	if b.used++; int(m.size) == b.limits.Slots {
		b.open.drop(n)
	}
	c.refit()
}

// lift takes an instance that has gone off its node.
func (c *Control) lift(in *instance) {
	b, m := c.nodes, &c.nodes.all[in.node]
	if at := in.beside; at.prev == 0 {
		m.first = at.next
	} else {
		c.instances.Get(int64(at.prev)).beside.next = at.next
	}
	if at := in.beside; at.next == 0 {
		m.last = at.prev
	} else {
		c.instances.Get(int64(at.next)).beside.prev = at.prev
	}
	in.beside = beside{}
	b.open.add(in.node)
	b.used--
	if m.size--; m.size == 0 {
		m.since = c.now
		b.join(in.node, m)
		c.reclaim()
	}
	c.refit()
}

// bring notes that the code has come to a node: an instance is ready there.
func (c *Control) bring(n NodeID) {
	c.nodes.all[n].code = true
	c.nodes.code.add(n)
}

// reclaim gives back the nodes that have been empty for long enough, longest first, and comes back for the next one.
func (c *Control) reclaim() {
	b := c.nodes
	for n := b.empty.first; n != 0; n = b.empty.first {
		m := &b.all[n]
		due := m.since.Add(b.limits.Keep)
		if due > c.now {
			if !b.armed {
				b.armed = true
				c.ticks.set(tick{at: due, name: nodeTick})
			}
			return
		}
		b.leave(m)
		*m = node{}
		b.taken--
		b.open.drop(n)
		b.code.drop(n)
		b.vacant.add(n)
		c.act(Reclaim, 0, int16(n), 0, 0)
	}
}

// refit fits the limits to the nodes: Max is never above what is alive and what there is room for, so that a policy that
// obeys Max obeys the nodes (PL-7).
func (c *Control) refit() {
	if c.nodes == nil {
		return
	}
	given, free := c.nodes.given, c.nodes.free()
	c.cfg = given
	c.cfg.Max = min(given.Max, c.alive.size+free)
	c.cfg.Min = min(given.Min, c.cfg.Max)
	c.cfg.Overshoot = given.Overshoot && free > 0
}

// join puts a node behind those that are empty.
func (n *nodes) join(k NodeID, m *node) {
	m.prev, m.next = n.empty.last, 0
	if n.empty.last == 0 {
		n.empty.first = k
	} else {
		n.all[n.empty.last].next = k
	}
	n.empty.last = k
}

// leave takes a node out of those that are empty.
func (n *nodes) leave(m *node) {
	if m.prev == 0 {
		n.empty.first = m.next
	} else {
		n.all[m.prev].next = m.next
	}
	if m.next == 0 {
		n.empty.last = m.prev
	} else {
		n.all[m.next].prev = m.prev
	}
	m.prev, m.next = 0, 0
}

// set is a set of nodes, one bit each.
type set []uint64

func (s *set) add(n NodeID) {
	for int(n)/64 >= len(*s) {
		*s = append(*s, 0)
	}
	(*s)[n/64] |= 1 << (n % 64)
}

func (s set) drop(n NodeID) {
	if int(n)/64 < len(s) {
		s[n/64] &^= 1 << (n % 64)
	}
}

func (s set) has(n NodeID) bool { return int(n)/64 < len(s) && s[n/64]>>(n%64)&1 == 1 }

// first returns the lowest number, or 0.
func (s set) first() NodeID {
	for k, word := range s {
		if word != 0 {
			return NodeID(64*k + bits.TrailingZeros64(word))
		}
	}
	return 0
}

// firstOf returns the lowest number in both, or 0.
func (s set) firstOf(t set) NodeID {
	for k := range min(len(s), len(t)) {
		if word := s[k] & t[k]; word != 0 {
			return NodeID(64*k + bits.TrailingZeros64(word))
		}
	}
	return 0
}
