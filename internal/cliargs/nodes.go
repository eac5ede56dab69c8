package cliargs

import (
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/platform"
	"coldwave/scheduler"
)

// The flags by which instances are placed on nodes.
const (
	nodesFlag      = "nodes"
	nodeMemoryFlag = "node-memory"
	nodeKeepFlag   = "node-keep"
	nodeCacheFlag  = "node-cache"
)

// NodeFlagNames are the names of NodeFlags.
func NodeFlagNames() []string {
	return []string{nodesFlag, nodeMemoryFlag, nodeKeepFlag, nodeCacheFlag}
}

// The defaults of nodes that were asked for.
const (
	defaultNodeSlots = 4
	defaultNodeKeep  = time.Minute
)

// NodeFlags are the flags of everything that starts instances.
func NodeFlags(category string) []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: nodesFlag, Category: category, Usage: "`N` nodes at most, on which instances are placed; without it nowhere in particular (openwhisk: 10)"},
		&cli.StringFlag{Name: nodeMemoryFlag, Category: category, Usage: "memory of a node, such as 16GB or 32Gi, which holds as many instances as fit (default: room for 4)"},
		&cli.DurationFlag{Name: nodeKeepFlag, Value: defaultNodeKeep, Category: category, Usage: "an empty node is reclaimed after this time"},
		&cli.BoolFlag{Name: nodeCacheFlag, Category: category, Usage: "a start on a node that holds the code already skips the download"},
	}
}

// Nodes reads NodeFlags. Own are the nodes that the policy has unless told otherwise, memory is that of an instance in
// bytes. Without any of the flags it returns the zero Nodes.
func Nodes(c *cli.Context, own scheduler.Nodes, memory int64) (scheduler.Nodes, error) {
	set := ""
	for _, name := range NodeFlagNames() {
		if set == "" && c.IsSet(name) {
			set = name
		}
	}
	if set == "" {
		return scheduler.Nodes{}, nil
	}
	n := own
	if c.IsSet(nodesFlag) {
		if n.Count = c.Int(nodesFlag); n.Count < 1 || n.Count > scheduler.MaxNodes {
			return n, Errorf(Usage, "--%s %d: must be 1 to %d", nodesFlag, n.Count, scheduler.MaxNodes)
		}
	}
	if !n.On() {
		return n, Errorf(Usage, "--%s says how nodes are, and there are none: add --%s N", set, nodesFlag)
	}
	if !own.On() {
		n.Slots = defaultNodeSlots
	}
	if !own.On() || c.IsSet(nodeKeepFlag) {
		n.Keep = c.Duration(nodeKeepFlag)
	}
	n.Cache = c.Bool(nodeCacheFlag)
	if c.IsSet(nodeMemoryFlag) {
		var err error
		if n.Slots, err = slots(c.String(nodeMemoryFlag), memory); err != nil {
			return n, err
		}
	}
	if err := n.Validate(); err != nil {
		return n, Errorf(Usage, "%w", err)
	}
	return n, nil
}

// slots returns how many instances with that memory a node has room for.
func slots(text string, memory int64) (int, error) {
	node, err := platform.ParseMemory(text)
	if err != nil {
		return 0, Errorf(Usage, "--%s: %w", nodeMemoryFlag, err)
	}
	if memory <= 0 {
		return 0, Errorf(Usage, "--%s %s: the memory of an instance is not known", nodeMemoryFlag, text)
	}
	if node < memory {
		return 0, Errorf(Usage, "--%s %s: an instance has %d bytes, so none fits", nodeMemoryFlag, text, memory)
	}
	return int(node / memory), nil
}
