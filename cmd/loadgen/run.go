package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/analysis"
	"coldwave/bundle"
	"coldwave/engine"
	"coldwave/experiment"
	"coldwave/internal/cliargs"
	"coldwave/platform"
	"coldwave/reports"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
)

func (p *program) runVerb() *cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "pattern", Usage: "`PATTERN`: an embedded name or a YAML file (required)", Category: "PATTERN"},
		&cli.StringFlag{Name: "policy", Value: "fc-race", Usage: "`POLICY` of the bundled stack: a name, or name:key=value,...", Category: "PLATFORM"},
		&cli.StringFlag{Name: "max", Value: "unlimited", Usage: "quota of instances alive at once: a number, or unlimited", Category: "PLATFORM"},
		&cli.StringFlag{Name: "target", Usage: "`URL` of any HTTP endpoint instead of the bundled stack", Category: "TARGET"},
		lawFlag(), seedFlag(),
	}
	flags = slices.Concat(flags, targetFlags(), patternFlags(), fleetFlags(), cliargs.NodeFlags("PLATFORM"), cliargs.InstanceFlags("INSTANCE"), []cli.Flag{cliargs.CPUModeFlag("INSTANCE")},
		thresholdFlags(), outputFlags(), storeFlags())
	return &cli.Command{
		Name:      "run",
		Usage:     "run one pattern on the bundled stack or on any HTTP target",
		ArgsUsage: "[SCENARIO]",
		Description: "  loadgen run --pattern fc-burst --policy fc-race\n" +
			"  loadgen run --pattern fc-burst --policy fc-bound --max 10\n" +
			"  loadgen run --pattern fc-burst --policy fc-race --nodes 4 --node-memory 15GB --node-cache\n" +
			"  loadgen run --pattern poisson --rate 50/s --duration 30s --target http://127.0.0.1:8080/\n" +
			"  loadgen run burst.yaml --seed 2                     a scenario file; see docs/SCENARIOS.md\n" +
			"  loadgen run --pattern fc-burst --threshold 'makespan < 1.5s over wave 4' --threshold 'errors < 10%'\n\n" +
			"A target outside this machine must be named with --allow HOST:PORT as well; else nothing is sent (exit 7).",
		Flags:  flags,
		Action: p.run,
	}
}

// targetFlags say how requests are sent, and to whom they may be.
func targetFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "header", Usage: "`NAME:VALUE` sent with each request, repeatable", Category: "TARGET"},
		&cli.DurationFlag{Name: "timeout", Value: engine.DefaultTimeout, Usage: "of one request", Category: "TARGET"},
		&cli.DurationFlag{Name: "grace", Value: engine.DefaultGrace, Usage: "for requests in flight after the first interrupt", Category: "TARGET"},
		&cli.IntFlag{Name: "max-inflight", Usage: "requests in flight at once; one beyond it is dropped and counted; 0: unlimited", Category: "TARGET"},
		allowFlag(),
	}
}

func (p *program) run(c *cli.Context) error {
	args, err := cliargs.Args(c, 0, 1)
	if err != nil {
		return err
	}
	from, err := scenario(c, first(args))
	if err != nil {
		return err
	}
	job, err := p.runJob(c)
	if err != nil {
		return classify(err)
	}
	limits, err := p.limits(c, from)
	if err != nil {
		return err
	}
	view, err := p.newDisplay(c)
	if err != nil {
		return err
	}
	to, began := &keeper{parent: c.String("out"), id: job.ID, meta: newMeta(c, job.Cell.Seed)}, time.Now()
	job.Keep = func(run analysis.Run) (*bundle.Journal, error) { return to.begin(run, arrivalsOf(run.Schedule)) }
	measured, runErr := job.Run(c.Context, view.show)
	view.clear()
	if measured.Schedule == nil {
		return classify(runErr)
	}
	out := reports.Single{Meta: to.meta, Run: measured, Elapsed: time.Since(began)}
	invalid := valid(measured)
	var unjudged error
	out.Gates, unjudged = limits.judge(&measured, invalid)
	failed := classify(runErr)
	if err := p.keepAndPrint(c, to, out); err != nil && cliargs.Code(err) == cliargs.Code(failed) {
		return err // the disk failed twice: once is enough
	} else if err != nil {
		return errors.Join(err, failed)
	}
	result := firstOf(failed, invalid, errors.Join(unjudged, gateError(out.Gates, c.String("fail-on"))))
	return errors.Join(result, p.remember(c, to.meta, filepath.Join(c.String("out"), job.ID), result, &measured))
}

// firstOf returns the first of the errors that is one.
func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// valid refuses a run whose numbers do not mean what they seem to (R6).
func valid(run analysis.Run) error {
	ok, reasons := analysis.Valid(run.Summary)
	if run.Host.Busy {
		ok, reasons = false, append(reasons, "the host was too busy: "+run.Host.Reason)
	}
	if !ok {
		return cliargs.Errorf(cliargs.Invalid, "the run is invalid: %s", strings.Join(reasons, "; "))
	}
	return nil
}

