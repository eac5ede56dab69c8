package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"coldwave/experiment"
	"coldwave/internal/cliargs"
	"coldwave/patterns"
	"coldwave/references"
	"coldwave/reports"
	"coldwave/scheduler/policies"
)

func (p *program) patternsVerb() *cli.Command {
	return p.listVerb("patterns", "list the embedded patterns and the kinds a pattern file may have", []string{"pattern", "summary"}, func() ([][]string, error) {
		var rows [][]string
		for _, e := range patterns.All() {
			rows = append(rows, []string{e.Name, e.Summary})
		}
		for _, k := range patterns.Kinds() {
			rows = append(rows, []string{"kind: " + k.Name, k.Summary + "; keys " + strings.Join(k.Keys, ", ")}, []string{"", k.Example})
		}
		return rows, nil
	})
}

func (p *program) policiesVerb() *cli.Command {
	return p.listVerb("policies", "list the scheduling policies and their parameters", []string{"policy", "summary"}, func() ([][]string, error) {
		var rows [][]string
		for _, e := range policies.All() {
			rows = append(rows, []string{e.Name, e.Summary}, []string{"", "source: " + e.Source},
				[]string{"", "bills:  " + reports.TariffText(policies.TariffOf(e.Name, 0))})
			for _, param := range e.Params {
				rows = append(rows, []string{"  :" + param.Name + "=" + param.Default, param.Doc})
			}
		}
		return append(rows, []string{experiment.Oracle, experiment.OracleSummary}), nil
	})
}

func (p *program) claimsVerb() *cli.Command {
	return &cli.Command{
		Name: "claims", Usage: "list the documented claims with tolerance and reason", Flags: []cli.Flag{suiteFlag()},
		Action: func(c *cli.Context) error {
			return p.list(c, []string{"claim", "statement"}, func() (rows [][]string, err error) {
				suites, err := suitesOf(c)
				for _, s := range suites {
					rows = append(rows, claimRows(s)...)
				}
				return rows, err
			})
		},
	}
}

// claimRows lists what a suite claims, and which examples it leaves to tests.
func claimRows(s references.Suite) (rows [][]string) {
	for _, claim := range s.Claims {
		rows = append(rows, []string{claim.ID, claim.Statement}, []string{"", "documented: " + claim.Documented})
		if scenes := claim.Scenes(); len(scenes) > 0 {
			rows = append(rows, []string{"", "scenes: " + strings.Join(scenes, "; ")})
		}
		rows = append(rows, []string{"", "tolerance:  " + claim.Tolerance}, []string{"", "why:        " + claim.Why})
	}
	for _, l := range s.Left {
		rows = append(rows, []string{l.ID, "no run shows it: " + l.Why + " (" + l.Test + ")"})
	}
	return rows
}

func (p *program) listVerb(name, usage string, head []string, list func() ([][]string, error)) *cli.Command {
	return &cli.Command{Name: name, Usage: usage, Action: func(c *cli.Context) error { return p.list(c, head, list) }}
}

func (p *program) list(c *cli.Context, head []string, list func() ([][]string, error)) error {
	if _, err := cliargs.Args(c, 0, 0); err != nil {
		return err
	}
	rows, err := list()
	if err != nil {
		return err
	}
	style := reports.Style{Width: width(p.stdout), Unicode: isTerminal(p.stdout)}
	if err := reports.List(p.stdout, style, head, rows); err != nil {
		return cliargs.Errorf(cliargs.Storage, "write to stdout: %w", err)
	}
	return nil
}
