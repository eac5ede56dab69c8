// Package reports renders results and decides nothing.
package reports

import (
	"time"

	"coldwave/analysis"
	"coldwave/references"
)

// Meta says which program produced a result, where and when.
type Meta struct {
	Tool    string    // "loadgen"
	Version string    // of the tool
	Commit  string    // of the source; empty: not known
	Go      string    // version of the Go runtime
	OS      string    // such as "linux/amd64, kernel 6.1"
	CPUs    int       // that the process may use
	Began   time.Time // wall time, a label only
	Command string    // the command line, secrets redacted
	Seed    uint64
}

// Verification is the result of the main job: every claim beside what was measured, and the runs behind it.
type Verification struct {
	Meta    Meta
	ID      string
	Driver  string // "wire" or "virtual"
	Law     string // name of the cold-start law
	Quick   bool   // shortened gap between waves
	Tries   int    // how often it ran until the host was calm
	Claims  []references.Result
	Runs    []analysis.Run         // the cells, patterns outermost, before first
	Ladder  []references.LadderRow // the documented burst beside ours; empty: it was not run
	Elapsed time.Duration
	Suite   *Suite // of worked examples, whose scenes are the Runs; nil: the main job
}

// Single is the result of one run.
type Single struct {
	Meta    Meta
	Run     analysis.Run
	Gates   []analysis.Gate // its thresholds; empty: it has none
	Elapsed time.Duration
}
