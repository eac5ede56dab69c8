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

// sweepRows is how many points the tables list unless they are told.
const sweepRows = 50

// csvFormat is a format of sweeps only.
const csvFormat = "csv"

func (p *program) sweepVerb() *cli.Command {
	flags := []cli.Flag{
		patternFlag(),
		&cli.StringFlag{Name: "policy", Value: "fc-race", Usage: "`POLICY`: a name, or name:key=value,... for what is not swept", Category: "PLATFORM"},
		&cli.StringSliceFlag{Name: "param", Category: "GRID", Usage: "`NAME=VALUES`, repeatable: a parameter of the policy, or max, min, concurrency; " +
			"values as 10s,1m,5m or 0.3..0.9:0.1"},
		&cli.IntFlag{Name: "max-runs", Value: experiment.DefaultRuns, Category: "GRID", Usage: "most runs: points of the grid × seeds"},
		&cli.BoolFlag{Name: "oracle", Value: true, Category: "PARETO FRONT", Usage: "the oracle beside the points, where it can serve the requests"},
		&cli.StringFlag{Name: "sort", Category: "OUTPUT", Usage: "`KEY` of the table: a parameter, place, p99, rejected, inst-s or any metric; KEY:desc turns it round"},
		&cli.IntFlag{Name: "rows", Value: sweepRows, Category: "OUTPUT", Usage: "points that the tables list; 0: all. JSON and CSV have all"},
	}
	flags = slices.Concat(flags, judgingFlags(), withCSV(virtualFlags(1)), patternFlags())
	return &cli.Command{
		Name:  "sweep",
		Usage: "run one policy over a grid of parameters, on all cores",
		Description: "Each --param is one axis: NAME=ITEM,ITEM,... where an item is a value or LOW..HIGH:STEP, both ends included (the step of whole\n" +
			"numbers may be left out). Several make a grid. All points face the same requests. Where a policy has a parameter named like a\n" +
			"limit, write policy.NAME or limit.NAME.\n\n" +
			"  loadgen sweep --pattern fc-burst --policy cloudrun --param concurrency_target=0.3..0.9:0.1\n" +
			"  loadgen sweep --pattern poisson --rate 5/s --duration 1h --policy fc-race --param idle_timeout=10s,30s,1m,5m --param max=4..20:4 --seeds 10\n" +
			"  loadgen sweep --pattern poisson --rate 5/s --duration 10m --policy fixed --param instances=1..8 --sort p99 --format csv",
		Flags:  flags,
		Action: p.sweep,
	}
}

// withCSV adds a format to those of the flag.
func withCSV(flags []cli.Flag) []cli.Flag {
	for i, f := range flags {
		if f.Names()[0] == "format" {
			flags[i] = &cli.StringFlag{Name: "format", Value: "text", Usage: strings.Join(append(formatNames(), csvFormat), ", "), Category: "OUTPUT"}
		}
	}
	return flags
}

func (p *program) sweep(c *cli.Context) error {
	if _, err := cliargs.Args(c, 0, 0); err != nil {
		return err
	}
	job, err := sweepOf(c)
	if err != nil {
		return err
	}
	frame := reports.Sweep{Sort: c.String("sort"), Rows: c.Int("rows")}
	for _, a := range job.Axes {
		frame.Axes = append(frame.Axes, reports.Axis{Name: a.Name})
	}
	if _, err := frame.Order(frame.Sort); err != nil {
		return cliargs.Errorf(cliargs.Usage, "--sort: %w", err)
	}
	if frame.Rows < 0 {
		return cliargs.Errorf(cliargs.Usage, "--rows %d: must be at least 0", frame.Rows)
	}
	asCSV := c.String("format") == csvFormat && !c.Bool("json")
	if !asCSV {
		if _, err := format(c); err != nil {
			return err
		}
	}
	view, err := p.newDisplay(c)
	if err != nil {
		return err
	}
	out, err := job.Run(c.Context, view.show)
	view.clear()
	if err != nil {
		return classify(err)
	}
	p.speed(c, out.Standings.Requests(), out.Wall, runtime.GOMAXPROCS(0))
	out.Meta, out.Sort, out.Rows = newMeta(c, c.Uint64("seed")), frame.Sort, frame.Rows
	if asCSV {
		if err := reports.SweepCSV(p.stdout, out); err != nil {
			return cliargs.Errorf(cliargs.Storage, "write to stdout: %w", err)
		}
		return nil
	}
	return p.write(c, document{
		text: func(w io.Writer, s reports.Style) error { return reports.SweepText(w, out, s) },
		json: func(w io.Writer) error { return reports.SweepJSON(w, out) },
		md:   func(w io.Writer) error { return reports.SweepMarkdown(w, out) },
		html: func(w io.Writer) error { return reports.SweepHTML(w, out) },
	})
}

// sweepOf reads what is swept.
func sweepOf(c *cli.Context) (experiment.Sweep, error) {
	cell, err := virtualCell(c, c.String("policy"))
	if err != nil {
		return experiment.Sweep{}, err
	}
	if cell.Policy == experiment.Oracle {
		return experiment.Sweep{}, cliargs.Errorf(cliargs.Usage, "policy %q has no parameters: give the policy that is swept", experiment.Oracle)
	}
	judging, err := judgingOf(c)
	if err != nil {
		return experiment.Sweep{}, err
	}
	if n := c.Int("max-runs"); n < 1 || n > experiment.MaxSeeds {
		return experiment.Sweep{}, cliargs.Errorf(cliargs.Usage, "--max-runs %d: must be 1 to %d", n, experiment.MaxSeeds)
	}
	job := experiment.Sweep{Base: cell, Seeds: seedsOf(c), MaxRuns: c.Int("max-runs"), Oracle: c.Bool("oracle")}
	job.Seeds.Judging = judging
	params := c.StringSlice("param")
	if len(params) == 0 {
		return job, cliargs.Errorf(cliargs.Usage, "--param is missing: give at least one, such as --param %s", paramExample(c.String("policy")))
	}
	for _, text := range params {
		axis, err := experiment.ParseAxis(cell.Policy, text)
		if err != nil {
			return job, cliargs.Errorf(cliargs.Usage, "--param %w", err)
		}
		job.Axes = append(job.Axes, axis)
	}
	return job, nil
}

// paramExample is a parameter of the policy with two values, or a limit.
func paramExample(spec string) string {
	e, err := policies.Find(spec)
	if err == nil {
		for _, p := range e.Params {
			if p.Type == policies.Duration {
				return p.Name + "=" + p.Default + ",1m"
			}
		}
	}
	return "max=1..10"
}
