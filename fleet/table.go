package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"coldwave/fleet/worker"
	"coldwave/gateway"
	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/scheduler"
)

// The defaults of the limits that all fleets have.
const (
	DefaultMax  = 1000   // instances alive at once
	DefaultKeep = 10_000 // instances remembered after their end
)

// Why a fleet refuses or gives up.
var (
	ErrClosed  = errors.New("the fleet is closed")
	ErrFull    = errors.New("the fleet is full")
	ErrTwice   = errors.New("the instance exists already")
	ErrStart   = errors.New("the start failed")
	ErrStopped = errors.New("stopped while it was starting")
	ErrCrash   = errors.New("crashed on purpose")
	ErrUnknown = errors.New("no such instance")
)

// running is the living half of an instance: an HTTP server, or a process.
type running interface {
	drain(ctx context.Context) error // finish what is in flight, cut the rest when ctx is done
	kill()                           // end now; may be called at any time, more than once
	wait() error                     // blocks until it is gone, and says why if it ended by itself
	stats() worker.Stats
	pid() int // 0: none of its own
}

// row is one instance of the table. Its fields belong to the table's lock.
type row struct {
	Instance
	cancel context.CancelFunc // ends its start
	gone   chan struct{}      // closed when it is in a final state
	live   running            // from ready on
	cause  error              // why it will have ended by itself, if that is known
}

// table is what all fleets have in common: the instances and the legal steps of their lives.
type table struct {
	clock clock.Clock
	max   int
	keep  int
	lost  chan gateway.Loss
	done  chan struct{}              // closed by close
	ended func(scheduler.InstanceID) // is told of each end, under the lock; nil: nobody
	work  sync.WaitGroup

	mu     sync.Mutex
	closed bool
	alive  int
	rows   map[scheduler.InstanceID]*row
	past   []scheduler.InstanceID // in a final state, the oldest first
}

func newTable(c clock.Clock, most, keep int) (*table, error) {
	if c == nil || most < 0 || keep < 0 {
		return nil, fmt.Errorf("fleet: clock %v, max %d, keep %d: need a clock, and limits ≥ 1 or 0 for the default", c, most, keep)
	}
	return &table{
		clock: c, max: cmp.Or(most, DefaultMax), keep: cmp.Or(keep, DefaultKeep),
		lost: make(chan gateway.Loss), done: make(chan struct{}), rows: map[scheduler.InstanceID]*row{},
	}, nil
}

// Lost tells of instances that ended by themselves. It is never closed.
func (t *table) Lost() <-chan gateway.Loss { return t.lost }

// begin enters a new instance. The returned context ends with ctx, with Stop and with Close; the caller must end with
// ready or with failed.
func (t *table) begin(ctx context.Context, r gateway.StartRequest, name string, s platform.StartUp) (context.Context, *row, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return nil, nil, fmt.Errorf("start instance %d: %w", r.Instance, ErrClosed)
	case t.rows[r.Instance] != nil:
		return nil, nil, fmt.Errorf("start instance %d: %w", r.Instance, ErrTwice)
	case t.alive >= t.max:
		return nil, nil, fmt.Errorf("start instance %d: %w: %d are alive, which is the limit", r.Instance, ErrFull, t.alive)
	}
	ctx, cancel := context.WithCancel(ctx)
	w := &row{cancel: cancel, gone: make(chan struct{}), Instance: Instance{
		ID: r.Instance, Name: name, Function: r.Function.Name, Revision: r.Revision, Node: r.Node, Zone: r.Zone,
		Cause: r.Cause, Decided: r.Decided, StartUp: s, ReadyAt: clock.Never, EndedAt: clock.Never,
	}}
	for i := range w.StageEnd {
		w.StageEnd[i] = clock.Never
	}
	t.rows[r.Instance] = w
	t.alive++
	t.work.Add(1)
	return ctx, w, nil
}

// failed ends a start without an instance, and returns the error that Start returns.
func (t *table) failed(w *row, err error) error {
	defer t.work.Done()
	defer w.cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	state := Failed
	if w.State == Stopping {
		state, err = Stopped, ErrStopped
	}
	w.Err = err
	t.end(w, state)
	return fmt.Errorf("start instance %s: %w", w.Name, err)
}

// ready notes that the instance can serve, and watches it from here on. If it was told to stop in the meantime it is
// killed, and the error says so.
func (t *table) ready(w *row, live running, addr string) error {
	t.mu.Lock()
	if w.State != Starting {
		t.mu.Unlock()
		live.kill()
		_ = live.wait() // it was killed
		return t.failed(w, ErrStopped)
	}
	defer t.mu.Unlock()
	w.cancel()
	w.State, w.Addr, w.PID, w.ReadyAt, w.live = Ready, addr, live.pid(), t.clock.Now(), live
	go t.watch(w) // takes over the count in t.work
	return nil
}

