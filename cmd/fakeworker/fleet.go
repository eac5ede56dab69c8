package main

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/fleet"
	"coldwave/fleet/worker"
	"coldwave/internal/cliargs"
	"coldwave/internal/realclock"
)

// fleet is the verb that serves the API.
func (p *program) fleet(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	r := &reader{c: c, env: p.env}
	addr := r.address("8090")
	cfg := fleet.APIConfig{
		Clock: realclock.New(time.Now()), ColdStart: r.coldStart(), Service: r.duration(settingService, fleet.ServiceMax),
		Concurrency: r.concurrency(), Drain: r.duration(settingDrain, fleet.DrainMax), Seed: r.seed(),
		Max: r.number(settingMax, 1, 100_000), Token: r.token(), Errors: p.stderr, Mode: r.mode(),
	}
	cfg.CPU, cfg.Resources = r.instance()
	if err := r.err(); err != nil {
		return err
	}
	if !addr.Addr().Unmap().IsLoopback() {
		return cliargs.Errorf(cliargs.Refused, "fleet on %s: the API starts workers for anyone, so it listens on loopback only: use --host 127.0.0.1", addr)
	}
	log, closeLog, err := p.openLog(r)
	if err != nil {
		return err
	}
	cfg.Log = log
	err = p.serveAPI(c.Context, addr.String(), cfg)
	if logErr := errors.Join(log.Err(), closeLog()); logErr != nil {
		return errors.Join(err, cliargs.Errorf(cliargs.Storage, "log: %w", logErr))
	}
	return err
}

func (p *program) serveAPI(ctx context.Context, addr string, cfg fleet.APIConfig) error {
	api, err := fleet.NewAPI(cfg)
	if err != nil {
		return cliargs.Errorf(cliargs.Usage, "%w", err)
	}
	ctx, stop := untilSignal(ctx)
	defer stop()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return errors.Join(listenError(addr, err), api.Close())
	}
	s := worker.NewServer(api, 0, p.stderr)
	// Both at once: a start that a client waits for ends with the workers, and no other comes in meanwhile.
	drain := func(ctx context.Context) error {
		workers := make(chan error, 1)
		go func() { workers <- api.Drain(ctx) }()
		return errors.Join(s.Drain(ctx), <-workers)
	}
	return errors.Join(p.until(ctx, s, l, drain, cfg.Drain), api.Close())
}
