package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/realclock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/workload"
)

// pipeNet is a network in memory, for bubbles: sockets are not virtual.
type pipeNet struct {
	mu        sync.Mutex
	listeners map[string]*pipeListener
}

type pipeListener struct {
	addr string
	net  *pipeNet
	conn chan net.Conn
	done chan struct{}
	once sync.Once
}

type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }

func newPipeNet() *pipeNet { return &pipeNet{listeners: map[string]*pipeListener{}} }

func (n *pipeNet) listen(addr string) *pipeListener {
	l := &pipeListener{addr: addr, net: n, conn: make(chan net.Conn), done: make(chan struct{})}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.listeners[addr] = l
	return l
}

func (n *pipeNet) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listeners[addr]
	n.mu.Unlock()
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	if l == nil {
		return nil, refused
	}
	here, there := net.Pipe()
	select {
	case l.conn <- there:
		return here, nil
	case <-l.done:
		return nil, refused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return pipeAddr(l.addr) }

// pipeFleet makes instances that take total − demand − overhead to start, and serve as told by the demand.
type pipeFleet struct {
	net   *pipeNet
	clock clock.Clock
	total time.Duration                       // C; the start takes C − exec − h of the arrival that caused it
	draw  func(StartRequest) platform.StartUp // in place of total, if set
	fails func(id scheduler.InstanceID) bool
	serve func(id scheduler.InstanceID, ready clock.Instant) http.Handler // nil: serveDemand
	slow  bool                                                            // a stop takes a nanosecond, as in the simulator with nodes
	lost  chan Loss
	mu    sync.Mutex
	up    map[scheduler.InstanceID]*http.Server
	cause map[scheduler.InstanceID]string
	all   sync.WaitGroup
}

func newPipeFleet(n *pipeNet, c clock.Clock, total time.Duration) *pipeFleet {
	return &pipeFleet{net: n, clock: c, total: total, lost: make(chan Loss), up: map[scheduler.InstanceID]*http.Server{},
		cause: map[scheduler.InstanceID]string{}}
}

func (f *pipeFleet) Start(ctx context.Context, r StartRequest) (string, error) {
	f.mu.Lock()
	f.cause[r.Instance] = r.Cause
	f.mu.Unlock()
	start := platform.StartUp{Total: f.total - r.Demand.Exec - r.Demand.Overhead(), Fails: f.fails != nil && f.fails(r.Instance)}
	if f.draw != nil {
		start = f.draw(r)
	}
	if err := f.clock.WaitUntil(ctx, r.Decided.Add(start.Total)); err != nil {
		return "", err
	}
	if start.Fails {
		return "", errors.New("no memory left")
	}
	addr := fmt.Sprintf("worker%d:80", r.Instance)
	s := &http.Server{Handler: http.HandlerFunc(serveDemand)}
	if f.serve != nil {
		s.Handler = f.serve(r.Instance, r.Decided.Add(start.Total))
	}
	f.mu.Lock()
	f.up[r.Instance] = s
	f.mu.Unlock()
	l := f.net.listen(addr)
	f.all.Go(func() { _ = s.Serve(l) })
	return addr, nil
}

// serveDemand is a worker: it takes as long as the demand says, unless its client goes.
func serveDemand(w http.ResponseWriter, r *http.Request) {
	d, err := workload.ParseDemand(r.Header.Get(workload.DemandHeader))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case <-time.After(d.Exec):
	case <-r.Context().Done():
	}
	_, _ = io.WriteString(w, "ok\n")
}

func (f *pipeFleet) Stop(ctx context.Context, id scheduler.InstanceID, _ time.Duration) error {
	if f.slow {
		if err := f.clock.WaitUntil(ctx, f.clock.Now()+1); err != nil {
			return err
		}
	}
	f.mu.Lock()
	s := f.up[id]
	delete(f.up, id)
	f.mu.Unlock()
	if s != nil {
		return s.Close()
	}
	return nil
}

func (f *pipeFleet) Lost() <-chan Loss { return f.lost }

