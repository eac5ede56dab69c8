package engine

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"coldwave/internal/clock"
	"coldwave/internal/realclock"
	"coldwave/record"
	"coldwave/workload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rawTarget is a target below HTTP: it reads whole requests and lets answer do what it likes with the connection, which
// is closed when answer returns false.
type rawTarget struct {
	listener net.Listener
	requests atomic.Int64 // read completely
	conns    atomic.Int64
}

func newRawTarget(t *testing.T, answer func(c *net.TCPConn, request int64) bool) *rawTarget {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &rawTarget{listener: l}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.conns.Add(1)
			go r.serve(c.(*net.TCPConn), answer)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return r
}

func (r *rawTarget) serve(c *net.TCPConn, answer func(*net.TCPConn, int64) bool) {
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	for {
		q, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, q.Body); err != nil {
			return
		}
		if !answer(c, r.requests.Add(1)) {
			return
		}
	}
}

func (r *rawTarget) url() string { return "http://" + r.listener.Addr().String() }

func say(c net.Conn, text string) bool {
	_, err := io.WriteString(c, text)
	return err == nil
}

const okAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

// courierTo returns a courier for tests of single exchanges on real sockets.
func courierTo(t *testing.T, timeout time.Duration) *courier {
	t.Helper()
	c := realclock.New(time.Now())
	p := newPool(c.Now, nil)
	t.Cleanup(p.close)
	return &courier{now: c.Now, pool: p, label: label{run: "test"}, timeout: timeout, maxBody: 1000}
}

