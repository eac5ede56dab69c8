package main

import (
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/bundle"
	"coldwave/experiment"
	"coldwave/internal/cliargs"
	"coldwave/internal/spell"
	"coldwave/references"
	"coldwave/reports"
	"coldwave/scheduler/policies"
)

// allSuites is the name that stands for every suite in virtual time.
const allSuites = "all"

func suiteFlag() cli.Flag {
	return &cli.StringFlag{Name: "suite", Value: references.Main, Category: "WHAT",
		Usage: "`SUITE` of claims: " + strings.Join(suiteNames(), ", ")}
}

func suiteNames() []string { return append(references.SuiteNames(), allSuites) }

// suitesOf loads the suites that --suite names.
func suitesOf(c *cli.Context) ([]references.Suite, error) {
	name := c.String("suite")
	if !slices.Contains(suiteNames(), name) {
		return nil, cliargs.Errorf(cliargs.Usage, "--suite %q: there is no such suite%s; the suites are %s", name,
			spell.Hint(name, suiteNames()), strings.Join(suiteNames(), ", "))
	}
	names := []string{name}
	if name == allSuites {
		names = references.SuiteNames()
	}
	var out []references.Suite
	for _, n := range names {
		s, err := references.LoadSuite(n)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// ofMainJob are the flags of verify that only the main job has.
var ofMainJob = []string{"pattern", "before", "after", "quick", "cold-law", "gateway", "admin", "role"}

// suiteJobs reads the jobs of verify when it is about worked examples, one for each suite.
func (p *program) suiteJobs(c *cli.Context) ([]experiment.Verify, error) {
	suites, err := suitesOf(c)
	if err != nil {
		return nil, err
	}
	name, virtual := c.String("suite"), c.Bool("virtual")
	for _, flag := range ofMainJob {
		if c.IsSet(flag) {
			return nil, cliargs.Errorf(cliargs.Usage, "--%s belongs to the suite %s: the scenes of a suite say what is given", flag, references.Main)
		}
	}
	var jobs []experiment.Verify
	for _, s := range suites {
		switch {
		case name == allSuites && s.Driver == "wire":
			continue
		case s.Driver != "wire" && !virtual:
			return nil, cliargs.Errorf(cliargs.Usage, "--suite %s runs in virtual time: add --virtual", name)
		case s.Driver == "wire" && virtual:
			return nil, cliargs.Errorf(cliargs.Usage, "--suite %s is about runs over HTTP: leave out --virtual", name)
		}
		job, err := p.suiteJob(c, s)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

func (p *program) suiteJob(c *cli.Context, s references.Suite) (experiment.Verify, error) {
	claims, err := cliargs.Args(c, 0, 1000)
	if err != nil {
		return experiment.Verify{}, err
	}
	job := experiment.Verify{
		ID: bundle.NewID(time.Now()), Suite: s, Policy: c.String("policy"), Seed: c.Uint64("seed"), Claims: claims,
		Virtual: c.Bool("virtual"), Fleet: p.fleet(c), Tries: c.Int("tries"),
	}
	if all := c.String("suite") == allSuites; all && (len(claims) > 0 || job.Policy != "" || c.Bool("json")) {
		return job, cliargs.Errorf(cliargs.Usage, "--suite all runs whole suites and prints one table: name one suite for CLAIMs, --policy or --json")
	}
	if s.Name == references.Main { // as the main job has it, among all others
		job.Suite = references.Suite{}
		job.Before, job.After = c.String("before"), c.String("after")
		job.Profile, err = lawProfile(c)
		return job, err
	}
	if job.Policy == "" {
		return job, nil
	}
	if _, err := policies.Find(job.Policy); err != nil {
		return job, cliargs.Errorf(cliargs.Usage, "--policy: %w", err)
	}
	return job, nil
}

// verifySuites is verify for worked examples.
func (p *program) verifySuites(c *cli.Context) error {
	jobs, err := p.suiteJobs(c)
	if err != nil {
		return err
	}
	if err := verifyArguments(c); err != nil {
		return err
	}
	if c.String("suite") != allSuites {
		return p.verifyOne(c, jobs[0])
	}
	var all []reports.Verification
	var results []references.Result
	for _, job := range jobs {
		out, err := p.runVerification(c, job)
		if err != nil {
			return err
		}
		if _, err := p.keepVerification(c, out); err != nil {
			return err
		}
		all, results = append(all, out), append(results, out.Claims...)
	}
	err = p.print(c, nil, func(w io.Writer, s reports.Style) error { return reports.SuitesText(w, all, s) })
	return errors.Join(err, judge(results, c.String("fail-on")))
}
