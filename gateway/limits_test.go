package gateway

import (
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coldwave/record"
	"coldwave/scheduler"
)

func TestBodyLimit(t *testing.T) {
	var reached atomic.Int64
	s := newSockets(t, Config{Limits: Limits{BodyBytes: 1000}, Functions: []Function{static("f", 9, serveHTTP(t,
		func(_ http.ResponseWriter, r *http.Request) { reached.Add(1); _, _ = io.Copy(io.Discard, r.Body) }))}})
	for _, c := range []struct {
		why     string
		bytes   int
		chunked bool
		status  int
	}{
		{"at the limit", 1000, false, 200},
		{"at the limit, in chunks", 1000, true, 200},
		{"one byte more", 1001, false, 413},
		{"RP-23: one byte more, in chunks", 1001, true, 413},
		{"RP-23: far more", 10 << 20, false, 413},
		{"RP-23: far more, in chunks", 10 << 20, true, 413},
	} {
		before := reached.Load()
		req := s.request(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", c.bytes)))
		if c.chunked {
			req.ContentLength, req.Body = -1, io.NopCloser(req.Body)
		}
		res, err := s.client.Do(req)
		if err != nil {
			if c.bytes <= 1001 { // a client that writes on may meet the reset first
				t.Errorf("%s: %v", c.why, err)
			}
			continue
		}
		_ = res.Body.Close()
		if res.StatusCode != c.status || (reached.Load() > before) != (c.status == 200) {
			t.Errorf("%s: %d, reached the worker %d times, want %d", c.why, res.StatusCode, reached.Load()-before, c.status)
		}
		if c.status == 413 && (res.Header.Get(ReasonHeader) != "body_limit" || !res.Close) {
			t.Errorf("%s: %v, want the reason and the end of the connection", c.why, res.Header)
		}
	}
	s.eventually(t.Context(), "nothing is held any more", func() bool { return s.g.heldBytes.used.Load() == 0 })
}

func TestHeldLimit(t *testing.T) {
	s := newSockets(t, Config{Limits: Limits{HeldBytes: 1500, BodyBytes: 10_000}, Functions: []Function{static("f", 9, serveHTTP(t, func(http.ResponseWriter, *http.Request) {}))}})
	res, _ := s.do(s.request(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", 1501))))
	if res.StatusCode != 503 || res.Header.Get(ReasonHeader) != "held_limit" || res.Header.Get("Retry-After") == "" {
		t.Errorf("%d %v, want 503 held_limit with Retry-After", res.StatusCode, res.Header)
	}
	if res, _ := s.do(s.request(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", 1500)))); res.StatusCode != 200 {
		t.Errorf("a body that fits: %d, want 200", res.StatusCode)
	}
}

func TestBodiesThatEndEarlyOrStandStill(t *testing.T) {
	s := newSockets(t, Config{Limits: Limits{BodyTime: 20 * time.Millisecond}, Functions: []Function{static("f", 9, serveHTTP(t,
		func(http.ResponseWriter, *http.Request) { t.Error("it reached the worker") }))}})
	const head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n"
	if answer := s.raw(head + "hello"); !strings.HasPrefix(answer, "HTTP/1.1 408 ") || !strings.Contains(answer, "X-Coldwave-Reason: body_time") {
		t.Errorf("a body that stands still: %.120q, want 408 body_time (F16)", answer)
	}
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, head+"hello")
	_ = c.(*net.TCPConn).CloseWrite()
	if answer, _ := io.ReadAll(c); !strings.HasPrefix(string(answer), "HTTP/1.1 400 ") {
		t.Errorf("a body that ends early: %.60q, want 400", answer)
	}
}

func TestHeaderLimits(t *testing.T) {
	s := before(t, func(http.ResponseWriter, *http.Request) {})
	for _, c := range []struct {
		why    string
		bytes  int
		status string
	}{
		{"60 KiB of headers", 60 << 10, "HTTP/1.1 200 "},
		{"F17: 66 KiB of headers", 66 << 10, "HTTP/1.1 431 "},
	} {
		answer := s.raw("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX-Big: " + strings.Repeat("x", c.bytes) + "\r\n\r\n")
		if !strings.HasPrefix(answer, c.status) {
			t.Errorf("%s: %.40q, want %q", c.why, answer, c.status)
		}
	}
}

func TestSlowHeadersAreCutOff(t *testing.T) {
	s := newSockets(t, Config{Limits: Limits{HeaderTime: 10 * time.Millisecond}, Functions: []Function{static("f", 9, serveHTTP(t, func(http.ResponseWriter, *http.Request) {}))}})
	if answer := s.raw("GET / HTTP/1.1\r\nHost:"); answer != "" {
		t.Errorf("slow headers were answered with %.40q, want a closed connection (F16)", answer)
	}
}

func TestConnectionLimit(t *testing.T) {
	s := newSockets(t, Config{Limits: Limits{Connections: 2}, Functions: []Function{static("f", 9, serveHTTP(t, func(http.ResponseWriter, *http.Request) {}))}})
	var open []net.Conn
	for range 2 {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	s.eventually(t.Context(), "both are accepted", func() bool { return s.g.open.Load() == 2 })
	if answer := s.raw("GET / HTTP/1.1\r\nHost: h\r\n\r\n"); answer != "" {
		t.Errorf("a third connection got %.40q, want a closed one (F18)", answer)
	}
	for _, c := range open {
		_ = c.Close()
	}
	s.eventually(t.Context(), "all are gone", func() bool { return s.g.open.Load() == 0 })
	if res, _ := s.do(s.request(http.MethodGet, "/", nil)); res.StatusCode != 200 || s.g.stats.refused.Load() != 1 {
		t.Errorf("afterwards %d, refused %d, want 200 and 1", res.StatusCode, s.g.stats.refused.Load())
	}
}

func TestExpectContinue(t *testing.T) {
	s := before(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Reject") != "" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
	})
	status := make(chan int, 200) // RP-07
	for k := range cap(status) {
		go func() {
			req := s.request(http.MethodPost, "/", strings.NewReader("hello"))
			req.Header.Set("Expect", "100-continue")
			want := 200
			if k%2 == 1 {
				req.Header.Set("X-Reject", "1")
				want = 403
			}
			res, err := s.client.Do(req)
			if err != nil {
				t.Errorf("request %d: %v", k, err)
				status <- 0
				return
			}
			_ = res.Body.Close()
			status <- res.StatusCode - want
		}()
	}
	for range cap(status) {
		if off := <-status; off != 0 {
			t.Errorf("a status is off by %d", off)
		}
	}
}

func TestLimitsValidate(t *testing.T) {
	if err := (Limits{}).Validate(); err != nil {
		t.Errorf("the zero limits: %v, want nil", err)
	}
	if err := (Limits{Queue: -1, HeaderBytes: 100, IdleTime: -time.Second}).Validate(); err == nil || strings.Count(err.Error(), "gateway limit") != 3 {
		t.Errorf("three bad limits: %v, want three problems", err)
	}
}

func TestQueueDefault(t *testing.T) {
	for _, c := range []struct {
		why  string
		l    Limits
		core scheduler.Config
		want int
	}{
		{"F15: ten for each slot", Limits{}, scheduler.Config{Max: 4, Limit: 5}, 200},
		{"limit 0 means 1", Limits{}, scheduler.Config{Max: 4}, 40},
		{"unlimited instances", Limits{}, scheduler.Config{Max: scheduler.Unlimited, Limit: math.MaxInt32}, 1000},
		{"never above the general default", Limits{}, scheduler.Config{Max: 5000}, 1000},
		{"stated", Limits{Queue: 7}, scheduler.Config{Max: 4}, 7},
		{"no instance at all", Limits{}, scheduler.Config{}, 1000},
	} {
		if got := c.l.queueFor(c.core); got != c.want {
			t.Errorf("%s: queueFor(%+v) = %d, want %d", c.why, c.core, got, c.want)
		}
	}
}

func TestConfigValidate(t *testing.T) {
	good := static("f", 1, "127.0.0.1:1")
	for _, c := range []struct {
		why  string
		edit func(*Config)
	}{
		{"no clock", func(c *Config) { c.Clock = nil }},
		{"no function", func(c *Config) { c.Functions = nil }},
		{"a name with a slash", func(c *Config) { c.Functions[0].Spec.Name = "a/b" }},
		{"a name that is a path step", func(c *Config) { c.Functions[0].Spec.Name = ".." }},
		{"twice the same", func(c *Config) { c.Functions = append(c.Functions, good) }},
		{"no policy", func(c *Config) { c.Functions[0].Policy = nil }},
		{"negative handover", func(c *Config) { c.Functions[0].Handover = -1 }},
		{"min above max", func(c *Config) { c.Functions[0].Core.Min = 9 }},
		{"bad limits", func(c *Config) { c.Limits.Queue = -1 }},
	} {
		cfg := Config{Clock: newBubbleClock(), Functions: []Function{good}}
		c.edit(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), ErrConfig.Error()) {
			t.Errorf("%s: New() = %v, want ErrConfig", c.why, err)
		}
	}
}

func TestDecisionsRing(t *testing.T) {
	d := newDecisions(3)
	for k := 1; k <= 5; k++ {
		d.add(decision{Action: scheduler.Action{Req: scheduler.RequestID(k)}})
	}
	for _, c := range []struct{ n, first, count int }{{1, 5, 1}, {2, 4, 2}, {99, 3, 3}, {0, 0, 0}} {
		got, total := d.last(c.n)
		if len(got) != c.count || total != 5 || c.count > 0 && got[0].Req != scheduler.RequestID(c.first) {
			t.Errorf("last(%d) = %+v of %d, want %d from %d", c.n, got, total, c.count, c.first)
		}
	}
}

func TestLivesAreBounded(t *testing.T) {
	l := newLives(3)
	for k := scheduler.InstanceID(1); k <= 5; k++ {
		l.begin(scheduler.Action{Inst: k}, StartRequest{Cause: "cause"}, "", func() {})
		l.ready(k, "addr", 10)
		l.occupy(k, "first", 20)
		l.vacate(k, 25, true)
		l.occupy(k, "second", 25)
		l.vacate(k, 25, true)
		l.end(k, 30, false, "")
	}
	got := l.all(100)
	if len(got) != 3 || got[0].ID != 3 || l.forgot != 2 {
		t.Fatalf("all() = %+v, forgot %d, want the last three", got, l.forgot)
	}
	want := record.Instance{ID: 3, Cause: "cause", First: "first", Ready: 10, Stopped: 30, Served: 2, Busy: 5}
	if got[0].Instance != want {
		t.Errorf("life = %+v, want %+v", got[0].Instance, want)
	}
}

func TestBudget(t *testing.T) {
	b := budget{limit: 10}
	if !b.take(6) || b.take(5) || !b.take(4) || b.take(1) {
		t.Error("take: want 6 granted, 5 refused, 4 granted, 1 refused")
	}
	b.give(10)
	if !b.take(10) {
		t.Error("take(10) after give(10) = false, want true")
	}
}
