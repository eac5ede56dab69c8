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
	}
	flags = append(append(flags, virtualFlags(compareSeeds)...), patternFlags()...)
	return &cli.Command{
		Name:      "compare",
		Usage:     "compare policies on common seeds",
		ArgsUsage: "SIDE SIDE...",
		Description: "A side is policy:NAME, with parameters as policy:NAME:key=value,...; 'all' is every policy and the oracle. On each seed all\n" +
			"sides face the same arrivals, demands and start-up draws, and are compared with the first side seed by seed.\n\n" +
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
	sides, err := sidesOf(args)
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
	out, err := seedsOf(c, cells...).Compare(c.Context, sides, view.show)
	view.clear()
	if err != nil {
		return classify(err)
	}
	p.speed(c, simulatedIn(out), out.Wall, runtime.GOMAXPROCS(0))
	out.Meta = newMeta(c, c.Uint64("seed"))
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

// sidesOf reads the sides, in order and each once; "all" adds the policies that are not there yet.
func sidesOf(args []string) ([]string, error) {
	var sides []string
	for _, arg := range args {
		switch {
		case arg == "all":
			for _, name := range append(policies.Names(), experiment.Oracle) {
				if side := policySide + name; !slices.Contains(sides, side) {
					sides = append(sides, side)
				}
			}
		case !strings.HasPrefix(arg, policySide):
			return nil, cliargs.Errorf(cliargs.Usage, "side %q: must be policy:NAME, or all", arg)
		case slices.Contains(sides, arg):
			return nil, cliargs.Errorf(cliargs.Usage, "side %q: is there twice", arg)
		default:
			sides = append(sides, arg)
		}
	}
	if len(sides) < 2 {
		return nil, cliargs.Errorf(cliargs.Usage, "compare takes at least two sides, got %d; such as policy:fc-bound policy:fc-race", len(sides))
	}
	return sides, nil
}
