// Loadgen replays documented arrival patterns against serverless schedulers and checks the measured latencies against
// the documented ones.
package main

import (
	"context"
	"io"
	"os"

	"coldwave/internal/cliargs"
)

// version and commit are set by the build.
var (
	version = "devel"
	commit  = ""
)

func main() { os.Exit(run(context.Background(), os.Args, os.Stdout, os.Stderr)) }

// run is the whole program: it returns the exit code and touches no global state.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	ctx, stop := interruptible(ctx)
	defer stop()
	return cliargs.Run(ctx, newApp(stdout, stderr), args, stderr)
}
