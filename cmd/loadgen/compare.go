package main

import (
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"coldwave/experiment"
	"coldwave/internal/cliargs"
	"coldwave/reports"
	"coldwave/scheduler/policies"
)

// compareSeeds is how many seeds a comparison has unless it is told: enough for an interval of the median that a few
// odd seeds do not widen.
const compareSeeds = 100

// maxSides bounds a comparison to what a reader can take in.
const maxSides = 50

func (p *program) compareVerb() *cli.Command {
	flags := []cli.Flag{
		patternFlag(),
		&cli.BoolFlag{Name: "virtual", Usage: "in virtual time (required)"},
		&cli.BoolFlag{Name: "pairs", Usage: "with more than two sides: each one's differences to the first in text and Markdown too", Category: "OUTPUT"},
	}
	flags = append(flags, judgingFlags()...)
	flags = append(append(flags, virtualFlags(compareSeeds)...), patternFlags()...)
	return &cli.Command{
		Name:      "compare",
		Usage:     "compare policies on common seeds",
		ArgsUsage: "SIDE SIDE...",
		Description: "A side is policy:NAME, with parameters as policy:NAME:key=value,...; 'all' is every policy and the oracle. On each seed all\n" +
			"sides face the same arrivals, demands and start-up draws. The result is a table over all sides, the Pareto front of response\n" +
			"time against instance-seconds, and the differences to the first side, seed by seed.\n\n" +
			"  loadgen compare all --pattern fc-burst --virtual\n" +
			"  loadgen compare policy:fc-bound policy:fc-race --pattern fc-burst --virtual --seeds 200\n" +
			"  loadgen compare policy:fc-race all --pattern poisson --rate 20/s --duration 10m --virtual",
		Flags:  flags,
		Action: p.compare,
	}
}

func (p *program) compare(c *cli.Context) error {
	args, err := cliargs.Args(c, 1, maxSides)
	if err != nil {
		return err
	}
	if !c.Bool("virtual") {
		return cliargs.Errorf(cliargs.Usage, "--virtual is missing: policies are compared in virtual time")
	}
	if _, err := format(c); err != nil {
		return err
	}
	judging, err := judgingOf(c)
	if err != nil {
		return err
	}
	sides, notes, err := sidesOf(c, args)
	if err != nil {
		return err
	}
	view, err := p.newDisplay(c)
	if err != nil {
		return err
	}
	var cells []experiment.Cell
	for _, side := range sides {
		cell, err := virtualCell(c, strings.TrimPrefix(side, policySide))
		if err != nil {
			return err
		}
		cells = append(cells, cell)
	}
	job := seedsOf(c, cells...)
	job.Judging = judging
	out, err := job.Compare(c.Context, sides, view.show)
	view.clear()
	if err != nil {
		return classify(err)
	}
	p.speed(c, simulatedIn(out), out.Wall, runtime.GOMAXPROCS(0))
	out.Standings.Notes = notes
	out.Meta, out.Each = newMeta(c, c.Uint64("seed")), c.Bool("pairs")
	return p.write(c, document{
		text: func(w io.Writer, s reports.Style) error { return reports.ComparisonText(w, out, s) },
		json: func(w io.Writer) error { return reports.ComparisonJSON(w, out) },
		md:   func(w io.Writer) error { return reports.ComparisonMarkdown(w, out) },
		html: func(w io.Writer) error { return reports.ComparisonHTML(w, out) },
	})
}

func simulatedIn(out reports.Comparison) (n int64) {
	for _, side := range out.Sides {
		n += side.Requests
	}
	return n
}

// policySide opens the name of a side that is a policy.
const policySide = "policy:"

// sidesOf reads the sides, in order and each once; "all" adds the policies that are not there yet, and the oracle where it
// can serve the requests. The notes say if it cannot.
func sidesOf(c *cli.Context, args []string) (sides, notes []string, err error) {
	for _, arg := range args {
		switch {
		case arg == "all":
			names := policies.Names()
			cell, err := virtualCell(c, names[0])
			if err != nil {
				return nil, nil, err
			}
			if reason := experiment.OracleReason(cell); reason != "" {
				notes = append(notes, "Without the oracle: "+reason+".")
			} else {
				names = append(names, experiment.Oracle)
			}
			for _, name := range names {
				if side := policySide + name; !slices.Contains(sides, side) {
					sides = append(sides, side)
				}
			}
		case !strings.HasPrefix(arg, policySide):
			return nil, nil, cliargs.Errorf(cliargs.Usage, "side %q: must be policy:NAME, or all", arg)
		case slices.Contains(sides, arg):
			return nil, nil, cliargs.Errorf(cliargs.Usage, "side %q: is there twice", arg)
		default:
			sides = append(sides, arg)
		}
	}
	if len(sides) < 2 {
		return nil, nil, cliargs.Errorf(cliargs.Usage, "compare takes at least two sides, got %d; such as policy:fc-bound policy:fc-race", len(sides))
	}
	return sides, notes, nil
}
