// Package cliargs is what the command lines of all binaries have in common: flags after arguments work, a wrong command
// line gives one line on stderr, and every error ends in a documented exit code.
package cliargs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"coldwave/internal/spell"
)

// The exit codes, the same for every verb of every binary.
const (
	OK           = 0
	GateFailed   = 1 // a claim, threshold or regression gate failed
	Usage        = 2 // usage or input; nothing was sent
	Inconclusive = 3 // only when asked to fail on it
	Invalid      = 4 // the run is invalid: generator late, accounting mismatch, target unreachable, host too busy
	Storage      = 5 // storage failed, or data are damaged
	Partial      = 6 // a part of the results is missing
	Refused      = 7 // refused for safety
	Bug          = 70
	Interrupted  = 130
	Terminated   = 143
)

// Error is an error with its exit code. It is one line: what, where, what to do.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ExitCode returns the code that the process ends with.
func (e *Error) ExitCode() int { return e.Code }

// Errorf returns an Error of that code.
func Errorf(code int, format string, args ...any) error {
	return &Error{Code: code, Err: fmt.Errorf(format, args...)}
}

// Code returns the exit code that belongs to err: that of the first error in its tree which has one, else Usage.
func Code(err error) int {
	var coder interface{ ExitCode() int }
	switch {
	case err == nil:
		return OK
	case errors.As(err, &coder):
		return coder.ExitCode()
	default:
		return Usage
	}
}

// Run runs the app on args (args[0] is the program's name), prints an error as one line on stderr, and returns the exit
// code. An error in a text that was given has a Detail: that text, with a caret below the place, on lines of their own.
func Run(ctx context.Context, app *cli.App, args []string, stderr io.Writer) int {
	prepare(app)
	err := app.RunContext(ctx, Reorder(app, args))
	if err == nil {
		return OK
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(stderr, "error: %s\n", OneLine(text))
	}
	var placed interface{ Detail() string }
	if errors.As(err, &placed) {
		for line := range strings.SplitSeq(placed.Detail(), "\n") {
			fmt.Fprintf(stderr, "  %s\n", OneLine(line))
		}
	}
	return Code(err)
}

// OneLine folds line breaks, so that an error stays one line whatever a library put into it, and shows other control
// characters escaped.
func OneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}

// prepare makes the library return every usage error instead of printing the whole help.
func prepare(app *cli.App) {
	app.ExitErrHandler = func(*cli.Context, error) {}
	app.DisableSliceFlagSeparator = true // header values hold commas
	app.HideHelpCommand = true
	app.OnUsageError = usageError
	if len(app.Commands) > 0 && app.Action == nil {
		app.Action = unknownVerb
	}
	for _, c := range app.Commands {
		prepareCommand(c)
	}
}

func prepareCommand(c *cli.Command) {
	c.OnUsageError = usageError
	c.HideHelpCommand = true
	if len(c.Subcommands) > 0 && c.Action == nil {
		c.Action = unknownSubverb
	}
	for _, s := range c.Subcommands {
		prepareCommand(s)
	}
}

func usageError(c *cli.Context, err error, _ bool) error {
	text := strings.Replace(err.Error(), "flag provided but not defined: -", "unknown flag --", 1)
	if flag, found := strings.CutPrefix(text, "unknown flag --"); found {
		text = "unknown flag --" + strings.TrimLeft(flag, "-") + spell.Hint(strings.TrimLeft(flag, "-"), flagNames(c))
	}
	return Errorf(Usage, "%s; run '%s --help'", text, c.App.Name+verbOf(c))
}

func verbOf(c *cli.Context) string {
	if c.Command == nil || c.Command.Name == "" || c.Command.Name == c.App.Name {
		return ""
	}
	if inner, found := strings.CutPrefix(c.Command.HelpName, c.App.Name+" "); found { // with the verb above it
		return " " + inner
	}
	return " " + c.Command.Name
}

func flagNames(c *cli.Context) []string {
	var names []string
	flags := c.App.Flags
	if c.Command != nil {
		flags = append(flags[:len(flags):len(flags)], c.Command.Flags...)
	}
	for _, f := range flags {
		names = append(names, f.Names()...)
	}
	return names
}

func unknownVerb(c *cli.Context) error {
	if !c.Args().Present() {
		return cli.ShowAppHelp(c)
	}
	var names []string
	for _, v := range c.App.VisibleCommands() {
		names = append(names, v.Name)
	}
	verb := c.Args().First()
	return Errorf(Usage, "unknown verb %q%s; run '%s --help'", verb, spell.Hint(verb, names), c.App.Name)
}

// unknownSubverb is what a verb does that has others below it: it needs one of them.
func unknownSubverb(c *cli.Context) error {
	var names []string
	for _, v := range c.Command.Subcommands {
		names = append(names, v.Name)
	}
	call := c.App.Name + verbOf(c)
	if !c.Args().Present() {
		return Errorf(Usage, "%s needs one of %s; run '%s --help'", c.Command.Name, strings.Join(names, ", "), call)
	}
	verb := c.Args().First()
	return Errorf(Usage, "unknown verb %[1]q of %[3]s%[2]s; run '%[4]s --help'", verb, spell.Hint(verb, names), c.Command.Name, call)
}

// Args checks the number of arguments and that none of them looks like a flag.
func Args(c *cli.Context, least, most int) ([]string, error) {
	args := c.Args().Slice()
	for _, a := range args {
		if strings.HasPrefix(a, "-") && a != "-" {
			return nil, Errorf(Usage, "argument %q looks like a flag; run '%s --help'", a, c.App.Name+verbOf(c))
		}
	}
	if len(args) < least || len(args) > most {
		return nil, Errorf(Usage, "%s takes %s, got %d; usage: %s %s", c.Command.Name, countText(least, most), len(args),
			c.App.Name+verbOf(c), c.Command.ArgsUsage)
	}
	return args, nil
}

func countText(least, most int) string {
	switch {
	case most == 0:
		return "no arguments"
	case least == most && most == 1:
		return "1 argument"
	case least == most:
		return fmt.Sprintf("%d arguments", most)
	default:
		return fmt.Sprintf("%d to %d arguments", least, most)
	}
}
