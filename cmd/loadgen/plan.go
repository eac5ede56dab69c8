package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"coldwave/experiment"
	"coldwave/internal/cliargs"
	"coldwave/patterns"
	"coldwave/reports"
	"coldwave/workload"
)

func (p *program) planVerb() *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "print and draw a schedule without sending it",
		ArgsUsage: "PATTERN",
		Description: "PATTERN is the name of an embedded pattern or a YAML file.\n\n" +
			"  loadgen plan fc-ramp\n  loadgen plan my.yaml --seed 7 --csv > arrivals.csv\n  loadgen plan poisson --rate 20/s --duration 1m",
		Flags: append(patternFlags(), lawFlag(), seedFlag(), colorFlag(),
			&cli.BoolFlag{Name: "csv", Usage: "one line per arrival instead of the drawing"},
			&cli.BoolFlag{Name: "ascii", Usage: "draw without Unicode"}),
		Action: p.plan,
	}
}

func (p *program) plan(c *cli.Context) error {
	args, err := cliargs.Args(c, 1, 1)
	if err != nil {
		return err
	}
	schedule, err := planned(c, args[0])
	if err != nil {
		return err
	}
	if c.Bool("csv") {
		return reports.PlanCSV(p.stdout, schedule)
	}
	return reports.Plan(p.stdout, schedule, reports.PlanStyle{Width: width(p.stdout), ASCII: c.Bool("ascii")})
}

func planned(c *cli.Context, name string) (*workload.Schedule, error) {
	process, err := loadPattern(c, name)
	if err != nil {
		return nil, err
	}
	profile, err := lawProfile(c)
	if err != nil {
		return nil, err
	}
	return experiment.Cell{Pattern: name, Process: process, Profile: profile, Seed: c.Uint64("seed")}.Schedule()
}

// loadPattern finds a pattern by name or file and changes it as the flags say.
func loadPattern(c *cli.Context, name string) (patterns.Pattern, error) {
	return loadPatternWithin(c, name, patterns.Limits{})
}

// loadPatternWithin is loadPattern with limits of the changed pattern.
func loadPatternWithin(c *cli.Context, name string, limits patterns.Limits) (patterns.Pattern, error) {
	process, err := patterns.Load(name, readPattern)
	if err != nil {
		return nil, err
	}
	settings := patterns.Settings{Limits: limits}
	for _, flag := range patternSettings {
		if text := c.String(flag.name); text != "" {
			if err := settings.Set(flag.name, text); err != nil {
				return nil, fmt.Errorf("--%s: %w", flag.name, err)
			}
		}
	}
	return process.Override(settings)
}
