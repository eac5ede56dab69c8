package experiment

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"coldwave/analysis"
	"coldwave/bundle"
	"coldwave/scheduler"
	"coldwave/sim"
	"coldwave/workload"
)

// Simulation is one run of one cell in virtual time: the same core, policy, platform and schedule without a socket.
type Simulation struct {
	Cell  Cell
	Exact int // most requests that are held in memory; a longer run is added up as it goes. 0: analysis.DefaultExact

	// Keep is called with what is known of a run of more than Exact requests before it begins, and of its arrivals, and
	// returns where it keeps its records; nil: nowhere. Its quantiles are exact then. Runs of more than MostKept requests
	// are not kept. Run seals the journal.
	Keep func(run analysis.Run, arrivals iter.Seq2[workload.Arrival, error]) (*bundle.Journal, error)
}

// Simulated is a run in virtual time, and how long it took on this host.
type Simulated struct {
	Run    analysis.Run // no records and no arrivals if there were more than Exact
	Events int64        // that the core handled
	Wall   time.Duration
}

// Run draws the schedule and runs it. Equal simulations give equal runs, whatever the host does. A run of more than Exact
// requests is drawn as it goes and needs no memory for a request. The error of a policy that acts against the rules wraps
// scheduler.Illegal; a context that ends stops the run with its cause.
func (s Simulation) Run(ctx context.Context) (Simulated, error) {
	if err := s.Cell.check(); err != nil {
		return Simulated{}, err
	}
	schedule, err := s.schedule(ctx)
	switch {
	case errors.Is(err, workload.ErrTooMany):
		return s.stream(ctx)
	case err != nil:
		return Simulated{}, err
	}
	return s.Cell.simulate(schedule, schedule.Hash())
}

// schedule draws the schedule, if it may be held in memory. It is counted first: one that may not would fill the memory
// up to the limit before that is known.
func (s Simulation) schedule(ctx context.Context) (*workload.Schedule, error) {
	src := s.Cell.source(ctx)
	src.Limit = cmp.Or(s.Exact, analysis.DefaultExact)
	count := src.Open()
	for _, ok := count.Next(); ok; _, ok = count.Next() {
	}
	if err := errors.Join(count.Err(), context.Cause(ctx)); err != nil {
		return nil, err
	}
	schedule, err := workload.Build(src)
	return schedule, errors.Join(err, context.Cause(ctx))
}

// simulate runs the cell on a schedule in memory with that hash.
func (c Cell) simulate(schedule *workload.Schedule, hash string) (Simulated, error) {
	if c.isOracle() {
		return c.foresee(schedule, hash)
	}
	began := time.Now()
	result, err := c.virtual(func(cfg *sim.Config) { cfg.Schedule = schedule })
	if err != nil {
		return Simulated{}, err
	}
	out := Simulated{Run: c.newRun("virtual", schedule, hash), Events: result.Events, Wall: time.Since(began)}
	out.Run.Records, out.Run.Instances, out.Run.Log = result.Records, result.Instances, hex.EncodeToString(result.Digest[:])
	out.Run.Nodes = result.Nodes
	if c.Scene != "" {
		summarizeScene(&out.Run)
	} else {
		summarize(&out.Run)
	}
	return out, nil
}

// stream runs the cell without holding its arrivals or its records.
func (s Simulation) stream(ctx context.Context) (Simulated, error) {
	if s.Cell.isOracle() {
		return Simulated{}, fmt.Errorf("policy %q needs the whole schedule in memory: raise --exact, or send fewer requests", Oracle)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	src := s.Cell.source(ctx)
	hash, err := src.Hash()
	if err != nil {
		return Simulated{}, err
	}
	run := s.Cell.newRun("virtual", &workload.Schedule{Pattern: src.Process.String(), Seed: src.Seed, Function: src.Function}, hash)
	to, err := s.destination(ctx, run)
	if err != nil {
		return Simulated{}, err
	}
	to.watch(ctx, stop)
	began := time.Now()
	result, err := s.Cell.virtual(func(cfg *sim.Config) { cfg.Source, cfg.Observe = &src, to.add })
	if err = errors.Join(err, context.Cause(ctx), to.seal()); err != nil {
		return Simulated{}, err
	}
	out := Simulated{Run: run, Events: result.Events, Wall: time.Since(began)}
	out.Run.Schedule.Length = result.Length
	out.Run.Log, out.Run.Instances, out.Run.Nodes = hex.EncodeToString(result.Digest[:]), result.Instances, result.Nodes
	out.Run.Summary, err = to.summary(int(result.Requests), &out.Run)
	return out, err
}

// virtual runs the cell's policy in virtual time, on what choose adds.
func (c Cell) virtual(choose func(*sim.Config)) (sim.Result, error) {
	policy, err := c.policy()
	if err != nil {
		return sim.Result{}, err
	}
	cfg := sim.Config{
		Policy: policy, Limits: c.config(), Nodes: c.nodes(), Platform: c.Profile.Draws(c.Seed), Resources: c.Profile.Resources, Backing: c.Profile.Backing,
		Handover: c.Profile.Handover, Seed: c.Seed, Trace: sim.Digest, Why: why,
		Changes: c.Changes, Faults: c.Faults, Watch: c.Watch,
	}
	choose(&cfg)
	result, err := guarded(cfg)
	if err != nil {
		return sim.Result{}, fmt.Errorf("cell %s, seed %d: %w", c.Name(), c.Seed, err)
	}
	return result, nil
}

// guarded turns the panic of an illegal decision into an error, because another goroutine may be waiting for the result.
func guarded(cfg sim.Config) (result sim.Result, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case scheduler.Illegal:
			err = r
		default:
			panic(r)
		}
	}()
	return sim.Run(cfg)
}

// source is what the cell's schedule depends on. Its arrivals end early when the context does.
func (c Cell) source(ctx context.Context) workload.Source {
	return workload.Source{
		Process: interruptible{c.Process, ctx}, Demands: c.Profile.Draws(c.Seed), Function: c.Profile.Function, Seed: c.Seed,
	}
}

// interruptible is an arrival process that ends early when its context does. Whoever draws it must look at the context
// afterwards.
type interruptible struct {
	workload.Process
	ctx context.Context //nolint:containedctx // a process has no other way to be told
}

// lookEvery is the number of arrivals after which the context is looked at.
const lookEvery = 4096

// Open returns the generator.
func (p interruptible) Open(r *rand.Rand) func() (workload.Intent, bool) {
	next, left := p.Process.Open(r), lookEvery
	return func() (workload.Intent, bool) {
		if left--; left == 0 {
			if left = lookEvery; p.ctx.Err() != nil {
				return workload.Intent{}, false
			}
		}
		return next()
	}
}
