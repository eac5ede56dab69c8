package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/workload"
)

// Function is one function behind the gateway, with the policy that schedules it and whoever makes its instances.
type Function struct {
	Spec        workload.Function  // Name is its path: 1 to 63 characters of a–z A–Z 0–9 . _ -
	Revision    string             // told to the Provisioner
	Policy      scheduler.Policy   // belongs to this function alone
	PolicyName  string             // how /scale calls it
	Why         func(uint8) string // names the policy's reasons for a start; nil: they are not shown
	Core        scheduler.Config   // limits of instances
	Nodes       scheduler.Nodes    // on which they are placed; the zero Nodes: nowhere in particular
	Handover    time.Duration      // from the end of an answer until its slot is free, ≥ 0
	Provisioner Provisioner        // belongs to this function alone: ids of instances are per function
}

// Config is what a gateway is made of.
type Config struct {
	Functions []Function
	Clock     clock.Clock
	Limits    Limits
	Seed      uint64 // of the run; only told in the text of an illegal decision
	Log       *slog.Logger
	Allow     []string // instances outside loopback that may be connected to, as host:port
	Dial      DialFunc // nil: TCP, loopback and Allow only
	Admin     Admin
	Settle    func() // of each function's Loop; one function at most in a bubble
}

// ErrConfig is wrapped by every error of Config.Validate.
var ErrConfig = errors.New("bad gateway configuration")

