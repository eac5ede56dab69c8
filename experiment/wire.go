package experiment

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"coldwave/analysis"
	"coldwave/bundle"
	"coldwave/engine"
	"coldwave/internal/clock"
	"coldwave/internal/realclock"
	"coldwave/record"
	"coldwave/workload"
)

// setUp is how long before its first intended start a cell is put together: gateway, fleet and connections.
const setUp = time.Second

// showEvery is how often progress is shown.
const showEvery = 200 * time.Millisecond

// Sending says how the requests of a cell are sent. The zero value sends as the main job does.
type Sending struct {
	Header      http.Header
	Timeout     time.Duration   // of one request; 0: the sender's default
	Grace       time.Duration   // for requests in flight when the run is stopped; 0: the sender's default
	MaxInFlight int             // 0: unlimited
	Limits      engine.Limits   // caps of the schedule
	Abort       <-chan struct{} // closed: the grace is over
}

// system is what a cell sends to.
type system interface {
	target() *engine.Target
	// bundled says whether it is ours: it is told each request's demand and tells its own refusals.
	bundled() bool
	// instances returns the lives so far; none if the system does not tell.
	instances(ctx context.Context) ([]record.Instance, error)
	// nodes returns the uses of nodes so far; none if there are no nodes, or the system does not tell.
	nodes(ctx context.Context) ([]record.Node, error)
	// load sets what the system tells of itself.
	load(p *CellProgress)
	// failed is closed when the system cannot go on; err says why.
	failed() <-chan struct{}
	err() error
	close(ctx context.Context) error
}

// replay is one cell on the wire.
type replay struct {
	name     string
	run      analysis.Run
	clock    *realclock.Clock // 0 is the cell's epoch
	epoch    time.Time
	system   system
	engine   *engine.Engine
	waves    []workload.Wave
	journal  *bundle.Journal // nil: none
	tally    *analysis.Tally // nil: the records are held
	runError error
}

// setup is how a cell is put on the wire.
type setup struct {
	ID      string // prefix of the request ids
	Epoch   time.Time
	Fleet   Fleet
	Remote  *Remote  // nil: the bundled stack, or Program
	Program *Program // a gateway that is started for the run; nil: none
	Sending Sending
}

// check finds what is wrong before the host is checked and anything is started. It returns the cell's schedule.
func (u setup) check(ctx context.Context, cell Cell) (*workload.Schedule, error) {
	if u.Remote == nil && cell.isOracle() {
		return nil, CheckPolicy(cell.Policy, false)
	}
	schedule, err := cell.Schedule()
	if err != nil {
		return nil, err
	}
	return schedule, u.checkSchedule(ctx, cell, schedule)
}

func (u setup) checkSchedule(ctx context.Context, cell Cell, schedule *workload.Schedule) error {
	if u.Remote != nil {
		return errors.Join(u.Sending.Limits.Check(schedule, u.Remote.Target), engine.Reach(ctx, u.Remote.Target))
	}
	var guard *engine.Guard
	loopback, err := guard.Target("http://127.0.0.1:1/")
	if err != nil {
		return err
	}
	return errors.Join(cell.check(), u.Fleet.check(cell.Profile), u.Program.check(cell), u.Sending.Limits.Check(schedule, loopback))
}

// open starts what the cell sends to.
func (u setup) open(ctx context.Context, cell Cell) (*replay, error) {
	schedule, err := cell.Schedule()
	if err != nil {
		return nil, err
	}
	return u.openOn(ctx, cell, schedule)
}

