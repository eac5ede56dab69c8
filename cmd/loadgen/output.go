package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/analysis"
	"coldwave/bundle"
	"coldwave/internal/cliargs"
	"coldwave/internal/hdr"
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

// file is one file of a run directory.
type file struct {
	name  string
	write func(io.Writer) error
}

// keep writes all files and closes the directory. Files that could be written are kept also when others could not.
func keep(w *bundle.Writer, files []file) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, w.Put(f.name, f.write))
	}
	if err := errors.Join(append(errs, w.Close())...); err != nil {
		return cliargs.Errorf(cliargs.Storage, "%w", err)
	}
	return nil
}

// runFiles are the files that every run has: all requests, and the histograms by start kind.
func runFiles(run *analysis.Run, meta reports.Meta, dir string) []file {
	return []file{
		{dir + "instances.csv", func(w io.Writer) error { return reports.InstancesCSV(w, run.Instances) }},
		{dir + "requests.csv", func(w io.Writer) error { return record.WriteCSV(w, slices.Values(run.Records)) }},
		{dir + "latency.hlog", func(w io.Writer) error { return writeLog(w, run, meta) }},
		{dir + "waves.hlog", func(w io.Writer) error { return writeWaveLog(w, run, meta) }},
		{dir + "latency.hgrm", func(w io.Writer) error { return writeHgrm(w, run) }},
	}
}

// writeLog writes the response times of the successful requests, tagged by start kind, at the instant of their answers.
func writeLog(w io.Writer, run *analysis.Run, meta reports.Meta) error {
	var samples []hdr.Sample
	for i := range run.Records {
		if r := &run.Records[i]; r.Outcome == record.OK {
			samples = append(samples, hdr.Sample{At: time.Duration(r.Done), Tag: r.Server.Start.String(), Value: r.Response()})
		}
	}
	return hdr.WriteLog(w, logHead(run, meta), samples)
}

// writeWaveLog writes the same response times at the instant of their intended starts, tagged by wave, in windows of
// 10 s: the buckets of the documented figures.
func writeWaveLog(w io.Writer, run *analysis.Run, meta reports.Meta) error {
	var samples []hdr.Sample
	for i := range run.Records {
		if r := &run.Records[i]; r.Outcome == record.OK {
			tag := "no-wave"
			if r.Wave >= 0 {
				tag = fmt.Sprintf("wave-%d", r.Wave)
			}
			samples = append(samples, hdr.Sample{At: time.Duration(r.Intended), Tag: tag, Value: r.Response()})
		}
	}
	head := logHead(run, meta)
	head.Interval = analysis.DefaultWindow
	return hdr.WriteLog(w, head, samples)
}

func logHead(run *analysis.Run, meta reports.Meta) hdr.Head {
	return hdr.Head{
		Comment: fmt.Sprintf("coldwave %s run=%s pattern=%s policy=%s", meta.Version, run.ID, run.Pattern, run.Policy), Start: run.Epoch,
	}
}

func writeHgrm(w io.Writer, run *analysis.Run) error {
	longest := hdr.MinLimit
	for i := range run.Records {
		longest = max(longest, run.Records[i].Response())
	}
	h := hdr.New(longest)
	for i := range run.Records {
		if r := &run.Records[i]; r.Outcome == record.OK {
			if err := h.Record(r.Response()); err != nil {
				return err
			}
		}
	}
	return hdr.WriteHgrm(w, h)
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