// crash ends an instance as if its process had died.
func (f *pipeFleet) crash(t *testing.T, id scheduler.InstanceID) {
	t.Helper()
	if err := f.Stop(t.Context(), id, 0); err != nil {
		t.Fatal(err)
	}
	f.lost <- Loss{Instance: id, Err: errors.New("it died")}
}

// bubble is a whole stack in virtual time.
type bubble struct {
	t      *testing.T
	clock  clock.Clock
	net    *pipeNet
	fleet  *pipeFleet
	g      *Gateway
	client *http.Client
	served chan error
}

type bubbleConfig struct {
	policy   scheduler.Policy
	core     scheduler.Config
	nodes    scheduler.Nodes
	limits   Limits
	handover time.Duration
	cold     time.Duration
}

func newBubble(t *testing.T, cfg bubbleConfig) *bubble {
	t.Helper()
	b := &bubble{t: t, clock: realclock.Timers(time.Now()), net: newPipeNet(), served: make(chan error, 1)}
	b.fleet = newPipeFleet(b.net, b.clock, cfg.cold)
	b.fleet.slow = cfg.nodes.On()
	if cfg.core.Max == 0 {
		cfg.core.Max = scheduler.Unlimited
	}
	g, err := New(Config{Clock: b.clock, Dial: b.net.dial, Settle: synctest.Wait, Limits: cfg.limits,
		Functions: []Function{{Spec: workload.Function{Name: "f"}, Policy: cfg.policy, Core: cfg.core, Nodes: cfg.nodes, Provisioner: b.fleet,
			Handover: cfg.handover, Why: why, PolicyName: "test"}}})
	if err != nil {
		t.Fatal(err)
	}
	b.g = g
	front := b.net.listen("gateway:80")
	go func() { b.served <- g.Serve(front, nil) }()
	b.client = &http.Client{Transport: &http.Transport{DialContext: b.net.dial, MaxIdleConnsPerHost: 100}}
	return b
}

func why(code uint8) string { return policies.Why(code).String() }

// end closes everything, so that the bubble can end.
func (b *bubble) end() {
	b.t.Helper()
	b.client.CloseIdleConnections()
	if err := b.g.Close(); err != nil {
		b.t.Errorf("Close() = %v, want nil", err)
	}
	if err := <-b.served; err != nil {
		b.t.Errorf("Serve() = %v, want nil", err)
	}
	b.fleet.all.Wait()
}

// reply is what a client saw.
type reply struct {
	took   time.Duration
	status int
	header http.Header
	body   string
	err    error
}

func (r reply) server() record.Server { return record.ServerFrom(r.header.Get) }

func (b *bubble) get(ctx context.Context, id string, d workload.Demand) reply {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://gateway:80/fn/f/", nil)
	if err != nil {
		return reply{err: err}
	}
	req.Header.Set(workload.DemandHeader, d.String())
	req.Header.Set(record.RequestIDHeader, id)
	begin := b.clock.Now()
	res, err := b.client.Do(req)
	if err != nil {
		return reply{err: err, took: b.clock.Now().Sub(begin)}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return reply{took: b.clock.Now().Sub(begin), status: res.StatusCode, header: res.Header, body: string(body), err: err}
}

// wave sends n requests at once and returns their replies in order of the time that they took.
func (b *bubble) wave(name string, n int, d workload.Demand) []reply {
	out := make([]reply, n)
	var all sync.WaitGroup
	for k := range n {
		all.Go(func() { out[k] = b.get(b.t.Context(), fmt.Sprintf("%s-%d", name, k), d) })
	}
	all.Wait()
	return out
}

func (b *bubble) until(at time.Duration) {
	b.t.Helper()
	if err := b.clock.WaitUntil(b.t.Context(), clock.Instant(at)); err != nil {
		b.t.Fatal(err)
	}
}

// settle lets everything happen that can happen now. It costs a nanosecond: the loop waits with synctest.Wait, and only
// one goroutine of a bubble may.
func settle() { time.Sleep(time.Nanosecond) }
