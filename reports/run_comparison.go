package reports

import (
	"time"

	"coldwave/analysis"
)

// RunComparison is several runs of each side, compared run by run.
type RunComparison struct {
	Meta      Meta
	ID        string
	Pattern   string // name, such as "fc-burst"
	Canonical string // the pattern's text; parsing it gives the same arrivals
	Law       string // name of the cold-start law; empty: a target has none that is known
	Driver    string // "wire", "virtual", or "recorded": runs that were made before
	Seed      uint64 // of the first round; round k has Seed + k
	Level     float64
	Paired    bool // run by run within the rounds, instead of each with each
	AA        bool // both sides are the same: what differs is noise
	Wanted    int  // rounds asked for
	Lanes     int  // runs at once
	Sides     []RunSide
	Pairs     []RunPair
	Void      []VoidRound // rounds that were set aside and, as far as that was allowed, made again
	Notes     []string    // what else a reader must know
	Differing []string    // facts of host and program in which recorded sides differ
	Elapsed   time.Duration
}

// RunSide is one side with its valid runs, in the order of the rounds.
type RunSide struct {
	Name     string   // as it was asked for, such as "policy:fc-race"
	Labels   []string // where the start kinds come from, such as "platform"
	Requests int64    // of all its runs
	Runs     []SideRun
}

// SideRun is one valid run.
type SideRun struct {
	ID    string
	Seed  uint64
	Stats analysis.RunStats
}

// RunPair is one side beside the first one.
type RunPair struct {
	A, B    string
	Rows    []analysis.Comparison
	Deciles []analysis.Decile
}

// VoidRound is a round whose runs count on no side.
type VoidRound struct {
	Round  int // from 1
	Reason string
}

// Valid says whether there are as many valid rounds as were asked for. Else nothing is judged by the exit code.
func (c *RunComparison) Valid() bool {
	for i := range c.Sides {
		if len(c.Sides[i].Runs) < c.Wanted {
			return false
		}
	}
	return len(c.Sides) > 1
}

// StatsOf returns the numbers of a side's runs.
func (s *RunSide) StatsOf() []analysis.RunStats {
	var out []analysis.RunStats
	for _, r := range s.Runs {
		out = append(out, r.Stats)
	}
	return out
}

// Compare fills in the pairs: every side against the first.
func (c *RunComparison) Compare(v analysis.Versus) {
	v.Level, v.Paired = c.Level, c.Paired
	c.Pairs = nil
	for i := range c.Sides {
		if i > 0 {
			a, b := c.Sides[0].StatsOf(), c.Sides[i].StatsOf()
			c.Pairs = append(c.Pairs, RunPair{A: c.Sides[0].Name, B: c.Sides[i].Name, Rows: analysis.Compare(a, b, v), Deciles: analysis.Deciles(a, b, v)})
		}
	}
}
