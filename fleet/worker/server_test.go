package worker_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/fleet/worker"
	"coldwave/record"
)

// port is a server on a memory listener, inside a bubble.
type port struct {
	t      *testing.T
	s      *worker.Server
	h      *worker.Handler
	memory *memory
	client *http.Client
	ended  chan error // what Serve returned
}

func newPort(t *testing.T, connections int, change func(*worker.Config)) *port {
	t.Helper()
	h := newWorker(t, change)
	p := &port{t: t, h: h, s: worker.NewServer(h, connections, nil), memory: newMemory(), ended: make(chan error, 1)}
	p.client = &http.Client{Transport: &http.Transport{DialContext: p.memory.dial}}
	go func() { p.ended <- p.s.Serve(p.memory) }()
	t.Cleanup(func() {
		p.client.CloseIdleConnections()
		if err := p.s.Close(); err != nil {
			t.Errorf("Close() = %v, want none", err)
		}
		time.Sleep(time.Second) // net/http lingers half a second on a connection whose body it did not read
	})
	synctest.Wait()
	return p
}

// get returns the status, or 0 if there was no answer.
func (p *port) get(path string) int {
	resp, err := p.client.Get("http://worker" + path)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0
	}
	return resp.StatusCode
}

// raw opens a connection and writes text on it.
func (p *port) raw(text string) net.Conn {
	p.t.Helper()
	c, err := p.memory.dial(p.t.Context(), "", "")
	if err != nil {
		p.t.Fatalf("dial: %v", err)
	}
	go func() { _, _ = io.WriteString(c, text) }() // the server may close before it has read all
	synctest.Wait()
	return c
}

func (p *port) drain(limit time.Duration) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), limit)
	defer cancel()
	began := time.Now()
	err := p.s.Drain(ctx)
	return time.Since(began), err
}

// A request over the wire takes exactly its execution time.
func TestServerAddsNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPort(t, 0, nil)
		began := time.Now()
		if got := p.get("/"); got != 200 {
			t.Errorf("GET / = %d, want 200", got)
		}
		if got, want := time.Since(began), 100*time.Millisecond; got != want {
			t.Errorf("GET / took %v, want %v", got, want)
		}
	})
}

// In flight finish, new ones find nobody, and the drain ends with the last answer (R18).
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPort(t, 0, func(c *worker.Config) { c.Concurrency = 3 })
		p.get("/sleep/1") // leaves an idle connection, which must not hold the drain up
		silent := p.raw("")
		defer silent.Close()
		statuses := make(chan int, 2)
		for _, path := range []string{"/sleep/300", "/sleep/700"} {
			go func() { statuses <- p.get(path) }()
		}
		synctest.Wait()
		late := make(chan int, 1)
		time.AfterFunc(100*time.Millisecond, func() { late <- p.get("/") })
		took, err := p.drain(10 * time.Second)
		if err != nil || took != 700*time.Millisecond {
			t.Errorf("Drain() = %v after %v, want none after 700ms", err, took)
		}
		for range 2 {
			if got := <-statuses; got != 200 {
				t.Errorf("request in flight = %d, want 200", got)
			}
		}
		if got := <-late; got != 0 {
			t.Errorf("new request during the drain = %d, want no connection", got)
		}
		if err := <-p.ended; err != nil {
			t.Errorf("Serve() = %v after a drain, want none", err)
		}
	})
}

func TestDrainOfAnIdleServerEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPort(t, 0, nil)
		if took, err := p.drain(time.Second); err != nil || took != 0 {
			t.Errorf("Drain() = %v after %v, want none at once", err, took)
		}
		if took, err := p.drain(time.Second); err != nil || took != 0 {
			t.Errorf("second Drain() = %v after %v, want none at once", err, took)
		}
	})
}

