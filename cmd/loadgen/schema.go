package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"coldwave/internal/cliargs"
	"coldwave/reports"
)

func (p *program) schemaVerb() *cli.Command {
	return &cli.Command{
		Name:      "schema",
		Usage:     "print the JSON Schema of a document",
		ArgsUsage: "NAME",
		Description: "NAME is one of " + strings.Join(schemaNames(), ", ") + ": the schema (draft 2020-12) of run.json of 'run' and 'simulate',\n" +
			"of 'verify', of 'simulate --seeds', of 'compare', and of one line of events.ndjson.\n\n" +
			"  loadgen schema run >run.schema.json",
		Action: p.schema,
	}
}

// schemaNames are the ids of the schemas without their prefix and version.
func schemaNames() []string {
	var names []string
	for _, id := range reports.Schemas() {
		name, _, _ := strings.Cut(strings.TrimPrefix(id, "loadgen."), "/")
		names = append(names, name)
	}
	return names
}

func (p *program) schema(c *cli.Context) error {
	args, err := cliargs.Args(c, 1, 1)
	if err != nil {
		return err
	}
	for i, id := range reports.Schemas() {
		if args[0] != id && args[0] != schemaNames()[i] {
			continue
		}
		text, err := reports.Schema(id)
		if err != nil {
			return err
		}
		if _, err := p.stdout.Write(text); err != nil {
			return cliargs.Errorf(cliargs.Storage, "write to stdout: %w", err)
		}
		return nil
	}
	return cliargs.Errorf(cliargs.Usage, "schema %q: must be one of %s", args[0], strings.Join(schemaNames(), ", "))
}
