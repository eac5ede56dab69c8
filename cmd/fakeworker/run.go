package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/urfave/cli/v2"

	"coldwave/internal/cliargs"
)

// failed is the exit code of a drain that had to cut requests, and of a health check that failed.
const failed = 1

// program is what a run is given.
type program struct {
	env    func(string) string
	stdout io.Writer
	stderr io.Writer
}

// run is the whole program. It reads nothing from stdin.
func run(ctx context.Context, args []string, env func(string) string, _ io.Reader, stdout, stderr io.Writer) int {
	p := &program{env: env, stdout: stdout, stderr: stderr}
	app := &cli.App{
		Name:        "fakeworker",
		Usage:       "one fake worker of a serverless platform, or a host of them",
		UsageText:   "fakeworker [flags]\nfakeworker fleet [flags]\nfakeworker health [flags]",
		Description: description,
		Version:     versionText(),
		Writer:      stdout, ErrWriter: stderr,
		Flags:  append(addressFlags("8080"), workerFlags()...),
		Action: p.worker,
		Commands: []*cli.Command{
			{
				Name: "fleet", Usage: "serve an HTTP API that starts and stops workers",
				Description: fleetDescription,
				Flags:       append(addressFlags("8090"), fleetFlags()...), Action: p.fleet,
			},
			{
				Name: "health", Usage: "ask the worker on --host and --port how it is: exit 0 or 1",
				Flags: addressFlags("8080"), Action: p.health,
			},
		},
	}
	return cliargs.Run(ctx, app, args, stderr)
}

const description = `Prints "listening HOST:PORT" when it is ready, after its cold start.

   fakeworker                                             a worker on 127.0.0.1:8080 that takes 100 ms
   PORT=9000 fakeworker --cold-start 1.7s-3s              as a platform starts it
   fakeworker --service 20ms --concurrency 10 --log w.log

   /            takes --service, or the exec of X-Coldwave-Demand
   /sleep/<ms>  takes that long, at most ten minutes
   /echo        answers with length and SHA-256 of the body, at most 1 MiB
   /healthz     answers at once

   SIGTERM takes no new request and ends with the last answer; a second one ends at once.
   Exit codes: 0 fine, 1 the drain limit passed, 2 usage or port in use, 5 the log could not be written.`

const fleetDescription = `POST   /workers {"id", "function", "cold_start", "service", "concurrency"}
          201 with id and address when the worker can serve; ?wait=false answers 202 at once
   GET    /workers, /workers/{id}
   DELETE /workers/{id}?drain=10s

   fakeworker fleet --cold-start 1.7s-3s --service 100ms --concurrency 1 --log workers.log --max 100
   curl -X POST -d '{"function":"f"}' http://127.0.0.1:8090/workers

   It listens on loopback only. Exit codes: as fakeworker; 7 for another address.`

// version and commit are set by the linker.
var version, commit string

func versionText() string {
	if version != "" {
		return version + " " + commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			text += " " + s.Value
		}
	}
	return text
}

// untilSignal returns a context that ends at the first SIGINT or SIGTERM. The second one ends the process at once, by
// that signal. The caller must call stop.
func untilSignal(parent context.Context) (ctx context.Context, stop context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	signals, stopped := make(chan os.Signal, 2), make(chan struct{})
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		for n := 1; ; n++ {
			select {
			case <-stopped:
				return
			case s := <-signals:
				cancel()
				if n == 2 {
					signal.Stop(signals) // gives it back its default effect
					_ = syscall.Kill(os.Getpid(), s.(syscall.Signal))
				}
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(stopped)
		cancel()
	}
}

// listenError is the error of a port that cannot be opened.
func listenError(addr string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return cliargs.Errorf(cliargs.Usage, "port of %s is in use: stop what listens there, or choose another with --port or $PORT", addr)
	}
	return cliargs.Errorf(cliargs.Usage, "listen on %s: %w", addr, err)
}

// announce prints one line on stdout.
func (p *program) announce(line string) error {
	if _, err := fmt.Fprintln(p.stdout, line); err != nil {
		return cliargs.Errorf(cliargs.Storage, "write to stdout: %w", err)
	}
	return nil
}
