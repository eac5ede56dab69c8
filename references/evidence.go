package references

import "coldwave/analysis"

// Role is the part that a run's policy plays in a comparison: claims speak of roles, never of policies, so that another
// policy can be judged by the claims of either side.
type Role string

// The roles.
const (
	Before Role = "before" // the scheduling that the source improved on (FC-6)
	After  Role = "after"  // the improved scheduling (FC-7, FC-8)
)

// Cell is one run of the evidence and the place it has in it.
type Cell struct {
	Pattern string // documented pattern that it stands for, such as "fc-burst", also where a variant of it was sent
	Role    Role
	Quota   int           // limit of alive instances; 0: none
	Run     *analysis.Run // nil: there is no run; Failed says why
	Failed  string        // why the run failed; empty: it did not
	Scene   string        // of a suite of worked examples, instead of pattern and role; empty: none
	Events  []Event       // of a scene in virtual time, in order
}

// Evidence is everything that the claims are judged by.
type Evidence struct {
	Cells []Cell
	Law   string        // name of the cold-start law, such as "uniform"
	Quick bool          // the gap between waves was shortened to 4 s (10.5)
	Host  analysis.Host // calibration before the runs; all zero in virtual time
}

// find returns the cell of a pattern, role and quota.
func (e Evidence) find(pattern string, role Role, quota int) (Cell, bool) {
	for _, c := range e.Cells {
		if c.Pattern == pattern && c.Role == role && c.Quota == quota {
			return c, true
		}
	}
	return Cell{}, false
}