var functionName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,63}$`)

// Validate reports every problem at once, each wrapping ErrConfig.
func (c *Config) Validate() error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...))
	}
	if c.Clock == nil {
		wrong("no clock: set one")
	}
	if len(c.Functions) == 0 {
		wrong("no function: name at least one")
	}
	if err := c.Limits.Validate(); err != nil {
		wrong("%w", err)
	}
	seen := map[string]bool{}
	for _, f := range c.Functions {
		name := f.Spec.Name
		switch {
		case !functionName.MatchString(name) || name == "." || name == "..":
			wrong("function %q: a name has 1 to 63 characters of A–Z a–z 0–9 . _ -", name)
		case seen[name]:
			wrong("function %q: comes twice", name)
		case f.Policy == nil || f.Provisioner == nil:
			wrong("function %q: needs a policy and a provisioner", name)
		case f.Handover < 0:
			wrong("function %q: handover %v: must be ≥ 0", name, f.Handover)
		}
		if err := errors.Join(f.Core.Validate(), f.Nodes.Validate()); err != nil {
			wrong("function %q: %w", name, err)
		}
		seen[name] = true
	}
	return errors.Join(errs...)
}

// Gateway serves functions over HTTP. It is safe for concurrent use.
type Gateway struct {
	cfg       Config
	services  []*service // in order of the configuration
	byName    map[string]*service
	proxy     *httputil.ReverseProxy
	transport *http.Transport
	stats     *stats
	naming    *naming
	heldBytes budget
	gate      gate         // requests inside
	open      atomic.Int64 // connections on the data port
	born      clock.Instant

	hard     context.Context // done: everything ends now
	stopHard context.CancelFunc
	soft     context.Context // done: loops end
	stopSoft context.CancelFunc
	draining atomic.Bool
	work     sync.WaitGroup // loops, watches, slots that are given back later
	broken   chan struct{}  // closed when a loop has failed
	failOnce sync.Once
	failure  error // read after broken
	end      shutdown
}

// New returns a gateway whose loops run. Close or Drain ends it.
func New(cfg Config) (*Gateway, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg.Limits = cfg.Limits.withDefaults()
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Dial == nil {
		cfg.Dial = guardedDial(cfg.Limits, cfg.Allow)
	}
	g := &Gateway{cfg: cfg, byName: map[string]*service{}, naming: newNaming(), broken: make(chan struct{}), born: cfg.Clock.Now()}
	g.heldBytes.limit = cfg.Limits.HeldBytes
	g.hard, g.stopHard = context.WithCancel(context.Background())
	g.soft, g.stopSoft = context.WithCancel(context.Background())
	g.end.finished = make(chan struct{})
	for _, fn := range cfg.Functions {
		s := newService(fn, cfg)
		g.services = append(g.services, s)
		g.byName[fn.Spec.Name] = s
	}
	g.stats = newStats(g.services)
	g.transport = newTransport(cfg.Limits, cfg.Dial)
	g.proxy = newProxy(g.transport, cfg.Log)
	g.begin()
	return g, nil
}

// begin starts the loops.
func (g *Gateway) begin() {
	for _, s := range g.services {
		g.work.Go(func() {
			if err := s.loop.Run(g.soft); err != nil {
				g.fail(fmt.Errorf("function %q: %w", s.fn.Spec.Name, err))
			}
		})
		g.work.Go(func() { s.watch(g.soft) })
		if scheduler.WantsSamples(s.fn.Policy) {
			g.work.Go(func() { newSampler(s, g.transport).run(g.soft) })
		}
	}
}

// fail keeps the first error of a loop and tells the owner.
func (g *Gateway) fail(err error) {
	g.failOnce.Do(func() {
		g.failure = err
		g.cfg.Log.Error("scheduler loop stopped", "error", err)
		close(g.broken)
	})
}

// Broken is closed when an illegal decision or a bug has ended a function's loop; Err tells which. Requests of that
// function are answered with 500 from then on.
func (g *Gateway) Broken() <-chan struct{} { return g.broken }

// Err returns the error behind Broken, which wraps ErrLoop, or nil.
func (g *Gateway) Err() error {
	select {
	case <-g.broken:
		return g.failure
	default:
		return nil
	}
}

// endedVerdict is what a request gets when its loop has ended.
func (g *Gateway) endedVerdict() verdict {
	if g.Err() == nil && (g.hard.Err() != nil || g.soft.Err() != nil) {
		return verdict{status: http.StatusServiceUnavailable, reason: ErrClosing}
	}
	return verdict{status: http.StatusInternalServerError, reason: ErrBroken}
}

// find returns the function of that name; the empty name means the only one.
func (g *Gateway) find(name string) *service {
	if name == "" && len(g.services) == 1 {
		return g.services[0]
	}
	return g.byName[name]
}

// Handler is the data port.
func (g *Gateway) Handler() http.Handler { return http.HandlerFunc(g.serveData) }

func (g *Gateway) serveData(w http.ResponseWriter, r *http.Request) {
	g.gate.enter()
	defer g.gate.leave()
	x := &exchange{g: g, r: r, id: g.naming.requestID(r.Header), arrived: g.cfg.Clock.Now(),
		w: &answer{w: w, limit: g.cfg.Limits.AnswerTime}}
	x.serve()
}

// health answers /healthz: 200 while it serves, 503 while it drains, 500 when a loop has stopped.
func (g *Gateway) health(w http.ResponseWriter) {
	status, text := http.StatusOK, "ok\n"
	switch {
	case g.Err() != nil:
		status, text = http.StatusInternalServerError, ErrBroken.Error()+"\n"
	case g.draining.Load():
		status, text = http.StatusServiceUnavailable, "draining\n"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // a failed write means that whoever asked has gone
}

// Counts is the present state in numbers.
type Counts struct {
	Alive    int // instances that are starting, idle or busy
	Starting int
	Idle     int
	Busy     int
	Queued   int // requests that wait
	InFlight int // requests on instances
	Nodes    int // in use
}

// Counts returns the state of all functions together, without stopping anything: cheap enough for a progress display.
func (g *Gateway) Counts() Counts {
	var c Counts
	for _, s := range g.services {
		l := s.load.Load()
		c.Alive += alive(l)
		c.Starting += l.Starting
		c.Idle += l.Idle
		c.Busy += l.Busy
		c.Queued += l.Waiting
		c.InFlight += l.Running
		c.Nodes += l.Nodes
	}
	return c
}

// Instances returns the lives of all instances so far, function by function in order of id; of those that ended, at
// most Limits.Lives for each function, the last ones.
func (g *Gateway) Instances() []record.Instance {
	var out []record.Instance
	for _, s := range g.services {
		for _, in := range s.lives.all(g.cfg.Clock.Now()) {
			out = append(out, in.Instance)
		}
	}
	return out
}