// openOn is open for a cell whose schedule was drawn already.
func (u setup) openOn(ctx context.Context, cell Cell, schedule *workload.Schedule) (r *replay, err error) {
	r = &replay{name: cell.Name(), run: cell.newRun("wire", schedule, schedule.Hash()), clock: realclock.New(u.Epoch), epoch: u.Epoch, waves: schedule.Waves()}
	r.run.Epoch = u.Epoch.UTC()
	switch {
	case u.Remote != nil:
		r.run.Placement = nil // it has its own
		r.system, err = openRemote(ctx, *u.Remote, r.clock)
	case u.Program != nil:
		r.system, err = openProgram(ctx, *u.Program, cell, r.clock, u.Fleet)
	default:
		r.system, err = openStack(cell, r.clock, u.Fleet)
	}
	if err != nil {
		return nil, err
	}
	if err := u.aim(r); err != nil {
		return nil, errors.Join(err, r.system.close(ctx))
	}
	return r, nil
}

// aim checks the schedule against the caps and makes the sender.
func (u setup) aim(r *replay) error {
	target := r.system.target()
	if err := u.Sending.Limits.Check(r.run.Schedule, target); err != nil {
		return err
	}
	sender, err := engine.NewVegeta(engine.VegetaConfig{
		Clock: r.clock, Run: u.ID, Bundled: r.system.bundled(), Timeout: u.Sending.Timeout, Grace: u.Sending.Grace,
		MaxInFlight: u.Sending.MaxInFlight, Abort: u.Sending.Abort,
		Request: engine.Request{Target: target, Header: u.Sending.Header},
	})
	if err != nil {
		return err
	}
	r.run.Target = target.String()
	r.engine = &engine.Engine{Sender: sender, Clock: r.clock}
	return nil
}

// send puts the schedule on the wire and keeps what came of it, also when it was stopped early.
func (r *replay) send(ctx context.Context) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	over := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { r.watch(over, stop) })
	records, err := r.record(ctx)
	errs := []error{err}
	if err == nil {
		r.settle(ctx)
	} else if cause := context.Cause(ctx); cause != nil {
		errs = append(errs, cause)
	}
	close(over)
	watch.Wait()
	r.run.Records = records
	r.run.Instances, err = r.tell(context.WithoutCancel(ctx))
	errs = append(errs, err, r.seal())
	r.summarize()
	r.runError = errors.Join(errs...)
	markStopped(&r.run, r.runError, context.Cause(ctx))
}

// tell asks the system for the lives of its instances, and for its nodes if one of them is on a node.
func (r *replay) tell(ctx context.Context) (lives []record.Instance, err error) {
	lives, err = r.system.instances(ctx)
	if err != nil || !slices.ContainsFunc(lives, func(in record.Instance) bool { return in.Node != 0 }) {
		return lives, err
	}
	if r.run.Placement == nil {
		r.run.Placement = &analysis.Placement{} // of a gateway that runs elsewhere: how many there could be is not told
	}
	r.run.Nodes, err = r.system.nodes(ctx)
	return lives, err
}

// watch stops the run when the system or the journal fails, until it is over.
func (r *replay) watch(over <-chan struct{}, stop context.CancelCauseFunc) {
	var broken <-chan struct{}
	if r.journal != nil {
		broken = r.journal.Failed()
	}
	ticker := time.NewTicker(livesEvery)
	defer ticker.Stop()
	for looks := 1; ; looks++ {
		select {
		case <-r.system.failed():
			stop(r.system.err())
			return
		case <-broken:
			stop(r.journal.Err())
			return
		case <-ticker.C:
			r.noteLives(looks%workEvery == 0)
		case <-over:
			return
		}
	}
}

// livesEvery is how often the lives of the instances go to the journal, and workEvery at which of these times the work goes
// too that they did meanwhile.
const (
	livesEvery = time.Second
	workEvery  = 10
)

// noteLives puts the lives so far into the journal, where asking for them disturbs nothing.
func (r *replay) noteLives(work bool) {
	if r.journal == nil || !r.system.bundled() {
		return
	}
	if lives, err := r.system.instances(context.Background()); err == nil {
		r.journal.Lives(lives, work)
	}
}

