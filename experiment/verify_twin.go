package experiment

import (
	"coldwave/analysis"
)

// compare sets a cell that was sent beside its virtual twin: the same cell run in virtual time (FR-8). There is none if the
// run was stopped early, or if it was sent to a system whose policy is not known.
func (v Verify) compare(cell Cell, r *replay) error {
	if v.Gateway != nil || r.runError != nil {
		return nil
	}
	twin, err := Virtual(cell)
	if err != nil {
		return err
	}
	d := analysis.Twin(&r.run, &twin)
	r.run.Twin = &d
	return nil
}
