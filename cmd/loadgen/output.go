package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/analysis"
	"coldwave/bundle"
	"coldwave/internal/cliargs"
	"coldwave/record"
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

// keep writes all files and finishes the directory. Files that could be written stay also when others could not.
func keep(w *bundle.Writer, files []bundle.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, w.Put(f.Name, f.Write))
	}
	if err := errors.Join(append(errs, w.Close())...); err != nil {
		return cliargs.Errorf(cliargs.Storage, "%w", err)
	}
	return nil
}

// recordsOf yields the records that a run holds.
func recordsOf(run *analysis.Run) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for i := range run.Records {
			if !yield(run.Records[i], nil) {
				return
			}
		}
	}
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
