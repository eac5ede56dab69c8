package reports

import (
	"fmt"
	"slices"
	"time"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
)

// placementText says on what instances were placed; empty if nowhere in particular, or if it was not told.
func placementText(p *analysis.Placement) string {
	if p == nil || p.Count == 0 {
		return ""
	}
	text := fmt.Sprintf(", on at most %d nodes with room for %d each", p.Count, p.Slots)
	if p.Count == 1 {
		text = fmt.Sprintf(", on one node with room for %d", p.Slots)
	}
	if p.Cache {
		text += ", which keep the code"
	}
	return text
}

// nodeGrids add up the nodes of each cell that has some.
func nodeGrids(ps []pair) []grid {
	g := grid{Caption: "Nodes", Columns: []column{
		{Name: "pattern"}, {Name: "policy"}, {Name: "nodes", Number: true}, {Name: "room", Number: true}, {Name: "taken", Number: true},
		{Name: "peak", Number: true}, {Name: "in use s", Number: true}, {Name: "empty s", Number: true}, {Name: "starts", Number: true},
		{Name: "no download", Number: true},
	}, Notes: []string{"nodes: as many as there may be, room: instances on each; taken: how often one was taken, peak: most in use at once; " +
		"in use, empty: node-seconds until it was reclaimed, and those of them without an instance; no download: starts on a node that held the code."}}
	for _, p := range ps {
		for _, c := range p.Cells {
			if t := c.Run.Summary.Nodes; t != nil {
				nodes, room := toldCount(c.Run.Placement)
				g.add(p.Pattern, c.Policy, nodes, room, count(t.Taken), count(t.Peak), instanceSeconds(t.InUse), instanceSeconds(t.Empty),
					count(c.Run.Summary.Instances.Starts), count(t.Cached))
			}
		}
	}
	if len(g.Lines) == 0 {
		return nil
	}
	return []grid{g}
}

// toldCount prints how many nodes there may be and what each holds; "-" for what a gateway elsewhere did not tell.
func toldCount(p *analysis.Placement) (nodes, room string) {
	if p == nil || p.Count == 0 {
		return empty, empty
	}
	return count(p.Count), count(p.Slots)
}

// nodeSection shows the nodes over time; it has no figures if no cell has nodes.
func nodeSection(ps []pair) section {
	s := section{ID: "nodes", Title: "Nodes", Keys: []key{{"bar state-starting", "nodes in use"}, {"bar state-idle", "instances on them"}},
		Intro: "The level above instances: a node is taken by the first start on it, and reclaimed when it has been empty for a while."}
	for _, p := range ps {
		for _, c := range p.Cells {
			if c.Run.Summary.Nodes != nil {
				s.Figures = append(s.Figures, &figure{Drawing: nodeDrawing(p, c), Tables: []grid{nodeTable(c)}})
			}
		}
	}
	if len(s.Figures) > 0 {
		s.Figures = append(s.Figures, &figure{Tables: nodeGrids(ps), Open: true})
	}
	return s
}

// nodeDrawing draws the nodes in use and the instances on them over the whole run.
func nodeDrawing(pr pair, c cell) *drawing {
	whole := span{0, clock.Instant(runSeconds(pr) * float64(time.Second))}
	nodes, instances := nodeLevels(c.Run.Nodes, whole.to+1), placedLevels(c.Run.Instances, whole.to+1)
	t := c.Run.Summary.Nodes
	d := &drawing{W: 640, H: 192, Title: fmt.Sprintf("%s, %s: nodes in use", pr.Pattern, c.Label()),
		Desc: fmt.Sprintf("Nodes taken: %d, at most %d in use at once, with at most %d instances; starts that skipped the download: %d.",
			t.Taken, t.Peak, peak(instances), t.Cached)}
	top, bottom := px(30), px(150)
	p := panel{d, linear(inSeconds(whole.from), inSeconds(whole.to), 44, 626), linear(0, float64(max(peak(nodes), peak(instances), 1)), bottom, top)}
	p.grid("seconds since the run began", "nodes, instances", tickNumber, tickNumber, 8)
	d.path("curve state-idle", p.levelSteps(instances, whole))
	d.path("curve state-starting", p.levelSteps(nodes, whole))
	return d
}

