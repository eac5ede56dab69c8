package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"coldwave/fleet"
	"coldwave/fleet/worker"
	"coldwave/gateway"
	"coldwave/internal/cliargs"
	"coldwave/internal/clock"
	"coldwave/internal/spell"
	"coldwave/platform"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
)

// defaultDrain is how long a drain may take (F14).
const defaultDrain = 30 * time.Second

// settings is the checked command line.
type settings struct {
	listen, admin string // admin is empty for none
	policy        string // canonical; empty: no fleet
	core          scheduler.Config
	nodes         scheduler.Nodes
	profile       platform.Profile
	handover      time.Duration
	fleet, binary string
	mode          worker.CPUMode
	seed          uint64
	static        []staticFunction
	slots         int32
	allow         []string
	drain         time.Duration
	limits        gateway.Limits
	token         string
	log           *slog.Logger
}

// staticFunction is a function whose instances somebody else runs.
type staticFunction struct {
	name  string
	addrs []string
}

// read checks the command line; nothing is opened but the token file.
func read(c *cli.Context, stderr io.Writer) (*settings, error) {
	if word := c.Args().First(); word != "" {
		return nil, cliargs.Errorf(cliargs.Usage, "unknown verb %q%s; run 'gateway --help'", word, spell.Hint(word, []string{"health"}))
	}
	s := &settings{
		listen: c.String("listen"), admin: c.String("admin"), fleet: c.String("fleet"), binary: c.String("worker-bin"),
		seed: c.Uint64("seed"), allow: c.StringSlice("allow"), drain: c.Duration("drain"), handover: c.Duration("handover"),
		limits: gateway.Limits{Queue: c.Int("queue"), BodyBytes: c.Int64("max-body"), HeldBytes: c.Int64("max-held"),
			Connections: c.Int("max-connections")},
	}
	return s, errors.Join(s.readLog(c, stderr), s.readPorts(c), s.readStatic(c), s.readFleet(c), s.readLimits())
}

func (s *settings) readLog(c *cli.Context, stderr io.Writer) error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.String("log-level"))); err != nil {
		return fmt.Errorf("--log-level %q: want debug, info, warn or error", c.String("log-level"))
	}
	s.log = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))
	return nil
}

func (s *settings) readPorts(c *cli.Context) error {
	if s.admin == "none" {
		s.admin = ""
	}
	for _, addr := range []string{s.listen, s.admin} {
		if _, _, err := net.SplitHostPort(addr); err != nil && addr != "" {
			return fmt.Errorf("address %q: want HOST:PORT, such as 127.0.0.1:8080", addr)
		}
	}
	for _, target := range s.allow {
		if host, port, err := net.SplitHostPort(target); err != nil || host == "" || port == "" {
			return fmt.Errorf("--allow %q: want HOST:PORT", target)
		}
	}
	return s.readToken(c.String("admin-token-file"))
}

// tokenMax bounds the token file in bytes.
const tokenMax = 4 << 10

