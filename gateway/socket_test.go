package gateway

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"coldwave/internal/realclock"
	"coldwave/scheduler"
	"coldwave/workload"
)

// sockets is a gateway on real sockets before one worker that any HTTP server can be.
type sockets struct {
	t      *testing.T
	g      *Gateway
	addr   string // of the data port
	admin  string
	client *http.Client
}

func listenLocal(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// serveHTTP runs a worker and returns its address.
func serveHTTP(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	l := listenLocal(t)
	s := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	return l.Addr().String()
}

// static is the function of always-ready workers, with so many slots on each.
func static(name string, slots int32, addrs ...string) Function {
	return Function{Spec: workload.Function{Name: name}, Policy: Fixed{Wait: time.Minute}, PolicyName: "fixed",
		Core: scheduler.Config{Min: len(addrs), Max: len(addrs), Limit: slots}, Provisioner: Static{Addrs: addrs}}
}

func newSockets(t *testing.T, cfg Config) *sockets {
	t.Helper()
	cfg.Clock = realclock.Timers(time.Now())
	g, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	data, admin := listenLocal(t), listenLocal(t)
	served := make(chan error, 1)
	go func() { served <- g.Serve(data, admin) }()
	s := &sockets{t: t, g: g, addr: data.Addr().String(), admin: admin.Addr().String()}
	s.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		if err := g.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve() = %v, want nil", err)
		}
	})
	s.eventually(t.Context(), "all instances are ready", func() bool {
		c := g.Counts()
		return c.Alive > 0 && c.Starting == 0
	})
	return s
}

// before returns a gateway before one worker.
func before(t *testing.T, worker http.HandlerFunc) *sockets {
	t.Helper()
	return newSockets(t, Config{Functions: []Function{static("f", 100, serveHTTP(t, worker))}})
}

// raw sends bytes and returns everything that comes back until the connection ends. The limit only keeps a broken test
// from hanging.
func (s *sockets) raw(text string) string {
	s.t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		s.t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	answer, _ := io.ReadAll(c) // a reset after the answer is fine
	return string(answer)
}

// ask sends one raw request and reads one answer.
func (s *sockets) ask(method, text string) *http.Response {
	s.t.Helper()
	answer := s.raw(text)
	res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), &http.Request{Method: method})
	if err != nil {
		s.t.Fatalf("%.60q answered %q: %v", text, answer, err)
	}
	return res
}

func (s *sockets) do(req *http.Request) (*http.Response, string) {
	s.t.Helper()
	res, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res, string(body)
}

func (s *sockets) request(method, path string, body io.Reader) *http.Request {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.addr+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	return req
}

// eventually waits for something that another goroutine does, without a bound of its own: the test's time limit is it.
func (s *sockets) eventually(ctx context.Context, what string, ok func() bool) {
	s.t.Helper()
	c := realclock.Timers(time.Now())
	for !ok() {
		if c.WaitUntil(ctx, c.Now().Add(time.Millisecond)) != nil {
			s.t.Fatalf("never: %s", what)
		}
	}
}

func (s *sockets) counted(o outcome) int { return countedIn(s.t, s.g, o) }
