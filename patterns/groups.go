package patterns

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"coldwave/internal/clock"
	"coldwave/workload"
)

// Groups sends groups of simultaneous requests at stated instants, each group again and again a gap apart if it has
// repeats. It says by hand what no rule says: the load of a worked example.
type Groups struct {
	At      []time.Duration // when each group comes first, ≥ 0 and rising
	Sizes   []int           // requests of each group, ≥ 1; one for each of At
	Repeats []int           // how often each comes, ≥ 1; nil: each once
	Gap     time.Duration   // between two of one group; 0 exactly if there are no Repeats
	For     time.Duration   // length: all come before it
}

// Open ignores r: nothing is random. Groups that come at one instant keep their order, and each has a wave of its own.
func (g Groups) Open(*rand.Rand) func() (workload.Intent, bool) {
	came := make([]int, len(g.At)) // how often each group came
	wave, group, left := int32(-1), 0, 0
	var at clock.Instant
	return func() (workload.Intent, bool) {
		if left == 0 {
			if group = g.next(came); group < 0 {
				return workload.Intent{}, false
			}
			at, left = g.instant(group, came[group]), g.Sizes[group]
			came[group]++
			wave++
		}
		left--
		return workload.Intent{At: at, Wave: wave}, true
	}
}

// next returns the group that comes next, -1: all have come.
func (g Groups) next(came []int) int {
	soonest := -1
	for k := range g.At {
		if came[k] == g.repeats(k) {
			continue
		}
		if soonest < 0 || g.instant(k, came[k]) < g.instant(soonest, came[soonest]) {
			soonest = k
		}
	}
	return soonest
}

func (g Groups) repeats(group int) int {
	if g.Repeats == nil {
		return 1
	}
	return g.Repeats[group]
}

func (g Groups) instant(group, time int) clock.Instant {
	return clock.Instant(g.At[group]) + clock.Instant(g.Gap)*clock.Instant(time)
}

// Length is as long as it was said to be.
func (g Groups) Length() time.Duration { return g.For }

// String is such as "{kind: groups, at: [0s, 10s], sizes: [2, 20], length: 1m}", with repeats and gap if there are any.
func (g Groups) String() string {
	again := ""
	if g.Repeats != nil {
		again = fmt.Sprintf(", repeats: %s, gap: %s", list(g.Repeats), span(g.Gap))
	}
	at := make([]string, len(g.At))
	for i, d := range g.At {
		at[i] = span(d)
	}
	return fmt.Sprintf("{kind: groups, at: [%s], sizes: %s%s, length: %s}", strings.Join(at, ", "), list(g.Sizes), again, span(g.For))
}

// Override takes a gap, if there are repeats.
func (g Groups) Override(s Settings) (Pattern, error) {
	if err := first(s.only("groups", "gap")); err != nil {
		return nil, err
	}
	if s.Gap != 0 && g.Repeats == nil {
		return nil, wrong("gap", "leave it out", "the groups come once each, so there is no gap between two of one")
	}
	g.Gap = preset(s.Gap, g.Gap)
	return checked(g, s.Limits)
}

// Check wants at least one group, an instant for each, no empty group, and all of them before the end.
func (g Groups) Check(l Limits) error {
	l = l.or()
	switch {
	case len(g.At) == 0:
		return wrong("at", "give the instant of at least one group, as in at: [0s, 10s]", "at is empty")
	case len(g.Sizes) != len(g.At):
		return wrong("sizes", "give one size for each instant", "sizes has %d numbers for %d instants", len(g.Sizes), len(g.At))
	case g.Repeats != nil && len(g.Repeats) != len(g.At):
		return wrong("repeats", "give one number for each instant", "repeats has %d numbers for %d instants", len(g.Repeats), len(g.At))
	case g.Repeats == nil && g.Gap != 0:
		return wrong("gap", "add repeats or leave gap out", "gap needs repeats")
	case g.Repeats != nil && g.Gap <= 0:
		return wrong("gap", "give a duration above 0, such as 10s", "gap %s must be above 0", span(g.Gap))
	}
	if err := first(within("length", g.For, l.Duration)); err != nil {
		return err
	}
	waves := 0
	for k := range g.At {
		if err := first(g.checkGroup(k, waves, l)); err != nil {
			return err
		}
		waves += g.repeats(k)
	}
	return nil
}

// checkGroup checks one group; there are so many waves of those before it.
func (g Groups) checkGroup(k, waves int, l Limits) *Error {
	item := func(e *Error) *Error {
		if e != nil {
			e.Item, e.What = k, fmt.Sprintf("group %d: %s", k, e.What)
		}
		return e
	}
	at := g.At[k]
	switch {
	case k > 0 && at <= g.At[k-1]:
		return item(wrong("at", "write the instants in order", "at %s must be after %s", span(at), span(g.At[k-1])))
	case at < 0 || at >= g.For:
		return item(wrong("at", "give an instant from 0 to below the length", "at %s is outside the length of %s", span(at), span(g.For)))
	}
	if e := item(between("sizes", int64(g.Sizes[k]), 1, l.Requests)); e != nil {
		return e
	}
	if g.Repeats == nil {
		return item(between("at", int64(k+1), 1, int64(l.Waves)))
	}
	if e := item(between("repeats", int64(g.Repeats[k]), 1, int64(l.Waves-waves))); e != nil {
		return e
	}
	if most := 1 + int64((g.For-1-at)/g.Gap); int64(g.Repeats[k]) > most {
		return item(wrong("repeats", fmt.Sprintf("give at most %d, or a longer length", most), "repeats %d go beyond the length of %s", g.Repeats[k], span(g.For)))
	}
	return nil
}

// buildGroups reads the keys of the kind.
func buildGroups(f *fields) Pattern {
	g := Groups{At: f.durations("at"), Sizes: f.counts("sizes"), For: f.duration("length")}
	if f.has("repeats") {
		g.Repeats = f.counts("repeats")
		f.needs("repeats", "gap")
	}
	if f.has("gap") {
		g.Gap = f.duration("gap")
		f.needs("gap", "repeats")
	}
	return g
}
