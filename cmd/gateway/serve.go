package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/gateway"
	"coldwave/internal/cliargs"
	"coldwave/internal/realclock"
)

// serve runs the gateway until a signal ends it.
func (p *program) serve(c *cli.Context) error {
	s, err := read(c, p.stderr)
	if err != nil {
		return err
	}
	ports, err := s.open(c.Context)
	if err != nil {
		return err
	}
	g, workers, err := s.build(p.stderr)
	if err != nil {
		return errors.Join(err, ports.close())
	}
	warnOfDescriptors(s.log, s.limits.Connections)
	served := make(chan error, 1)
	go func() { served <- g.Serve(ports.data, ports.adminListener()) }()
	fmt.Fprintln(p.stderr, s.banner(ports))
	return errors.Join(p.untilSignal(c.Context, g, s, served), closeFleet(workers))
}

// ports are the open sockets.
type ports struct{ data, admin net.Listener }

// adminListener is nil, and no interface that holds nil, if there is none.
func (p *ports) adminListener() net.Listener { return p.admin }

func (p *ports) close() error {
	err := p.data.Close()
	if p.admin != nil {
		err = errors.Join(err, p.admin.Close())
	}
	return err
}

// open opens the sockets before anything is started.
func (s *settings) open(ctx context.Context) (*ports, error) {
	data, err := listen(ctx, "data", "listen", s.listen)
	if err != nil {
		return nil, err
	}
	if s.admin == "" {
		return &ports{data: data}, nil
	}
	admin, err := listen(ctx, "admin", "admin", s.admin)
	if err != nil {
		return nil, errors.Join(err, data.Close())
	}
	if err := (gateway.Admin{Token: s.token}).MayListen(admin.Addr()); err != nil {
		p := &ports{data: data, admin: admin}
		return nil, errors.Join(cliargs.Errorf(cliargs.Refused, "--admin: %w; use --admin-token-file", err), p.close())
	}
	return &ports{data: data, admin: admin}, nil
}

func listen(ctx context.Context, name, flag, addr string) (net.Listener, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s port %s is in use; end whoever has it, or choose another with --%s", name, addr, flag)
	case err != nil:
		return nil, fmt.Errorf("%s port %s: %w; choose another with --%s", name, addr, err, flag)
	}
	return l, nil
}

// build makes fleet and gateway.
func (s *settings) build(stderr io.Writer) (*gateway.Gateway, provisioner, error) {
	clk := realclock.New(time.Now())
	var workers provisioner
	if s.policy != "" {
		var err error
		if workers, err = s.openFleet(clk, stderr); err != nil {
			return nil, nil, err
		}
	}
	functions, err := s.functions(workers)
	if err != nil {
		return nil, nil, errors.Join(err, closeFleet(workers))
	}
	g, err := gateway.New(gateway.Config{Functions: functions, Clock: clk, Limits: s.limits, Seed: s.seed, Log: s.log,
		Allow: s.allow, Admin: gateway.Admin{Token: s.token}})
	if err != nil {
		return nil, nil, errors.Join(err, closeFleet(workers))
	}
	return g, workers, nil
}

func closeFleet(workers provisioner) error {
	if workers == nil {
		return nil
	}
	return workers.Close()
}

// banner is the one line that is printed at the start.
func (s *settings) banner(p *ports) string {
	admin := "none"
	if p.admin != nil {
		admin = "http://" + p.admin.Addr().String()
	}
	var serving []string
	if s.policy != "" {
		serving = append(serving, fmt.Sprintf("/fn/%s/ policy %s fleet %s", s.profile.Function.Name, s.policy, s.fleet))
	}
	for _, f := range s.static {
		serving = append(serving, fmt.Sprintf("/fn/%s/ static %s", f.name, strings.Join(f.addrs, ",")))
	}
	return fmt.Sprintf("gateway: data http://%s admin %s; %s", p.data.Addr(), admin, strings.Join(serving, "; "))
}

// untilSignal serves until the gateway ends by itself or by a signal.
func (p *program) untilSignal(ctx context.Context, g *gateway.Gateway, s *settings, served <-chan error) error {
	select {
	case err := <-served:
		return exitCode(err)
	case <-p.signals:
	case <-ctx.Done():
	}
	fmt.Fprintf(p.stderr, "gateway: draining for at most %v; a second signal ends at once\n", s.drain)
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.drain)
	defer cancel()
	drained := make(chan error, 1)
	go func() { drained <- g.Drain(limit) }()
	select {
	case err := <-drained:
		if errors.Is(err, context.DeadlineExceeded) {
			fmt.Fprintf(p.stderr, "gateway: the drain limit of %v has passed; what was left was cut\n", s.drain)
		}
		return exitCode(<-served)
	case second := <-p.signals:
		err := g.Close()
		<-drained
		<-served
		return errors.Join(cliargs.Errorf(interrupted(second), "ended by a second signal; what was left was cut"), err)
	}
}

func interrupted(s os.Signal) int {
	if s == syscall.SIGTERM {
		return cliargs.Terminated
	}
	return cliargs.Interrupted
}

// exitCode gives an illegal decision its code.
func exitCode(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, gateway.ErrLoop):
		return cliargs.Errorf(cliargs.Bug, "%w", err)
	case errors.Is(err, gateway.ErrAdminOpen):
		return cliargs.Errorf(cliargs.Refused, "%w", err)
	default:
		return cliargs.Errorf(cliargs.Invalid, "%w", err)
	}
}
