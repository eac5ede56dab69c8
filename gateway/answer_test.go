package gateway

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// held returns a held answer before a recorder.
func held(limit, limitAll int64) (*heldAnswer, *httptest.ResponseRecorder) {
	w := httptest.NewRecorder()
	return &heldAnswer{next: &answer{w: w, limit: time.Minute}, header: http.Header{}, max: limit, budget: &budget{limit: limitAll}}, w
}

func TestHeldAnswer(t *testing.T) {
	for _, c := range []struct {
		why        string
		max, all   int64
		writes     []string
		beforehand string // what the client has before the release
		want       string
	}{
		{"nothing goes out before the release", 100, 100, []string{"hello", " world"}, "", "hello world"},
		{"exactly the limit is still held", 11, 100, []string{"hello", " world"}, "", "hello world"},
		{"one byte more streams, in order", 10, 100, []string{"hello", " world", "!"}, "hello world!", "hello world!"},
		{"the shared budget is a limit too", 100, 7, []string{"hello", " world"}, "hello world", "hello world"},
		{"an empty answer", 100, 100, nil, "", ""},
	} {
		h, w := held(c.max, c.all)
		h.Header().Set("X-A", "1")
		h.WriteHeader(http.StatusAccepted)
		h.Header().Set("X-Late", "1") // too late for a header, and no trailer that was announced
		for _, text := range c.writes {
			if n, err := h.Write([]byte(text)); n != len(text) || err != nil {
				t.Errorf("%s: Write(%q) = %d, %v", c.why, text, n, err)
			}
			if err := h.FlushError(); err != nil {
				t.Errorf("%s: Flush: %v", c.why, err)
			}
		}
		if got := w.Body.String(); got != c.beforehand {
			t.Errorf("%s: before the release the client has %q, want %q", c.why, got, c.beforehand)
		}
		if err := h.release(); err != nil {
			t.Errorf("%s: release: %v", c.why, err)
		}
		if w.Body.String() != c.want || w.Code != http.StatusAccepted || w.Header().Get("X-A") != "1" || w.Result().Header.Get("X-Late") != "" {
			t.Errorf("%s: %d %q %v, want 202 %q with X-A", c.why, w.Code, w.Body, w.Header(), c.want)
		}
		if used := h.budget.used.Load(); used != 0 {
			t.Errorf("%s: %d bytes are still taken, want 0", c.why, used)
		}
	}
}

func TestHeldAnswerWithoutAStatusIs200(t *testing.T) {
	h, w := held(100, 100)
	_, _ = h.Write([]byte("x"))
	if err := h.release(); err != nil || w.Code != http.StatusOK || h.status != http.StatusOK {
		t.Errorf("%d %v, want 200", w.Code, err)
	}
}

func TestDroppedAnswer(t *testing.T) {
	h, w := held(100, 100)
	_, _ = h.Write([]byte("hello"))
	h.drop()
	if h.budget.used.Load() != 0 || w.Body.Len() != 0 {
		t.Errorf("%d bytes taken, %q sent, want nothing", h.budget.used.Load(), w.Body)
	}
}

func TestAnswerCounts(t *testing.T) {
	w := httptest.NewRecorder()
	a := &answer{w: w, limit: time.Minute}
	if a.begun() {
		t.Error("begun() before anything = true")
	}
	_, _ = a.Write([]byte("hello"))
	if !a.begun() || a.status != http.StatusOK || a.bytes != 5 {
		t.Errorf("status %d, %d bytes, want 200 and 5", a.status, a.bytes)
	}
}

func TestDropHeaders(t *testing.T) {
	for _, c := range []struct {
		why  string
		drop func(http.Header)
		in   http.Header
		left []string
	}{
		{"RP-01: all Connection lines count", dropHopByHop, http.Header{"Connection": {"", "x-a, X-B"}, "X-A": {"1"}, "X-B": {"1"}, "X-C": {"1"}}, []string{"X-C"}},
		{"RP-03: the fixed ones", dropHopByHop, http.Header{"Te": {"x"}, "Upgrade": {"x"}, "Keep-Alive": {"x"}, "Trailer": {"x"}, "Accept": {"x"}}, []string{"Accept"}},
		{"the gateway's own", dropOwn, http.Header{"X-Coldwave-Start": {"1"}, "Server-Timing": {"1"}, "X-Request-Id": {"1"}, "X-Coldwave-Reason": {"1"}, "X-Cold": {"1"}}, []string{"X-Cold", "X-Coldwave-Reason"}},
		{"the gateway's own as trailers", dropOwn, http.Header{"Trailer:Server-Timing": {"1"}, "Trailer:X-Sum": {"1"}}, []string{"Trailer:X-Sum"}},
		{"hop-by-hop trailers", keepClean, http.Header{"Trailer:Connection": {"1"}, "Te": {"1"}, "X-Sum": {"1"}}, []string{"X-Sum"}},
		{"websocket stays", dropUpgrade, http.Header{"Upgrade": {"WebSocket"}, "Connection": {"Upgrade"}}, []string{"Upgrade", "Connection"}},
		{"h2c goes", dropUpgrade, http.Header{"Upgrade": {"h2c"}, "Connection": {"Upgrade"}}, nil},
		{"a list with websocket in it goes", dropUpgrade, http.Header{"Upgrade": {"h2c, websocket"}, "Connection": {"Upgrade"}}, nil},
	} {
		c.drop(c.in)
		if len(c.in) != len(c.left) {
			t.Errorf("%s: %v is left, want %v", c.why, c.in, c.left)
		}
		for _, name := range c.left {
			if c.in[name] == nil {
				t.Errorf("%s: %s is gone", c.why, name)
			}
		}
	}
}

func TestGate(t *testing.T) {
	var g gate
	<-g.emptied() // nobody is inside
	g.enter()
	g.enter()
	empty := g.emptied()
	g.leave()
	select {
	case <-empty:
		t.Error("empty with one inside")
	default:
	}
	g.leave()
	<-empty
	if g.count() != 0 {
		t.Errorf("count() = %d, want 0", g.count())
	}
}

func TestParseRoute(t *testing.T) {
	for _, c := range []struct {
		target string
		want   route
	}{
		{"/healthz", route{own: "/healthz", path: "/healthz"}},
		{"/healthz?x", route{own: "/healthz", path: "/healthz", query: "x", hasQuery: true}},
		{"/healthz/", route{path: "/healthz/"}},
		{"/fnord", route{path: "/fnord"}},
		{"/asynchron", route{path: "/asynchron"}},
		{"/fn/a", route{function: "a", path: "/"}},
		{"/fn/a/", route{function: "a", path: "/"}},
		{"/fn/a//b", route{function: "a", path: "//b"}},
		{"/fn/a%62/c?", route{function: "ab", path: "/c", hasQuery: true}},
	} {
		if got, err := parseRoute(c.target); got != c.want || err != nil {
			t.Errorf("parseRoute(%q) = %+v, %v, want %+v", c.target, got, err, c.want)
		}
	}
	for _, target := range []string{"/fn", "/fn/", "/fn//x", "/async", "/async/f", "*", "", "/fn/%zz/x", "/fn/%/x"} {
		if got, err := parseRoute(target); err == nil {
			t.Errorf("parseRoute(%q) = %+v, want an error", target, got)
		}
	}
}
