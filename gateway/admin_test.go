package gateway

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/realclock"
	"coldwave/scheduler"
)

func newBubbleClock() clock.Clock { return realclock.Timers(time.Now()) }

func (s *sockets) adminGet(t *testing.T, path string, v any) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.admin+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, body := s.do(req)
	if v != nil {
		d := json.NewDecoder(strings.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(v); err != nil {
			t.Errorf("%s: %v in %s", path, err, body)
		}
	}
	return res
}

func TestAdminPort(t *testing.T) {
	s := before(t, func(http.ResponseWriter, *http.Request) {})
	for range 3 {
		s.do(s.request(http.MethodGet, "/fn/f/", nil))
	}
	s.do(s.request(http.MethodGet, "/fn/nope/", nil))
	s.eventually(t.Context(), "everything is counted", func() bool {
		_, made := s.g.services[0].made.last(0)
		return made == 7 && s.g.Counts() == Counts{Alive: 1, Idle: 1}
	})
	var stats statsView
	s.adminGet(t, "/stats", &stats)
	if f := stats.Functions; len(f) != 1 || f[0].Name != "f" || f[0].Arrived != 3 || f[0].Started != 1 || stats.Broken != nil {
		t.Errorf("/stats = %+v, want three arrivals at f on one instance", stats)
	}
	var instances []instanceView
	s.adminGet(t, "/instances", &instances)
	if len(instances) != 1 || instances[0].State != "idle" || instances[0].Served != 3 || instances[0].Ready == nil || instances[0].Stopped != nil || instances[0].Cause != nil {
		t.Errorf("/instances = %+v, want one idle instance that served 3", instances)
	}
	var scale []scaleView
	s.adminGet(t, "/scale", &scale)
	if len(scale) != 1 || scale[0].Policy != "fixed" || *scale[0].Max != 1 || scale[0].Concurrency != 100 || scale[0].Alive != 1 {
		t.Errorf("/scale = %+v, want policy fixed with one instance of 100 slots", scale)
	}
	var made []decisionsView
	s.adminGet(t, "/decisions?n=2", &made)
	if len(made) != 1 || made[0].Total != 7 || len(made[0].Decisions) != 2 || made[0].Decisions[1].Action != "end" || *made[0].Decisions[0].Start != "warm" {
		t.Errorf("/decisions?n=2 = %+v, want the last two of 7: assign warm, end", made)
	}
	if res := s.adminGet(t, "/decisions?n=x", nil); res.StatusCode != http.StatusBadRequest {
		t.Errorf("/decisions?n=x: %d, want 400", res.StatusCode)
	}
	if res := s.adminGet(t, "/healthz", nil); res.StatusCode != http.StatusOK {
		t.Errorf("/healthz: %d, want 200", res.StatusCode)
	}
	if res := s.adminGet(t, "/nothing", nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("/nothing: %d, want 404", res.StatusCode)
	}
}

func TestMetrics(t *testing.T) {
	s := before(t, func(http.ResponseWriter, *http.Request) {})
	s.do(s.request(http.MethodGet, "/fn/f/", nil))
	s.do(s.request(http.MethodGet, "/fn/random-name/", nil))
	s.eventually(t.Context(), "both are counted", func() bool { return s.counted(outcomeOK) == 1 && s.counted(outcomeRefused) == 1 })
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.admin+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, text := s.do(req)
	for _, line := range []string{
		`coldwave_gateway_requests_total{function="f",outcome="ok"} 1`,
		`coldwave_gateway_requests_total{function="f",outcome="canceled"} 0`,
		`coldwave_gateway_requests_total{function="none",outcome="refused"} 1`,
		`coldwave_gateway_response_seconds_count{function="f",start="warm"} 1`,
		`coldwave_gateway_instances_alive{function="f"} 1`,
		`coldwave_gateway_instances_starting{function="f"} 0`,
		`coldwave_gateway_requests_queued{function="f"} 0`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("/metrics lacks %q", line)
		}
	}
	if strings.Contains(text, "random-name") {
		t.Error("/metrics has a label made by a client (AS-19)")
	}
}

