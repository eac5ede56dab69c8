package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/history"
	"coldwave/internal/cliargs"
	"coldwave/reports"
)

// historyFlags say where the history is.
func historyFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "history", EnvVars: []string{"LOADGEN_HISTORY"}, Category: "HISTORY",
			Usage: "`FILE` of SQLite, or @FILE that holds a postgres:// URL (default: $XDG_DATA_HOME/loadgen/history.db)"},
	}
}

func (p *program) historyVerb() *cli.Command {
	flags := append(historyFlags(), &cli.BoolFlag{Name: "json", Usage: "one JSON document on stdout instead of text", Category: "OUTPUT"}, colorFlag())
	with := func(more ...cli.Flag) []cli.Flag { return append(more, flags...) }
	return &cli.Command{
		Name:  "history",
		Usage: "look at the runs that were kept, at trends, pinned baselines and alerts",
		Description: "  loadgen history list --pattern fc-burst\n" +
			"  loadgen history trend fc-burst/fc-race response_p99\n" +
			"  loadgen history pin nightly policy:fc-race --note 'release 1.2'\n" +
			"  loadgen history ack 3f2c1ab9 --state expected --note 'new codec'\n\n" +
			"A PostgreSQL URL may hold a password: give it in LOADGEN_HISTORY or in a file, not as an argument.",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "the runs, newest first", Action: p.historyList, Flags: with(
				&cli.StringFlag{Name: "verb", Usage: "only runs of this `VERB`"},
				&cli.StringFlag{Name: "pattern", Usage: "only runs with this `PATTERN`"},
				&cli.StringFlag{Name: "policy", Usage: "only runs with this `POLICY`"},
				&cli.IntFlag{Name: "limit", Value: 20, Usage: "the newest `N`; 0: all"})},
			{Name: "show", Usage: "one run with its figures", ArgsUsage: "RUN", Action: p.historyShow, Flags: with()},
			{Name: "trend", Usage: "one figure over the runs", ArgsUsage: "CELL FIGURE", Action: p.historyTrend, Flags: with(
				&cli.IntFlag{Name: "limit", Value: 50, Usage: "the newest `N`; 0: all"})},
			{Name: "pin", Usage: "pin a baseline, or list the pinned ones", ArgsUsage: "[SUITE SIDE]", Action: p.historyPin, Flags: with(
				&cli.StringFlag{Name: "note", Usage: "why this one"},
				&cli.BoolFlag{Name: "remove", Usage: "take the pin of SUITE away"})},
			{Name: "ack", Usage: "change the state of an alert, or list the open ones", ArgsUsage: "[ALERT]", Action: p.historyAck, Flags: with(
				&cli.StringFlag{Name: "state", Value: string(history.Acknowledged), Usage: "acknowledged, expected or fixed"},
				&cli.StringFlag{Name: "note", Usage: "added to the alert's notes"},
				&cli.BoolFlag{Name: "all", Usage: "list closed alerts too"})},
			{Name: "check", Usage: "look for damage", Action: p.historyCheck, Flags: with()},
		},
	}
}

// openHistory opens what --history or the environment names, or the default.
func openHistory(c *cli.Context) (*history.Store, error) {
	address, err := historyAddress(c)
	if err != nil {
		return nil, err
	}
	store, err := history.Open(c.Context, address)
	switch {
	case errors.Is(err, history.ErrAddress):
		return nil, cliargs.Errorf(cliargs.Usage, "--history: %w", err)
	case err != nil:
		return nil, cliargs.Errorf(cliargs.Storage, "%w", err)
	}
	return store, nil
}

// historyAddress keeps passwords off the command line, where every process sees them.
func historyAddress(c *cli.Context) (string, error) {
	address := c.String("history")
	if address == "" {
		return history.DefaultPath()
	}
	if strings.Contains(address, "://") && address != os.Getenv("LOADGEN_HISTORY") {
		return "", cliargs.Errorf(cliargs.Usage, "--history: a URL may hold a password: put it in LOADGEN_HISTORY, or in a file and give @FILE (the value given is not shown)")
	}
	if file, ok := strings.CutPrefix(address, "@"); ok {
		text, err := os.ReadFile(file) //nolint:gosec // the user names the file
		if err != nil {
			return "", cliargs.Errorf(cliargs.Usage, "--history: %w", err)
		}
		return strings.TrimSpace(string(text)), nil
	}
	return address, nil
}

// withHistory runs f on the history and prints what it returns.
func (p *program) withHistory(c *cli.Context, least, most int, f func(ctx context.Context, s *history.Store, args []string) (reports.Past, error)) error {
	args, err := cliargs.Args(c, least, most)
	if err != nil {
		return err
	}
	store, err := openHistory(c)
	if err != nil {
		return err
	}
	past, err := f(c.Context, store, args)
	if err = errors.Join(err, store.Close()); err != nil {
		return historyError(err)
	}
	return p.print(c, func(w io.Writer) error { return reports.HistoryJSON(w, past) },
		func(w io.Writer, s reports.Style) error { return reports.HistoryText(w, past, s) })
}

// historyError tells input from storage.
func historyError(err error) error {
	var given *cliargs.Error
	switch {
	case errors.As(err, &given):
		return err
	case errors.Is(err, history.ErrNotFound), errors.Is(err, history.ErrTransition), errors.Is(err, history.ErrNote):
		return cliargs.Errorf(cliargs.Usage, "%w", err)
	}
	return cliargs.Errorf(cliargs.Storage, "%w", err)
}