// watch waits for the end of an instance.
func (t *table) watch(w *row) {
	defer t.work.Done()
	live := w.live // it was set before this goroutine began
	err := live.wait()
	live.kill() // a server that can accept no more may still have connections
	t.mu.Lock()
	defer t.mu.Unlock()
	w.Worker = live.stats()
	if w.State == Stopping {
		t.end(w, Stopped)
		return
	}
	w.Err = cmp.Or(w.cause, err, errors.New("ended by itself"))
	t.end(w, Lost)
	t.work.Add(1)
	go t.tell(gateway.Loss{Instance: w.ID, Err: fmt.Errorf("instance %s: %w", w.Name, w.Err)})
}

func (t *table) tell(l gateway.Loss) {
	defer t.work.Done()
	select {
	case t.lost <- l:
	case <-t.done:
	}
}

// end moves w to a final state. t.mu is held.
func (t *table) end(w *row, s State) {
	w.State, w.EndedAt, w.live = s, t.clock.Now(), nil
	if t.ended != nil {
		t.ended(w.ID)
	}
	t.alive--
	t.past = append(t.past, w.ID)
	if len(t.past) > t.keep {
		delete(t.rows, t.past[0])
		t.past = t.past[1:]
	}
	close(w.gone)
}

// Stop ends an instance: no new connections at once, requests in flight may take up to drain, and as soon as the last
// one has its answer the instance is gone (R18). A starting instance is given up. An instance that is gone already is no
// error. Beyond drain, or when ctx is done, what is in flight is cut; then the instance is gone too, and the error
// wraps worker.ErrDrain.
func (t *table) Stop(ctx context.Context, id scheduler.InstanceID, drain time.Duration) error {
	w, live := t.stopping(id)
	if w == nil {
		return nil
	}
	var err error
	if live != nil {
		limit, cancel := context.WithTimeout(ctx, drain)
		defer cancel()
		err = live.drain(limit)
		<-w.gone
	} else { // its start, or another Stop, brings it to its end
		select {
		case <-w.gone:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		return fmt.Errorf("stop instance %d: %w", id, err)
	}
	return nil
}

// stopping marks the instance. It returns its living half if it is this caller's to drain, and no row if it is gone.
func (t *table) stopping(id scheduler.InstanceID) (*row, running) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.rows[id]
	if w == nil || w.State.final() {
		return nil, nil
	}
	before := w.State
	w.State = Stopping
	w.cancel()
	if before == Ready {
		return w, w.live
	}
	return w, nil
}

// Drain stops all instances at once, each as Stop does, and returns when all are gone.
func (t *table) Drain(ctx context.Context, limit time.Duration) error {
	var all sync.WaitGroup
	live := t.Instances()
	errs := make([]error, len(live))
	for n, i := range live {
		all.Go(func() { errs[n] = t.Stop(ctx, i.ID, limit) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Crash ends a ready instance as if it had died: connections are cut and Lost tells of it.
func (t *table) Crash(id scheduler.InstanceID) error { return t.die(id, ErrCrash) }

// die ends a ready instance for a reason.
func (t *table) die(id scheduler.InstanceID, why error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.rows[id]
	if w == nil || w.State != Ready {
		return fmt.Errorf("crash instance %d: %w that is ready", id, ErrUnknown)
	}
	w.cause = cmp.Or(w.cause, why)
	w.live.kill()
	return nil
}

// close ends every instance at once and waits until all are gone. Later starts are refused.
func (t *table) close() {
	t.mu.Lock()
	if !t.closed {
		t.closed = true
		close(t.done)
	}
	for _, w := range t.rows {
		if w.State.final() {
			continue
		}
		w.State = Stopping
		w.cancel()
		if w.live != nil {
			w.live.kill()
		}
	}
	t.mu.Unlock()
	t.work.Wait()
}

// Instance returns what is known of an instance.
func (t *table) Instance(id scheduler.InstanceID) (Instance, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.rows[id]
	if w == nil {
		return Instance{}, false
	}
	return w.snapshot(), true
}

// Instances returns what is known of all instances, in order of their ids: those alive and the last ones that ended.
func (t *table) Instances() []Instance {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]Instance, 0, len(t.rows))
	for _, id := range slices.Sorted(maps.Keys(t.rows)) {
		all = append(all, t.rows[id].snapshot())
	}
	return all
}

func (w *row) snapshot() Instance {
	i := w.Instance
	if w.live != nil {
		i.Worker = w.live.stats()
	}
	return i
}

// passed notes that a stage of the start-up has ended.
func (t *table) passed(w *row, s platform.Stage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.StageEnd[s] = t.clock.Now()
}

func nameOf(id scheduler.InstanceID) string { return strconv.Itoa(int(id)) }
