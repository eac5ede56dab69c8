package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"coldwave/analysis"
	"coldwave/bundle"
	"coldwave/reports"
)

// Recording is one side of runs that were made before.
type Recording struct {
	Name   string // as it was asked for, such as "run:runs/x@fc-race"
	Dir    string // of one run, of a session, or of several such directories
	Policy string // only the runs of this policy; empty: all, which must be of one
}

// Recorded compares runs that were made before. Each is read whole, checked and measured, one after the other.
type Recorded struct {
	Sides      []Recording // at least two; with AA one, whose runs are dealt to both sides in turns
	AA         bool
	Force      bool // compare though host, program or pattern differ
	Level      float64
	Reading    analysis.Reading
	Yardsticks []analysis.Yardstick // empty: analysis.DefaultYardsticks
}

// ErrDiffer is wrapped by the error for sides that differ in more than what is compared.
var ErrDiffer = errors.New("the sides differ in more than what is compared")

// recordedRun is what is kept of one run.
type recordedRun struct {
	reports.SideRun
	facts    map[string]string
	labels   []string
	requests int64
	void     string
}

// factNames are what the runs of all sides must have in common.
var factNames = []string{"pattern", "cold-start law", "quota", "driver", "system", "processors", "version", "commit"}

// Compare reads all sides and compares them. There is no time order to pair runs by, so each is compared with each.
func (r Recorded) Compare() (reports.RunComparison, error) {
	out := reports.RunComparison{Driver: "recorded", AA: r.AA, Level: cmp.Or(r.Level, analysis.DefaultConfidence), Lanes: 1}
	var all []recordedRun
	for _, s := range r.Sides {
		runs, err := r.read(s)
		if err != nil {
			return reports.RunComparison{}, fmt.Errorf("%s: %w", s.Name, err)
		}
		side := reports.RunSide{Name: s.Name}
		for _, run := range runs {
			if run.void != "" {
				out.Notes = append(out.Notes, fmt.Sprintf("%s, run %s counts on no side: %s", s.Name, run.ID, run.void))
				continue
			}
			all = append(all, run)
			addRun(&side, run)
		}
		out.Sides = append(out.Sides, side)
	}
	if r.AA && len(out.Sides) == 1 {
		out.Sides = deal(out.Sides[0])
	}
	out.Differing = differing(all)
	if len(out.Differing) > 0 && !r.Force {
		return reports.RunComparison{}, fmt.Errorf("%w: %s; --force compares them all the same", ErrDiffer, strings.Join(out.Differing, "; "))
	}
	if len(all) > 0 {
		out.Pattern, out.Canonical, out.Law, out.Seed = all[0].facts["name"], all[0].facts["pattern"], all[0].facts["cold-start law"], all[0].Seed
	}
	out.Wanted = leastOf(out.Sides)
	out.Compare(analysis.Versus{Yardsticks: r.Yardsticks})
	return out, nil
}

func addRun(side *reports.RunSide, run recordedRun) {
	side.Runs = append(side.Runs, run.SideRun)
	side.Requests += run.requests
	for _, l := range run.labels {
		if !slices.Contains(side.Labels, l) {
			side.Labels = append(side.Labels, l)
		}
	}
}

// deal gives the runs of one side to two, in turns.
func deal(side reports.RunSide) []reports.RunSide {
	halves := []reports.RunSide{{Name: side.Name, Labels: side.Labels}, {Name: side.Name, Labels: side.Labels}}
	for i, run := range side.Runs {
		halves[i%2].Runs = append(halves[i%2].Runs, run)
	}
	halves[0].Requests = side.Requests
	return halves
}

// leastOf is the smallest number of runs of a side, at least 1: a side without runs makes no valid comparison.
func leastOf(sides []reports.RunSide) int {
	least := len(sides[0].Runs)
	for i := range sides {
		least = min(least, len(sides[i].Runs))
	}
	return max(least, 1)
}

// differing lists the facts in which runs differ.
func differing(all []recordedRun) []string {
	var out []string
	for _, name := range factNames {
		var values []string
		for _, run := range all {
			if v := run.facts[name]; !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) > 1 {
			out = append(out, fmt.Sprintf("%s: %s", name, strings.Join(values, " and ")))
		}
	}
	return out
}

// read reads the runs of one side, by the names of their directories.
func (r Recorded) read(s Recording) ([]recordedRun, error) {
	dirs, err := bundlesIn(s.Dir)
	if err != nil {
		return nil, err
	}
	var all []recordedRun
	var policies []string
	for _, dir := range dirs {
		runs, err := r.open(dir, s.Policy)
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			if p := run.facts["policy"]; !slices.Contains(policies, p) {
				policies = append(policies, p)
			}
		}
		all = append(all, runs...)
	}
	switch {
	case len(all) == 0 && s.Policy != "":
		return nil, fmt.Errorf("%w of policy %q", bundle.ErrNoRun, s.Policy)
	case len(policies) > 1:
		return nil, fmt.Errorf("%w: it holds runs of %s: choose one, as run:%s@%s", ErrSides, strings.Join(policies, ", "), s.Dir, policies[0])
	}
	return all, nil
}

// bundlesIn returns the directory itself if it is one of a run, else those in it.
func bundlesIn(dir string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(dir, bundle.Sums)); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return []string{dir}, nil
	}
	inside, err := filepath.Glob(filepath.Join(dir, "*", bundle.Sums))
	if err != nil {
		return nil, err
	}
	if len(inside) == 0 {
		return []string{dir}, nil // opening it says what is wrong
	}
	for i := range inside {
		inside[i] = filepath.Dir(inside[i])
	}
	slices.Sort(inside)
	return inside, nil
}

// open reads the runs of one directory.
func (r Recorded) open(dir, policy string) (out []recordedRun, err error) {
	b, err := bundle.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	for _, one := range b.Runs() {
		if p := one.Single.Run.Policy; policy != "" && p != policy {
			continue
		}
		run, err := r.measure(one)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, one.Dir), err)
		}
		if len(b.Runs()) > 1 {
			run.ID = filepath.Base(dir) + "/" + strings.TrimSuffix(one.Dir, "/")
		}
		out = append(out, run)
	}
	return out, nil
}

// measure takes the numbers of one run.
func (r Recorded) measure(one *bundle.Run) (recordedRun, error) {
	run := one.Single.Run
	for rec, err := range one.Records() {
		if err != nil {
			return recordedRun{}, err
		}
		run.Records = append(run.Records, rec)
	}
	var err error
	if run.Instances, err = one.Instances(); err != nil {
		return recordedRun{}, err
	}
	ys := r.Yardsticks
	if len(ys) == 0 {
		ys = analysis.DefaultYardsticks()
	}
	out := recordedRun{facts: factsOf(&one.Single), requests: int64(run.Summary.Scheduled), void: whyVoid(&run)}
	out.ID, out.Seed = run.ID, run.Seed
	out.Stats, out.labels = Measure(r.Reading, &run, ys)
	return out, nil
}

func factsOf(s *reports.Single) map[string]string {
	canonical := ""
	if s.Run.Schedule != nil {
		canonical = s.Run.Schedule.Pattern
	}
	return map[string]string{
		"name": s.Run.Pattern, "policy": cmp.Or(s.Run.Policy, s.Run.Target), "pattern": canonical, "cold-start law": s.Run.Law, "quota": strconv.Itoa(s.Run.Quota),
		"driver": s.Run.Driver, "system": s.Meta.OS, "processors": strconv.Itoa(s.Meta.CPUs), "version": s.Meta.Version, "commit": s.Meta.Commit,
	}
}
