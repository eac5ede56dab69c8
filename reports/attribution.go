package reports

import (
	"coldwave/analysis"
	"coldwave/record"
)

// attributionGrids say why instances were started and what they used, what the starts were good for, and whose starts the
// requests used; none where the target told nothing.
func attributionGrids(ps []pair) []grid {
	all := usageGrids(ps)
	for _, g := range []grid{useGrid(ps), causeGrid(ps)} {
		if len(g.Lines) > 0 {
			all = append(all, g)
		}
	}
	return all
}

// useGrid splits the starts of each cell by what became of them.
func useGrid(ps []pair) grid {
	g := grid{Caption: "What the starts were good for", Columns: []column{
		{Name: "pattern"}, {Name: "policy"}, {Name: "starts", Number: true}, {Name: "own", Number: true}, {Name: "other", Number: true},
		{Name: "never", Number: true}, {Name: "own s", Number: true}, {Name: "other s", Number: true}, {Name: "never s", Number: true},
	}, Notes: []string{"own, other: the first request of the instance was the one that caused its start, or another; never: it " +
		"had none. s: instance-seconds of these starts, from the decision to start."}}
	for _, p := range ps {
		for _, c := range p.Cells {
			s := &c.Run.Summary
			if s.Instances.Starts == 0 {
				continue
			}
			u := &s.Uses
			g.add(p.Pattern, c.Policy, count(s.Instances.Starts), count(u.Starts[analysis.UsedByOwn]), count(u.Starts[analysis.UsedByOther]),
				count(u.Starts[analysis.NeverUsed]), instanceSeconds(u.Spent[analysis.UsedByOwn]),
				instanceSeconds(u.Spent[analysis.UsedByOther]), instanceSeconds(u.Spent[analysis.NeverUsed]))
		}
	}
	return g
}

// causeGrid splits the requests of each cell by start kind and by whose start they waited for.
func causeGrid(ps []pair) grid {
	g := grid{Caption: "Whose starts the requests used", Columns: []column{
		{Name: "pattern"}, {Name: "policy"}, {Name: "start"}, {Name: "ok", Number: true}, {Name: "own", Number: true},
		{Name: "other", Number: true}, {Name: "none", Number: true}, {Name: "waited s", Number: true},
	}, Notes: []string{"own, other, none: successful requests that were served by the start that they caused, that another " +
		"caused, or by no new instance; waited: request-seconds of all requests of the kind, from accepted until dispatched."}}
	for _, p := range ps {
		for _, c := range p.Cells {
			for _, k := range kindOrder {
				by, waited := c.Run.Summary.Uses.Requests[k], c.Run.Summary.Uses.Waiting[k]
				if k == record.StartUnknown || waited == 0 && by == [record.StartBys]int{} {
					continue
				}
				g.add(p.Pattern, c.Policy, k.String(), count(sum(by[:])), count(by[record.ByOwn]), count(by[record.ByOther]),
					count(by[record.ByNone]), inUnit(waited, seconds, 3))
			}
		}
	}
	return g
}

func sum(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// usedBy names what became of the start of an instance.
func usedBy(in *record.Instance) string { return analysis.UseOf(in).String() }

// A causeDoc counts successful requests of one start kind by whose start they used.
type causeDoc struct {
	Own     int `json:"own"`
	Other   int `json:"other"`
	None    int `json:"none"`
	Unknown int `json:"unknown"`
}

type useDoc struct {
	Starts    int   `json:"starts"`
	Allocated int64 `json:"allocated_ns"`
}

type attributionDoc struct {
	Requests map[string]causeDoc `json:"requests"`           // by start kind
	Waiting  map[string]int64    `json:"request_waiting_ns"` // by start kind
	Starts   map[string]useDoc   `json:"starts"`             // by use
}

func attributionOf(a *analysis.Attribution) attributionDoc {
	d := attributionDoc{Requests: map[string]causeDoc{}, Waiting: map[string]int64{}, Starts: map[string]useDoc{}}
	for k := range record.StartKinds {
		n := a.Requests[k]
		d.Requests[k.String()] = causeDoc{
			Own: n[record.ByOwn], Other: n[record.ByOther], None: n[record.ByNone], Unknown: n[record.ByUnknown],
		}
		d.Waiting[k.String()] = int64(a.Waiting[k])
	}
	for u := range analysis.Uses {
		d.Starts[u.String()] = useDoc{Starts: a.Starts[u], Allocated: int64(a.Spent[u])}
	}
	return d
}