// A kept connection is closed when the drain begins, if it is idle, or with its answer, which says so.
func TestDrainEndsKeptConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPort(t, 0, func(c *worker.Config) { c.Concurrency = 2 })
		read := func(c net.Conn) *http.Response {
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatalf("ReadResponse error %v", err)
			}
			_ = resp.Body.Close()
			return resp
		}
		idle, busy := p.raw("GET /sleep/1 HTTP/1.1\r\nHost: w\r\n\r\n"), p.raw("GET /sleep/500 HTTP/1.1\r\nHost: w\r\n\r\n")
		defer idle.Close()
		defer busy.Close()
		if read(idle).Close {
			t.Error("before the drain an answer ends its connection, want it kept")
		}
		began := time.Now()
		closed := make(chan time.Duration, 1)
		go func() {
			_, _ = io.Copy(io.Discard, idle)
			closed <- time.Since(began)
		}()
		synctest.Wait()
		go func() { _, _ = p.drain(time.Minute) }()
		if !read(busy).Close {
			t.Error("during the drain an answer keeps its connection, want it ended")
		}
		if got := <-closed; got != 0 {
			t.Errorf("the idle connection was closed %v after the drain began, want at once", got)
		}
	})
}

// At its limit a drain cuts visibly: the client sees no answer, not a wrong one.
func TestDrainLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPort(t, 0, nil)
		status := make(chan int, 1)
		go func() { status <- p.get("/sleep/5000") }()
		synctest.Wait()
		took, err := p.drain(2 * time.Second)
		if !errors.Is(err, worker.ErrDrain) || !strings.Contains(err.Error(), "1 requests") || took != 2*time.Second {
			t.Errorf("Drain() = %v after %v, want ErrDrain with 1 request after 2s", err, took)
		}
		if got := <-status; got != 0 {
			t.Errorf("cut request = %d, want no answer", got)
		}
		synctest.Wait()
		if got, want := p.h.Stats(), (worker.Stats{Started: 1, Canceled: 1}); got != want {
			t.Errorf("Stats() = %+v, want %+v", got, want)
		}
	})
}

// A client that goes away is noticed while the function runs, with and without a body (R15).
func TestServerNoticesThatTheClientHasGone(t *testing.T) {
	rows := []struct{ name, text string }{
		{"without a body", "GET /sleep/600000 HTTP/1.1\r\nHost: w\r\n\r\n"},
		{"with a body that nobody keeps", "POST /sleep/600000 HTTP/1.1\r\nHost: w\r\nContent-Length: 3\r\n\r\nabc"},
		{"in the middle of a body", "POST /sleep/600000 HTTP/1.1\r\nHost: w\r\nContent-Length: 3\r\n\r\na"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPort(t, 0, nil)
				c := p.raw(row.text)
				if got := p.h.Stats().InFlight; got != 1 {
					t.Fatalf("in flight = %d, want 1", got)
				}
				c.Close()
				synctest.Wait()
				if got := p.h.Stats(); got.InFlight != 0 || got.Finished != 0 {
					t.Errorf("Stats() = %+v, want nothing in flight and nothing finished", got)
				}
			})
		})
	}
}

// Slow clients end at their deadline, exactly (RELIABILITY 4.5).
func TestDeadlines(t *testing.T) {
	rows := []struct {
		name string
		text string
		want time.Duration
	}{
		{"a header that never ends", "GET / HTTP/1.1\r\nHost: w\r\n", worker.ReadHeaderTimeout},
		{"a connection that sends nothing", "", worker.ReadHeaderTimeout},
		{"a kept connection: execution time, then idle", "GET /sleep/1000 HTTP/1.1\r\nHost: w\r\n\r\n", time.Second + worker.IdleTimeout},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPort(t, 0, nil)
				began := time.Now()
				c := p.raw(row.text)
				defer c.Close()
				_, _ = io.Copy(io.Discard, c) // until the server closes
				if got := time.Since(began); got != row.want {
					t.Errorf("closed after %v, want %v", got, row.want)
				}
			})
		})
	}
}

