package fleet_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coldwave/fleet"
	"coldwave/gateway"
	"coldwave/internal/realclock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
)

// TestMain lets this program stand in for a worker program: the environment that Exec gives to its workers says which.
func TestMain(m *testing.M) {
	if stand := standIns[os.Getenv(fleet.EnvFunction)]; stand != nil {
		os.Exit(stand()) //nolint:forbidigo // this is main
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if builtDir != "" {
			_ = os.RemoveAll(builtDir)
		}
		os.Exit(code) //nolint:forbidigo // this is main
	}))
}

// patience bounds what a test waits for something that must happen. It never decides a result by being short.
const patience = 30 * time.Second

// provisioner is a fleet as the conformance suite sees it.
type provisioner interface {
	gateway.Provisioner
	Crash(id scheduler.InstanceID) error
	Instance(id scheduler.InstanceID) (fleet.Instance, bool)
	Close() error
}

// conform holds a provisioner to the contract of gateway.Provisioner, on real sockets. newFleet makes one whose
// instances start as s says.
func conform(t *testing.T, newFleet func(t *testing.T, s platform.StartUp) provisioner) {
	tests := []struct {
		name string
		run  func(t *testing.T, p *trial)
	}{
		{"Start returns when the instance can serve, never before its time (R17)", conformStart},
		{"Stop lets the request in flight finish and takes no other (R18)", conformDrain},
		{"Stop cuts what passes the drain limit", conformCut},
		{"Stop of an instance that is gone or never was is no error", conformStopTwice},
		{"Lost tells of an instance that ended by itself", conformLost},
		{"a done context ends the attempt", conformGivenUp},
		{"many at once", conformMany},
		{"one instance serves as many at once as its function allows", conformConcurrency},
		{"Close ends everything, also what is starting", conformClose},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := &trial{provisioner: newFleet(t, startUp)}
			t.Cleanup(func() {
				if err := p.Close(); err != nil {
					t.Errorf("Close() = %v, want none", err)
				}
			})
			test.run(t, p)
		})
	}
	t.Run("a start that is drawn to fail is an error at its end", func(t *testing.T) {
		s := startUp
		s.Fails = true
		p := newFleet(t, s)
		defer p.Close()
		if addr, err := p.Start(t.Context(), req(1)); !errors.Is(err, fleet.ErrStart) || addr != "" {
			t.Errorf("Start() = %q, %v, want ErrStart", addr, err)
		}
		if i, _ := p.Instance(1); i.State != fleet.Failed || i.EndedAt < i.Due() {
			t.Errorf("Instance(1) = %v, ended at %v; want failed, not before %v", i.State, i.EndedAt, i.Due())
		}
	})
}

type trial struct{ provisioner }

func (p *trial) start(t *testing.T, id scheduler.InstanceID) string {
	t.Helper()
	addr, err := p.Start(t.Context(), req(id))
	if err != nil {
		t.Fatalf("Start(%d) error %v, want none", id, err)
	}
	return addr
}

// get returns the status, 0 if there is no answer, and what the worker said of itself.
func get(ctx context.Context, addr, path string) (int, record.Server) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return 0, record.Server{}
	}
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	resp, err := c.Do(r)
	if err != nil {
		return 0, record.Server{}
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, record.Server{}
	}
	return resp.StatusCode, record.ServerFrom(resp.Header.Get)
}

// inFlight starts a request and returns when the worker runs it: it asks for the body then.
func inFlight(t *testing.T, addr, path string) <-chan int {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatalf("dial %s: %v", addr, err)
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: w\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n", path)
	if err != nil {
		t.Fatalf("write the request: %v", err)
	}
	answers := bufio.NewReader(conn)
	if resp, err := http.ReadResponse(answers, nil); err != nil || resp.StatusCode != http.StatusContinue {
		t.Fatalf("POST %s: %v, %v; want 100 Continue", path, resp, err)
	}
	if _, err := io.WriteString(conn, "x"); err != nil {
		t.Fatalf("write the body: %v", err)
	}
	status := make(chan int, 1)
	go func() {
		defer conn.Close()
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			status <- 0
			return
		}
		defer resp.Body.Close()
		status <- resp.StatusCode
	}()
	return status
}

func conformStart(t *testing.T, p *trial) {
	addr := p.start(t, 7)
	if i, _ := p.Instance(7); i.ReadyAt < i.Due() || i.State != fleet.Ready || i.Addr != addr {
		t.Errorf("Instance(7) = %v at %v on %s, want ready not before %v on %s", i.State, i.ReadyAt, i.Addr, i.Due(), addr)
	}
	for _, want := range []record.StartKind{record.Cold, record.Warm} {
		status, got := get(t.Context(), addr, "/sleep/1")
		if status != 200 || got.Instance != "7" || got.Start != want || got.Exec < time.Millisecond {
			t.Errorf("answer = %d %+v, want 200 from instance 7, %v, at least 1ms", status, got, want)
		}
	}
}

func conformDrain(t *testing.T, p *trial) {
	addr := p.start(t, 1)
	status := inFlight(t, addr, "/sleep/200")
	if err := p.Stop(t.Context(), 1, patience); err != nil {
		t.Errorf("Stop(1) = %v, want none", err)
	}
	if got := <-status; got != 200 {
		t.Errorf("request in flight = %d, want 200", got)
	}
	if got, _ := get(t.Context(), addr, "/"); got != 0 {
		t.Errorf("request after the stop = %d, want no connection", got)
	}
	if i, _ := p.Instance(1); i.State != fleet.Stopped {
		t.Errorf("state = %v, want stopped", i.State)
	}
}

