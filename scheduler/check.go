package scheduler

import (
	"fmt"

	"coldwave/internal/clock"
)

// Check panics unless all books of the core agree with each other. It is for tests: its time is linear in all that the
// core holds.
func (c *Core) Check() {
	c.checkRequests()
	c.checkInstances()
	c.checkDeadlines()
	if c.nodes != nil {
		c.checkNodes()
	}
}

func (c *Core) wrong(format string, args ...any) {
	c.illegal("books", 0, 0, fmt.Sprintf(format, args...))
}

func (c *Core) checkRequests() {
	queued, flying := 0, 0
	for id, req := range c.requests.All() {
		switch req.state {
		case arrived:
			c.wrong("request %d is undecided", id)
		case waiting:
			queued++
		case running, abandoned:
			flying++
			if in := req.on; in == nil || in.on.size == 0 || c.instances.Get(int64(in.id)) != in {
				c.wrong("request %d runs on an instance that does not know", id)
			}
		case ended:
		}
	}
	if queued != c.queue.size || flying != c.running {
		c.wrong("%d requests wait and %d run, counted %d and %d", queued, flying, c.queue.size, c.running)
	}
	if n := c.walk(c.queue); n != queued {
		c.wrong("the queue links %d of %d waiting requests", n, queued)
	}
}

// walk counts the requests of a row by its links.
func (c *Core) walk(l row) int {
	n, before := 0, (*request)(nil)
	for req := l.first; req != nil; before, req = req, req.next {
		if c.requests.Get(int64(req.id)) != req || req.prev != before {
			c.wrong("broken link at request %d", req.id)
		}
		n++
	}
	if before != l.last {
		c.wrong("a row ends at request %d, not at %d", before.number(), l.last.number())
	}
	return n
}

func (c *Core) checkInstances() {
	var n [Stopping + 1]int
	flying := 0
	for id, in := range c.instances.All() {
		n[in.state]++
		flying += in.on.size
		if got := c.walk(in.on); got != in.on.size {
			c.wrong("instance %d links %d of %d requests", id, got, in.on.size)
		}
		if full := in.state == Busy || in.state == Draining; full != (in.on.size > 0) {
			c.wrong("instance %d is %v with %d requests", id, in.state, in.on.size)
		}
	}
	counted := [...]int{Starting: c.starting, Idle: c.idle.size, Busy: c.alive.size - c.starting - c.idle.size, Draining: c.draining}
	for s := Starting; s <= Draining; s++ {
		if n[s] != counted[s] {
			c.wrong("%d instances are %v, counted %d", n[s], s, counted[s])
		}
	}
	if flying != c.running {
		c.wrong("%d requests are on instances, counted %d", flying, c.running)
	}
	c.checkChain(&c.alive, func(in *instance) bool { return in.isAlive() })
	c.checkChain(&c.idle, func(in *instance) bool { return in.state == Idle })
}

func (c *Core) checkChain(l *chain, belongs func(*instance) bool) {
	n, before := 0, &l.none
	for in := l.first(); in != &l.none; before, in = in, in.links[l.which].next {
		if in == nil || c.instances.Get(int64(in.id)) != in || !belongs(in) || in.links[l.which].prev != before {
			c.wrong("broken link after instance %d", before.id)
		}
		if l.which == inIdle && before.id != 0 && in.since < before.since {
			c.wrong("instance %d is out of order among the idle", in.id)
		}
		n++
	}
	if before != l.last() || n != l.size {
		c.wrong("a chain of %d ends at instance %d, counted %d ending at %d", n, before.id, l.size, l.last().id)
	}
}

func (c *Core) checkDeadlines() {
	held := make(map[RequestID]bool)
	q := &c.deadlines
	for p := q.head; p != q.tail; p++ {
		if d := q.ring[p&uint64(len(q.ring)-1)]; c.holds(d) {
			held[d.req] = true
		}
	}
	for _, d := range q.heap {
		if c.holds(d) {
			held[d.req] = true
		}
	}
	for r := c.Front(); r != 0; r = c.NextOn(r) {
		if at := c.deadlineOf(r); at != clock.Never && (!held[r] || at < c.now) {
			c.wrong("the deadline of request %d is lost", r)
		}
	}
}

func (c *Core) checkNodes() {
	b := c.nodes
	used, taken, empty := 0, 0, 0
	for k := 1; k < len(b.all); k++ {
		n, m := NodeID(k), &b.all[k]
		used += int(m.size)
		if m.taken {
			taken++
		}
		if m.taken && m.size == 0 {
			empty++
		}
		if int(m.size) > b.limits.Slots || !m.taken && (m.size > 0 || m.code) {
			c.wrong("node %d, in use: %t, has %d instances and room for %d", n, m.taken, m.size, b.limits.Slots)
		}
		if b.open.has(n) != (m.taken && int(m.size) < b.limits.Slots) || b.code.has(n) != m.code || b.vacant.has(n) == m.taken {
			c.wrong("node %d is in the wrong sets", n)
		}
		c.checkNode(n, m)
	}
	for n := b.empty.first; n != 0; n = b.all[n].next {
		empty--
	}
	if used != b.used || taken != b.taken || empty != 0 || taken > b.limits.Count {
		c.wrong("%d instances on %d nodes, counted %d and %d; %d empty ones are not in line", used, taken, b.used, b.taken, empty)
	}
	if b.empty.first != 0 && !b.armed {
		c.wrong("nobody comes for the empty node %d", b.empty.first)
	}
	c.checkFit()
}

// checkNode compares what a node and its instances say of each other.
func (c *Core) checkNode(n NodeID, m *node) {
	size, before := 0, InstanceID(0)
	for i := m.first; i != 0; i = c.NextPlaced(i) {
		if in := c.instances.Get(int64(i)); in == nil || in.node != n || in.state == Gone || in.beside.prev != before {
			c.wrong("broken link at instance %d of node %d", i, n)
		}
		size++
		before = i
	}
	if size != int(m.size) || before != m.last {
		c.wrong("node %d links %d of %d instances", n, size, m.size)
	}
}

func (c *Core) checkFit() {
	placed := 0
	for _, in := range c.instances.All() {
		if in.state != Gone {
			placed++
		}
	}
	if placed != c.nodes.used {
		c.wrong("%d instances have not gone, %d are placed", placed, c.nodes.used)
	}
	if c.cfg.Max > c.alive.size+c.nodes.free() || c.cfg.Max > c.nodes.given.Max || c.cfg.Min > c.cfg.Max {
		c.wrong("max %d, min %d with %d alive and room for %d", c.cfg.Max, c.cfg.Min, c.alive.size, c.nodes.free())
	}
}
