package experiment

import (
	"cmp"
	"slices"
	"time"

	"coldwave/patterns"
	"coldwave/platform"
	"coldwave/references"
	"coldwave/scheduler"
)

// Documented lists the documented patterns in the order of their reports.
func Documented() []string { return []string{"fc-ramp", "fc-burst"} }

// need is what some claim speaks of: a pattern, the limit of its instances, and the one time that every cold start takes,
// 0 where the law of the run says.
type need struct {
	pattern string
	limit   int
	cold    time.Duration
}

// cells returns the cells that the claims need, in the order of the reports: patterns outermost, before first, those that
// some claims need for themselves last.
func (v Verify) cells(claims []references.Claim) ([]Cell, error) {
	if v.Suite.Name != "" {
		return v.scenes(claims)
	}
	var cells []Cell
	for _, n := range v.needs(claims) {
		pair, err := v.pair(n)
		if err != nil {
			return nil, err
		}
		cells = append(cells, pair...)
	}
	return cells, nil
}

// needs lists what the claims speak of. A claim that needs cells of its own gets them on the wire only if it was asked for
// by name, because they cost time; in virtual time they cost none.
func (v Verify) needs(claims []references.Claim) []need {
	var main, own []need
	for _, c := range claims {
		into := &main
		if c.Own() {
			if len(v.Claims) == 0 && !v.Virtual {
				continue
			}
			into = &own
		}
		for _, n := range needsOf(c) {
			if v.speaksOf(n.pattern) && !slices.Contains(*into, n) {
				*into = append(*into, n)
			}
		}
	}
	order := Documented()
	slices.SortFunc(main, func(a, b need) int {
		return cmp.Compare(slices.Index(order, a.pattern), slices.Index(order, b.pattern))
	})
	return append(main, own...)
}

func needsOf(c references.Claim) []need {
	limit, limited := c.Quota()
	if !limited {
		limit = scheduler.Unlimited
	}
	cold, _ := c.Cold()
	var out []need
	for _, p := range c.Patterns() {
		out = append(out, need{p, limit, cold})
	}
	return out
}

// speaksOf says whether the pattern is to be replayed.
func (v Verify) speaksOf(pattern string) bool {
	return len(v.Patterns) == 0 || slices.Contains(v.Patterns, pattern)
}

// pair returns the two cells of a need.
func (v Verify) pair(n need) ([]Cell, error) {
	profile := v.Profile
	if n.cold > 0 {
		profile = platform.ProfileWith(platform.Constant(n.cold))
	}
	process, err := v.process(n.pattern)
	if err != nil {
		return nil, err
	}
	var pair []Cell
	for _, role := range v.roles() {
		cell := Cell{
			Pattern: n.pattern, Process: process, Policy: v.Before, Role: role, Profile: profile, Max: n.limit, Seed: v.Seed,
		}
		if role == references.After {
			cell.Policy = v.After
		}
		if v.MakePolicy != nil {
			cell.MakePolicy = func() (scheduler.Policy, error) { return v.MakePolicy(role) }
		}
		pair = append(pair, cell)
	}
	return pair, nil
}

func (v Verify) roles() []references.Role {
	if v.Gateway != nil {
		return []references.Role{v.Role}
	}
	return []references.Role{references.Before, references.After}
}

// shifted is the burst with the step of the published table, which a comparison row by row needs (10.4).
const shifted = "fc-burst-shifted"

// process returns what is sent for a pattern. A quick run shortens the gap of the waves that are 10 s apart.
func (v Verify) process(pattern string) (patterns.Pattern, error) {
	file := pattern
	if pattern == "fc-burst" && v.Profile.Cold.Name() == "documented" {
		file = shifted
	}
	process, err := patterns.Load(file, nil)
	if err != nil || !v.Quick || !slices.Contains(Documented(), pattern) {
		return process, err
	}
	return process.Override(patterns.Settings{Gap: QuickGap})
}