func conformCut(t *testing.T, p *trial) {
	status := inFlight(t, p.start(t, 1), "/sleep/600000")
	if err := p.Stop(t.Context(), 1, 10*time.Millisecond); err == nil {
		t.Error("Stop(1) = none, want an error that tells of the cut")
	}
	if got := <-status; got != 0 {
		t.Errorf("request beyond the limit = %d, want it cut", got)
	}
}

func conformStopTwice(t *testing.T, p *trial) {
	p.start(t, 1)
	for _, id := range []scheduler.InstanceID{1, 1, 99} {
		if err := p.Stop(t.Context(), id, patience); err != nil {
			t.Errorf("Stop(%d) = %v, want none", id, err)
		}
	}
}

func conformLost(t *testing.T, p *trial) {
	addr := p.start(t, 3)
	status := inFlight(t, addr, "/sleep/600000")
	if err := p.Crash(3); err != nil {
		t.Fatalf("Crash(3) = %v", err)
	}
	select {
	case l := <-p.Lost():
		if l.Instance != 3 || !errors.Is(l.Err, fleet.ErrCrash) {
			t.Errorf("Lost() = %+v, want instance 3 by ErrCrash", l)
		}
	case <-time.After(patience):
		t.Fatal("nobody told of the loss")
	}
	if got := <-status; got != 0 {
		t.Errorf("request on it = %d, want it cut", got)
	}
	if got, _ := get(t.Context(), addr, "/"); got != 0 {
		t.Errorf("request after the loss = %d, want no connection", got)
	}
	if err := p.Stop(t.Context(), 3, patience); err != nil {
		t.Errorf("Stop(3) of the lost one = %v, want none", err)
	}
}

func conformGivenUp(t *testing.T, p *trial) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if addr, err := p.Start(ctx, req(1)); !errors.Is(err, context.Canceled) || addr != "" {
		t.Errorf("Start() = %q, %v, want the context's error", addr, err)
	}
	if i, _ := p.Instance(1); i.State != fleet.Failed {
		t.Errorf("state = %v, want failed", i.State)
	}
}

func conformMany(t *testing.T, p *trial) {
	const n = 8
	type result struct {
		status int
		server record.Server
	}
	results := make(chan result, n)
	for id := range scheduler.InstanceID(n) {
		go func() {
			addr, err := p.Start(t.Context(), req(id+1))
			if err != nil {
				t.Errorf("Start(%d) = %v", id+1, err)
			}
			status, server := get(t.Context(), addr, "/sleep/1")
			results <- result{status, server}
		}()
	}
	seen := map[string]bool{}
	for range n {
		r := <-results
		seen[r.server.Instance] = r.status == 200
	}
	if len(seen) != n {
		t.Errorf("answers from %d instances, want %d", len(seen), n)
	}
}

func conformConcurrency(t *testing.T, p *trial) {
	const limit = 80 // the default of Cloud Run
	ask := req(1)
	ask.Function.Concurrency = limit
	addr, err := p.Start(t.Context(), ask)
	if err != nil {
		t.Fatalf("Start() = %v, want none", err)
	}
	var all []<-chan int
	for range limit {
		all = append(all, inFlight(t, addr, "/sleep/600000")) // it returns when the request has a slot, and none ends
	}
	if status, _ := get(t.Context(), addr, "/sleep/1"); status != http.StatusServiceUnavailable {
		t.Errorf("request %d = %d, want 503", limit+1, status)
	}
	if err := p.Crash(1); err != nil {
		t.Errorf("Crash() = %v, want none", err)
	}
	for _, status := range all {
		if got := <-status; got != 0 {
			t.Errorf("request in flight = %d, want it cut", got)
		}
	}
}

func conformClose(t *testing.T, p *trial) {
	addr := p.start(t, 1)
	status := inFlight(t, addr, "/sleep/600000")
	starting := make(chan error, 1)
	slow := req(2)
	slow.Decided = realclock.Timers(time.Now()).Now() + 1e12 // in a quarter of an hour: it is starting for sure
	go func() {
		_, err := p.Start(t.Context(), slow)
		starting <- err
	}()
	for {
		if _, found := p.Instance(2); found {
			break
		}
		runtime.Gosched()
	}
	if err := p.Close(); err != nil {
		t.Errorf("Close() = %v, want none", err)
	}
	if err := <-starting; !errors.Is(err, fleet.ErrStopped) {
		t.Errorf("Start() during Close() = %v, want ErrStopped", err)
	}
	if got := <-status; got != 0 {
		t.Errorf("request in flight = %d, want it cut", got)
	}
	if _, err := p.Start(t.Context(), req(3)); !errors.Is(err, fleet.ErrClosed) {
		t.Errorf("Start() after Close() = %v, want ErrClosed", err)
	}
}

func TestInProcessConforms(t *testing.T) {
	conform(t, func(t *testing.T, s platform.StartUp) provisioner {
		f, err := fleet.NewInProcess(fleet.Config{Clock: realclock.New(time.Now()), StartUp: fixed(s)})
		if err != nil {
			t.Fatalf("NewInProcess error %v", err)
		}
		return f
	})
}
