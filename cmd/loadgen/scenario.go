package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"coldwave/experiment"
	"coldwave/internal/cliargs"
)

// scenario reads the scenario file that the call names, if there is one, and takes over what its flags do not say: a flag
// goes before the file.
func scenario(c *cli.Context, path string) (experiment.Scenario, error) {
	if path == "" {
		return experiment.Scenario{}, nil
	}
	src, err := os.ReadFile(path) //nolint:gosec // the user names the file on the command line
	if err != nil {
		return experiment.Scenario{}, cliargs.Errorf(cliargs.Usage, "scenario: %w", err)
	}
	s, err := experiment.ParseScenario(path, src, platformSettings(c.Command))
	if err != nil {
		return s, err
	}
	if s.Target != "" && !has(c.Command, "target") {
		return s, cliargs.Errorf(cliargs.Usage, "scenario %s has a target, and %s is in virtual time; 'loadgen run %s' sends to it", path, c.Command.Name, path)
	}
	for _, x := range append([]experiment.Setting{{Flag: "pattern", Value: s.Pattern}}, s.Settings...) {
		if c.IsSet(x.Flag) || !has(c.Command, x.Flag) {
			continue
		}
		if err := c.Set(x.Flag, x.Value); err != nil {
			return s, cliargs.Errorf(cliargs.Usage, "scenario %s: %s: %w", path, x.Flag, err)
		}
	}
	return s, nil
}

// platformSettings lists the flags of a verb that describe the bundled stack, but for the policy, which is a key of its own.
func platformSettings(c *cli.Command) []string {
	var names []string
	for _, f := range c.Flags {
		if in, ok := f.(cli.CategorizableFlag); ok && in.GetCategory() == "PLATFORM" && f.Names()[0] != "policy" {
			names = append(names, f.Names()[0])
		}
	}
	slices.Sort(names)
	return names
}

// has says whether a verb has a flag.
func has(c *cli.Command, flag string) bool {
	return slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), flag) })
}

// readPattern reads a pattern from a file of its own or from a scenario file.
func readPattern(name string) ([]byte, error) {
	src, found, err := experiment.InlinePattern(name, os.ReadFile)
	if found {
		return src, err
	}
	return os.ReadFile(name) //nolint:gosec // the user names the file
}

// adopt adds what the scenario says of gates; its thresholds go before those of the command line.
func (l *limits) adopt(s experiment.Scenario) {
	l.reading.Phases = s.Phases
	l.all = append(slices.Clone(s.Thresholds), l.all...)
}

// scenarioFlag is for verbs whose arguments are something else.
func scenarioFlag() cli.Flag {
	return &cli.StringFlag{Name: "scenario", Category: "PATTERN", Usage: "`FILE` with pattern, platform, phases, metrics and primary ones; flags go before it"}
}

// measures takes over by what a scenario compares, where no flag says so.
func measures(c *cli.Context, s experiment.Scenario) error {
	for _, part := range []struct {
		flag   string
		values []string
	}{{"metric", s.Metrics}, {"primary", s.Primary}} {
		if c.IsSet(part.flag) {
			continue
		}
		for _, v := range part.values {
			if err := c.Set(part.flag, v); err != nil {
				return fmt.Errorf("scenario %s: %s: %w", s.File, part.flag, err)
			}
		}
	}
	return nil
}
