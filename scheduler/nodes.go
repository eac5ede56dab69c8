package scheduler

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// NodeID numbers the nodes of one core, from 1 on, 0 = none. A node that is taken gets the lowest number that is free, so
// the number of a reclaimed node is used again.
type NodeID int16

// MaxNodes is the largest Count of Nodes.
const MaxNodes = math.MaxInt16

// ErrNodes is wrapped by every error of Nodes.Validate.
var ErrNodes = errors.New("bad nodes")

// Nodes are what instances are placed on (FC-2, PL-1). Nodes are taken on demand, by the first start on them, and
// reclaimed when they have been empty for a while. The zero Nodes are none: instances are placed nowhere.
type Nodes struct {
	Count int           // nodes that may be in use at once, 0 … MaxNodes; 0: instances are placed nowhere
	Slots int           // instances that one node has room for, ≥ 1; all instances of a core are of one size
	Keep  time.Duration // an empty node is reclaimed after it (FC-4, PL-4), ≥ 0
	Cache bool          // a start on a node that holds the code skips the download of it (FC-3, PL-5)
}

// On reports whether instances are placed.
func (n Nodes) On() bool { return n.Count > 0 }

// Validate returns every problem of the nodes, each wrapping ErrNodes, or nil.
func (n Nodes) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrNodes}, args...)...))
	}
	if n.Count < 0 || n.Count > MaxNodes {
		bad("%d nodes: must lie in 0 … %d", n.Count, MaxNodes)
	}
	if n.On() && (n.Slots < 1 || n.Slots > Unlimited/MaxNodes) {
		bad("%d instances on a node: must lie in 1 … %d", n.Slots, Unlimited/MaxNodes)
	}
	if n.Keep < 0 {
		bad("keep %v: must be ≥ 0", n.Keep)
	}
	return errors.Join(errs...)
}

// Place is how a node is chosen.
type Place uint8

// The rules of choice (PL-2, PL-3). Both take a new node last.
const (
	Pack   Place = iota // of the nodes with room one that holds the code, then one in use, then a new one; the lowest number
	Spread              // the node with the fewest instances, a new one counts as empty; then as Pack
)

// Nodes returns the nodes of the core.
func (c *Control) Nodes() Nodes {
	if c.nodes == nil {
		return Nodes{}
	}
	return c.nodes.limits
}

// Taken returns the number of nodes in use, empty ones that are kept included.
func (c *Control) Taken() int {
	if c.nodes == nil {
		return 0
	}
	return c.nodes.taken
}

// Room returns how many more instances the nodes have room for, Unlimited if instances are placed nowhere.
func (c *Control) Room() int {
	if c.nodes == nil {
		return Unlimited
	}
	return c.nodes.free()
}

// RoomOn returns how many more instances node n has room for.
func (c *Control) RoomOn(n NodeID) int {
	if c.nodes == nil || n < 1 || int(n) > c.nodes.limits.Count {
		return 0
	}
	return c.nodes.limits.Slots - c.CountOn(n)
}

// CountOn returns how many instances are on node n. One holds its room from its start until it has gone, while it drains
// and stops too (PL-6).
func (c *Control) CountOn(n NodeID) int {
	if on := c.node(n); on != nil {
		return int(on.size)
	}
	return 0
}

// HasCode reports whether node n holds the code: an instance has become ready there since the node was taken (PL-5).
func (c *Control) HasCode(n NodeID) bool {
	on := c.node(n)
	return on != nil && on.code
}

// FirstPlaced returns the instance on node n that was started first, or 0.
func (c *Control) FirstPlaced(n NodeID) InstanceID {
	if on := c.node(n); on != nil {
		return on.first
	}
	return 0
}

// NextPlaced returns the instance on the node of i that was started after i, or 0.
func (c *Control) NextPlaced(i InstanceID) InstanceID {
	if in := c.instances.Get(int64(i)); in != nil {
		return in.beside.next
	}
	return 0
}

// Node returns the node that i is on, or 0. It is known as long as i is.
func (c *Control) Node(i InstanceID) NodeID {
	if in := c.instances.Get(int64(i)); in != nil {
		return in.node
	}
	return 0
}

// Cached reports whether the start of i skips the download: its node held the code when the start was decided.
func (c *Control) Cached(i InstanceID) bool {
	in := c.instances.Get(int64(i))
	return in != nil && in.cached
}

// Pick returns the node that the rule chooses for the next start, 0 if none has room or instances are placed nowhere.
// Spread takes time linear in the nodes in use, Pack in a 64th of them.
func (c *Control) Pick(by Place) NodeID {
	switch {
	case c.nodes == nil || c.nodes.free() == 0:
		return 0
	case by == Spread:
		return c.nodes.emptiest()
	default:
		return c.nodes.packed()
	}
}

// PlaceBy sets the rule by which Start chooses the node, Pack at first. It appends no action.
func (c *Control) PlaceBy(by Place) {
	c.acting("place", 0, 0)
	if c.nodes != nil {
		c.nodes.by = by
	}
}

// node returns the books of node n, nil if it is not in use.
func (c *Control) node(n NodeID) *node {
	if c.nodes == nil || n < 1 || int(n) >= len(c.nodes.all) || !c.nodes.all[n].taken {
		return nil
	}
	return &c.nodes.all[n]
}
