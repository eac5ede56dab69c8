package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"coldwave/analysis"
	"coldwave/history"
	"coldwave/internal/cliargs"
	"coldwave/reports"
)

// storeFlags are those of the verbs that keep runs.
func storeFlags() []cli.Flag {
	return append(historyFlags(), &cli.BoolFlag{Name: "no-store", Usage: "leave the run out of the history", Category: "HISTORY"})
}

// remember keeps a run in the history. The default history may be out of reach, as in a container without a home: that
// costs a line on stderr. One that was asked for must take the run.
func (p *program) remember(c *cli.Context, meta reports.Meta, dir string, result error, runs ...*analysis.Run) error {
	if c.Bool("no-store") || len(runs) == 0 {
		return nil
	}
	err := store(c, pastOf(c, meta, dir, result, runs))
	if err != nil && c.String("history") == "" {
		_, err = fmt.Fprintf(p.stderr, "not in the history: %s (--no-store leaves it out, --history names another one)\n", cliargs.OneLine(err.Error()))
	}
	return err
}

func store(c *cli.Context, run history.Run) error {
	s, err := openHistory(c)
	if err != nil {
		return err
	}
	// A run that was interrupted is kept all the same.
	if err := errors.Join(s.Add(context.WithoutCancel(c.Context), run), s.Close()); err != nil {
		return historyError(err)
	}
	return nil
}

// pastOf is what the history keeps of a run directory.
func pastOf(c *cli.Context, meta reports.Meta, dir string, result error, runs []*analysis.Run) history.Run {
	out := history.Run{ID: filepath.Base(dir), Verb: c.Command.Name, Began: meta.Began, Version: meta.Version, Commit: meta.Commit, Host: meta.OS,
		Command: meta.Command, Seed: meta.Seed, Dir: dir, ExitCode: cliargs.Code(result), State: worthOf(cliargs.Code(result))}
	named := map[string]int{}
	for _, r := range runs {
		name := r.Pattern + "/" + cmp.Or(r.Policy, r.Target)
		if named[name]++; named[name] > 1 { // one policy under several quotas, say
			name += fmt.Sprintf(" (%d)", named[name])
		}
		out.Cells = append(out.Cells, history.CellOf(name, r))
	}
	return out
}

// worthOf says what the figures of a run are worth that ended with an exit code.
func worthOf(code int) history.State {
	switch code {
	case cliargs.OK, cliargs.GateFailed, cliargs.Inconclusive:
		return history.Complete
	case cliargs.Invalid:
		return history.Invalid
	}
	return history.Partial
}
