package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"coldwave/bundle"
	"coldwave/experiment"
	"coldwave/internal/cliargs"
	"coldwave/reports"
)

// keptSession is the directory of a comparison while it grows: each run has a folder as soon as it has ended. The
// directory is made when there is something to keep.
type keptSession struct {
	parent string // empty: nothing is kept
	writer *bundle.Writer
	meta   reports.Meta
	runs   int
}

// keepSession lets the session fill a directory: on the wire always, in virtual time where --out asks for it.
func keepSession(c *cli.Context, s *experiment.Session, meta reports.Meta) *keptSession {
	k := &keptSession{meta: meta}
	if !s.Virtual || c.IsSet("out") {
		k.parent = c.String("out")
	}
	if k.parent != "" {
		s.Keep = func(run experiment.Played) error { return k.keep(s, run) }
	}
	return k
}

func (k *keptSession) open(id string) error {
	if k.writer != nil {
		return nil
	}
	var err error
	if k.writer, err = bundle.Create(k.parent, id); err != nil {
		return cliargs.Errorf(cliargs.Storage, "%w", err)
	}
	return nil
}

// keep writes one run. A run for which nothing was sent leaves nothing.
func (k *keptSession) keep(s *experiment.Session, played experiment.Played) error {
	if played.Run.Schedule == nil {
		return nil
	}
	if err := k.open(s.ID); err != nil {
		return err
	}
	k.runs++
	folder := fmt.Sprintf("%d-%s-%s/", k.runs, fileName(played.Run.ID), fileName(s.Sides[played.Side].Name))
	one := reports.Single{Meta: k.meta, Run: played.Run}
	for _, f := range bundle.Within(folder, bundle.RunFiles(one, recordsOf(&one.Run))) {
		if err := k.writer.Put(f.Name, f.Write); err != nil {
			return cliargs.Errorf(cliargs.Storage, "%w", err)
		}
	}
	return nil
}

// finish writes the comparison, closes the directory and returns the path of the report; empty: nothing is kept.
func (k *keptSession) finish(out reports.RunComparison) (string, error) {
	if k.parent == "" {
		return "", nil
	}
	if err := k.open(out.ID); err != nil {
		return "", err
	}
	d := comparison(out)
	files := []bundle.File{{Name: "compare.json", Write: d.json}, {Name: "report.html", Write: d.html}, {Name: "report.md", Write: d.md}}
	return k.writer.File("report.html"), keep(k.writer, files)
}
