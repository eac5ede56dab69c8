package reports

import "coldwave/references"

// A grid is one table before it is known whether it becomes terminal text, Markdown or HTML. Its strings are raw: who
// writes them escapes them.
type grid struct {
	Caption string
	Columns []column
	Lines   []line
	Notes   []string // sentences beneath the table
}

type column struct {
	Name   string
	Group  string // name over several neighbouring columns; empty: none
	Number bool   // aligned right
	Prose  bool   // may be wrapped
	Verb   bool   // holds the verdict: takes the line's tone
}

type line struct {
	Cells []string
	Tone  tone
}

// A tone says how a verdict is coloured. Colour is never alone: the word stands beside it.
type tone string

const (
	plain tone = ""
	good  tone = "good"
	bad   tone = "bad"
	doubt tone = "doubt"
	muted tone = "muted"
)

func toneOf(v references.Verdict) tone {
	switch v {
	case references.Agrees:
		return good
	case references.Disagrees:
		return bad
	case references.NotComparable:
		return muted
	case references.Inconclusive, references.Void:
		return doubt
	}
	return doubt
}

func (g *grid) add(cells ...string) { g.Lines = append(g.Lines, line{Cells: cells}) }

// grouped says whether any column stands under a group's name.
func (g *grid) grouped() bool {
	for _, c := range g.Columns {
		if c.Group != "" {
			return true
		}
	}
	return false
}