// nodeLevels counts the nodes in use up to end.
func nodeLevels(nodes []record.Node, end clock.Instant) []level {
	var changes []level
	for _, n := range nodes {
		changes = between(changes, span{n.Taken, min(n.Reclaimed, end)})
	}
	return running(changes)
}

// placedLevels counts the instances that hold room on a node up to end.
func placedLevels(instances []record.Instance, end clock.Instant) []level {
	var changes []level
	for i := range instances {
		if in := &instances[i]; in.Node != 0 {
			changes = between(changes, span{in.Started, min(in.Stopped, end)})
		}
	}
	return running(changes)
}

// nodeTable lists the uses of the nodes of one cell.
func nodeTable(c cell) grid {
	g := grid{Caption: "Nodes, " + c.Label(), Columns: []column{
		{Name: "node", Number: true}, {Name: "taken s", Number: true}, {Name: "reclaimed s", Number: true}, {Name: "starts", Number: true},
		{Name: "most at once", Number: true}, {Name: "no download", Number: true},
	}}
	on := instancesByNode(c.Run.Instances)
	for i, n := range c.Run.Nodes {
		if i == tableRows {
			g.Notes = append(g.Notes, fmt.Sprintf("The first %d of %d.", tableRows, len(c.Run.Nodes)))
			break
		}
		reclaimed := empty
		if n.Reclaimed != clock.Never {
			reclaimed = inUnit(time.Duration(n.Reclaimed), seconds, 3)
		}
		starts, most, cached := usesOf(n, on[n.ID])
		g.add(count(int(n.ID)), inUnit(time.Duration(n.Taken), seconds, 3), reclaimed, count(starts), count(most), count(cached))
	}
	return g
}

func instancesByNode(instances []record.Instance) map[int32][]*record.Instance {
	on := map[int32][]*record.Instance{}
	for i := range instances {
		on[instances[i].Node] = append(on[instances[i].Node], &instances[i])
	}
	return on
}

// usesOf counts what was started on a node while it was in use.
func usesOf(n record.Node, instances []*record.Instance) (starts, most, cached int) {
	var changes []level
	for _, in := range instances {
		if in.Started < n.Taken || in.Started >= n.Reclaimed {
			continue
		}
		starts++
		if in.Cached {
			cached++
		}
		changes = between(changes, span{in.Started, in.Stopped})
	}
	return starts, peak(running(changes)), cached
}

// placed says whether any instance tells its node.
func placed(instances []record.Instance) bool {
	return slices.ContainsFunc(instances, func(in record.Instance) bool { return in.Node != 0 })
}

// A nodesDoc is what the instances were placed on; count, slots and keep are null if they were not told.
type nodesDoc struct {
	Count  *int   `json:"count"`
	Slots  *int   `json:"instances_per_node"`
	Keep   *int64 `json:"keep_ns"`
	Cache  bool   `json:"keeps_code"`
	Taken  int    `json:"taken"`
	Peak   int    `json:"peak"`
	InUse  int64  `json:"in_use_ns"`
	Empty  int64  `json:"empty_ns"`
	Cached int    `json:"downloads_skipped"`
}

func nodesOf(p *analysis.Placement, t *analysis.NodeTotals) *nodesDoc {
	if p == nil || t == nil {
		return nil
	}
	d := &nodesDoc{Cache: p.Cache, Taken: t.Taken, Peak: t.Peak, InUse: int64(t.InUse), Empty: int64(t.Empty), Cached: t.Cached}
	if p.Count > 0 {
		keep := int64(p.Keep)
		d.Count, d.Slots, d.Keep = &p.Count, &p.Slots, &keep
	}
	return d
}

// nodes is the inverse of nodesOf.
func (d *nodesDoc) nodes() (*analysis.Placement, *analysis.NodeTotals) {
	if d == nil {
		return nil, nil
	}
	return &analysis.Placement{Count: or(d.Count), Slots: or(d.Slots), Keep: durationOf(d.Keep), Cache: d.Cache},
		&analysis.NodeTotals{Taken: d.Taken, Peak: d.Peak, InUse: time.Duration(d.InUse), Empty: time.Duration(d.Empty), Cached: d.Cached}
}
