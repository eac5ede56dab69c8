package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"coldwave/record"
	"coldwave/workload"
)

// TestCutAnswer: a worker that promises more than it sends makes a broken answer, not a short success (RP-09).
func TestCutAnswer(t *testing.T) {
	for _, c := range []struct{ why, answer string }{
		{"1000 bytes promised, 7 sent", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n1234567"},
		{"chunks without an end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n1234567\r\n"},
	} {
		for _, demand := range []string{"exec=1ms", "exec=1ms;post=1ms"} {
			s := newSockets(t, Config{Functions: []Function{static("f", 1, rawWorker(t, func(conn net.Conn) {
				_, _ = http.ReadRequest(bufio.NewReader(conn))
				_, _ = io.WriteString(conn, c.answer)
			}))}})
			req := s.request(http.MethodGet, "/", nil)
			req.Header.Set(workload.DemandHeader, demand)
			res, err := s.client.Do(req)
			if err == nil {
				_, err = io.ReadAll(res.Body)
				_ = res.Body.Close()
			}
			if err == nil {
				t.Errorf("%s, %s: the client saw a complete answer, want a broken one", c.why, demand)
			}
			s.eventually(t.Context(), "counted as cut", func() bool { return s.counted(outcomeCut) == 1 })
			if res, _ := s.do(s.request(http.MethodGet, "/fn/nope/", nil)); res.StatusCode != 404 {
				t.Errorf("after the cut: %d, want 404", res.StatusCode)
			}
		}
	}
}

// TestNoResend: a request that a worker may have seen is never sent again, not even a GET (R20).
func TestNoResend(t *testing.T) {
	var seen atomic.Int64
	addr := rawWorker(t, func(c net.Conn) {
		in := bufio.NewReader(c)
		for first := true; ; first = false {
			if _, err := http.ReadRequest(in); err != nil {
				return
			}
			seen.Add(1)
			if !first {
				return // closes without an answer, as a worker that dies
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	})
	s := newSockets(t, Config{Functions: []Function{static("f", 1, addr)}})
	const rounds = 20
	failed := 0
	for range rounds {
		if res, _ := s.do(s.request(http.MethodGet, "/", nil)); res.StatusCode == http.StatusBadGateway {
			failed++
		}
	}
	if seen.Load() != rounds || failed == 0 {
		t.Errorf("the worker saw %d requests and %d failed, want %d and some", seen.Load(), failed, rounds)
	}
}

// TestUnreachable: 502 with its own reason.
func TestUnreachable(t *testing.T) {
	l := listenLocal(t)
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	s := newSockets(t, Config{Functions: []Function{static("f", 1, addr), static("far", 1, "192.0.2.1:80"), static("meta", 1, "169.254.169.254:80")},
		Allow: []string{"169.254.169.254:80"}})
	for _, name := range []string{"f", "far", "meta"} {
		res, _ := s.do(s.request(http.MethodGet, "/fn/"+name+"/", nil))
		if res.StatusCode != http.StatusBadGateway || res.Header.Get(ReasonHeader) != "unreachable" {
			t.Errorf("%s: %d %q, want 502 unreachable (4.1: nothing outside loopback)", name, res.StatusCode, res.Header.Get(ReasonHeader))
		}
	}
	s.eventually(t.Context(), "three upstream errors are counted", func() bool { return s.counted(outcomeUpstream) == 3 })
}

// TestStreams: each piece passes when it comes and not at the end (R15, RP-15). The client asks for the next piece only
// when it has the last one, so buffering anywhere would hang.
func TestStreams(t *testing.T) {
	next := make(chan struct{}, 1)
	s := before(t, func(w http.ResponseWriter, _ *http.Request) {
		for k := range 20 {
			<-next
			_, _ = fmt.Fprintf(w, "event %d\n", k)
			_ = http.NewResponseController(w).Flush()
		}
	})
	next <- struct{}{}
	res, err := s.client.Do(s.request(http.MethodGet, "/", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for k := 0; lines.Scan(); k++ {
		if want := fmt.Sprintf("event %d", k); lines.Text() != want {
			t.Errorf("got %q, want %q", lines.Text(), want)
		}
		if k < 19 {
			next <- struct{}{}
		}
	}
}

// TestHeldAnswerThatIsTooLong streams instead of growing.
func TestHeldAnswerThatIsTooLong(t *testing.T) {
	body := strings.Repeat("0123456789", 1000)
	worker := func(w http.ResponseWriter, _ *http.Request) {
		for k := range 10 {
			_, _ = io.WriteString(w, body[k*1000:(k+1)*1000])
			_ = http.NewResponseController(w).Flush()
		}
	}
	for _, limits := range []Limits{{AnswerBytes: 2500}, {HeldBytes: 2500}, {}} {
		s := newSockets(t, Config{Limits: limits, Functions: []Function{static("f", 1, serveHTTP(t, worker))}})
		req := s.request(http.MethodGet, "/", nil)
		req.Header.Set(workload.DemandHeader, "post=1ms")
		if res, got := s.do(req); res.StatusCode != 200 || got != body || res.Header.Get(record.StartHeader) != "warm" {
			t.Errorf("limits %+v: %d, %d bytes, want 200 and all %d", limits, res.StatusCode, len(got), len(body))
		}
		s.eventually(t.Context(), "nothing is held any more", func() bool { return s.g.heldBytes.used.Load() == 0 })
	}
}

// TestTrailers: RP-17, both ways, announced or not.
func TestTrailers(t *testing.T) {
	seen := make(chan http.Header, 1)
	s := before(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		seen <- r.Trailer
		_, _ = io.WriteString(w, "body")
		_ = http.NewResponseController(w).Flush()
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	})
	for _, demand := range []string{"", "post=1ms"} {
		req := s.request(http.MethodPost, "/", io.MultiReader(strings.NewReader("hello")))
		req.ContentLength = -1
		req.Trailer = http.Header{"X-Sum": {"42"}, "X-Coldwave-Start": {"warm"}}
		if demand != "" {
			req.Header.Set(workload.DemandHeader, demand)
		}
		res, body := s.do(req)
		if body != "body" || res.Trailer.Get("Grpc-Status") != "0" {
			t.Errorf("demand %q: %q, trailers %v, want Grpc-Status 0", demand, body, res.Trailer)
		}
		if got := <-seen; got.Get("X-Sum") != "42" || len(got) != 1 {
			t.Errorf("demand %q: the worker saw trailers %v, want X-Sum alone", demand, got)
		}
	}
}

// TestInformationalAnswers pass, without what is not the worker's to say (R14, R15).
func TestInformationalAnswers(t *testing.T) {
	s := before(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</a.css>")
		w.Header().Set("X-Coldwave-Instance", "evil")
		w.Header().Set("Connection", "X-Hop")
		w.Header().Set("X-Hop", "1")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("Link")
		_, _ = io.WriteString(w, "body")
	})
	for _, demand := range []string{"", "post=1ms"} {
		var hints []textproto.MIMEHeader
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
			Got1xxResponse: func(_ int, h textproto.MIMEHeader) error { hints = append(hints, h); return nil }})
		req := s.request(http.MethodGet, "/", nil).WithContext(ctx)
		if demand != "" {
			req.Header.Set(workload.DemandHeader, demand)
		}
		res, body := s.do(req)
		if len(hints) != 1 || hints[0].Get("Link") != "</a.css>" || len(hints[0]) != 1 {
			t.Errorf("demand %q: hints %v, want one with Link alone", demand, hints)
		}
		if body != "body" || res.Header.Get("Link") != "" || res.Header.Get("X-Coldwave-Instance") != "1" {
			t.Errorf("demand %q: %q %v, want the final answer with the gateway's label", demand, body, res.Header)
		}
	}
}

// TestUpgrade: bytes pass both ways, the slot is held meanwhile, and the end of one side ends the other (RP-21).
func TestUpgrade(t *testing.T) {
	closed := make(chan struct{})
	addr := rawWorker(t, func(c net.Conn) {
		defer close(closed)
		in := bufio.NewReader(c)
		if _, err := http.ReadRequest(in); err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Coldwave-Instance: evil\r\n\r\n")
		_, _ = io.Copy(c, in) // an echo
	})
	s := newSockets(t, Config{Functions: []Function{static("f", 1, addr)}})
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	in := bufio.NewReader(c)
	res, err := http.ReadResponse(in, nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols || res.Header.Get("X-Coldwave-Instance") != "1" {
		t.Fatalf("answer %+v %v, want 101 with the gateway's label", res, err)
	}
	// These bytes look like an ambiguous request; they are none any more.
	text := badFraming[0].text
	_, _ = io.WriteString(c, text)
	got := make([]byte, len(text))
	if _, err := io.ReadFull(in, got); err != nil || string(got) != text {
		t.Errorf("echo = %q %v, want %q", got, err, text)
	}
	if n := s.g.Counts().InFlight; n != 1 {
		t.Errorf("in flight = %d, want 1: the slot is held", n)
	}
	_ = c.Close()
	<-closed
	s.eventually(t.Context(), "the slot is free", func() bool { return s.g.Counts().InFlight == 0 })
}

func TestUpgradeIsCutAtTheEnd(t *testing.T) {
	closed, switched := make(chan struct{}), make(chan struct{})
	addr := rawWorker(t, func(c net.Conn) {
		defer close(closed)
		in := bufio.NewReader(c)
		_, _ = http.ReadRequest(in)
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		close(switched)
		_, _ = io.Copy(io.Discard, in)
	})
	s := newSockets(t, Config{Functions: []Function{static("f", 1, addr)}})
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	<-switched
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.g.Drain(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Drain() = %v, want that something was cut", err)
	}
	<-closed
	if _, err := io.ReadAll(c); errors.Is(err, context.DeadlineExceeded) {
		t.Error("the client's side is still open")
	}
}

// TestClientGone: the worker learns of it, nothing is a 502, and the slot comes back (R15, RP-11).
func TestClientGone(t *testing.T) {
	const clients = 50
	var told sync.WaitGroup
	told.Add(clients)
	arrived := make(chan struct{}, clients)
	s := before(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-r.Context().Done()
		told.Done()
	})
	for k := range clients {
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			var body io.Reader
			method := http.MethodGet
			if k%2 == 1 {
				method, body = http.MethodPost, strings.NewReader("hello")
			}
			if res, err := s.client.Do(s.request(method, "/", body).WithContext(ctx)); err == nil {
				_ = res.Body.Close()
				t.Errorf("client %d got %d, want nothing", k, res.StatusCode)
			}
		}()
		<-arrived
		cancel()
		<-gone
	}
	told.Wait()
	s.eventually(t.Context(), "all slots are free and counted", func() bool { return s.g.Counts().InFlight == 0 && s.counted(outcomeCanceled) == clients })
	if n := s.counted(outcomeUpstream); n != 0 {
		t.Errorf("upstream errors = %d, want 0", n)
	}
}

