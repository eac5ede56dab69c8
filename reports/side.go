package reports

import (
	"fmt"
	"slices"

	"coldwave/analysis"
)

// A side is one of the things that are compared. It has one colour and one name through the whole report.
type side struct {
	Name   string // "before", "after", or the policy's name where there is nothing to compare
	Policy string
	Class  string // names its colour in the style sheet
}

// Label names the side and what stands behind it.
func (s side) Label() string {
	if s.Name == s.Policy {
		return s.Policy
	}
	return s.Name + " (" + s.Policy + ")"
}

// A cell is one run with the side that it is of.
type cell struct {
	side
	Run *analysis.Run
}

// A pair holds the cells of one pattern in the order of the sides; there may be one, two or more.
type pair struct {
	Pattern string // with the quota, where there is one
	Cells   []cell
}

// pairs groups runs by pattern and quota. The first policy that appears is "before", the second "after": that is the
// order in which a verification holds its runs. A second run of the same policy begins another group.
func pairs(runs []analysis.Run) []pair {
	sides := sidesOf(runs)
	var all []pair
	for i := range runs {
		r := &runs[i]
		c := cell{side: sides[subject(r)], Run: r}
		name := groupName(r)
		at := slices.IndexFunc(all, func(p pair) bool { return p.Pattern == name && !p.holds(c.Policy) })
		if at < 0 {
			at = len(all)
			all = append(all, pair{Pattern: name})
		}
		all[at].Cells = append(all[at].Cells, c)
	}
	return all
}

func (p pair) holds(policy string) bool {
	return slices.ContainsFunc(p.Cells, func(c cell) bool { return c.Policy == policy })
}

func groupName(r *analysis.Run) string {
	if r.Quota > 0 {
		return fmt.Sprintf("%s with quota %d", r.Pattern, r.Quota)
	}
	return r.Pattern
}

func sidesOf(runs []analysis.Run) map[string]side {
	var policies []string
	for i := range runs {
		if p := subject(&runs[i]); !slices.Contains(policies, p) {
			policies = append(policies, p)
		}
	}
	if len(policies) == 1 {
		return map[string]side{policies[0]: {Name: policies[0], Policy: policies[0], Class: "after"}}
	}
	named := []side{{Name: "before", Class: "before"}, {Name: "after", Class: "after"}}
	sides := make(map[string]side, len(policies))
	for i, p := range policies {
		s := side{Name: p, Class: "other"}
		if i < len(named) {
			s = named[i]
		}
		s.Policy = p
		sides[p] = s
	}
	return sides
}

// subject names what served a run: the policy, or the target where the policy is not known.
func subject(r *analysis.Run) string {
	if r.Policy != "" {
		return r.Policy
	}
	return r.Target
}
