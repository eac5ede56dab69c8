package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"coldwave/analysis"
	"coldwave/bundle"
	"coldwave/experiment"
	"coldwave/internal/cliargs"
	"coldwave/reports"
)

func (p *program) recoverVerb() *cli.Command {
	return &cli.Command{
		Name:      "recover",
		Usage:     "make a run directory of what a killed run left",
		ArgsUsage: "RUN.part...",
		Description: "A run that is killed, or whose disk is full, leaves a directory that ends in .part, with everything that was recorded\n" +
			"up to a second before. Of it a run directory is made. Arrivals whose outcome nobody knows have the outcome unknown, the\n" +
			"run says so and judges nothing (exit 6); if nothing is missing the exit code is 0.\n\n" +
			"  loadgen recover runs/*.part",
		Flags: []cli.Flag{&cli.IntFlag{Name: "exact", Value: analysis.DefaultExact, Category: "OUTPUT",
			Usage: "most requests that are held in memory; the report of a longer run has no charts of single requests"}},
		Action: p.recover,
	}
}

func (p *program) recover(c *cli.Context) error {
	args, err := cliargs.Args(c, 1, maxRuns)
	if err != nil {
		return err
	}
	if n := c.Int("exact"); n < 1 {
		return cliargs.Errorf(cliargs.Usage, "--exact %d: must be at least 1", n)
	}
	var errs []error
	partial := 0
	for _, dir := range args {
		whole, err := p.recoverOne(dir, c.Int("exact"))
		if err != nil {
			errs = append(errs, err)
		} else if !whole {
			partial++
		}
	}
	switch err := errors.Join(errs...); {
	case err != nil:
		return cliargs.Errorf(cliargs.Storage, "%w", err)
	case partial > 0:
		return cliargs.Errorf(cliargs.Partial, "%d of %d recovered runs have arrivals of which nobody knows the outcome", partial, len(args))
	}
	return nil
}

// recoverOne makes the run directory, and says whether nothing is missing in it.
func (p *program) recoverOne(dir string, exact int) (whole bool, err error) {
	left, err := bundle.Recover(dir)
	if err != nil {
		return false, err
	}
	if left.Finished {
		_, err = fmt.Fprintf(p.stdout, "%s: it was complete and has its name now\n", dir)
		return true, err
	}
	run, err := experiment.Recover(left, exact)
	if err != nil {
		return false, errors.Join(err, left.Writer.Abandon())
	}
	out := reports.Single{Meta: left.Head.Meta, Run: run}
	path := left.Writer.Path()
	files := append(bundle.RunFiles(out, left.Records()),
		bundle.File{Name: "report.html", Write: func(w io.Writer) error { return reports.SingleHTML(w, out, reports.Limits{}) }})
	if err := keep(left.Writer, files); err != nil {
		return false, err
	}
	_, err = fmt.Fprintf(p.stdout, "%s: %d of %d arrivals have a record; kept in %s\n", dir, left.Known, left.Arrivals, path)
	return left.Known == left.Arrivals, err
}