func (p *program) historyList(c *cli.Context) error {
	return p.withHistory(c, 0, 0, func(ctx context.Context, s *history.Store, _ []string) (reports.Past, error) {
		runs, err := s.Runs(ctx, history.Filter{Verb: c.String("verb"), Pattern: c.String("pattern"), Policy: c.String("policy"), Limit: c.Int("limit")})
		past := reports.Past{Runs: []reports.PastRun{}}
		for _, r := range runs {
			past.Runs = append(past.Runs, pastRun(r))
		}
		return past, err
	})
}

func (p *program) historyShow(c *cli.Context) error {
	return p.withHistory(c, 1, 1, func(ctx context.Context, s *history.Store, args []string) (reports.Past, error) {
		run, err := s.Get(ctx, args[0])
		return reports.Past{Runs: []reports.PastRun{pastRun(run)}}, err
	})
}

func pastRun(r history.Run) reports.PastRun {
	out := reports.PastRun{ID: r.ID, Began: r.Began, Verb: r.Verb, State: string(r.State), ExitCode: r.ExitCode, Version: r.Version, Commit: r.Commit,
		Host: r.Host, Seed: r.Seed, Command: r.Command, Dir: r.Dir}
	for _, c := range r.Cells {
		cell := reports.PastCell{Name: c.Name, Driver: c.Driver, Hash: c.Hash, Figures: []reports.PastFigure{}}
		for _, f := range c.Figures {
			cell.Figures = append(cell.Figures, reports.PastFigure{Name: f.Name, Unit: f.Unit, Value: f.Value, N: f.N})
		}
		out.Cells = append(out.Cells, cell)
	}
	return out
}

func (p *program) historyTrend(c *cli.Context) error {
	return p.withHistory(c, 2, 2, func(ctx context.Context, s *history.Store, args []string) (reports.Past, error) {
		values, err := s.Trend(ctx, args[0], args[1], c.Int("limit"))
		trend := &reports.PastTrend{Cell: args[0], Figure: args[1], Points: []reports.TrendPoint{}}
		for _, v := range values {
			trend.Unit = v.Unit
			trend.Points = append(trend.Points, reports.TrendPoint{Run: v.Run, Began: v.Began, Version: v.Version, State: string(v.State), Value: v.Value, N: v.N})
		}
		return reports.Past{Trend: trend}, err
	})
}

func (p *program) historyPin(c *cli.Context) error {
	return p.withHistory(c, 0, 2, func(ctx context.Context, s *history.Store, args []string) (reports.Past, error) {
		if err := setPin(ctx, c, s, args); err != nil {
			return reports.Past{}, err
		}
		pins, err := s.Pins(ctx)
		past := reports.Past{Pins: []reports.PastPin{}}
		for _, pin := range pins {
			past.Pins = append(past.Pins, reports.PastPin{Name: pin.Name, Side: pin.Side, At: pin.At, Note: pin.Note})
		}
		return past, err
	})
}

func setPin(ctx context.Context, c *cli.Context, s *history.Store, args []string) error {
	switch {
	case c.Bool("remove") && len(args) == 1:
		return s.Unpin(ctx, args[0])
	case len(args) == 2 && !c.Bool("remove"):
		return s.SetPin(ctx, history.Pin{Name: args[0], Side: args[1], Note: c.String("note"), At: time.Now().UTC()})
	case len(args) == 0 && !c.Bool("remove"):
		return nil
	}
	return cliargs.Errorf(cliargs.Usage, "write it as 'loadgen history pin SUITE SIDE', or 'loadgen history pin SUITE --remove'")
}

func (p *program) historyAck(c *cli.Context) error {
	return p.withHistory(c, 0, 1, func(ctx context.Context, s *history.Store, args []string) (reports.Past, error) {
		past := reports.Past{Alerts: []reports.PastAlert{}}
		if len(args) == 1 {
			state, err := alertState(c.String("state"))
			if err != nil {
				return past, err
			}
			alert, err := s.SetAlert(ctx, args[0], state, c.String("note"), time.Now())
			past.Alerts = append(past.Alerts, pastAlert(alert))
			return past, err
		}
		alerts, err := s.Alerts(ctx, c.Bool("all"))
		for _, a := range alerts {
			past.Alerts = append(past.Alerts, pastAlert(a))
		}
		return past, err
	})
}

func alertState(text string) (history.AlertState, error) {
	for _, s := range history.AlertStates() {
		if text == string(s) && s != history.New {
			return s, nil
		}
	}
	return "", cliargs.Errorf(cliargs.Usage, "--state %q: must be acknowledged, expected or fixed", text)
}

func pastAlert(a history.Alert) reports.PastAlert {
	return reports.PastAlert{ID: a.ID, Series: a.Series, At: a.At, Before: a.Before, After: a.After, PValue: a.PValue, From: a.From, To: a.To,
		State: string(a.State), Note: a.Note}
}

func (p *program) historyCheck(c *cli.Context) error {
	if _, err := cliargs.Args(c, 0, 0); err != nil {
		return err
	}
	store, err := openHistory(c)
	if err != nil {
		return err
	}
	if err := errors.Join(store.Check(c.Context), store.Close()); err != nil {
		return cliargs.Errorf(cliargs.Storage, "%w", err)
	}
	_, err = fmt.Fprintf(p.stdout, "history %s: whole\n", store.Name())
	return err
}