// record sends the schedule, and returns the records if they are held.
func (r *replay) record(ctx context.Context) ([]record.Record, error) {
	note := func(rec record.Record) {
		if r.journal != nil {
			r.journal.Add(&rec)
		}
		if r.tally != nil {
			r.tally.Add(&rec)
		}
	}
	if r.tally != nil {
		return nil, r.engine.Stream(ctx, r.run.Schedule, note)
	}
	return r.engine.Run(ctx, r.run.Schedule, note)
}

// seal ends the journal.
func (r *replay) seal() error {
	if r.journal == nil {
		return nil
	}
	r.journal.Lives(r.run.Instances, true)
	return r.journal.Seal()
}

func (r *replay) summarize() {
	if r.tally == nil {
		summarize(&r.run)
		return
	}
	n := len(r.run.Schedule.Arrivals)
	r.run.Summary = r.tally.Summary(n, inputOf(&r.run))
	r.tally = nil // its columns are large
}

// markStopped makes a run that was stopped say so before anything else: its results are complete, but not of the whole
// schedule (R8).
func markStopped(run *analysis.Run, err, cause error) {
	if !errors.Is(err, engine.ErrStopped) {
		return
	}
	text := "the run was stopped before its schedule was over"
	if cause != nil {
		text += ": " + cause.Error()
	}
	run.Summary.Warnings = slices.Insert(run.Summary.Warnings, 0, analysis.Warning{Code: analysis.WarnStopped, Text: text})
}

// settle waits until no instance is starting any more, at most to the end of the schedule, so that the lives of the
// instances are told whole.
func (r *replay) settle(ctx context.Context) {
	end := clock.Instant(r.run.Schedule.Length)
	for r.clock.Now() < end {
		var p CellProgress
		r.system.load(&p)
		if p.Starting == 0 || r.clock.WaitUntil(ctx, min(end, r.clock.Now().Add(showEvery))) != nil {
			return
		}
	}
}

func (r *replay) progress() CellProgress {
	p := r.engine.Progress()
	c := CellProgress{
		Name: r.name, Waves: len(r.waves), Scheduled: p.Scheduled, Sent: p.Sent, InFlight: p.InFlight, Done: p.Done,
		Failed: p.Errors + p.Dropped,
	}
	now := r.clock.Now()
	for _, w := range r.waves {
		if w.Last <= now {
			c.WavesSent++
		}
	}
	r.system.load(&c)
	return c
}

// replayAll sends all cells side by side and returns when the last answer has come. The error joins what stopped a cell
// early; each run holds what was recorded.
func replayAll(ctx context.Context, replays []*replay, show func(Progress)) error {
	var cells sync.WaitGroup
	for _, r := range replays {
		cells.Go(func() { r.send(ctx) })
	}
	over := make(chan struct{})
	go func() { cells.Wait(); close(over) }()
	watchReplays(replays, over, show)
	var errs []error
	for _, r := range replays {
		if r.runError != nil {
			errs = append(errs, fmt.Errorf("cell %s: %w", r.name, r.runError))
		}
	}
	return errors.Join(errs...)
}

// watchReplays shows progress until all is over.
func watchReplays(replays []*replay, over <-chan struct{}, show func(Progress)) {
	first, total := span(replays)
	ticker := time.NewTicker(showEvery)
	defer ticker.Stop()
	for {
		p := Progress{Stage: "replaying", Elapsed: time.Since(first), Total: total}
		for _, r := range replays {
			p.Cells = append(p.Cells, r.progress())
		}
		show(p)
		select {
		case <-over:
			return
		case <-ticker.C:
		}
	}
}

// span returns the first epoch and the time from it to the last planned start of any cell.
func span(replays []*replay) (first time.Time, total time.Duration) {
	first = replays[0].epoch
	for _, r := range replays {
		if r.epoch.Before(first) {
			first = r.epoch
		}
	}
	for _, r := range replays {
		if n := len(r.run.Schedule.Arrivals); n > 0 {
			total = max(total, r.epoch.Sub(first)+time.Duration(r.run.Schedule.Arrivals[n-1].At))
		}
	}
	return first, total
}