func carry(t *testing.T, c *courier, r Request) Exchange {
	t.Helper()
	x, err := c.carry(t.Context(), &r, &workload.Arrival{Seq: 7})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Each way of failing has one outcome and one class.
func TestTransportErrorClasses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		sentence string
		answer   func(c *net.TCPConn, n int64) bool
		outcome  record.Outcome
		class    string
	}{
		{"a complete answer", func(c *net.TCPConn, _ int64) bool { return say(c, okAnswer) }, record.OK, ""},
		{"a complete answer that ends with the connection", func(c *net.TCPConn, _ int64) bool {
			return say(c, "HTTP/1.1 200 OK\r\n\r\nok") && false
		}, record.OK, ""},
		{"an interim answer first", func(c *net.TCPConn, _ int64) bool {
			return say(c, "HTTP/1.1 103 Early Hints\r\n\r\n"+okAnswer)
		}, record.OK, ""},
		{"closed without an answer", func(*net.TCPConn, int64) bool { return false }, record.TransportError, ClassEOF},
		{"closed within the header", func(c *net.TCPConn, _ int64) bool {
			return say(c, "HTTP/1.1 200 OK\r\nContent-") && false
		}, record.TransportError, ClassEOF},
		{"closed within the body", func(c *net.TCPConn, _ int64) bool {
			return say(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok") && false
		}, record.TransportError, ClassEOF},
		{"closed within a chunk", func(c *net.TCPConn, _ int64) bool {
			return say(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok") && false
		}, record.TransportError, ClassEOF},
		{"reset", func(c *net.TCPConn, _ int64) bool { return c.SetLinger(0) != nil }, record.TransportError, ClassReset},
		{"no HTTP", func(c *net.TCPConn, _ int64) bool { return say(c, "SSH-2.0-OpenSSH_9.9\r\n") }, record.TransportError, ClassProtocol},
		{"a bad chunk", func(c *net.TCPConn, _ int64) bool {
			return say(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")
		}, record.TransportError, ClassProtocol},
		{"an endless header", func(c *net.TCPConn, _ int64) bool {
			return say(c, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", maxHeader+5000)+"\r\n\r\n")
		}, record.TransportError, ClassProtocol},
		{"a switch of protocols that nobody asked for", func(c *net.TCPConn, _ int64) bool {
			return say(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
		}, record.TransportError, ClassProtocol},
		{"a body above its limit", func(c *net.TCPConn, _ int64) bool {
			return say(c, "HTTP/1.1 200 OK\r\n\r\n"+strings.Repeat("x", 1001))
		}, record.TransportError, ClassBodyLimit},
	} {
		t.Run(row.sentence, func(t *testing.T) {
			t.Parallel()
			r := newRawTarget(t, row.answer)
			x := carry(t, courierTo(t, time.Minute), Request{Target: target(t, r.url())})
			if x.Outcome != row.outcome || x.Cause != row.class {
				t.Errorf("outcome = %v %q, want %v %q", x.Outcome, x.Cause, row.outcome, row.class)
			}
			if x.Attempts != 1 || r.requests.Load() != 1 {
				t.Errorf("attempts = %d with %d requests at the target, want 1 and 1 (R4)", x.Attempts, r.requests.Load())
			}
			if x.Seq != 7 || x.Sent == clock.Never || x.Done < x.Sent {
				t.Errorf("exchange = %+v, want seq 7, sent and then done", x)
			}
		})
	}
}

func TestNeverSent(t *testing.T) {
	t.Parallel()
	closed := newRawTarget(t, nil)
	if err := closed.listener.Close(); err != nil {
		t.Fatal(err)
	}
	plain := newRawTarget(t, func(c *net.TCPConn, _ int64) bool { return say(c, okAnswer) })
	untrusted := httptest.NewUnstartedServer(http.NotFoundHandler())
	untrusted.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	g, err := NewGuard("nowhere.invalid:80")
	if err != nil {
		t.Fatal(err)
	}
	nowhere, err := g.Target("http://nowhere.invalid/")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		sentence string
		target   *Target
		class    string
	}{
		{"nobody listens", target(t, closed.url()), ClassDial},
		{"a name without an address", nowhere, ClassDNS},
		{"a certificate that nobody trusts", target(t, untrusted.URL), ClassTLS},
	} {
		x := carry(t, courierTo(t, time.Minute), Request{Target: row.target, Body: []byte("body")})
		if x.Outcome != record.TransportError || x.Cause != row.class || x.Sent != clock.Never || x.Attempts != 0 || x.BytesOut != 0 {
			t.Errorf("%s: exchange = %+v, want class %s and nothing sent", row.sentence, x, row.class)
		}
	}
	// https to a server of plain HTTP: it answers the handshake with a text.
	x := carry(t, courierTo(t, time.Minute), Request{Target: target(t, "https://"+plain.listener.Addr().String())})
	if x.Outcome != record.TransportError || x.Sent != clock.Never {
		t.Errorf("https to plain http: exchange = %+v, want a transport error with nothing sent", x)
	}
}

// The connection was good for one request and is closed when the second has been read: the trap of R4.
func TestNoSilentResend(t *testing.T) {
	t.Parallel()
	once := func(c *net.TCPConn, n int64) bool { return n != 2 && say(c, okAnswer) }

	r := newRawTarget(t, once)
	c := courierTo(t, time.Minute)
	q := Request{Target: target(t, r.url())}
	if x := carry(t, c, q); x.Outcome != record.OK {
		t.Fatalf("first exchange = %+v, want ok", x)
	}
	x := carry(t, c, q)
	if x.Outcome != record.TransportError || x.Cause != ClassEOF || x.Attempts != 1 {
		t.Errorf("second exchange = %+v, want transport error eof after one attempt", x)
	}
	if got := r.requests.Load(); got != 2 || r.conns.Load() != 1 {
		t.Errorf("the target saw %d requests on %d connections, want 2 on 1", got, r.conns.Load())
	}

	// The same trap catches net/http's own transport: without this the test could not fail.
	trap := newRawTarget(t, once)
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	for range 2 {
		resp, err := (&http.Client{Transport: tr}).Get(trap.url())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	if got := trap.requests.Load(); got != 3 {
		t.Errorf("http.Transport put %d requests on the wire for 2 calls, want 3: it no longer re-sends", got)
	}
}

// A connection that died while it was idle costs nothing, because no byte of the request was written to it.
func TestDeadIdleConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	r := newRawTarget(t, func(c *net.TCPConn, n int64) bool {
		ok := say(c, okAnswer)
		if n == 1 {
			_ = c.CloseWrite()
			<-gone
			return false
		}
		return ok
	})
	c := courierTo(t, time.Minute)
	q := Request{Target: target(t, r.url())}
	if x := carry(t, c, q); x.Outcome != record.OK {
		t.Fatalf("first exchange = %+v, want ok", x)
	}
	for l := idleLink(c.pool); l != nil && l.conn.Err() == nil; l = idleLink(c.pool) {
		runtime.Gosched() // the reader of the connection has yet to see the end
	}
	close(gone)
	if x := carry(t, c, q); x.Outcome != record.OK || x.Attempts != 1 {
		t.Errorf("second exchange = %+v, want ok at the first attempt", x)
	}
	if got := r.requests.Load(); got != 2 {
		t.Errorf("the target saw %d requests, want 2", got)
	}
}

func idleLink(p *pool) *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, stack := range p.idle {
		for _, l := range stack {
			return l
		}
	}
	return nil
}

func TestTimeoutAndCancel(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		sentence string
		answer   string
	}{
		{"silence", ""},
		{"half a header", "HTTP/1.1 200 OK\r\nCont"},
		{"half a body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok"},
	} {
		slow := newRawTarget(t, func(c *net.TCPConn, _ int64) bool { return say(c, row.answer) })
		x := carry(t, courierTo(t, 20*time.Millisecond), Request{Target: target(t, slow.url())})
		if x.Outcome != record.Timeout || x.Cause != "" {
			t.Errorf("%s until the time limit: %v %q, want timeout", row.sentence, x.Outcome, x.Cause)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		stopping := newRawTarget(t, func(c *net.TCPConn, _ int64) bool {
			defer cancel(errCanceled)
			return say(c, row.answer)
		})
		q := &Request{Target: target(t, stopping.url())}
		x, err := courierTo(t, time.Minute).carry(ctx, q, &workload.Arrival{})
		if err != nil || x.Outcome != record.Canceled || x.Cause != "" {
			t.Errorf("%s until the run stops: %v %q, %v, want canceled", row.sentence, x.Outcome, x.Cause, err)
		}
	}
}
