// Package references holds documented numbers as data and says whether a run agrees with them.
package references

import (
	"math"
	"time"
)

// Verdict is the result of one check.
type Verdict string

// The verdicts.
const (
	Agrees        Verdict = "agrees"
	Disagrees     Verdict = "disagrees"
	Inconclusive  Verdict = "inconclusive"   // the run cannot decide it
	NotComparable Verdict = "not comparable" // the run is of another kind than the claim; Reason says why
	Void          Verdict = "void"           // the host was too busy for the run's times to mean anything
)

// Claim is one documented number or statement with its source, the cells it speaks of, and how it is checked. Its
// tolerance and the reason for it are stated before any run and hold for any seed.
type Claim struct {
	ID         string             `json:"id"`         // such as "fc-ramp-after-mean" or "FR-6"
	Statement  string             `json:"statement"`  // what the source says, in our words
	Source     string             `json:"source"`     // where: a key of the reference file or a rule id
	Pattern    string             `json:"pattern"`    // pattern it speaks of; empty: all
	Laws       []string           `json:"laws"`       // cold-start laws it can be checked under; empty: any
	Driver     string             `json:"driver"`     // "virtual" or "wire": the only runs it can be checked on; empty: both
	Check      string             `json:"check"`      // name in the table of checks
	Limits     map[string]float64 `json:"limits"`     // numbers of the check, named, with the unit as suffix
	Documented string             `json:"documented"` // the documented value as text
	Tolerance  string             `json:"tolerance"`  // as text
	Why        string             `json:"why"`        // reason for the tolerance, with its false-alarm probability
	WhyLaws    string             `json:"why_laws"`   // why it cannot be checked under other laws; empty: nothing to say
	Command    string             `json:"command"`    // makes the run that it needs and the main job may not have; empty: none
	Scene      string             `json:"scene"`      // of a worked example: the scene of its wants that name none
	Wants      []Want             `json:"wants"`      // of a worked example: what is expected of its scenes
}

// The drivers of a run.
const (
	driverVirtual = "virtual"
	driverWire    = "wire"
)

// The patterns of the online user: to 25 requests a second, and to 32 (FR-12).
const (
	Online25 = "fc-online-25"
	Online32 = "fc-online"
)

// Patterns lists the patterns that the claim speaks of. Those about the online user speak of both steps; a worked example
// speaks of scenes.
func (c Claim) Patterns() []string {
	switch c.Pattern {
	case "":
		if len(c.Wants) > 0 {
			return nil
		}
		return allPatterns[:]
	case Online32:
		return []string{Online25, Online32}
	}
	return []string{c.Pattern}
}

// Quota returns the limit of alive instances that the claim needs its runs to have; false: none.
func (c Claim) Quota() (int, bool) {
	v, ok := c.Limits["quota"]
	return int(v), ok
}

// Cold returns the cold-start time, end to end, that the claim needs every start of its runs to have; false: any law.
func (c Claim) Cold() (time.Duration, bool) {
	_, ok := c.Limits["cold_ms"]
	return c.ms("cold_ms", ""), ok
}

// Own says whether the claim needs runs of its own, which no other claim speaks of.
func (c Claim) Own() bool {
	_, limited := c.Quota()
	_, fixed := c.Cold()
	return limited || fixed
}

// limit returns a named number of the check. A number for one law, such as "mean_max_ms@documented", goes before the one
// for all.
func (c Claim) limit(name, law string) float64 {
	if v, ok := c.Limits[name+"@"+law]; ok {
		return v
	}
	return c.Limits[name]
}

// ms returns a limit in milliseconds as a duration.
func (c Claim) ms(name, law string) time.Duration {
	return time.Duration(math.Round(c.limit(name, law) * 1e6))
}

// Result is one claim beside what was measured.
type Result struct {
	Claim    Claim
	Measured string // as text, with n where it matters
	Verdict  Verdict
	Reason   string // for every verdict but agrees
}