func TestAdminLetsNobodyInByAccident(t *testing.T) {
	s := before(t, func(http.ResponseWriter, *http.Request) {})
	for _, c := range []struct {
		why, method, path string
		edit              func(*http.Request)
		status            int
	}{
		{"a name of the attacker's (DNS rebinding)", "GET", "/stats", func(r *http.Request) { r.Host = "evil.example" }, 403},
		{"localhost is fine", "GET", "/stats", func(r *http.Request) { r.Host = "localhost:1" }, 200},
		{"a page of another origin", "GET", "/stats", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		{"a page that was opened from nowhere", "GET", "/stats", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		{"an image tag on another site", "GET", "/stats", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		{"its own origin", "GET", "/stats", func(r *http.Request) { r.Header.Set("Origin", "http://"+r.Host) }, 200},
		{"nothing is changed here", "POST", "/scale", func(*http.Request) {}, 405},
		{"nor deleted", "DELETE", "/instances", func(*http.Request) {}, 405},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+s.admin+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.edit(req)
		res, body := s.do(req)
		var v any
		if res.StatusCode != c.status || json.Unmarshal([]byte(body), &v) != nil {
			t.Errorf("%s: %d %q, want %d and JSON", c.why, res.StatusCode, body, c.status)
		}
	}
}

func TestAdminToken(t *testing.T) {
	s := newSockets(t, Config{Admin: Admin{Token: "open sesame"}, Functions: []Function{static("f", 1, serveHTTP(t, func(http.ResponseWriter, *http.Request) {}))}})
	for _, c := range []struct {
		why, path, shown string
		status           int
	}{
		{"the token", "/stats", "Bearer open sesame", 200},
		{"no token", "/stats", "", 401},
		{"another token", "/stats", "Bearer open", 401},
		{"not as a bearer", "/stats", "open sesame", 401},
		{"health needs none", "/healthz", "", 200},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.admin+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.shown != "" {
			req.Header.Set("Authorization", c.shown)
		}
		if res, _ := s.do(req); res.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", c.why, res.StatusCode, c.status)
		}
	}
}

// address is a listener that claims to listen elsewhere.
type address struct {
	net.Listener
	addr net.Addr
}

func (a address) Addr() net.Addr { return a.addr }

func TestOpenAdminPortIsRefused(t *testing.T) {
	for _, c := range []struct {
		ip, token string
		ok        bool
	}{
		{"0.0.0.0", "", false}, {"::", "", false}, {"192.0.2.1", "", false}, {"127.0.0.1", "", true}, {"::1", "", true}, {"0.0.0.0", "t", true},
	} {
		err := Admin{Token: c.token}.MayListen(&net.TCPAddr{IP: net.ParseIP(c.ip), Port: 1})
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrAdminOpen) {
			t.Errorf("MayListen(%s, token %q) = %v, want allowed %v", c.ip, c.token, err, c.ok)
		}
	}
	g, err := New(Config{Clock: newBubbleClock(), Functions: []Function{static("f", 1, "127.0.0.1:1")}})
	if err != nil {
		t.Fatal(err)
	}
	err = g.Serve(listenLocal(t), address{listenLocal(t), &net.TCPAddr{IP: net.IPv4zero, Port: 1}})
	if !errors.Is(err, ErrAdminOpen) {
		t.Errorf("Serve() = %v, want ErrAdminOpen", err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

// TestHealthTellsWhenTheCoreIsBroken on both ports' handler.
func TestHealthTellsWhenTheCoreIsBroken(t *testing.T) {
	g, err := New(Config{Clock: newBubbleClock(), Functions: []Function{{Spec: static("f", 1).Spec, Provisioner: Static{},
		Policy: wrongPolicy{}, Core: scheduler.Config{Max: 1}}}})
	if err != nil {
		t.Fatal(err)
	}
	g.fail(errors.New("planted"))
	w := &plainWriter{header: http.Header{}}
	g.health(w)
	if w.status != http.StatusInternalServerError {
		t.Errorf("health = %d, want 500", w.status)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
}

type plainWriter struct {
	header http.Header
	status int
}

func (p *plainWriter) Header() http.Header         { return p.header }
func (p *plainWriter) WriteHeader(status int)      { p.status = status }
func (p *plainWriter) Write(b []byte) (int, error) { return io.Discard.Write(b) }
