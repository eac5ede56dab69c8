package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"coldwave/engine"
	"coldwave/fleet"
	"coldwave/fleet/worker"
	"coldwave/gateway"
	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler/policies"
)

// Fleet says what the instances of the bundled stack are.
type Fleet struct {
	Kind   string         // "inprocess" or "exec"
	Binary string         // of the fake worker, for "exec"; empty: found beside this program or on PATH
	Errors io.Writer      // what the workers complain of; nil: nowhere
	Mode   worker.CPUMode // what workers do with CPU time; empty: they sleep
}

// FleetKinds are the values of Fleet.Kind, the default first.
func FleetKinds() []string { return []string{"inprocess", "exec"} }

// ErrFleet is wrapped by the error for an unknown kind of fleet.
var ErrFleet = errors.New("unknown fleet")

func (f Fleet) check(p platform.Profile) error {
	if _, err := worker.ParseCPUMode(string(f.Mode)); err != nil {
		return err
	}
	if f.Mode == worker.Burn {
		if err := worker.CheckBurn(p.Resources); err != nil {
			return err
		}
	}
	switch {
	case p.Backing.On() && f.Kind == "exec":
		return fmt.Errorf("fleet %q with a backing service: %w: only instances of one process share one: use inprocess", f.Kind, ErrFleet)
	case f.Kind != "" && !slices.Contains(FleetKinds(), f.Kind):
		return fmt.Errorf("fleet %q: %w: use %s", f.Kind, ErrFleet, strings.Join(FleetKinds(), " or "))
	case f.Kind == "exec":
		_, err := fleet.FindBinary(f.Binary)
		return err
	}
	return nil
}

// provisioner is a fleet that can be closed.
type provisioner interface {
	gateway.Provisioner
	Close() error
}

func (f Fleet) open(clk clock.Clock, draws platform.Draws, seed uint64) (provisioner, error) {
	p := draws.Profile()
	if err := f.check(p); err != nil {
		return nil, err
	}
	if f.Kind == "exec" {
		return fleet.NewExec(fleet.ExecConfig{
			Clock: clk, StartUp: fleet.FromDraws(draws), Binary: f.Binary, Stderr: f.Errors, FailRatio: p.ErrorRatio, Seed: seed,
			Resources: p.Resources, CPU: p.CPU, Mode: f.Mode,
		})
	}
	return fleet.NewInProcess(fleet.Config{
		Clock: clk, StartUp: fleet.FromDraws(draws), Errors: f.Errors, Backing: p.Backing,
		Worker: worker.Config{FailRatio: p.ErrorRatio, Seed: seed, Resources: p.Resources, CPU: p.CPU, Mode: f.Mode},
	})
}

// stack is the bundled system: gateway and fleet on loopback.
type stack struct {
	gateway *gateway.Gateway
	fleet   provisioner
	goal    *engine.Target
	served  chan error
}

// why names the reason of a start.
func why(code uint8) string { return policies.Why(code).String() }

// openStack starts the gateway of a cell on a free port of loopback.
func openStack(cell Cell, clk clock.Clock, f Fleet) (*stack, error) {
	policy, err := cell.policy()
	if err != nil {
		return nil, err
	}
	workers, err := f.open(clk, cell.Profile.Draws(cell.Seed), cell.Seed)
	if err != nil {
		return nil, err
	}
	g, err := gateway.New(gateway.Config{
		Clock: clk, Seed: cell.Seed,
		Functions: []gateway.Function{{
			Spec: cell.Profile.Function, Policy: policy, PolicyName: cell.Policy, Why: why, Core: cell.config(), Nodes: cell.nodes(),
			Handover: cell.Profile.Handover, Provisioner: workers,
		}},
	})
	if err != nil {
		return nil, errors.Join(err, workers.Close())
	}
	s := &stack{gateway: g, fleet: workers, served: make(chan error, 1)}
	if err := s.listen(); err != nil {
		return nil, errors.Join(err, g.Close(), workers.Close())
	}
	return s, nil
}

func (s *stack) listen() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("bundled stack: %w", err)
	}
	var guard *engine.Guard
	if s.goal, err = guard.Target("http://" + listener.Addr().String() + "/"); err != nil {
		return errors.Join(err, listener.Close())
	}
	go func() { s.served <- s.gateway.Serve(listener, nil) }()
	return nil
}

func (s *stack) target() *engine.Target { return s.goal }

func (s *stack) bundled() bool { return true }

func (s *stack) instances(context.Context) ([]record.Instance, error) {
	return s.gateway.Instances(), nil
}

func (s *stack) nodes(context.Context) ([]record.Node, error) { return s.gateway.Nodes(), nil }

func (s *stack) load(p *CellProgress) {
	c := s.gateway.Counts()
	p.Alive, p.Starting, p.Idle, p.Queued = c.Alive, c.Starting, c.Idle, c.Queued
}

func (s *stack) failed() <-chan struct{} { return s.gateway.Broken() }

func (s *stack) err() error { return s.gateway.Err() }

// stopTime is how long a stack may take to finish what is in flight before it is cut.
const stopTime = 5 * time.Second

func (s *stack) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	return errors.Join(s.gateway.Drain(ctx), <-s.served, s.fleet.Close())
}
