package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"coldwave/analysis"
	"coldwave/experiment"
	"coldwave/internal/cliargs"
)

func thresholdFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "threshold", Category: "GATES",
			Usage: "`LIMIT` that the run must keep, repeatable: [start.]stat OP value [over phase NAME|wave N] [as NAME], such as 'warm.p99 < 60ms' or " +
				"'errors < 0.1%'. start: all, warm, queued, cold, cold_wait; stat: p50 to p99.99, max, mean, rate, errors, cold_share, makespan, peak_instances"},
		&cli.StringFlag{Name: "fail-on", Category: "GATES", Usage: "also fail on: inconclusive (exit 3)"},
		&cli.BoolFlag{Name: "exact-shares", Category: "GATES", Usage: "judge shares by Clopper-Pearson limits, which never err more often, instead of Wilson's"},
		&cli.BoolFlag{Name: "allow-model-labels", Category: "GATES", Usage: "let start kinds that a model guessed decide a threshold"},
	}
}

// thresholds reads --threshold.
func thresholds(c *cli.Context) ([]analysis.Threshold, error) {
	if err := checkFailOn(c); err != nil {
		return nil, err
	}
	var all []analysis.Threshold
	for _, text := range c.StringSlice("threshold") {
		t, err := analysis.ParseThreshold(text)
		if err != nil {
			return nil, &cliargs.Error{Code: cliargs.Usage, Err: prefixed{"--threshold ", err}}
		}
		all = append(all, t)
	}
	return all, nil
}

// prefixed says where an error comes from, and leaves its detail as it is.
type prefixed struct {
	where string
	error
}

func (p prefixed) Error() string { return p.where + p.error.Error() }

func (p prefixed) Unwrap() error { return p.error }

func checkFailOn(c *cli.Context) error {
	if failOn := c.String("fail-on"); failOn != "" && failOn != "inconclusive" {
		return cliargs.Errorf(cliargs.Usage, "--fail-on %q: must be inconclusive", failOn)
	}
	return nil
}

// limits are the thresholds of a call, and how they read a run.
type limits struct {
	all     []analysis.Threshold
	reading analysis.Reading
}

// limits reads everything about gates, and refuses what could never be judged.
func (p *program) limits(c *cli.Context, from experiment.Scenario) (limits, error) {
	if _, err := colored(c, p.stdout); err != nil {
		return limits{}, err
	}
	all, err := thresholds(c)
	if err != nil {
		return limits{}, err
	}
	out := limits{all: all, reading: analysis.Reading{Exact: c.Bool("exact-shares"), Models: c.Bool("allow-model-labels")}}
	out.adopt(from)
	return out, out.find(nil)
}

// find refuses thresholds that name nothing in a run; nil: in none.
func (l limits) find(run *analysis.Run) error {
	r := l.reading
	r.Run = run
	for _, t := range l.all {
		if err := r.Find(t.Selector); err != nil {
			return cliargs.Errorf(cliargs.Usage, "--threshold %w", err)
		}
	}
	return nil
}

// judge decides the thresholds of one run. An invalid run judges nothing.
func (l limits) judge(run *analysis.Run, invalid error) ([]analysis.Gate, error) {
	if err := l.find(run); err != nil {
		return nil, err
	}
	r := l.reading
	r.Run = run
	var gates []analysis.Gate
	for _, t := range l.all {
		g := r.Judge(t)
		if invalid != nil {
			g = g.Void(invalid.Error())
		}
		gates = append(gates, g)
	}
	return gates, nil
}

// gateError turns verdicts into the exit code. A gate that failed goes before one that is undecided.
func gateError(gates []analysis.Gate, failOn string) error {
	byVerdict := map[analysis.Verdict][]string{}
	for _, g := range gates {
		byVerdict[g.Verdict] = append(byVerdict[g.Verdict], g.Name())
	}
	switch failed, undecided := byVerdict[analysis.Fail], byVerdict[analysis.Inconclusive]; {
	case len(failed) > 0:
		return cliargs.Errorf(cliargs.GateFailed, "%d of %d gates failed: %s", len(failed), len(gates), strings.Join(failed, "; "))
	case failOn == "inconclusive" && len(undecided) > 0:
		return cliargs.Errorf(cliargs.Inconclusive, "%d of %d gates are inconclusive: %s", len(undecided), len(gates), strings.Join(undecided, "; "))
	}
	return nil
}
