package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"

	"github.com/urfave/cli/v2"

	"coldwave/internal/cliargs"
)

// version and commit are set by the linker.
var version, commit = "devel", ""

// program is what a run is given.
type program struct {
	stderr  io.Writer
	signals <-chan os.Signal // the first one drains, the second one ends at once
}

// run is the whole program: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	return (&program{stderr: stderr, signals: signals}).run(ctx, args, stdout)
}

func (p *program) run(ctx context.Context, args []string, stdout io.Writer) int {
	app := &cli.App{
		Name:        "gateway",
		Usage:       "scale and queue requests for a fleet of fake workers, or for HTTP servers of your own",
		UsageText:   "gateway [flags]\ngateway health [flags]",
		Description: description,
		Version:     versionText(),
		Writer:      stdout, ErrWriter: p.stderr,
		Flags:  flags(),
		Action: p.serve,
		Commands: []*cli.Command{{
			Name: "health", Usage: "ask the gateway on --listen how it is: exit 0 or 1",
			Flags: []cli.Flag{listenFlag()}, Action: p.health,
		}},
	}
	return cliargs.Run(ctx, app, args, p.stderr)
}

func versionText() string {
	text := version
	if commit != "" {
		text += " (" + commit + ")"
	}
	return fmt.Sprintf("%s %s %s/%s", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

const description = `gateway                                                     fc-race before fake workers in this process
   gateway --policy fc-bound --fleet exec --max 10             each worker a process of its own
   gateway --static-worker api=http://127.0.0.1:9000           before an HTTP server of your own

   Data port   /fn/<name>/…   the function of that name; / is the only one, if there is one
               /healthz       200 while it serves
   Admin port  /stats /instances /decisions?n=100 /scale /metrics /healthz, GET only

   SIGTERM takes no new connection, finishes what waits and runs for at most --drain, stops the instances and ends; a
   second one ends at once. Exit codes: 0 fine, 1 not healthy (health), 2 usage or port in use, 7 refused for safety,
   70 an illegal decision of the policy, 130 or 143 ended by a second signal.`

// The flags, by category.
const (
	catPorts  = "Ports"
	catPolicy = "Scheduling"
	catFleet  = "Instances"
	catLimits = "Limits"
)

func listenFlag() cli.Flag {
	return &cli.StringFlag{Name: "listen", Value: "127.0.0.1:8080", Usage: "address of the data port", Category: catPorts}
}

func flags() []cli.Flag {
	return append([]cli.Flag{
		listenFlag(),
		&cli.StringFlag{Name: "admin", Value: "127.0.0.1:8081", Usage: "address of the admin port, or none", Category: catPorts},
		&cli.StringFlag{Name: "admin-token-file", Usage: "file with the token that the admin port asks for; needed outside loopback", Category: catPorts},

		&cli.StringFlag{Name: "policy", Value: "fc-race", Usage: "policy, as NAME or NAME:key=value,…", Category: catPolicy},
		&cli.StringFlag{Name: "function", Usage: "name of the function that the fleet serves (default: that of the profile)", Category: catPolicy},
		&cli.IntFlag{Name: "max", Usage: "instances alive at once; 0: no limit", Category: catPolicy},
		&cli.IntFlag{Name: "min", Usage: "instances kept without traffic", Category: catPolicy},
		&cli.DurationFlag{Name: "handover", Usage: "from the end of an answer until its slot is free", Category: catPolicy},

		&cli.StringFlag{Name: "fleet", Value: "inprocess", Usage: "inprocess: servers in this process; exec: processes", Category: catFleet},
		&cli.StringFlag{Name: "worker-bin", Usage: "program of a worker, for --fleet exec (default: fakeworker beside this one or on PATH)", Category: catFleet},
		&cli.StringFlag{Name: "cold-law", Value: "uniform", Usage: "law of the cold start, such as uniform, documented, constant:2350ms", Category: catFleet},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "root of all random draws", Category: catFleet},
		&cli.StringSliceFlag{Name: "static-worker", Usage: "NAME=http://HOST:PORT, an HTTP server that is always ready; repeatable", Category: catFleet},
		&cli.IntFlag{Name: "static-concurrency", Value: 100, Usage: "requests in flight on one static worker", Category: catFleet},
		&cli.StringSliceFlag{Name: "allow", Usage: "HOST:PORT of a static worker outside loopback that may be used; repeatable", Category: catFleet},

		&cli.DurationFlag{Name: "drain", Value: defaultDrain, Usage: "what waits and runs may take so long after SIGTERM", Category: catLimits},
		&cli.IntFlag{Name: "queue", Usage: "requests of one function that wait; 0: 10 for each slot, at most 1000", Category: catLimits},
		&cli.Int64Flag{Name: "max-body", Value: 1 << 20, Usage: "bytes of a request's body", Category: catLimits},
		&cli.Int64Flag{Name: "max-held", Value: 64 << 20, Usage: "bytes of bodies and answers held at once", Category: catLimits},
		&cli.IntFlag{Name: "max-connections", Value: 10_000, Usage: "connections on the data port", Category: catLimits},
		&cli.StringFlag{Name: "log-level", Value: slog.LevelWarn.String(), Usage: "debug, info, warn or error; on stderr", Category: catLimits},
	}, slices.Concat(cliargs.NodeFlags(catFleet), cliargs.InstanceFlags(catFleet), []cli.Flag{cliargs.CPUModeFlag(catFleet)})...)
}
