package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"coldwave/analysis"
	"coldwave/experiment"
	"coldwave/internal/cliargs"
	"coldwave/reports"
)

// planSeeds is from how many runs in virtual time the noise of a policy is taken.
const planSeeds = 50

// comparePlan says how many runs a comparison needs. It sends nothing.
func (p *program) comparePlan(c *cli.Context, args []string) error {
	effect, err := share(c.String("effect"))
	if err != nil || effect <= 0 || effect >= 1 {
		return cliargs.Errorf(cliargs.Usage, "--effect %q: must lie between 0%% and 100%%, such as 5%%", c.String("effect"))
	}
	if n := c.Int("runs"); n < 1 || n > experiment.MaxRounds {
		return cliargs.Errorf(cliargs.Usage, "--runs %d: must be 1 to %d", n, experiment.MaxRounds)
	}
	ys, err := yardsticks(c)
	if err != nil {
		return err
	}
	out := reports.RunPlan{Meta: newMeta(c, c.Uint64("seed")), Pattern: c.String("pattern"), Runs: c.Int("runs"), Effect: effect}
	if c.String("noise") != "" {
		err = givenNoise(c, &out, ys)
	} else {
		err = p.measuredNoise(c, &out, ys, args)
	}
	if err != nil {
		return err
	}
	return p.write(c, document{
		text: func(w io.Writer, s reports.Style) error { return reports.RunPlanText(w, out, s) },
		json: func(w io.Writer) error { return reports.RunPlanJSON(w, out) },
		md:   func(w io.Writer) error { return reports.RunPlanMarkdown(w, out) },
		html: func(w io.Writer) error { return reports.RunPlanHTML(w, out) },
	})
}

// givenNoise plans with --noise, the same for all metrics.
func givenNoise(c *cli.Context, out *reports.RunPlan, ys []analysis.Yardstick) error {
	noise, err := share(c.String("noise"))
	if err != nil || noise < 0 || noise >= 10 {
		return cliargs.Errorf(cliargs.Usage, "--noise %q: must be a share from 0%% on, such as 3%%", c.String("noise"))
	}
	cell, err := sessionCell(c, "fc-race")
	if err != nil {
		return classify(err)
	}
	schedule, err := cell.Schedule()
	if err != nil {
		return classify(err)
	}
	out.Source, out.Requests = fmt.Sprintf("The noise of %g %% was given.", 100*noise), len(schedule.Arrivals)
	for _, y := range ys {
		out.Rows = append(out.Rows, reports.PlanRowOf(y, noise, out.Effect, out.Runs))
	}
	return nil
}

// measuredNoise takes the noise from runs of one side.
func (p *program) measuredNoise(c *cli.Context, out *reports.RunPlan, ys []analysis.Yardstick, args []string) error {
	if len(args) != 1 || args[0] == "all" {
		return cliargs.Errorf(cliargs.Usage, "--plan takes one side whose noise it plans with, or --noise 3%%; got %d sides", len(args))
	}
	if rest, ok := strings.CutPrefix(args[0], runSide); ok {
		return recordedNoise(out, ys, recording(args[0], rest))
	}
	policy, ok := strings.CutPrefix(args[0], policySide)
	if !ok {
		return cliargs.Errorf(cliargs.Usage, "side %q: --plan takes policy:NAME, run:DIR, or --noise 3%%", args[0])
	}
	cell, err := virtualCell(c, policy)
	if err != nil {
		return classify(err)
	}
	side := experiment.Contender{Name: args[0], Cell: cell}
	session := experiment.Session{Sides: []experiment.Contender{side, side}, Rounds: planSeeds, Virtual: true, Yardsticks: ys}
	played, err := session.Run(c.Context, func(experiment.Progress) {})
	if err != nil {
		return classify(err)
	}
	out.Source = fmt.Sprintf("Noise of %s from %d seeds in virtual time: a real host adds its own, which --aa on the wire shows.", args[0], planSeeds)
	planRows(out, &played)
	return nil
}

// recordedNoise takes the noise from runs that were made before.
func recordedNoise(out *reports.RunPlan, ys []analysis.Yardstick, side experiment.Recording) error {
	job := experiment.Recorded{Sides: []experiment.Recording{side, side}, Yardsticks: ys, Force: true}
	played, err := job.Compare()
	if err != nil {
		return classify(err)
	}
	out.Pattern, out.Source = played.Pattern, fmt.Sprintf("Noise of the %d runs of %s.", len(played.Sides[0].Runs), side.Name)
	planRows(out, &played)
	return nil
}

// planRows plans every metric of a side that was compared with itself.
func planRows(out *reports.RunPlan, played *reports.RunComparison) {
	if n := len(played.Sides[0].Runs); n > 0 {
		out.Requests = int(played.Sides[0].Requests) / n
	}
	for _, r := range played.Pairs[0].Rows {
		if r.RunsA == 0 {
			continue
		}
		row := reports.PlanRowOf(r.Yardstick, r.Noise, out.Effect, out.Runs)
		row.N, row.Median = r.RunsA, r.MedianA
		out.Rows = append(out.Rows, row)
	}
}
