package cliargs

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// Reorder puts the flags of a command line before its arguments, because the library stops reading flags at the first
// argument and would take the rest as arguments without a word. Everything after "--" stays an argument. args[0] is the
// program's name.
func Reorder(app *cli.App, args []string) []string {
	if len(args) == 0 {
		return args
	}
	out := args[:1:1]
	flags, verbs, rest := app.Flags, app.Commands, args[1:]
	for {
		head, verb, tail := splitAtVerb(flags, verbs, rest)
		if verb == nil {
			return append(out, flagsFirst(flags, rest)...)
		}
		out = append(append(out, head...), verb.Name)
		flags, verbs, rest = verb.Flags, verb.Subcommands, tail
	}
}

// splitAtVerb finds the first argument, if it is a verb: what stands before it, the verb, and what follows.
func splitAtVerb(flags []cli.Flag, verbs []*cli.Command, args []string) ([]string, *cli.Command, []string) {
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return nil, nil, nil
		}
		if isFlag(args[i]) {
			i += valuesOf(flags, args[i])
			continue
		}
		for _, v := range verbs {
			if v.HasName(args[i]) {
				return args[:i], v, args[i+1:]
			}
		}
		return nil, nil, nil
	}
	return nil, nil, nil
}

func flagsFirst(flags []cli.Flag, args []string) []string {
	var before, after []string
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--":
			return join(before, append(after, args[i+1:]...))
		case !isFlag(args[i]):
			after = append(after, args[i])
		default:
			end := min(i+valuesOf(flags, args[i]), len(args)-1)
			before = append(before, args[i:end+1]...)
			i = end
		}
	}
	return join(before, after)
}

// join separates the two only where it matters: an argument that looks like a flag must not be read as one.
func join(flags, args []string) []string {
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			return append(append(flags, "--"), args...)
		}
	}
	return append(flags, args...)
}

func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// valuesOf returns how many of the following words belong to the flag: 1 if it takes a value that is not in the same
// word. An unknown flag takes none: the library will refuse it.
func valuesOf(flags []cli.Flag, arg string) int {
	name, _, inline := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	if inline {
		return 0
	}
	for _, f := range flags {
		for _, n := range f.Names() {
			if n != name {
				continue
			}
			if d, ok := f.(cli.DocGenerationFlag); ok && d.TakesValue() {
				return 1
			}
			return 0
		}
	}
	return 0
}
