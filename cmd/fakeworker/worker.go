package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/fleet"
	"coldwave/fleet/worker"
	"coldwave/internal/cliargs"
	"coldwave/internal/clock"
	"coldwave/internal/realclock"
	"coldwave/internal/rng"
	"coldwave/platform"
)

// openLead is how long before it is ready a worker opens its port: the kernel keeps early connections until then.
const openLead = 5 * time.Millisecond

// plan is what one worker does.
type plan struct {
	addr   netip.AddrPort
	config worker.Config
	ready  clock.Instant
	fails  bool
	drain  time.Duration
}

// worker is the program without a verb.
func (p *program) worker(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	k := realclock.New(time.Now())
	r := &reader{c: c, env: p.env}
	w := p.plan(r, k)
	if err := r.err(); err != nil {
		return err
	}
	log, closeLog, err := p.openLog(r)
	if err != nil {
		return err
	}
	w.config.Log = log
	ctx, stop := untilSignal(c.Context)
	defer stop()
	err = p.serve(ctx, k, w)
	if logErr := errors.Join(log.Err(), closeLog()); logErr != nil {
		return errors.Join(err, cliargs.Errorf(cliargs.Storage, "log: %w", logErr))
	}
	return err
}

// plan reads the settings of one worker. Problems go to the reader.
func (p *program) plan(r *reader, k clock.Clock) plan {
	w := plan{addr: r.address("8080"), drain: r.duration(settingDrain, 24*time.Hour), fails: p.env(fleet.EnvStartFails) == "1"}
	name, _ := r.text(settingID)
	function, _ := r.text(settingFunction)
	w.config = worker.Config{
		Name: name, Function: function, Clock: k, Body: r.duration(settingService, fleet.ServiceMax),
		Concurrency: r.concurrency(), FailRatio: r.failRatio(), Seed: r.seed(), Mode: r.mode(),
	}
	w.config.CPU, w.config.Resources = r.instance()
	cold := r.coldStart()
	if len(r.errs) > 0 {
		return w
	}
	if err := w.config.Validate(); err != nil {
		r.errs = append(r.errs, err)
	}
	boot := k.Now()
	if text := p.env(fleet.EnvBoot); text != "" {
		var err error
		if boot, err = fleet.BootInstant(k, text); err != nil {
			r.errs = append(r.errs, err)
		}
	}
	w.ready = boot.Add(draw(cold, w.config.Seed, name))
	return w
}

// draw is the start-up time. It depends on the seed and the name only.
func draw(law platform.Law, seed uint64, name string) time.Duration {
	d := rng.NewKey(seed, "start-up of "+name).Draw(0)
	return law.Draw(&d)
}

// serve starts up, serves until ctx is done, and drains.
func (p *program) serve(ctx context.Context, k clock.Clock, w plan) error {
	ctx, die := context.WithCancelCause(ctx)
	defer die(nil)
	w.config.Ready, w.config.Die = w.ready, die
	h, err := worker.New(w.config)
	if err != nil {
		return cliargs.Errorf(cliargs.Usage, "%w", err)
	}
	l, err := startUp(ctx, k, w)
	if err != nil || l == nil {
		return err
	}
	s := worker.NewServer(h, 0, p.stderr)
	return p.until(ctx, s, l, func(limit context.Context) error { return s.Drain(limit) }, w.drain)
}

// until serves on l until ctx is done, and then lets drain finish what is in flight for at most limit.
func (p *program) until(ctx context.Context, s *worker.Server, l net.Listener, drain func(context.Context) error, limit time.Duration) error {
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	if err := p.announce(fleet.Listening(l.Addr().String())); err != nil {
		return errors.Join(err, s.Close(), <-ended)
	}
	select {
	case err := <-ended:
		return cliargs.Errorf(failed, "%w", err)
	case <-ctx.Done():
	}
	if cause := context.Cause(ctx); errors.Is(cause, platform.ErrMemory) {
		return errors.Join(cliargs.Errorf(fleet.ExitOutOfMemory, "%w: ended, with all that was in flight", cause), s.Close(), <-ended)
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	if err := errors.Join(drain(within), <-ended); err != nil {
		return cliargs.Errorf(failed, "after %v: %w", limit, err)
	}
	return nil
}

// startUp lets the start-up time pass and returns the open port. It returns no port and no error if ctx was done first:
// a worker that is stopped before it served anything has nothing to drain.
func startUp(ctx context.Context, k clock.Clock, w plan) (net.Listener, error) {
	addr := w.addr.String()
	if w.ready > k.Now().Add(openLead) {
		if err := probe(ctx, w); err != nil {
			return nil, err
		}
		if k.WaitUntil(ctx, w.ready.Add(-openLead)) != nil {
			return nil, nil
		}
	}
	if w.fails {
		if k.WaitUntil(ctx, w.ready) != nil {
			return nil, nil
		}
		return nil, cliargs.Errorf(failed, "the start fails because $%s is 1", fleet.EnvStartFails)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, listenError(addr, err)
	}
	if k.WaitUntil(ctx, w.ready) != nil {
		return nil, l.Close()
	}
	return l, nil
}

// probe opens the port for a moment, so that one in use is told at once and not after the start-up time.
func probe(ctx context.Context, w plan) error {
	if w.addr.Port() == 0 {
		return nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", w.addr.String())
	if err != nil {
		return listenError(w.addr.String(), err)
	}
	return l.Close()
}

// healthLimit bounds the whole health check.
const healthLimit = 2 * time.Second

// health asks the worker on this host.
func (p *program) health(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	r := &reader{c: c, env: p.env}
	addr := reachable(r.address("8080"))
	if err := r.err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context, healthLimit)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/healthz", nil)
	if err != nil {
		return cliargs.Errorf(cliargs.Usage, "%w", err)
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(q) // no proxy from the environment, no redirect
	if err != nil {
		return cliargs.Errorf(failed, "no worker on %s: %w", addr, err)
	}
	defer resp.Body.Close() //nolint:errcheck // nothing of it is read
	if resp.StatusCode != http.StatusOK {
		return cliargs.Errorf(failed, "worker on %s: /healthz answers %d", addr, resp.StatusCode)
	}
	return p.announce(fmt.Sprintf("worker on %s is well", addr))
}
