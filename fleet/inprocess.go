package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"coldwave/fleet/worker"
	"coldwave/gateway"
	"coldwave/internal/clock"
	"coldwave/platform"
)

// openLead is how long before its due instant an instance opens its listener: late enough that nobody finds it early
// by chance, early enough for a busy host.
const openLead = 5 * time.Millisecond

// Draw says how an instance starts.
type Draw func(gateway.StartRequest) platform.StartUp

// FromDraws draws start-ups from a profile, by the instance's id and the demand of the arrival that caused it. On a node
// that holds the code they skip the download.
func FromDraws(d platform.Draws) Draw {
	return func(r gateway.StartRequest) platform.StartUp {
		up := d.StartUp(int64(r.Instance), r.Demand)
		if r.Cached {
			up = up.Without(platform.StageDownload)
		}
		return up
	}
}

// Config is what an InProcess fleet is made of.
type Config struct {
	Clock   clock.Clock
	StartUp Draw
	// Worker holds the limits, the failures, the resources and the log of every worker. Its name, function, clock, body and
	// concurrency come from the request that starts it.
	Worker      worker.Config
	Backing     platform.Backing                                // service that all instances call; the zero Backing: none
	Connections int                                             // limit for each worker; 0: worker.DefaultMaxConnections
	Max         int                                             // limit of instances alive; 0: DefaultMax
	Keep        int                                             // limit of instances remembered after their end; 0: DefaultKeep
	Errors      io.Writer                                       // what the HTTP servers complain of; nil: nowhere
	Listen      func(ctx context.Context) (net.Listener, error) // nil: a free port of 127.0.0.1
}

// InProcess is a fleet of workers in this process. Each is a real HTTP server on its own socket.
type InProcess struct {
	*table
	cfg     Config
	backing *backing
}

var _ gateway.Provisioner = (*InProcess)(nil)

// NewInProcess returns a fleet without instances. Close ends it.
func NewInProcess(cfg Config) (*InProcess, error) {
	t, err := newTable(cfg.Clock, cfg.Max, cfg.Keep)
	if err != nil {
		return nil, err
	}
	if cfg.StartUp == nil {
		return nil, errors.New("fleet: no start-up times: set StartUp")
	}
	if cfg.Listen == nil {
		cfg.Listen = loopback
	}
	if err := cfg.Backing.Check(); err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	f := &InProcess{table: t, cfg: cfg, backing: newBacking(cfg.Clock, cfg.Backing)}
	t.ended = f.backing.leave
	return f, nil
}

func loopback(ctx context.Context) (net.Listener, error) {
	return new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
}

// Start makes an instance and returns its address at the instant Decided + start-up time, or as soon after it as the
// host allows. A start that is drawn to fail ends there too, with an error that wraps ErrStart. Other errors wrap
// ErrClosed, ErrFull, ErrTwice, ErrStopped or the context's error.
func (f *InProcess) Start(ctx context.Context, r gateway.StartRequest) (string, error) {
	return f.start(ctx, r, nameOf(r.Instance), f.cfg.StartUp(r))
}

func (f *InProcess) start(ctx context.Context, r gateway.StartRequest, name string, s platform.StartUp) (string, error) {
	ctx, w, err := f.begin(ctx, r, name, s)
	if err != nil {
		return "", err
	}
	live, err := f.launch(ctx, r, w)
	if err != nil {
		return "", f.failed(w, err)
	}
	addr := live.listener.Addr().String()
	f.backing.join(r.Instance)
	if err := f.ready(w, live, addr); err != nil {
		return "", err
	}
	return addr, nil
}

// launch lets the stages of the start-up pass. Each ends at its own instant since the decision, so no lateness adds up.
func (f *InProcess) launch(ctx context.Context, r gateway.StartRequest, w *row) (*server, error) {
	var live *server
	giveUp := func(err error) (*server, error) {
		if live != nil {
			live.kill()
		}
		return nil, err
	}
	open := w.Due().Add(-openLead)
	for s, at := range stageEnds(w.Decided, w.StartUp) {
		if at > open && live == nil && !w.StartUp.Fails {
			if err := f.clock.WaitUntil(ctx, open); err != nil {
				return nil, err
			}
			var err error
			if live, err = f.open(ctx, r, w); err != nil {
				return nil, err
			}
		}
		if err := f.clock.WaitUntil(ctx, at); err != nil {
			return giveUp(err)
		}
		f.passed(w, platform.Stage(s))
	}
	if w.StartUp.Fails {
		return giveUp(ErrStart)
	}
	return live, nil
}

// stageEnds are the instants at which the stages end. The last one is the end of the start-up, whatever the sum.
func stageEnds(decided clock.Instant, s platform.StartUp) [platform.Stages]clock.Instant {
	var ends [platform.Stages]clock.Instant
	at := decided
	for i, d := range s.Stages {
		at = at.Add(d)
		ends[i] = at
	}
	ends[platform.Stages-1] = decided.Add(s.Total)
	return ends
}

// open makes the worker and its socket.
func (f *InProcess) open(ctx context.Context, r gateway.StartRequest, w *row) (*server, error) {
	cfg := f.cfg.Worker
	cfg.Name, cfg.Function, cfg.Clock, cfg.Ready = w.Name, r.Function.Name, f.cfg.Clock, w.Due()
	cfg.Body, cfg.Concurrency = r.Function.Body, r.Function.Concurrency
	cfg.Call = f.backing.callOf(w.ID)
	cfg.Die = func(err error) { _ = f.die(w.ID, err) } // it fails for one that is gone already
	h, err := worker.New(cfg)
	if err != nil {
		return nil, err
	}
	l, err := f.cfg.Listen(ctx)
	if err != nil {
		return nil, fmt.Errorf("open a port: %w", err)
	}
	s := &server{handler: h, http: worker.NewServer(h, f.cfg.Connections, f.cfg.Errors), listener: l, ended: make(chan struct{})}
	go s.serve()
	return s, nil
}

// Close ends every instance at once and waits until all are gone. It may be called more than once.
func (f *InProcess) Close() error {
	f.close()
	return nil
}

// server is a worker in this process.
type server struct {
	handler  *worker.Handler
	http     *worker.Server
	listener net.Listener
	ended    chan struct{}
	err      error // valid once ended is closed
}

func (s *server) serve() {
	defer close(s.ended)
	s.err = s.http.Serve(s.listener)
}

func (s *server) drain(ctx context.Context) error { return s.http.Drain(ctx) }

func (s *server) kill() { _ = s.http.Close() } // it fails only for a listener that is closed already

func (s *server) wait() error {
	<-s.ended
	return s.err
}

func (s *server) stats() worker.Stats { return s.handler.Stats() }

func (s *server) pid() int { return 0 }