// TestSlotIsHeldUntilTheWorkerEnds: a worker that does not care that its client has gone is busy until it answers.
func TestSlotIsHeldUntilTheWorkerEnds(t *testing.T) {
	arrived, answer := make(chan struct{}), make(chan struct{})
	addr := rawWorker(t, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		arrived <- struct{}{}
		<-answer
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	})
	s := newSockets(t, Config{Functions: []Function{static("f", 1, addr)}})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if res, err := s.client.Do(s.request(http.MethodGet, "/", nil).WithContext(ctx)); err == nil {
			_ = res.Body.Close()
		}
	}()
	<-arrived
	cancel()
	s.eventually(t.Context(), "counted as canceled", func() bool { return s.counted(outcomeCanceled) == 1 })
	if got := s.g.Counts(); got.InFlight != 1 || got.Busy != 1 {
		t.Errorf("Counts() = %+v, want the slot still taken", got)
	}
	close(answer)
	s.eventually(t.Context(), "the slot is free", func() bool { return s.g.Counts().InFlight == 0 })
}

// TestHandlerPanic: a bug in one request ends neither the gateway nor a slot (4.6).
func TestHandlerPanic(t *testing.T) {
	s := before(t, func(http.ResponseWriter, *http.Request) {})
	good := s.g.proxy.ModifyResponse
	s.g.proxy.ModifyResponse = func(*http.Response) error { panic("a bug") }
	if res, err := s.client.Do(s.request(http.MethodGet, "/", nil)); err == nil {
		_ = res.Body.Close()
		t.Errorf("status %d, want a closed connection", res.StatusCode)
	}
	s.eventually(t.Context(), "counted", func() bool { return s.counted(outcomePanic) == 1 })
	s.g.proxy.ModifyResponse = good
	if res, _ := s.do(s.request(http.MethodGet, "/", nil)); res.StatusCode != 200 {
		t.Errorf("after the panic: %d, want 200", res.StatusCode)
	}
	s.eventually(t.Context(), "the slot is free", func() bool { return s.g.Counts().InFlight == 0 })
}
