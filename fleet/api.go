package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"coldwave/fleet/worker"
	"coldwave/gateway"
	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/scheduler"
	"coldwave/workload"
)

// The bounds of what a client of the API may ask for.
const (
	ColdStartMax = 10 * time.Minute
	ServiceMax   = 10 * time.Minute
	DrainMax     = time.Hour
)

// APIConfig is what an API is made of. ColdStart, Service and Concurrency hold for workers that do not ask for others.
type APIConfig struct {
	Clock       clock.Clock
	ColdStart   platform.Law  // start-up time of a worker, up to ColdStartMax
	Service     time.Duration // execution time of a request that asks for none, up to ServiceMax
	Concurrency int           // requests in flight on one worker; 0: worker.DefaultConcurrency
	Drain       time.Duration // limit of a worker's drain, up to DrainMax
	Seed        uint64        // of the start-up times
	Max         int           // limit of workers; 0: DefaultMax
	Resources   platform.Resources
	CPU         platform.Cost  // CPU time of a body whose request states none
	Mode        worker.CPUMode // default worker.Sleep
	Token       string         // that a client must send as "Authorization: Bearer …"; empty: none
	Log         *worker.Log    // of all workers; nil: none
	Errors      io.Writer      // what the HTTP servers complain of; nil: nowhere
}

// API offers a fleet of workers in this process over HTTP and JSON, so that a scheduler in any language can start, stop
// and use simulated workers:
//
//	POST   /workers {"id", "function", "cold_start", "service", "concurrency"}: 201 with id and address when it can serve
//	POST   /workers?wait=false                                                : 202 at once
//	GET    /workers, /workers/{id}                                            : what they are and did
//	DELETE /workers/{id}?drain=10s                                            : 200 when it is gone
//	GET    /healthz                                                           : 200
//
// An error is {"error": "…"}. It takes requests for a loopback host only, and none from a web page of another origin.
type API struct {
	cfg   APIConfig
	fleet *InProcess
	http  http.Handler

	mu      sync.Mutex
	workers map[string]*order
	last    scheduler.InstanceID
}

// order is one worker that a client asked for.
type order struct {
	id  scheduler.InstanceID
	ask ask
	err error // why it was not started; belongs to API.mu
}

// ask is what a client asks for, after the defaults.
type ask struct {
	name        string
	function    string
	coldStart   platform.Law
	service     time.Duration
	concurrency int
}

// NewAPI returns an API with no workers. Close ends it.
func NewAPI(cfg APIConfig) (*API, error) {
	f, err := NewInProcess(Config{
		Clock: cfg.Clock, Max: cfg.Max, Errors: cfg.Errors,
		Worker:  worker.Config{Log: cfg.Log, Resources: cfg.Resources, CPU: cfg.CPU, Mode: cfg.Mode, Seed: cfg.Seed},
		StartUp: func(gateway.StartRequest) platform.StartUp { return platform.StartUp{} }, // each worker has its own
	})
	if err != nil {
		return nil, err
	}
	cfg.Max = cmp.Or(cfg.Max, DefaultMax)
	a := &API{cfg: cfg, fleet: f, workers: map[string]*order{}}
	_, err = a.complete(request{})
	err = errors.Join(err, cfg.CPU.Check(), cfg.Resources.Check())
	if err == nil && (cfg.Drain < 0 || cfg.Drain > DrainMax) {
		err = fmt.Errorf("drain %v: must be 0s to %v", cfg.Drain, DrainMax)
	}
	if err != nil {
		return nil, fmt.Errorf("fleet api: %w", err)
	}
	a.http = a.guard(a.routes())
	return a, nil
}

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.http.ServeHTTP(w, r) }

// Drain stops all workers; see InProcess.Stop.
func (a *API) Drain(ctx context.Context) error { return a.fleet.Drain(ctx, a.cfg.Drain) }

// Close ends all workers at once and waits until they are gone.
func (a *API) Close() error { return a.fleet.Close() }

