package cliargs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"
)

type seen struct {
	verb, rate string
	json       bool
	headers    []string
	args       []string
}

func testApp(got *seen) *cli.App {
	action := func(c *cli.Context) error {
		args, err := Args(c, 0, 2)
		*got = seen{c.Command.Name, c.String("rate"), c.Bool("json"), c.StringSlice("header"), args}
		return err
	}
	flags := []cli.Flag{
		&cli.StringFlag{Name: "rate", Aliases: []string{"r"}},
		&cli.BoolFlag{Name: "json"},
		&cli.StringSliceFlag{Name: "header"},
	}
	return &cli.App{Name: "tool", Flags: []cli.Flag{&cli.StringFlag{Name: "config"}}, Writer: &bytes.Buffer{},
		Commands: []*cli.Command{
			{Name: "run", Flags: flags, Action: action},
			{Name: "fail", Action: func(*cli.Context) error { return Errorf(Refused, "no: %w", errors.ErrUnsupported) }},
			{Name: "history", Subcommands: []*cli.Command{{Name: "list", Flags: flags, Action: action}}},
		}}
}

func TestFlagsMayFollowArguments(t *testing.T) {
	for _, c := range []struct {
		line string
		want seen
	}{
		{"run a.yaml --rate 5", seen{"run", "5", false, nil, []string{"a.yaml"}}},
		{"run --rate 5 a.yaml", seen{"run", "5", false, nil, []string{"a.yaml"}}},
		{"run a --json b -r=7", seen{"run", "7", true, nil, []string{"a", "b"}}},
		{"--config f run a --json", seen{"run", "", true, nil, []string{"a"}}},
		{"run a --header X:1,2 --header Y:3", seen{"run", "", false, []string{"X:1,2", "Y:3"}, []string{"a"}}},
		{"run - --rate 5", seen{"run", "5", false, nil, []string{"-"}}},
		{"history list x --rate 2", seen{"list", "2", false, nil, []string{"x"}}},
	} {
		var got seen
		var stderr bytes.Buffer
		if code := Run(context.Background(), testApp(&got), append([]string{"tool"}, strings.Fields(c.line)...), &stderr); code != OK {
			t.Errorf("tool %s: exit %d, %s", c.line, code, stderr.String())
		}
		if d := cmp.Diff(c.want, got, cmp.AllowUnexported(seen{})); d != "" {
			t.Errorf("tool %s (-want +got):\n%s", c.line, d)
		}
	}
}

func TestWrongCommandLinesGiveOneLine(t *testing.T) {
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"run --ratee 5", Usage, `error: unknown flag --ratee, did you mean "rate"?; run 'tool run --help'`},
		{"run a --nonsense", Usage, `error: unknown flag --nonsense; run 'tool run --help'`},
		{"run a b c", Usage, `error: run takes 0 to 2 arguments, got 3; usage: tool run `},
		{"run -- --rate", Usage, `error: argument "--rate" looks like a flag; run 'tool run --help'`},
		{"run --rate", Usage, `error: flag needs an argument: -rate; run 'tool run --help'`},
		{"rnu", Usage, `error: unknown verb "rnu", did you mean "run"?; run 'tool --help'`},
		{"fail", Refused, `error: no: unsupported operation`},
	} {
		var got seen
		var stderr bytes.Buffer
		code := Run(context.Background(), testApp(&got), append([]string{"tool"}, strings.Fields(c.line)...), &stderr)
		if text := strings.TrimSuffix(stderr.String(), "\n"); code != c.code || text != c.want {
			t.Errorf("tool %s: exit %d %q, want %d %q", c.line, code, text, c.code, c.want)
		}
	}
}

func TestCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, OK},
		{errors.New("plain"), Usage},
		{fmt.Errorf("wrapped: %w", Errorf(Invalid, "busy")), Invalid},
	} {
		if got := Code(c.err); got != c.want {
			t.Errorf("Code(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{"a\nb\r\nc": "a; b; c", "\x1b[31mred": "?[31mred", "plain": "plain"} {
		if got := OneLine(in); got != want {
			t.Errorf("OneLine(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzReorder(f *testing.F) {
	f.Add("run a --rate 5 -- -x")
	f.Fuzz(func(t *testing.T, line string) {
		args := append([]string{"tool"}, strings.Fields(line)...)
		var got seen
		out := Reorder(testApp(&got), args)
		count := func(words []string) map[string]int {
			m := map[string]int{}
			for _, w := range words {
				m[w]++
			}
			delete(m, "--")
			return m
		}
		if d := cmp.Diff(count(args), count(out)); d != "" {
			t.Errorf("Reorder(%q) = %q changed the words (-in +out):\n%s", args, out, d)
		}
	})
}

type misspelled struct{}

func (misspelled) Error() string { return "column 3: no such word" }

func (misspelled) Detail() string { return "a b\x1b c\n  ^" }

// An error in a text shows its place below the one line, and no control characters.
func TestDetailFollowsTheLine(t *testing.T) {
	app := &cli.App{Name: "tool", Writer: &bytes.Buffer{}, Action: func(*cli.Context) error {
		return Errorf(Usage, "--limit: %w", misspelled{})
	}}
	var stderr bytes.Buffer
	code := Run(context.Background(), app, []string{"tool"}, &stderr)
	if want := "error: --limit: column 3: no such word\n  a b? c\n    ^\n"; code != Usage || stderr.String() != want {
		t.Errorf("exit %d, stderr %q, want %d, %q", code, stderr.String(), Usage, want)
	}
}