// keepAndPrint finishes the run directory and prints the report, also when the disk failed.
func (p *program) keepAndPrint(c *cli.Context, to *keeper, out reports.Single) error {
	path, failed := to.finish(out, bundle.File{
		Name: "report.html", Write: func(w io.Writer) error { return reports.SingleHTML(w, out, reports.Limits{}) },
	})
	err := p.print(c, func(w io.Writer) error { return reports.SingleJSON(w, out) },
		func(w io.Writer, s reports.Style) error { return reports.SingleText(w, out, s) })
	if err != nil || failed != nil || c.Bool("json") {
		return errors.Join(failed, err)
	}
	_, err = fmt.Fprintf(p.stdout, "\nreport  %s\n", filepath.Join(path, "report.html"))
	return err
}

func (p *program) runJob(c *cli.Context) (experiment.Single, error) {
	name := c.String("pattern")
	if name == "" {
		return experiment.Single{}, cliargs.Errorf(cliargs.Usage, "--pattern is missing; 'loadgen patterns' lists the embedded ones")
	}
	process, err := loadPattern(c, name)
	if err != nil {
		return experiment.Single{}, err
	}
	sending, err := sendingOf(c)
	if err != nil {
		return experiment.Single{}, err
	}
	job := experiment.Single{
		ID: bundle.NewID(time.Now()), Fleet: p.fleet(c),
		Cell:    experiment.Cell{Pattern: name, Process: process, Seed: c.Uint64("seed")},
		Sending: sending,
	}
	if c.String("target") != "" {
		return job, externalTarget(c, &job)
	}
	return job, bundledStack(c, &job.Cell)
}

// bundledStack reads what the cell runs on.
func bundledStack(c *cli.Context, cell *experiment.Cell) error {
	if err := experiment.CheckPolicy(c.String("policy"), false); err != nil {
		return err
	}
	return platformOf(c, c.String("policy"), cell)
}

// platformOf reads the platform of a cell under a policy.
func platformOf(c *cli.Context, policy string, cell *experiment.Cell) (err error) {
	if cell.Profile, err = lawProfile(c); err != nil {
		return err
	}
	if err := cliargs.SetInstance(c, &cell.Profile); err != nil {
		return err
	}
	if err := experiment.CheckPolicy(policy, true); err != nil {
		return err
	}
	if cell.Policy, err = experiment.FitPolicy(policy, cell.Profile); err != nil {
		return err
	}
	if cell.Max, err = maxInstances(c.String("max")); err != nil {
		return err
	}
	entry, err := policies.Find(cell.Policy)
	if err != nil {
		entry = policies.Entry{} // the oracle, which is no policy
	}
	cell.Nodes, err = cliargs.Nodes(c, entry.Nodes, cell.Profile.Function.MemoryBytes)
	return err
}

func maxInstances(text string) (int, error) {
	if text == "unlimited" {
		return scheduler.Unlimited, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, cliargs.Errorf(cliargs.Usage, "--max %q: must be a number of instances from 0 on, or unlimited", text)
	}
	return n, nil
}

// externalTarget reads where the requests go instead. The platform of the schedule is only there for its demands, which
// a foreign target is not told.
func externalTarget(c *cli.Context, job *experiment.Single) error {
	for _, flag := range slices.Concat(cliargs.NodeFlagNames(), cliargs.InstanceFlagNames(), []string{"policy", "max", "cold-law", "fleet", "worker-bin", "cpu-mode"}) {
		if c.IsSet(flag) {
			return cliargs.Errorf(cliargs.Usage, "--%s belongs to the bundled stack and cannot be used with --target", flag)
		}
	}
	guard, err := engine.NewGuard(c.StringSlice("allow")...)
	if err != nil {
		return err
	}
	target, err := guard.Target(c.String("target"))
	if err != nil {
		return err
	}
	job.Remote = &experiment.Remote{Target: target}
	job.Cell.Profile = platform.Default()
	return nil
}

// sendingOf reads how requests are sent.
func sendingOf(c *cli.Context) (experiment.Sending, error) {
	header, err := headers(c.StringSlice("header"))
	return experiment.Sending{Header: header, Timeout: c.Duration("timeout"), Grace: c.Duration("grace"), MaxInFlight: c.Int("max-inflight")}, err
}

func headers(lines []string) (http.Header, error) {
	h := http.Header{}
	for _, line := range lines {
		name, value, found := strings.Cut(line, ":")
		if !found || strings.TrimSpace(name) == "" {
			return nil, cliargs.Errorf(cliargs.Usage, "--header: write it as NAME:VALUE (the value given is not shown)")
		}
		h.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return h, nil
}
