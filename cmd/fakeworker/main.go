// Command fakeworker is one fake worker, or a host of them.
//
// It reads $PORT, so it deploys anywhere as a container. 'fakeworker fleet' starts and stops workers on request over
// HTTP, and 'fakeworker health' asks a running one how it is.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args, os.Getenv, os.Stdin, os.Stdout, os.Stderr))
}
