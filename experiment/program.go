package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"coldwave/engine"
	"coldwave/fleet"
	"coldwave/fleet/worker"
	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/scheduler"
)

// Program is a gateway of this project as a file: another build than this one, say. Each run starts one of its own, on
// free ports of loopback.
type Program struct {
	Path   string
	Errors io.Writer // what it prints on stderr after its first line; nil: nowhere
}

// ErrProgram is wrapped by the error for a gateway program that cannot be used.
var ErrProgram = errors.New("gateway program")

// programTime is how long a gateway may take to open its ports.
const programTime = 10 * time.Second

// check finds what is wrong before anything is started; p may be nil.
func (p *Program) check(cell Cell) error {
	if p == nil {
		return nil
	}
	if cell.Max == 0 {
		return fmt.Errorf("%w %s: it cannot have a quota of 0 instances", ErrProgram, p.Path)
	}
	if _, err := exec.LookPath(p.Path); err != nil {
		return fmt.Errorf("%w %q: %w; build it with 'make build'", ErrProgram, p.Path, err)
	}
	return nil
}

// arguments puts a cell as flags of the gateway.
func (p *Program) arguments(cell Cell, f Fleet) []string {
	args := []string{
		"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--policy", cell.Policy, "--function", cell.Profile.Function.Name,
		"--cold-law", cell.Profile.Cold.Name(), "--seed", strconv.FormatUint(cell.Seed, 10), "--handover", cell.Profile.Handover.String(),
		"--fleet", cmp.Or(f.Kind, FleetKinds()[0]), "--drain", stopTime.String(),
	}
	if cell.Max != scheduler.Unlimited {
		args = append(args, "--max", strconv.Itoa(cell.Max))
	}
	if n := cell.Nodes; n.On() {
		memory := int64(n.Slots) * cell.Profile.Function.MemoryBytes
		args = append(args, "--nodes", strconv.Itoa(n.Count), "--node-memory", strconv.FormatInt(memory, 10), "--node-keep", n.Keep.String(),
			"--node-cache="+strconv.FormatBool(n.Cache))
	}
	profile := &cell.Profile
	for _, s := range platform.Settings() {
		if text := profile.Get(s.Name); text != "" && s.Name != "exec" && (s.Name != "concurrency" || text != "1") {
			args = append(args, "--"+s.Name, text) // the execution time comes with each request
		}
	}
	if f.Mode != "" && f.Mode != worker.Sleep {
		args = append(args, "--cpu-mode", string(f.Mode))
	}
	if f.Binary != "" {
		args = append(args, "--worker-bin", f.Binary)
	}
	return args
}

// banner finds both ports in the first line that a gateway prints.
var banner = regexp.MustCompile(`^gateway: data (http://\S+) admin (http://[^\s;]+)`)

// launched is a gateway program during one cell.
type launched struct {
	*remote
	program *fleet.Program
}

// openProgram starts a gateway for a cell.
func openProgram(ctx context.Context, p Program, cell Cell, clk clock.Clock, f Fleet) (*launched, error) {
	path, err := exec.LookPath(p.Path)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrProgram, p.Path, err)
	}
	cmd := exec.Command(path, p.arguments(cell, f)...) //nolint:gosec // the operator names the program
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}    // where it may find its worker; secrets are not its business
	out := p.Errors
	if out == nil {
		out = io.Discard
	}
	g, err := fleet.StartProgram(ctx, p.Path, cmd, programTime, out)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProgram, err)
	}
	l := &launched{program: g}
	if l.remote, err = l.find(ctx, clk); err != nil {
		return nil, errors.Join(fmt.Errorf("%w %s: %w", ErrProgram, p.Path, err), g.Stop(2*stopTime))
	}
	return l, nil
}

// find reads the ports and opens them.
func (l *launched) find(ctx context.Context, clk clock.Clock) (*remote, error) {
	ports := banner.FindStringSubmatch(l.program.Banner())
	if ports == nil {
		return nil, fmt.Errorf("its first line is %q, want 'gateway: data http://… admin http://…'", l.program.Banner())
	}
	var guard *engine.Guard
	data, err := guard.Target(ports[1] + "/")
	if err != nil {
		return nil, err
	}
	admin, err := guard.Target(ports[2])
	if err != nil {
		return nil, err
	}
	return openRemote(ctx, Remote{Target: data, Admin: admin}, clk)
}

func (l *launched) failed() <-chan struct{} { return l.program.Gone() }

func (l *launched) err() error {
	return fmt.Errorf("%w: it ended while the run was on", ErrProgram)
}

func (l *launched) close(ctx context.Context) error {
	return errors.Join(l.remote.close(ctx), l.program.Stop(2*stopTime))
}
