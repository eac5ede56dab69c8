package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/analysis"
	"coldwave/bundle"
	"coldwave/experiment"
	"coldwave/internal/cliargs"
	"coldwave/references"
	"coldwave/reports"
)

func (p *program) verifyVerb() *cli.Command {
	flags := []cli.Flag{
		&cli.StringSliceFlag{Name: "pattern", Usage: "documented `PATTERN` to replay, repeatable; all by default", Category: "WHAT"},
		&cli.StringFlag{Name: "before", Value: "fc-bound", Usage: "`POLICY` judged by the claims about the old scheduling", Category: "WHAT"},
		&cli.StringFlag{Name: "after", Value: "fc-race", Usage: "`POLICY` judged by the claims about the new scheduling", Category: "WHAT"},
		&cli.BoolFlag{Name: "quick", Usage: "4 s between two waves instead of the documented 10 s", Category: "WHAT"},
		&cli.BoolFlag{Name: "virtual", Usage: "in virtual time, without a socket", Category: "WHAT"},
		&cli.IntFlag{Name: "tries", Value: experiment.DefaultTries, Usage: "how often to run until the host is calm", Category: "WHAT"},
		suiteFlag(),
		&cli.StringFlag{Name: "policy", Usage: "with --suite: `POLICY` judged in place of the suite's, or name:key=value,... of it", Category: "WHAT"},
		&cli.StringFlag{Name: "fail-on", Usage: "also fail on: inconclusive (exit 3)", Category: "OUTPUT"},
		lawFlag(), seedFlag(),
	}
	flags = slices.Concat(flags, fleetFlags(), gatewayFlags(), outputFlags(), storeFlags())
	return &cli.Command{
		Name:      "verify",
		Usage:     "replay the documented patterns under both policies and check every claim, or the worked examples of a suite",
		ArgsUsage: "[CLAIM...]",
		Description: "The main job. Runs every pattern under both policies side by side on the bundled stack, over real HTTP,\n" +
			"and prints the documented numbers beside the measured ones with a verdict for each claim. CLAIM limits\n" +
			"the run to what these claims need; 'loadgen claims' lists them. Some need runs of their own, such as fc-quota\n" +
			"and fc-online, and some are exact and need --virtual, which judges all in a second. On the wire each cell\n" +
			"is set beside its virtual twin.\n\n" +
			"--suite NAME judges the worked examples of another documented policy in place of the main job: each is a\n" +
			"scene that is run, and what is documented of it. --policy puts another policy, or another value, to the test.\n\n" +
			"  loadgen verify\n  loadgen verify --quick --cold-law documented\n  loadgen verify fc-online\n" +
			"  loadgen verify --after fc-race:start_per_request=true --virtual\n" +
			"  loadgen verify --virtual --suite cloudrun\n  loadgen verify --virtual --suite all\n  loadgen verify --suite cloudrun-wire\n" +
			"  loadgen verify --virtual --suite cloudrun --policy cloudrun:concurrency_target=0.7",
		Flags:  flags,
		Action: p.verify,
	}
}

func (p *program) verify(c *cli.Context) error {
	if c.String("suite") != references.Main {
		return p.verifySuites(c)
	}
	job, err := p.verifyJob(c)
	if err != nil {
		return err
	}
	return p.verifyOne(c, job)
}

// runVerification runs the job and says which program did. With an error it holds what there is.
func (p *program) runVerification(c *cli.Context, job experiment.Verify) (reports.Verification, error) {
	view, err := p.newDisplay(c)
	if err != nil {
		return reports.Verification{}, err
	}
	if _, err := colored(c, p.stdout); err != nil {
		return reports.Verification{}, err
	}
	meta := newMeta(c, job.Seed)
	out, runErr := job.Run(c.Context, view.show)
	view.clear()
	out.Meta = meta
	return out, runErr
}

// verifyOne runs the job, keeps and prints what came of it, and judges it.
func (p *program) verifyOne(c *cli.Context, job experiment.Verify) error {
	out, runErr := p.runVerification(c, job)
	if len(out.Claims) == 0 {
		return classify(runErr)
	}
	dir, err := p.keepVerification(c, out)
	if err != nil {
		return errors.Join(err, classify(runErr))
	}
	if err := p.printVerification(c, out, dir); err != nil {
		return err
	}
	result := firstOf(classify(runErr), judge(out.Claims, c.String("fail-on")))
	return errors.Join(result, p.remember(c, out.Meta, filepath.Dir(dir), result, runsOf(out)...))
}

// runsOf are the runs that a verification judged.
func runsOf(out reports.Verification) []*analysis.Run {
	var runs []*analysis.Run
	for i := range out.Runs {
		runs = append(runs, &out.Runs[i])
	}
	return runs
}

