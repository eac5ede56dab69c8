package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/analysis"
	"coldwave/bundle"
	"coldwave/experiment"
	"coldwave/internal/cliargs"
	"coldwave/patterns"
	"coldwave/reports"
)

// simulateLimit is the most requests of one simulated pattern: a typing error must not keep a machine busy for a day.
const simulateLimit = 10_000_000_000

func (p *program) simulateVerb() *cli.Command {
	flags := []cli.Flag{
		patternFlag(),
		&cli.StringFlag{Name: "policy", Value: "fc-race", Usage: "`POLICY`: a name, or name:key=value,...", Category: "PLATFORM"},
		&cli.BoolFlag{Name: "each", Usage: "with --seeds and JSON: list the numbers of each run too", Category: "OUTPUT"},
		&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "`DIR` in which the run directory of a single run is made; empty: none", Category: "OUTPUT"},
	}
	flags = slices.Concat(flags, virtualFlags(1), patternFlags(), thresholdFlags())
	return &cli.Command{
		Name:      "simulate",
		Usage:     "run one pattern in virtual time, once or on many seeds",
		ArgsUsage: "[SCENARIO]",
		Description: "The scheduler, the policy, the platform and the schedule of a run on the wire, without a socket: a million\n" +
			"requests in less than a second. The same seed gives the same event log and the same --json, byte for byte.\n\n" +
			"  loadgen simulate --pattern fc-burst --policy fc-race\n" +
			"  loadgen simulate --pattern fc-ramp --policy fc-race --seeds 1000\n" +
			"  loadgen simulate --pattern fc-burst --policy fc-race:spread=true --nodes 8 --node-memory 12GB --node-cache\n" +
			"  loadgen simulate --pattern poisson --rate 1000/s --requests 10000000",
		Flags:  flags,
		Action: p.simulate,
	}
}

func patternFlag() cli.Flag {
	return &cli.StringFlag{Name: "pattern", Usage: "`PATTERN`: an embedded name or a YAML file (required)", Category: "PATTERN"}
}

// virtualFlags are the flags of everything that runs in virtual time.
func virtualFlags(seeds int) []cli.Flag {
	return append([]cli.Flag{
		&cli.IntFlag{Name: "seeds", Value: seeds, Usage: "`N` independent runs, one a seed from --seed on, on all cores"},
		&cli.Float64Flag{Name: "confidence", Value: analysis.DefaultConfidence, Usage: "level of intervals, between 0 and 1", Category: "OUTPUT"},
		&cli.IntFlag{Name: "exact", Value: analysis.DefaultExact, Category: "OUTPUT",
			Usage: "most requests of a run that are kept one by one; above it quantiles are HDR, 3 digits"},
		&cli.StringFlag{Name: "max", Value: "unlimited", Usage: "quota of instances alive at once: a number, or unlimited", Category: "PLATFORM"},
		lawFlag(), seedFlag(), formatFlag(),
		&cli.BoolFlag{Name: "json", Usage: "the same as --format json", Category: "OUTPUT"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "no progress and no speed", Category: "OUTPUT"},
		&cli.StringFlag{Name: "progress", Value: "auto", Usage: "auto, plain or none", Category: "OUTPUT"},
		colorFlag(),
	}, slices.Concat(cliargs.NodeFlags("PLATFORM"), cliargs.InstanceFlags("INSTANCE"))...)
}

func formatFlag() cli.Flag {
	return &cli.StringFlag{Name: "format", Value: "text", Usage: strings.Join(formatNames(), ", "), Category: "OUTPUT"}
}

