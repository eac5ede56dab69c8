package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"coldwave/fleet/worker"
	"coldwave/gateway"
	"coldwave/internal/clock"
	"coldwave/platform"
)

// The defaults of ExecConfig.
const (
	DefaultExecMax    = 256
	DefaultStartLimit = 10 * time.Second
	binaryName        = "fakeworker"
)

// ErrNotReady is the error of a worker process that did not say in time that it is ready, or ended before.
var ErrNotReady = errors.New("the worker did not become ready")

// ExecConfig is what an Exec fleet is made of.
type ExecConfig struct {
	Clock      clock.Clock
	StartUp    Draw
	Binary     string    // the worker's program; empty: FindBinary
	Stderr     io.Writer // what the workers print, each line with the instance's name in front; nil: nowhere
	Log        string    // file to which every worker appends its log; empty: none
	FailRatio  float64   // share of requests that answer 500, in [0, 1]
	Seed       uint64    // decides which ones
	Resources  platform.Resources
	CPU        platform.Cost  // CPU time of a body whose request states none
	Mode       worker.CPUMode // default worker.Sleep
	StartLimit time.Duration  // how long after its due instant a worker may say that it is ready; 0: DefaultStartLimit
	Max        int            // limit of instances alive; 0: DefaultExecMax
	Keep       int            // limit of instances remembered after their end; 0: DefaultKeep
}

// Exec is a fleet whose workers are processes of their own. They never outlive this process (on Linux; elsewhere only
// Close ends them).
type Exec struct {
	*table
	cfg     ExecConfig
	spawner *spawner
	stderr  *prefixed
	once    sync.Once
}

var _ gateway.Provisioner = (*Exec)(nil)

// NewExec returns a fleet without instances. Close ends it. It is an error if the worker's program cannot be found.
func NewExec(cfg ExecConfig) (*Exec, error) {
	cfg.Max = cmp.Or(cfg.Max, DefaultExecMax)
	cfg.StartLimit = cmp.Or(cfg.StartLimit, DefaultStartLimit)
	t, err := newTable(cfg.Clock, cfg.Max, cfg.Keep)
	if err != nil {
		return nil, err
	}
	if cfg.StartUp == nil {
		return nil, errors.New("fleet: no start-up times: set StartUp")
	}
	if cfg.Binary, err = FindBinary(cfg.Binary); err != nil {
		return nil, err
	}
	if cfg.Stderr == nil {
		cfg.Stderr = io.Discard
	}
	return &Exec{table: t, cfg: cfg, spawner: newSpawner(), stderr: &prefixed{w: cfg.Stderr}}, nil
}

// FindBinary returns the worker's program: path if it is not empty, else "fakeworker" beside the running program, else
// on PATH.
func FindBinary(path string) (string, error) {
	if path != "" {
		found, err := exec.LookPath(path)
		if err != nil {
			return "", fmt.Errorf("worker program %q: %w; build it with 'make build'", path, err)
		}
		return found, nil
	}
	dir := ""
	if self, err := os.Executable(); err == nil {
		dir = filepath.Dir(self)
		if found, err := exec.LookPath(filepath.Join(dir, binaryName)); err == nil {
			return found, nil
		}
	}
	found, err := exec.LookPath(binaryName)
	if err != nil {
		return "", fmt.Errorf("worker program %q is neither in %s nor on PATH: build it with 'make build', or name the file", binaryName, dir)
	}
	return found, nil
}

// Start makes a worker process and returns its address at the instant Decided + start-up time, or as soon after it as
// the host allows: making the process is part of the start-up time. Errors wrap ErrStart (drawn to fail), ErrNotReady,
// ErrClosed, ErrFull, ErrTwice, ErrStopped or the context's error.
func (f *Exec) Start(ctx context.Context, r gateway.StartRequest) (string, error) {
	ctx, w, err := f.begin(ctx, r, nameOf(r.Instance), f.cfg.StartUp(r))
	if err != nil {
		return "", err
	}
	p, addr, err := f.launch(ctx, r, w)
	if err != nil {
		return "", f.failed(w, err)
	}
	if err := f.ready(w, p, addr); err != nil {
		return "", err
	}
	return addr, nil
}

