package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/internal/cliargs"
	"coldwave/reports"
)

// newMeta describes this program and this call.
func newMeta(c *cli.Context, seed uint64) reports.Meta {
	return reports.Meta{
		Tool: "loadgen", Version: version, Commit: commit, Go: runtime.Version(), OS: platformName(),
		CPUs: runtime.GOMAXPROCS(0), Began: time.Now().UTC(), Command: commandLine(c), Seed: seed,
	}
}

// platformName is the system and the processor, with the kernel's release where the system tells it.
func platformName() string {
	name := runtime.GOOS + "/" + runtime.GOARCH
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		name += ", kernel " + strings.TrimSpace(string(release))
	}
	return name
}

// commandLine is the verb with the flags that were set. Values that may be secret are not shown.
func commandLine(c *cli.Context) string {
	words := []string{"loadgen", c.Command.Name}
	words = append(words, c.Args().Slice()...)
	for _, name := range c.LocalFlagNames() {
		if !primary(c.Command, name) {
			continue
		}
		value := fmt.Sprint(c.Value(name))
		if s, ok := c.Value(name).(cli.StringSlice); ok {
			value = strings.Join(s.Value(), ",")
		}
		if slices.Contains(secretFlags, name) {
			value = "REDACTED"
		}
		words = append(words, "--"+name+"="+value)
	}
	return strings.Join(words, " ")
}

// primary says whether name is a flag's own name and no short form of it.
func primary(verb *cli.Command, name string) bool {
	for _, f := range verb.Flags {
		if f.Names()[0] == name {
			return true
		}
	}
	return false
}

// secretFlags are the flags whose values stay out of every record: a header may hold credentials, a URL user and
// password.
var secretFlags = []string{"header", "target", "gateway", "admin"}

// print writes a result to stdout, as JSON or as text.
func (p *program) print(c *cli.Context, asJSON func(io.Writer) error, asText func(io.Writer, reports.Style) error) error {
	var err error
	if c.Bool("json") {
		err = asJSON(p.stdout)
	} else {
		var color bool
		if color, err = colored(c, p.stdout); err != nil {
			return err
		}
		err = asText(p.stdout, reports.Style{Width: width(p.stdout), Color: color, Unicode: isTerminal(p.stdout)})
	}
	if err != nil {
		return cliargs.Errorf(cliargs.Storage, "write to stdout: %w", err)
	}
	return nil
}

// fileName makes a name of a cell safe as a name of a folder.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_':
			return r
		}
		return '-'
	}, name)
}