func formatNames() []string {
	var names []string
	for _, f := range reports.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// format is what --format and --json ask for.
func format(c *cli.Context) (string, error) {
	name := c.String("format")
	if !slices.Contains(formatNames(), name) {
		return "", cliargs.Errorf(cliargs.Usage, "--format %q: must be one of %s", name, strings.Join(formatNames(), ", "))
	}
	if !c.Bool("json") {
		return name, nil
	}
	if c.IsSet("format") && name != "json" {
		return "", cliargs.Errorf(cliargs.Usage, "--json and --format %s: give one of them", name)
	}
	return "json", nil
}

func (p *program) simulate(c *cli.Context) error {
	args, err := cliargs.Args(c, 0, 1)
	if err != nil {
		return err
	}
	from, err := scenario(c, first(args))
	if err != nil {
		return err
	}
	cell, err := virtualCell(c, c.String("policy"))
	if err != nil {
		return err
	}
	limits, err := p.limits(c, from)
	if err != nil {
		return err
	}
	if c.IsSet("seeds") {
		return p.simulateSeeds(c, cell, limits)
	}
	if c.Bool("each") {
		return cliargs.Errorf(cliargs.Usage, "--each lists the runs of --seeds N, which is missing")
	}
	if _, err := format(c); err != nil {
		return err
	}
	to := &keeper{parent: c.String("out"), id: bundle.NewID(time.Now()), meta: newMeta(c, cell.Seed)}
	job := experiment.Simulation{Cell: cell, Exact: c.Int("exact")}
	if to.parent != "" {
		job.Keep = to.begin
	}
	out, err := job.Run(c.Context)
	if err != nil {
		if left := to.leave(); left != "" {
			fmt.Fprintf(p.stderr, "what was recorded is in %s; 'loadgen recover %s' makes a run directory of it\n", left, left)
		}
		return classify(err)
	}
	p.speed(c, int64(out.Run.Summary.Scheduled), out.Wall, 1)
	single := reports.Single{Meta: to.meta, Run: out.Run}
	var unjudged error
	single.Gates, unjudged = limits.judge(&out.Run, nil)
	if err := p.keepSimulation(to, single); err != nil {
		return err
	}
	return errors.Join(unjudged, p.write(c, one(single)), gateError(single.Gates, c.String("fail-on")))
}

// first is the only argument, or none.
func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// virtualCell reads the cell that a run in virtual time is of.
func virtualCell(c *cli.Context, policy string) (experiment.Cell, error) {
	if err := virtualArguments(c); err != nil {
		return experiment.Cell{}, err
	}
	name := c.String("pattern")
	if name == "" {
		return experiment.Cell{}, cliargs.Errorf(cliargs.Usage, "--pattern is missing; 'loadgen patterns' lists the embedded ones")
	}
	process, err := loadPatternWithin(c, name, patterns.Limits{Requests: simulateLimit})
	if err != nil {
		return experiment.Cell{}, err
	}
	cell := experiment.Cell{Pattern: name, Process: process, Seed: c.Uint64("seed")}
	return cell, platformOf(c, policy, &cell)
}

// virtualArguments refuses numbers that no run can have.
func virtualArguments(c *cli.Context) error {
	if _, err := colored(c, io.Discard); err != nil {
		return err
	}
	if level := c.Float64("confidence"); !(level > 0 && level < 1) {
		return cliargs.Errorf(cliargs.Usage, "--confidence %v: must lie between 0 and 1, such as 0.95", level)
	}
	if n := c.Int("seeds"); n < 1 || n > experiment.MaxSeeds {
		return cliargs.Errorf(cliargs.Usage, "--seeds %d: must be 1 to %d", n, experiment.MaxSeeds)
	}
	if n := c.Int("exact"); n < 1 {
		return cliargs.Errorf(cliargs.Usage, "--exact %d: must be at least 1", n)
	}
	return nil
}

func (p *program) simulateSeeds(c *cli.Context, cell experiment.Cell, limits limits) error {
	if c.String("out") != "" {
		return cliargs.Errorf(cliargs.Usage, "--out keeps one run: leave out --seeds and give --seed")
	}
	if _, err := format(c); err != nil {
		return err
	}
	view, err := p.newDisplay(c)
	if err != nil {
		return err
	}
	job := seedsOf(c, cell)
	job.Thresholds, job.Reading = limits.all, limits.reading
	out, err := job.Run(c.Context, view.show)
	view.clear()
	if err != nil {
		return classify(err)
	}
	p.speed(c, out.Requests, out.Wall, runtime.GOMAXPROCS(0))
	out.Meta = newMeta(c, cell.Seed)
	if !c.Bool("each") {
		out.Trials = nil
	}
	err = p.write(c, document{
		text: func(w io.Writer, s reports.Style) error { return reports.SeedsText(w, out, s) },
		json: func(w io.Writer) error { return reports.SeedsJSON(w, out) },
		md:   func(w io.Writer) error { return reports.SeedsMarkdown(w, out) },
		html: func(w io.Writer) error { return reports.SeedsHTML(w, out) },
	})
	return errors.Join(err, gateError(out.Gates, c.String("fail-on")))
}

func seedsOf(c *cli.Context, cells ...experiment.Cell) experiment.Seeds {
	return experiment.Seeds{Cells: cells, Runs: c.Int("seeds"), Exact: c.Int("exact"), Level: c.Float64("confidence")}
}

// speed tells how fast this host simulated. It belongs to no result: the next call takes another time.
func (p *program) speed(c *cli.Context, requests int64, wall time.Duration, workers int) {
	if c.Bool("quiet") {
		return
	}
	rate := float64(requests) / max(wall.Seconds(), 1e-9)
	on := "one processor"
	if workers > 1 {
		on = fmt.Sprintf("up to %d processors", workers)
	}
	fmt.Fprintf(p.stderr, "simulated %d requests in %.3f s of wall time, %.0f requests/s on %s\n", requests, wall.Seconds(), rate, on)
}

// document is a result in every format.
type document struct {
	text           func(io.Writer, reports.Style) error
	json, md, html func(io.Writer) error
}

func one(out reports.Single) document {
	return document{
		text: func(w io.Writer, s reports.Style) error { return reports.SingleText(w, out, s) },
		json: func(w io.Writer) error { return reports.SingleJSON(w, out) },
		md:   func(w io.Writer) error { return reports.SingleMarkdown(w, out) },
		html: func(w io.Writer) error { return reports.SingleHTML(w, out, reports.Limits{}) },
	}
}

// write prints a result in the format that was asked for.
func (p *program) write(c *cli.Context, d document) error {
	name, err := format(c)
	if err != nil {
		return err
	}
	switch name {
	case "json":
		err = d.json(p.stdout)
	case "md":
		err = d.md(p.stdout)
	case "html":
		err = d.html(p.stdout)
	default:
		return p.print(c, d.json, d.text)
	}
	if err != nil {
		return cliargs.Errorf(cliargs.Storage, "write to stdout: %w", err)
	}
	return nil
}

// keepSimulation writes the run directory, if one was asked for.
func (p *program) keepSimulation(to *keeper, out reports.Single) error {
	if to.parent == "" {
		return nil
	}
	d := one(out)
	path, err := to.finish(out, bundle.File{Name: "report.html", Write: d.html}, bundle.File{Name: "report.md", Write: d.md})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stderr, "kept in %s\n", path)
	return err
}
