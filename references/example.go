package references

import (
	"fmt"
	"slices"
	"strings"
)

// example judges a worked example: all that its wants say of its scenes.
func example(in input) outcome {
	var wrong findings
	var measured, about = []string{}, ""
	table := laws()
	for _, w := range in.Wants {
		l := table[w.Law]
		s := in.scene(w)
		if l.events && s.Run.Driver != driverVirtual {
			return outcome{verdict: Inconclusive, reason: fmt.Sprintf("%s: only a run in virtual time tells %s", s.name(), l.summary)}
		}
		text, found := l.judge(view{side: s, Want: w, early: in.ms("early_max_ms", ""), late: in.ms("late_max_ms", "")})
		wrong = append(wrong, found...)
		if s.name() != about && len(in.sides) > 1 {
			text = s.name() + ": " + text
		}
		about = s.name()
		measured = append(measured, text)
	}
	return wrong.outcome(strings.Join(measured, "; "))
}

// scene returns the run of the scene that the want speaks of.
func (in *input) scene(w Want) side {
	i := slices.IndexFunc(in.sides, func(s side) bool { return s.Scene == in.sceneOf(w) })
	return in.sides[i] // gather found all of them
}

// Scenes lists the scenes that the claim speaks of, in the order of its wants.
func (c Claim) Scenes() []string {
	var names []string
	for _, w := range c.Wants {
		if name := c.sceneOf(w); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (c Claim) sceneOf(w Want) string {
	if w.Scene != "" {
		return w.Scene
	}
	return c.Scene
}

// times says whether any of the wants judges instants.
func (c Claim) times() bool {
	table := laws()
	return slices.ContainsFunc(c.Wants, func(w Want) bool { return table[w.Law].times })
}

// gatherScenes finds the runs of the scenes.
func (in *input) gatherScenes() outcome {
	for _, name := range in.Scenes() {
		i := slices.IndexFunc(in.evidence.Cells, func(c Cell) bool { return c.Scene == name })
		if i < 0 {
			return outcome{verdict: Inconclusive, reason: fmt.Sprintf("there is no run of the scene %q", name)}
		}
		if o := in.take(in.evidence.Cells[i], fmt.Sprintf("scene %q", name)); o.verdict != "" {
			return o
		}
	}
	return outcome{}
}
