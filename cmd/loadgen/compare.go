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
		patternFlag(), scenarioFlag(),
		&cli.BoolFlag{Name: "virtual", Usage: "in virtual time: seed by seed on --seeds N, or with --runs N as on the wire"},
		&cli.BoolFlag{Name: "pairs", Usage: "with --seeds and more than two sides: each one's differences to the first in text and Markdown too", Category: "OUTPUT"},
	}
	return &cli.Command{
		Name:      "compare",
		Usage:     "compare policies, gateway builds, targets or recorded runs",
		ArgsUsage: "SIDE SIDE...",
		Description: "A side is policy:NAME[:key=value,...] on the bundled stack, build:FILE[@POLICY] (a gateway program, started for each run),\n" +
			"target:URL, or run:DIR[@POLICY] (recorded runs); 'all' is every policy. The others are compared with the first.\n\n" +
			"On the wire each side runs --runs N times, in turns (ABBA), several at once where the pattern leaves room. The run is the unit of\n" +
			"replication: verdicts come from the exact interval over the runs against a margin, corrected over the metrics. Exit 1: a primary\n" +
			"metric regressed. Exit 4: the host spoilt too many runs.\n\n" +
			"  loadgen compare policy:fc-bound policy:fc-race --pattern fc-burst --runs 8\n" +
			"  loadgen compare policy:fc-race --aa --pattern fc-burst --runs 8          how noisy is this host?\n" +
			"  loadgen compare policy:fc-race --plan --effect 5% --pattern fc-burst     how many runs does it take?\n" +
			"  loadgen compare build:old/gateway build:bin/gateway --pattern fc-burst --gap 4s\n\n" +
			"With --virtual each seed of --seeds N gives all sides, the oracle among them, the same arrivals, demands and start-up draws. The\n" +
			"result is a table over all sides, the Pareto front of response time against instance-seconds, and the differences to the first\n" +
			"side, seed by seed.\n\n" +
			"  loadgen compare all --pattern fc-burst --virtual\n" +
			"  loadgen compare policy:fc-bound policy:fc-race --pattern fc-burst --virtual --seeds 200\n" +
			"  loadgen compare policy:fc-race all --pattern poisson --rate 20/s --duration 10m --virtual",
		Flags: slices.Concat(flags, judgingFlags(), virtualFlags(compareSeeds), sessionFlags(), patternFlags(), fleetFlags(),
			[]cli.Flag{cliargs.CPUModeFlag("INSTANCE")}, targetFlags()),
		Action: p.compare,
	}
}

func (p *program) compare(c *cli.Context) error {
	least := 1
	if c.Bool("plan") {
		least = 0 // with --noise it needs no side
	}
	args, err := cliargs.Args(c, least, maxSides)
	if err != nil {
		return err
	}
	if _, err := format(c); err != nil {
		return err
	}
	if err := checkFailOn(c); err != nil {
		return err
	}
	from, err := scenario(c, c.String("scenario"))
	if err == nil {
		err = measures(c, from)
	}
	if err != nil {
		return err
	}
	switch {
	case c.Bool("plan"):
		return p.comparePlan(c, args)
	case !c.Bool("virtual") || c.IsSet("runs") || c.Bool("aa"):
		return p.compareRuns(c, args, from)
	}
	return p.compareSeeds(c, args)
}

// compareSeeds compares policies seed by seed in virtual time.
func (p *program) compareSeeds(c *cli.Context, args []string) error {
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
		policy, ok := strings.CutPrefix(side, policySide)
		if !ok {
			return cliargs.Errorf(cliargs.Usage, "side %q: only policies run in virtual time", side)
		}
		cell, err := virtualCell(c, policy)
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

// What the names of sides begin with.
const (
	policySide = "policy:"
	buildSide  = "build:"
	targetSide = "target:"
	runSide    = "run:"
)

// sidesOf reads the sides, in order and each once; "all" adds the policies that are not there yet, and in virtual time the
// oracle where it can serve the requests. The notes say if it cannot.
func sidesOf(c *cli.Context, args []string) (sides, notes []string, err error) {
	for _, arg := range args {
		switch {
		case arg == "all":
			names, reason, err := everybody(c)
			if err != nil {
				return nil, nil, err
			}
			if reason != "" {
				notes = append(notes, "Without the oracle: "+reason+".")
			}
			for _, name := range names {
				if side := policySide + name; !slices.Contains(sides, side) {
					sides = append(sides, side)
				}
			}
		case !slices.ContainsFunc([]string{policySide, buildSide, targetSide, runSide}, func(kind string) bool { return strings.HasPrefix(arg, kind) }):
			return nil, nil, cliargs.Errorf(cliargs.Usage, "side %q: must be policy:NAME, build:FILE, target:URL, run:DIR, or all", arg)
		case slices.Contains(sides, arg):
			return nil, nil, cliargs.Errorf(cliargs.Usage, "side %q: is there twice; --aa compares a side with itself", arg)
		default:
			sides = append(sides, arg)
		}
	}
	if len(sides) < 2 && !c.Bool("aa") {
		return nil, nil, cliargs.Errorf(cliargs.Usage, "compare takes at least two sides, got %d; such as policy:fc-bound policy:fc-race", len(sides))
	}
	return sides, notes, nil
}

// everybody lists the policies, with the oracle where it can serve; else the reason says why not.
func everybody(c *cli.Context) (names []string, reason string, err error) {
	names = policies.Names()
	if !c.Bool("virtual") {
		return names, "", nil
	}
	cell, err := virtualCell(c, names[0])
	if err != nil {
		return nil, "", err
	}
	if reason, err = experiment.OracleReason(c.Context, cell, c.Int("exact")); err != nil {
		return nil, "", classify(err)
	}
	if reason == "" {
		names = append(names, experiment.Oracle)
	}
	return names, reason, nil
}
