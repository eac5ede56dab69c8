package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/urfave/cli/v2"

	"coldwave/internal/cliargs"
)

// program is what the verbs share: where results and messages go.
type program struct {
	stdout io.Writer // results only
	stderr io.Writer // progress and messages
}

// newApp is the table of verbs, in the order in which a newcomer meets them.
func newApp(stdout, stderr io.Writer) *cli.App {
	p := &program{stdout: stdout, stderr: stderr}
	return &cli.App{
		Name:      "loadgen",
		Usage:     "replay documented arrival patterns against serverless schedulers and check the latencies",
		UsageText: "loadgen VERB [ARGUMENTS] [FLAGS]",
		Description: "First steps:\n" +
			"  loadgen verify                                       documented beside measured, about 70 s\n" +
			"  loadgen plan fc-ramp                                 look at a pattern without sending it\n" +
			"  loadgen run --pattern fc-burst --policy fc-race      one run on the bundled stack\n" +
			"  loadgen run --pattern fc-burst --target http://127.0.0.1:8080/\n" +
			"  loadgen simulate --pattern fc-ramp --policy fc-race --seeds 1000          in virtual time\n" +
			"  loadgen compare policy:fc-bound policy:fc-race --pattern fc-burst --virtual\n" +
			"  loadgen sweep --pattern fc-burst --policy cloudrun --param concurrency_target=0.3..0.9:0.1\n\n" +
			"Exit codes: 0 fine, 1 a claim failed, 2 usage or input (nothing was sent), 4 the run is invalid,\n" +
			"5 storage, 6 partial, 7 refused for safety, 70 bug, 130/143 interrupted (results kept).",
		HideVersion: true,
		Suggest:     true,
		Writer:      stdout,
		ErrWriter:   stderr,
		Commands: []*cli.Command{
			p.verifyVerb(), p.runVerb(), p.simulateVerb(), p.compareVerb(), p.sweepVerb(), p.planVerb(), p.patternsVerb(), p.policiesVerb(), p.claimsVerb(),
			p.historyVerb(), p.calibrateVerb(), p.checkVerb(), p.recoverVerb(), p.schemaVerb(), p.versionVerb(),
		},
	}
}

func (p *program) versionVerb() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version",
		Action: func(c *cli.Context) error {
			if _, err := cliargs.Args(c, 0, 0); err != nil {
				return err
			}
			_, err := fmt.Fprintf(p.stdout, "loadgen %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
