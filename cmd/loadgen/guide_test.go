package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"coldwave/internal/cliargs"
)

// quoted is a command in a block of the documentation.
var quoted = regexp.MustCompile(`(?m)^ {4}bin/loadgen (.+)$`)

// TestGuideCommands runs each command of the scheduler author's page that writes nothing and needs no socket, and has the
// flags of the others read. The page's own policy stands in no table, so fc-bound takes its place.
func TestGuideCommands(t *testing.T) {
	page, err := os.ReadFile("../../docs/WRITE_A_POLICY.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := quoted.FindAllStringSubmatch(string(page), -1)
	if len(commands) < 5 {
		t.Fatalf("the page quotes %d commands, want at least 5", len(commands))
	}
	for _, m := range commands {
		t.Run(m[1], func(t *testing.T) {
			if code, out := tryCommand(t, m[1]); code != 0 {
				t.Errorf("loadgen %s ended with %d, want 0:\n%s", m[1], code, out)
			}
		})
	}
}

// TestGuideCommandsAreRead plants commands as a page could misquote them.
func TestGuideCommandsAreRead(t *testing.T) {
	for _, command := range []string{
		"simulate --pattern fc-burst --polcy mine", "simulate --pattern fc-gust --policy mine",
		"compare policy:fc-race --pattern fc-burst --virtual", "verify --after mine --swift", "verfy --quick",
	} {
		if code, out := tryCommand(t, command); code != cliargs.Usage {
			t.Errorf("loadgen %s ended with %d, want %d:\n%s", command, code, cliargs.Usage, out)
		}
	}
}

// tryCommand runs a command, or asks for its help if it would keep a report or replay on the wire.
func tryCommand(t *testing.T, command string) (int, string) {
	t.Helper()
	args := strings.Fields(regexp.MustCompile(`\bmine\b`).ReplaceAllString(command, "fc-bound"))
	if args[0] == "verify" {
		args = append(args, "--help")
	}
	var out bytes.Buffer
	code := run(t.Context(), append([]string{"loadgen"}, args...), &out, &out)
	return code, out.String()
}
