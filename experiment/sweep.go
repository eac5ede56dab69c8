package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"coldwave/analysis"
	"coldwave/reports"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
)

// DefaultRuns is how many runs a sweep has at most unless it is told: points of the grid × seeds.
const DefaultRuns = 10_000

// Errors of sweeps.
var (
	ErrSweep = errors.New("bad sweep")
	ErrRuns  = errors.New("too many runs") // wrapped by the error for a grid of more runs than allowed
)

// Sweep runs one policy at every point of a grid of parameters, on the same seeds, in virtual time and on all cores.
type Sweep struct {
	Base    Cell   // its policy and limits hold where no axis sets them
	Axes    []Axis // the last one moves fastest
	Seeds   Seeds  // all but the cells
	MaxRuns int    // points × seeds; 0: DefaultRuns
	Oracle  bool   // the oracle runs beside the points, where it can
}

// Run runs the grid. Points that no scheduler can have, as a minimum above the maximum, are left out and counted. Equal
// sweeps give equal results on any number of cores; only Wall differs.
func (s Sweep) Run(ctx context.Context, show func(Progress)) (reports.Sweep, error) {
	began := time.Now()
	if err := s.check(); err != nil {
		return reports.Sweep{}, err
	}
	job := s.Seeds
	labels, left, err := s.points(&job)
	if err != nil {
		return reports.Sweep{}, err
	}
	points := len(job.Cells)
	notes, err := s.withOracle(ctx, &job)
	if err != nil {
		return reports.Sweep{}, err
	}
	if err := errors.Join(job.check(), job.Judging.check()); err != nil {
		return reports.Sweep{}, err
	}
	metrics := analysis.Metrics()
	lots, err := job.lots(ctx, metrics, job.progress(show))
	if err != nil {
		return reports.Sweep{}, err
	}
	out := reports.Sweep{
		Setting: job.setting(lots), Policy: s.Base.Policy, LeftOut: left, Wall: time.Since(began),
	}
	out.Setting.Quota, out.Setting.Function = s.Base.quota(), s.Base.Profile.Function
	out.Standings = job.standings(lots, metrics, out.Setting.Level, func(cell int) []string {
		if cell < points {
			return labels[cell]
		}
		return append([]string{Oracle}, make([]string, len(s.Axes)-1)...)
	})
	for _, a := range s.Axes {
		out.Standings.Columns = append(out.Standings.Columns, a.Name)
		out.Axes = append(out.Axes, reports.Axis{Name: a.Name, Values: a.Texts()})
	}
	out.Standings.Notes = notes
	return out, nil
}

// check finds what is wrong before anything runs.
func (s Sweep) check() error {
	if len(s.Axes) == 0 {
		return fmt.Errorf("%w: no parameter: give at least one", ErrSweep)
	}
	runs, most := max(1, s.Seeds.Runs), cmp.Or(s.MaxRuns, DefaultRuns)
	points := 1
	for i, a := range s.Axes {
		for _, b := range s.Axes[:i] {
			if a.Param.Name == b.Param.Name && a.Limit == b.Limit {
				return fmt.Errorf("%w: parameter %q is there twice", ErrSweep, a.Name)
			}
		}
		if !a.Limit && s.sets(a.Param.Name) {
			return fmt.Errorf("%w: parameter %q is set in policy %q and swept: leave out one of them", ErrSweep, a.Name, s.Base.Policy)
		}
		if n := len(a.Values); n == 0 {
			return fmt.Errorf("%w: parameter %q has no value", ErrSweep, a.Name)
		} else if points *= n; points > most {
			break
		}
	}
	if points > most/runs {
		return fmt.Errorf("%w: more than %d points on %d seeds each; take fewer values or seeds, or allow more with --max-runs", ErrRuns, most/runs, runs)
	}
	return nil
}

// sets says whether the base sets the policy's parameter of that name.
func (s Sweep) sets(name string) bool {
	_, list, _ := strings.Cut(s.Base.Policy, ":")
	for item := range strings.SplitSeq(list, ",") {
		if key, _, _ := strings.Cut(item, "="); key == name {
			return true
		}
	}
	return false
}

// points adds a cell for each point of the grid, and returns the values of each as they are written. Left is how many
// points no scheduler can have.
func (s Sweep) points(job *Seeds) (labels [][]string, left int, err error) {
	at := make([]int, len(s.Axes))
	var why error
	for more := true; more; more = s.advance(at) {
		cell, label, err := s.point(at)
		if err != nil {
			return nil, 0, err
		}
		if err := cell.config().Validate(); err != nil {
			left, why = left+1, err
			continue
		}
		job.Cells, labels = append(job.Cells, cell), append(labels, label)
	}
	if len(job.Cells) == 0 {
		return nil, 0, fmt.Errorf("%w: no point is possible: %w", ErrSweep, why)
	}
	return labels, left, nil
}

// advance moves to the next point, and says whether there was one.
func (s Sweep) advance(at []int) bool {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i]++; at[i] < len(s.Axes[i].Values) {
			return true
		}
		at[i] = 0
	}
	return false
}

// point is the cell at one point of the grid.
func (s Sweep) point(at []int) (cell Cell, label []string, err error) {
	cell = s.Base
	var params []string
	for i := range s.Axes {
		a := &s.Axes[i]
		v := a.Values[at[i]]
		label = append(label, a.text(v))
		switch {
		case !a.Limit:
			params = append(params, a.Param.Name+"="+a.Param.Text(v))
		case a.Param.Name == "max":
			cell.Max = int(v)
		case a.Param.Name == "min":
			cell.Min = int(v)
		case a.Param.Name == "concurrency":
			cell.Profile.Function.Concurrency = int(v)
		}
	}
	if len(params) > 0 {
		between := ":"
		if strings.Contains(cell.Policy, ":") {
			between = ","
		}
		cell.Policy += between + strings.Join(params, ",")
	}
	_, err = policies.New(cell.Policy)
	return cell, label, err
}

// withOracle adds the oracle as the last cell, or says why it is not there.
func (s Sweep) withOracle(ctx context.Context, job *Seeds) (notes []string, err error) {
	if !s.Oracle {
		return nil, nil
	}
	cell := s.Base
	cell.Policy, cell.Max, cell.Min = Oracle, scheduler.Unlimited, 0
	limited := false
	for i := range job.Cells {
		c := &job.Cells[i]
		limited = limited || c.Max != scheduler.Unlimited || c.Min > 0
		cell.Profile.Function.Concurrency = max(cell.Profile.Function.Concurrency, c.Profile.Function.Concurrency)
	}
	reason, err := OracleReason(ctx, cell, job.Exact)
	if reason != "" || err != nil {
		return []string{"Without the oracle: " + reason + "."}, err
	}
	job.Cells = append(job.Cells, cell)
	if limited {
		return []string{"No limit of instances binds the oracle."}, nil
	}
	return nil, nil
}