func (p *program) verifyJob(c *cli.Context) (experiment.Verify, error) {
	claims, err := cliargs.Args(c, 0, 1000)
	if err != nil {
		return experiment.Verify{}, err
	}
	if err := verifyArguments(c); err != nil {
		return experiment.Verify{}, err
	}
	if c.IsSet("policy") {
		return experiment.Verify{}, cliargs.Errorf(cliargs.Usage, "--policy is judged by a --suite of worked examples; the main job has --before and --after")
	}
	profile, err := lawProfile(c)
	if err != nil {
		return experiment.Verify{}, err
	}
	job := experiment.Verify{
		ID: bundle.NewID(time.Now()), Patterns: c.StringSlice("pattern"), Before: c.String("before"), After: c.String("after"),
		Profile: profile, Seed: c.Uint64("seed"), Quick: c.Bool("quick"), Fleet: p.fleet(c), Tries: c.Int("tries"),
		Claims: claims, Virtual: c.Bool("virtual"),
	}
	for _, name := range job.Patterns {
		if !slices.Contains(experiment.Documented(), name) {
			return job, cliargs.Errorf(cliargs.Usage, "--pattern %q: must be one of %s; 'loadgen run' takes any pattern", name,
				strings.Join(experiment.Documented(), ", "))
		}
	}
	for _, spec := range []string{job.Before, job.After} {
		if err := experiment.CheckPolicy(spec, job.Virtual); err != nil {
			return job, err
		}
	}
	return job, p.aimAtGateway(c, &job)
}

// verifyArguments refuses values that no job can have.
func verifyArguments(c *cli.Context) error {
	if failOn := c.String("fail-on"); failOn != "" && failOn != "inconclusive" {
		return cliargs.Errorf(cliargs.Usage, "--fail-on %q: must be inconclusive", failOn)
	}
	if c.Int("tries") < 1 {
		return cliargs.Errorf(cliargs.Usage, "--tries %d: must be at least 1", c.Int("tries"))
	}
	return nil
}

// aimAtGateway replaces the bundled stack by the gateway that --gateway names.
func (p *program) aimAtGateway(c *cli.Context, job *experiment.Verify) error {
	if c.String("gateway") == "" {
		return nil
	}
	remote, err := remoteGateway(c)
	if err != nil {
		return err
	}
	job.Gateway, job.Role = remote, references.Role(c.String("role"))
	if job.Role != references.Before && job.Role != references.After {
		return cliargs.Errorf(cliargs.Usage, "--role %q: must be before or after", c.String("role"))
	}
	if len(job.Patterns) != 1 {
		return cliargs.Errorf(cliargs.Usage, "--gateway: name one --pattern, because one gateway cannot serve two at once")
	}
	return nil
}

// judge turns verdicts into the exit code. A claim that disagrees goes before everything else.
func judge(results []references.Result, failOn string) error {
	byVerdict := map[references.Verdict][]string{}
	for _, r := range results {
		byVerdict[r.Verdict] = append(byVerdict[r.Verdict], r.Claim.ID)
	}
	switch {
	case len(byVerdict[references.Disagrees]) > 0:
		return cliargs.Errorf(cliargs.GateFailed, "claims disagree: %s", strings.Join(byVerdict[references.Disagrees], ", "))
	case len(byVerdict[references.Void]) > 0:
		return cliargs.Errorf(cliargs.Invalid, "the host was too busy in every try, so these claims are void: %s; run it on a calm host",
			strings.Join(byVerdict[references.Void], ", "))
	case failOn == "inconclusive" && len(byVerdict[references.Inconclusive]) > 0:
		return cliargs.Errorf(cliargs.Inconclusive, "claims are inconclusive: %s", strings.Join(byVerdict[references.Inconclusive], ", "))
	}
	return nil
}

func (p *program) printVerification(c *cli.Context, out reports.Verification, dir string) error {
	err := p.print(c, func(w io.Writer) error { return reports.VerificationJSON(w, out) },
		func(w io.Writer, s reports.Style) error { return reports.VerificationText(w, out, s) })
	if err != nil || c.Bool("json") {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "\nreport  %s\n", dir)
	return err
}

// keepVerification writes the run directory and returns the path of its report.
func (p *program) keepVerification(c *cli.Context, out reports.Verification) (string, error) {
	w, err := bundle.Create(c.String("out"), out.ID)
	if err != nil {
		return "", cliargs.Errorf(cliargs.Storage, "%w", err)
	}
	files := []bundle.File{
		{Name: bundle.Manifest, Write: func(w io.Writer) error { return reports.VerificationJSON(w, out) }},
		{Name: "report.html", Write: func(w io.Writer) error { return reports.VerificationHTML(w, out, reports.Limits{}) }},
	}
	if out.Suite != nil && out.Driver == "virtual" {
		return w.File("report.html"), keep(w, files) // the same seed makes the same runs again
	}
	for i := range out.Runs {
		run := reports.Single{Meta: out.Meta, Run: out.Runs[i]}
		files = append(files, bundle.Within(fmt.Sprintf("%d-%s/", i+1, fileName(run.Run.ID)), bundle.RunFiles(run, recordsOf(&run.Run)))...)
	}
	return w.File("report.html"), keep(w, files)
}
