// Command gateway is the project's own scaler and queue as a server: requests come in on the data port, a policy decides
// which instance serves them and when instances are started and stopped, and the admin port tells what it did.
package main

import (
	"context"
	"os"
)

func main() { os.Exit(run(context.Background(), os.Args, os.Stdout, os.Stderr)) }
