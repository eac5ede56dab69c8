package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"coldwave/bundle"
	"coldwave/internal/cliargs"
)

// maxRuns bounds the run directories of one call.
const maxRuns = 10_000

func (p *program) checkVerb() *cli.Command {
	return &cli.Command{
		Name:      "check",
		Usage:     "compare every file of run directories with its checksum, and the requests with what run.json says of them",
		ArgsUsage: "RUN...",
		Description: "A cut, changed, missing or added file is named (exit 5). A directory that ends in .part was never finished:\n" +
			"'loadgen recover' saves what is in it. 'sha256sum -c SHA256SUMS' compares the checksums as well.\n\n" +
			"  loadgen check runs/*",
		Action: p.check,
	}
}

func (p *program) check(c *cli.Context) error {
	args, err := cliargs.Args(c, 1, maxRuns)
	if err != nil {
		return err
	}
	var errs []error
	for _, dir := range args {
		if err := bundle.Verify(dir); err != nil {
			errs = append(errs, err)
			continue
		}
		if _, err := fmt.Fprintf(p.stdout, "%s: every file is whole\n", dir); err != nil {
			return cliargs.Errorf(cliargs.Storage, "write to stdout: %w", err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return cliargs.Errorf(cliargs.Storage, "%w", err)
	}
	return nil
}