// A body that stands still is given up after BodyProgress; one that drips slower than that in total is not.
func TestBodyProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPort(t, 0, nil)
		c := p.raw("POST /echo HTTP/1.1\r\nHost: w\r\nContent-Length: 4\r\n\r\n")
		defer c.Close()
		began := time.Now()
		for range 3 {
			time.Sleep(9 * time.Second)
			_, _ = io.WriteString(c, "x")
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("ReadResponse error %v", err)
		}
		defer resp.Body.Close()
		if got, want := time.Since(began), 27*time.Second+worker.BodyProgress; got != want {
			t.Errorf("answered after %v, want %v", got, want)
		}
		if got := resp.Header.Get(worker.ReasonHeader); resp.StatusCode != 400 || got != "body_read" {
			t.Errorf("answer = %d %q, want 400 body_read", resp.StatusCode, got)
		}
	})
}

// The deadline of a body must not end a function that runs longer than it, with and without a body.
func TestBodyDeadlineEndsWithTheBody(t *testing.T) {
	for _, body := range []string{"", "abc"} {
		t.Run("body "+body, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPort(t, 0, nil)
				resp, err := p.client.Post("http://worker/sleep/60000", "text/plain", strings.NewReader(body))
				if err != nil {
					t.Fatalf("POST /sleep/60000 error %v, want an answer", err)
				}
				defer resp.Body.Close()
				if resp.StatusCode != 200 || resp.Header.Get(record.TimingHeader) != "exec;dur=60000" {
					t.Errorf("POST /sleep/60000 = %d %q, want 200 exec;dur=60000", resp.StatusCode, resp.Header.Get(record.TimingHeader))
				}
			})
		})
	}
}

// After a refusal nobody waits for the rest of a body for ever.
func TestRestOfARefusedBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPort(t, 0, nil)
		began := time.Now()
		c := p.raw("POST /sleep/x HTTP/1.1\r\nHost: w\r\nContent-Length: 9\r\n\r\n")
		defer c.Close()
		text, _ := io.ReadAll(c)
		if got := time.Since(began); got < worker.BodyProgress || got > worker.BodyProgress+time.Second {
			t.Errorf("closed after %v, want within a second of %v", got, worker.BodyProgress)
		}
		if !strings.HasPrefix(string(text), "HTTP/1.1 400 ") {
			t.Errorf("answer = %q, want 400", text)
		}
	})
}

func TestHeaderLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPort(t, 0, nil)
		c := p.raw("GET / HTTP/1.1\r\nHost: w\r\nX-Long: " + strings.Repeat("a", worker.MaxHeaderBytes+8<<10) + "\r\n\r\n")
		defer c.Close()
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("ReadResponse error %v", err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("long header = %d, want 431", resp.StatusCode)
		}
	})
}

func TestConnectionLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPort(t, 2, nil)
		for i, want := range []string{"open", "open", "closed"} {
			c := p.raw("")
			defer c.Close()
			got := "open"
			_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); errors.Is(err, io.EOF) {
				got = "closed"
			}
			if got != want {
				t.Errorf("connection %d is %s, want %s", i+1, got, want)
			}
		}
		if got := p.s.Refused(); got != 1 {
			t.Errorf("Refused() = %d, want 1", got)
		}
	})
}

type brokenListener struct{ *memory }

func (brokenListener) Accept() (net.Conn, error) { return nil, fmt.Errorf("no descriptors left") }

func TestServeTellsWhyItEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := worker.NewServer(newWorker(t, nil), 0, nil)
		err := s.Serve(brokenListener{newMemory()})
		if err == nil || !strings.Contains(err.Error(), "no descriptors left") {
			t.Errorf("Serve() = %v, want the listener's error", err)
		}
	})
}

func TestServeAfterCloseServesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := worker.NewServer(newWorker(t, nil), 0, nil)
		if err := s.Close(); err != nil {
			t.Fatalf("Close() = %v", err)
		}
		if err := s.Serve(newMemory()); err != nil {
			t.Errorf("Serve() after Close() = %v, want none", err)
		}
	})
}