// complete checks what a client asks for and fills in the defaults. Every problem is reported at once.
func (a *API) complete(r request) (ask, error) {
	k := ask{
		name: r.ID, function: r.Function, coldStart: a.cfg.ColdStart, service: a.cfg.Service,
		concurrency: cmp.Or(a.cfg.Concurrency, worker.DefaultConcurrency),
	}
	var errs []error
	if r.ColdStart != nil {
		law, err := ParseColdStart(*r.ColdStart)
		k.coldStart = law
		errs = append(errs, err)
	} else if k.coldStart == nil {
		errs = append(errs, errors.New("cold start: no default: set one"))
	} else {
		errs = append(errs, checkColdStart(k.coldStart))
	}
	if r.Service != nil {
		d, err := time.ParseDuration(*r.Service)
		k.service = d
		errs = append(errs, err)
	}
	if r.Concurrency != nil {
		k.concurrency = *r.Concurrency
	}
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	check(k.service >= 0 && k.service <= ServiceMax, "service %v: must be 0s to %v", k.service, ServiceMax)
	check(k.concurrency >= 1 && k.concurrency <= worker.MaxConcurrency, "concurrency %d: must be 1 to %d", k.concurrency, worker.MaxConcurrency)
	check(k.name == worker.RequestID(k.name), "id %.80q: must be 1 to 64 of A-Z a-z 0-9 . _ -", k.name)
	check(k.name != "." && k.name != "..", "id %q: has a meaning in paths", k.name)
	check(k.function == worker.RequestID(k.function), "function %.80q: must be at most 64 of A-Z a-z 0-9 . _ -", k.function)
	return k, errors.Join(errs...)
}

// ParseColdStart reads a start-up time: "2s", a range "1.7s-3s", or any law of platform.ParseLaw, up to ColdStartMax.
func ParseColdStart(text string) (platform.Law, error) {
	if d, err := time.ParseDuration(text); err == nil {
		return platform.Constant(d), checkColdStart(platform.Constant(d))
	}
	if low, _, found := strings.Cut(text, "-"); found {
		if _, err := time.ParseDuration(low); err == nil {
			text = "uniform:" + text
		}
	}
	law, err := platform.ParseLaw(text)
	if err != nil {
		return nil, fmt.Errorf("cold start: %w; or give a duration or a range such as 1.7s-3s", err)
	}
	return law, checkColdStart(law)
}

func checkColdStart(l platform.Law) error {
	if err := l.Check(); err != nil {
		return fmt.Errorf("cold start: %w", err)
	}
	if short, long := l.Range(); short < 0 || long > ColdStartMax {
		return fmt.Errorf("cold start %s: must lie in 0s to %v", l.Name(), ColdStartMax)
	}
	return nil
}

// Why an order is refused.
var errTaken = errors.New("a worker of that id exists")

// enter gives the order a number and, if it has none, a name.
func (a *API) enter(k ask) (*order, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.workers) >= a.cfg.Max {
		return nil, fmt.Errorf("%w: there are %d workers, which is the limit: delete some, or raise --max", ErrFull, len(a.workers))
	}
	if k.name != "" && a.workers[k.name] != nil {
		return nil, fmt.Errorf("id %q: %w", k.name, errTaken)
	}
	a.last++
	for k.name == "" {
		if name := fmt.Sprintf("w%d", a.last); a.workers[name] == nil {
			k.name = name
		} else {
			a.last++
		}
	}
	o := &order{id: a.last, ask: k}
	a.workers[k.name] = o
	return o, nil
}

func (a *API) forget(o *order) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.workers[o.ask.name] == o {
		delete(a.workers, o.ask.name)
	}
}

// find returns the worker of that name, or nil.
func (a *API) find(name string) *order {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.workers[name]
}

// all returns the workers in the order in which they were asked for.
func (a *API) all() []*order {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := make([]*order, 0, len(a.workers))
	for _, o := range a.workers {
		all = append(all, o)
	}
	slices.SortFunc(all, func(x, y *order) int { return cmp.Compare(x.id, y.id) })
	return all
}

// start makes the worker of an order and returns when it can serve.
func (a *API) start(ctx context.Context, o *order, decided clock.Instant) error {
	f := workload.Function{Name: o.ask.function, Body: o.ask.service, Concurrency: o.ask.concurrency}
	p := platform.Profile{Function: f, Cold: o.ask.coldStart}
	s := p.Draws(a.cfg.Seed).StartUp(int64(o.id), workload.Demand{})
	_, err := a.fleet.start(ctx, gateway.StartRequest{Function: f, Instance: o.id, Decided: decided}, o.ask.name, s)
	a.mu.Lock()
	defer a.mu.Unlock()
	o.err = err
	return err
}

// failure returns why the worker of an order was not started, or nil.
func (a *API) failure(o *order) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return o.err
}