// launch makes the process and waits until it says that it is ready. After an error no process is left.
func (f *Exec) launch(ctx context.Context, r gateway.StartRequest, w *row) (*process, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	p, err := f.spawn(r, w)
	if err != nil {
		return nil, "", err
	}
	addr, err := f.await(ctx, w, p)
	if err != nil {
		p.kill()
		<-p.gone.Done()
		return nil, "", err
	}
	return p, addr, nil
}

func (f *Exec) spawn(r gateway.StartRequest, w *row) (*process, error) {
	cmd := exec.Command(f.cfg.Binary) //nolint:gosec // the operator names the program
	cmd.Env = f.environment(r, w)
	p := newProcess(cmd, "instance "+w.Name, f.stderr)
	if err := f.spawner.start(cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", f.cfg.Binary, err)
	}
	go p.reap()
	return p, nil
}

// environment is all that a worker is told. It inherits nothing: secrets of this process are not its business.
func (f *Exec) environment(r gateway.StartRequest, w *row) []string {
	fails := "0"
	if w.StartUp.Fails {
		fails = "1"
	}
	env := []string{
		EnvPort + "=0", EnvHost + "=127.0.0.1",
		EnvInstance + "=" + w.Name,
		EnvFunction + "=" + r.Function.Name,
		EnvConcurrency + "=" + strconv.Itoa(cmp.Or(r.Function.Concurrency, 1)),
		EnvService + "=" + r.Function.Body.String(),
		EnvColdStart + "=" + w.StartUp.Total.String(),
		EnvBoot + "=" + BootEnv(f.clock, w.Decided),
		EnvStartFails + "=" + fails,
		EnvDrain + "=" + drainForever.String(),
		EnvLog + "=" + f.cfg.Log,
		EnvFailRatio + "=" + strconv.FormatFloat(f.cfg.FailRatio, 'g', -1, 64),
		EnvSeed + "=" + strconv.FormatUint(f.cfg.Seed, 10),
	}
	profile := platform.Profile{CPU: f.cfg.CPU, Resources: f.cfg.Resources}
	for _, s := range platform.InstanceSettings() {
		if text := profile.Get(s.Name); text != "" {
			env = append(env, EnvOf(s.Name)+"="+text)
		}
	}
	if f.cfg.Mode != "" {
		env = append(env, EnvCPUMode+"="+string(f.cfg.Mode))
	}
	if dir := os.Getenv(envCover); dir != "" {
		env = append(env, envCover+"="+dir)
	}
	return env
}

// await follows the start-up: the stages at their instants, then the worker's word, not before the due instant.
func (f *Exec) await(ctx context.Context, w *row, p *process) (string, error) {
	during, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.gone, cancel)() // the worker's end ends the wait
	for s, at := range stageEnds(w.Decided, w.StartUp) {
		if f.clock.WaitUntil(during, at) != nil {
			return "", p.why(ctx, w.StartUp.Fails)
		}
		if s < int(platform.Stages)-1 {
			f.passed(w, platform.Stage(s))
		}
	}
	addr, err := f.word(ctx, w, p)
	if err == nil {
		f.passed(w, platform.Stages-1)
	}
	return addr, err
}

// word waits for the line by which the worker says that it is ready.
func (f *Exec) word(ctx context.Context, w *row, p *process) (string, error) {
	limit := f.clock.NewTimer()
	limit.Reset(w.Due().Add(f.cfg.StartLimit))
	defer limit.Reset(clock.Never)
	select {
	case line := <-p.first:
		addr, err := ParseListening(line)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrNotReady, err)
		}
		return addr, nil
	case <-limit.C():
		return "", fmt.Errorf("%w: it said nothing for %v after its start-up time", ErrNotReady, f.cfg.StartLimit)
	case <-p.gone.Done():
	case <-ctx.Done():
	}
	return "", p.why(ctx, w.StartUp.Fails)
}

// Close ends every process at once and waits until all are gone. It may be called more than once.
func (f *Exec) Close() error {
	f.close()
	f.once.Do(f.spawner.close)
	return nil
}
