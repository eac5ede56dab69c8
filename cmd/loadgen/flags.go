package main

import (
	"io"
	"os"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"coldwave/internal/cliargs"
	"coldwave/platform"
)

// patternSettings are the parts of a pattern that the command line can change.
var patternSettings = []struct{ name, usage string }{
	{"rate", "requests per second of a pattern that has a rate: 50/s, 6/m, 3/7s"},
	{"duration", "length of a pattern that has a rate: 30s, 2m"},
	{"requests", "number of requests of a pattern that has a rate"},
	{"gap", "time between two waves: 10s"},
}

func patternFlags() []cli.Flag {
	var flags []cli.Flag
	for _, s := range patternSettings {
		flags = append(flags, &cli.StringFlag{Name: s.name, Usage: s.usage, Category: "PATTERN"})
	}
	return flags
}

func lawFlag() cli.Flag {
	return &cli.StringFlag{Name: "cold-law", Value: "uniform", Category: "PLATFORM",
		Usage: "end-to-end length of a cold start: uniform (1.7-3 s), documented (the 18 values of the published table), " +
			"constant:2s, lognormal:median=2s,sigma=0.3, empirical:1s,2s"}
}

func lawProfile(c *cli.Context) (platform.Profile, error) {
	profile, err := platform.ProfileFor(c.String("cold-law"))
	if err != nil {
		return profile, cliargs.Errorf(cliargs.Usage, "--cold-law: %w", err)
	}
	return profile, nil
}

func seedFlag() cli.Flag {
	return &cli.Uint64Flag{Name: "seed", Value: 1, Usage: "root of all random streams: the same seed gives the same schedule and start-ups"}
}

func colorFlag() cli.Flag {
	return &cli.StringFlag{Name: "color", Value: "auto", Usage: "auto, always or never", Category: "OUTPUT"}
}

func outputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "runs", Usage: "`DIR` in which the run directory is made", Category: "OUTPUT"},
		&cli.BoolFlag{Name: "json", Usage: "one JSON document on stdout instead of text", Category: "OUTPUT"},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "no progress", Category: "OUTPUT"},
		&cli.StringFlag{Name: "progress", Value: "auto", Usage: "auto, plain or none", Category: "OUTPUT"},
		colorFlag(),
	}
}

// isTerminal says whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width is the number of columns to print to: the terminal's, within reason, or 120.
func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			return min(max(columns, 80), 160)
		}
	}
	return 120
}

// colored decides by --color, the environment and the terminal, in this order.
func colored(c *cli.Context, w io.Writer) (bool, error) {
	switch choice := c.String("color"); choice {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto":
		switch {
		case os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb":
			return false, nil
		case os.Getenv("CLICOLOR_FORCE") != "":
			return true, nil
		}
		return isTerminal(w), nil
	default:
		return false, cliargs.Errorf(cliargs.Usage, "--color %q: must be auto, always or never", choice)
	}
}

// newDisplay decides how progress is shown: on a terminal repainted, elsewhere plain, and not at all when asked.
func (p *program) newDisplay(c *cli.Context) (*display, error) {
	d := &display{out: p.stderr, tty: isTerminal(p.stderr), quiet: c.Bool("quiet")}
	switch choice := c.String("progress"); choice {
	case "auto":
	case "plain":
		d.tty = false
	case "none":
		d.quiet = true
	default:
		return nil, cliargs.Errorf(cliargs.Usage, "--progress %q: must be auto, plain or none", choice)
	}
	return d, nil
}