func (s *settings) readToken(path string) error {
	if path == "" {
		return nil
	}
	f, err := os.Open(path) //nolint:gosec // the operator names the file on the command line
	if err != nil {
		return fmt.Errorf("--admin-token-file: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(f, tokenMax+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("--admin-token-file: %w", err)
	}
	s.token = strings.TrimSpace(string(text))
	if s.token == "" || len(text) > tokenMax {
		return fmt.Errorf("--admin-token-file %s: want one line of at most %d bytes", path, tokenMax)
	}
	return nil
}

// readStatic reads name=URL pairs; a name that comes again has one more instance.
func (s *settings) readStatic(c *cli.Context) error {
	s.slots = int32(c.Int("static-concurrency"))
	if c.Int("static-concurrency") < 1 || c.Int("static-concurrency") > 1<<20 {
		return fmt.Errorf("--static-concurrency %d: must lie in 1 … %d", c.Int("static-concurrency"), 1<<20)
	}
	for _, text := range c.StringSlice("static-worker") {
		name, url, ok := strings.Cut(text, "=")
		if !ok {
			return fmt.Errorf("--static-worker %q: want NAME=http://HOST:PORT", text)
		}
		addr, err := gateway.ParseStatic(url)
		if err != nil {
			return fmt.Errorf("--static-worker %s: %w", name, err)
		}
		if !gateway.Loopback(addr) && !slices.Contains(s.allow, addr) {
			return cliargs.Errorf(cliargs.Refused, "--static-worker %s: %s is not on loopback; if it is yours, add --allow %s", name, addr, addr)
		}
		s.addStatic(name, addr)
	}
	return nil
}

func (s *settings) addStatic(name, addr string) {
	for k := range s.static {
		if s.static[k].name == name {
			s.static[k].addrs = append(s.static[k].addrs, addr)
			return
		}
	}
	s.static = append(s.static, staticFunction{name: name, addrs: []string{addr}})
}

// fleets are the kinds of fleet, the default first.
var fleets = []string{"inprocess", "exec"}

// readFleet reads what the fleet of fake workers needs. With static workers there is one only if its function is named.
func (s *settings) readFleet(c *cli.Context) error {
	if len(s.static) > 0 && !c.IsSet("function") {
		return nil
	}
	if !slices.Contains(fleets, s.fleet) {
		return fmt.Errorf("--fleet %q: want %s%s", s.fleet, strings.Join(fleets, " or "), spell.Hint(s.fleet, fleets))
	}
	var err error
	if s.profile, err = platform.ProfileFor(c.String("cold-law")); err != nil {
		return fmt.Errorf("--cold-law: %w", err)
	}
	if err := cliargs.SetInstance(c, &s.profile); err != nil {
		return err
	}
	if s.policy, err = policies.WithFacts(c.String("policy"), policies.FactsOf(s.profile.Resources)); err == nil {
		s.policy, err = policies.Canonical(s.policy)
	}
	if err != nil {
		return fmt.Errorf("--policy: %w", err)
	}
	if s.profile.Backing.On() && s.fleet == "exec" {
		return errors.New("--fleet exec with a backing service: only instances of one process share one; use inprocess")
	}
	if s.mode = cliargs.CPUMode(c); s.mode == worker.Burn {
		err = worker.CheckBurn(s.profile.Resources)
	} else {
		_, err = worker.ParseCPUMode(string(s.mode))
	}
	if err != nil {
		return fmt.Errorf("--cpu-mode: %w", err)
	}
	if name := c.String("function"); name != "" {
		s.profile.Function.Name = name
	}
	s.core = scheduler.Config{Min: c.Int("min"), Max: c.Int("max"), Limit: int32(s.profile.Function.Concurrency)}
	if s.core.Max == 0 {
		s.core.Max = scheduler.Unlimited
	}
	if err := s.readNodes(c); err != nil {
		return err
	}
	if s.handover < 0 {
		return fmt.Errorf("--handover %v: must be ≥ 0", s.handover)
	}
	return s.core.Validate()
}

// readNodes reads what instances are placed on: what is asked for, or what the policy has of its own.
func (s *settings) readNodes(c *cli.Context) error {
	entry, err := policies.Find(s.policy)
	if err != nil {
		return err
	}
	if s.nodes, err = cliargs.Nodes(c, entry.Nodes, s.profile.Function.MemoryBytes); err == nil && !s.nodes.On() {
		s.nodes = entry.Nodes
	}
	return err
}

func (s *settings) readLimits() error {
	if s.drain < 0 {
		return fmt.Errorf("--drain %v: must be ≥ 0", s.drain)
	}
	return s.limits.Validate()
}

// provisioner is a fleet that can be closed.
type provisioner interface {
	gateway.Provisioner
	Close() error
}

func (s *settings) openFleet(clk clock.Clock, stderr io.Writer) (provisioner, error) {
	start := fleet.FromDraws(s.profile.Draws(s.seed))
	if s.fleet == "exec" {
		return fleet.NewExec(fleet.ExecConfig{
			Clock: clk, StartUp: start, Binary: s.binary, Stderr: stderr, Seed: s.seed,
			Resources: s.profile.Resources, CPU: s.profile.CPU, Mode: s.mode,
		})
	}
	return fleet.NewInProcess(fleet.Config{Clock: clk, StartUp: start, Errors: stderr, Backing: s.profile.Backing, Worker: worker.Config{
		Seed: s.seed, Resources: s.profile.Resources, CPU: s.profile.CPU, Mode: s.mode,
	}})
}

// functions are what the gateway serves; workers is nil if there is no fleet.
func (s *settings) functions(workers provisioner) ([]gateway.Function, error) {
	var out []gateway.Function
	if workers != nil {
		policy, err := policies.New(s.policy)
		if err != nil {
			return nil, err
		}
		out = append(out, gateway.Function{
			Spec: s.profile.Function, Policy: policy, PolicyName: s.policy, Why: func(c uint8) string { return policies.Why(c).String() },
			Core: s.core, Nodes: s.nodes, Handover: s.handover, Provisioner: workers,
		})
	}
	for _, f := range s.static {
		fn := gateway.Function{
			Policy: gateway.Fixed{Wait: staticWait}, PolicyName: "fixed", Provisioner: gateway.Static{Addrs: f.addrs},
			Core: scheduler.Config{Min: len(f.addrs), Max: len(f.addrs), Limit: s.slots},
		}
		fn.Spec.Name, fn.Spec.Concurrency = f.name, int(s.slots)
		out = append(out, fn)
	}
	return out, nil
}

// staticWait is how long a request may wait for a static worker (F15).
const staticWait = time.Minute
