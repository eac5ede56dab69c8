package gateway

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"coldwave/record"
	"coldwave/workload"
)

// TestRequestHeaders: what the worker sees of what a client sends.
func TestRequestHeaders(t *testing.T) {
	seen := make(chan http.Header, 1)
	s := before(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r.Header })
	const id = "X-Request-Id: run-7\r\n"
	for _, c := range []struct {
		why, send string
		want      map[string]string // "" means: must not be there
	}{
		{"RP-01: an empty Connection before one that names a header", "Connection:\r\nConnection: X-Secret-Hop\r\nX-Secret-Hop: 1\r\nX-Other: 2\r\n",
			map[string]string{"Connection": "", "X-Secret-Hop": "", "X-Other": "2"}},
		{"RP-03: all hop-by-hop headers", "Connection: X-Foo, close\r\nX-Foo: 1\r\nTE: trailers\r\nTrailer: X-T\r\nProxy-Connection: x\r\nKeep-Alive: 5\r\nProxy-Authorization: x\r\nX-End: 1\r\n",
			map[string]string{"X-Foo": "", "Te": "", "Trailer": "", "Proxy-Connection": "", "Keep-Alive": "", "Proxy-Authorization": "", "X-End": "1"}},
		{"RP-05: a client cannot take away what the gateway adds", "Connection: close, X-Request-Id, X-Forwarded-For, X-Coldwave-Demand\r\n" + id + "X-Coldwave-Demand: exec=1ms\r\n",
			map[string]string{"X-Request-Id": "run-7", "X-Forwarded-For": "127.0.0.1", "X-Coldwave-Demand": "exec=1ms;pre=0s;post=0s"}},
		{"4.5: forwarding headers of clients are dropped", "X-Forwarded-For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\n", map[string]string{"X-Forwarded-For": "127.0.0.1", "Forwarded": ""}},
		{"a client cannot speak in the gateway's name", "X-Coldwave-Instance: 9\r\nX-Coldwave-Start: warm\r\nX-Coldwave-Start-By: own\r\nServer-Timing: exec;dur=1\r\n",
			map[string]string{"X-Coldwave-Instance": "", "X-Coldwave-Start": "", "X-Coldwave-Start-By": "", "Server-Timing": ""}},
		{"an upgrade that is not allowed is dropped, the request is served", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n",
			map[string]string{"Upgrade": "", "Connection": "", "Http2-Settings": ""}},
		{"no user agent stays no user agent", "X-A: 1\r\n", map[string]string{"User-Agent": "", "X-A": "1"}},
	} {
		res := s.ask(http.MethodGet, "GET / HTTP/1.1\r\nHost: h\r\n"+c.send+closing(c.send)+"\r\n")
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d, want 200", c.why, res.StatusCode)
			continue
		}
		got := <-seen
		for name, want := range c.want {
			if v, there := got[name]; strings.Join(v, ",") != want || want == "" && there {
				t.Errorf("%s: the worker saw %s = %q, want %q", c.why, name, v, want)
			}
		}
	}
}

// closing ends the connection after the answer unless the row says something of it.
func closing(send string) string {
	if strings.Contains(send, "Connection: ") && strings.Contains(send, "close") {
		return ""
	}
	return "Connection: close\r\n"
}

func TestRequestIDs(t *testing.T) {
	seen := make(chan string, 1)
	s := before(t, func(_ http.ResponseWriter, r *http.Request) {
		seen <- strings.Join(r.Header.Values("X-Request-Id"), "|")
	})
	long := strings.Repeat("a", 65)
	for _, c := range []struct {
		why, send string
		kept      bool
	}{
		{"a good one is kept", "X-Request-Id: Run_1.a-2", true},
		{"64 characters are allowed", "X-Request-Id: " + long[:64], true},
		{"65 are not", "X-Request-Id: " + long, false},
		{"no spaces", "X-Request-Id: a b", false},
		{"no markup", "X-Request-Id: <b>", false},
		{"no letters of other alphabets", "X-Request-Id: \xc3\xa9", false},
		{"two are none", "X-Request-Id: a\r\nX-Request-Id: b", false},
		{"an empty one is none", "X-Request-Id:", false},
		{"none is replaced", "X-Other: 1", false},
	} {
		res := s.ask(http.MethodGet, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"+c.send+"\r\n\r\n")
		got, answered := <-seen, res.Header.Get("X-Request-Id")
		_, sent, _ := strings.Cut(c.send, ": ")
		if (got == sent) != c.kept || !isRequestID(got) || got != answered {
			t.Errorf("%s: worker saw %q, client %q, want kept %v", c.why, got, answered, c.kept)
		}
	}
}

// TestAnswerHeaders: the gateway's own headers are the gateway's, whatever a worker says.
func TestAnswerHeaders(t *testing.T) {
	s := before(t, func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("X-Coldwave-Instance", "evil")
		h.Set("X-Coldwave-Start", "cold")
		h.Set("X-Coldwave-Start-By", "own")
		h.Set("X-Coldwave-Anything", "1")
		h.Set("X-Request-Id", "evil")
		h["Server-Timing"] = []string{"queue;dur=9999", "exec;dur=0"}
		h.Set("Keep-Alive", "timeout=5")
		h.Set("Connection", "X-Hop")
		h.Set("X-Hop", "1")
		h.Set("X-End", "1")
		h.Set("Trailer", "X-Coldwave-Start, X-Good")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "body")
		h.Set("X-Coldwave-Start", "cold")
		h.Set("X-Good", "yes")
		h.Set(http.TrailerPrefix+"Server-Timing", "exec;dur=0")
	})
	for _, post := range []string{"", "1ms"} {
		req := s.request(http.MethodGet, "/fn/f/x", nil)
		req.Header.Set("X-Request-Id", "mine")
		if post != "" {
			req.Header.Set(workload.DemandHeader, "exec=1ms;post="+post)
		}
		res, body := s.do(req)
		got := record.ServerFrom(res.Header.Get)
		if res.StatusCode != http.StatusTeapot || body != "body" || got.Start != record.Warm || got.StartBy != record.ByNone || got.Instance != "1" || got.Queue != 0 {
			t.Errorf("post %q: %d %q %+v, want the worker's answer and the gateway's labels", post, res.StatusCode, body, got)
		}
		for name, want := range map[string]string{"X-Request-Id": "mine", "X-Hop": "", "Keep-Alive": "", "X-Coldwave-Anything": "", "X-End": "1"} {
			if v := strings.Join(res.Header.Values(name), "|"); v != want {
				t.Errorf("post %q: answer has %s = %q, want %q", post, name, v, want)
			}
		}
		if n := len(res.Header.Values("Server-Timing")); n != 1 {
			t.Errorf("post %q: %d Server-Timing headers, want 1", post, n)
		}
		if res.Trailer.Get("X-Good") != "yes" || res.Trailer.Get("X-Coldwave-Start") != "" || res.Trailer.Get("Server-Timing") != "" {
			t.Errorf("post %q: trailers %v, want X-Good alone", post, res.Trailer)
		}
	}
}

// TestTargetPassesByteForByte: R14.
func TestTargetPassesByteForByte(t *testing.T) {
	seen := make(chan string, 1)
	s := before(t, func(_ http.ResponseWriter, r *http.Request) { seen <- r.RequestURI })
	for _, c := range []struct{ send, want string }{
		{"/fn/f/a/b", "/a/b"},
		{"/fn/f", "/"},
		{"/fn/f/", "/"},
		{"/fn/f?x=1", "/?x=1"},
		{"/fn/f/a%2Fb%20c", "/a%2Fb%20c"},
		{"/fn/f/a/../b/./c", "/a/../b/./c"},
		{"/fn/f//double//slash", "//double//slash"},
		{"/fn/f/?", "/?"},
		{"/fn/f/q?a=b;c=d&e=%zz&&x=/../", "/q?a=b;c=d&e=%zz&&x=/../"},
		{"/fn/f/{a}|b^c\"<d>`e", "/{a}|b^c\"<d>`e"},
		{"/fn/f/\xc3\xa9", "/\xc3\xa9"},
		{"/fn/%66/x", "/x"},
		{"/", "/"},
		{"/anything/else?y", "/anything/else?y"},
		{"//fn/f/x", "//fn/f/x"},
		{"http://elsewhere.example/fn/f/x?y", "/x?y"},
		{"http://elsewhere.example", "/"},
	} {
		res := s.ask(http.MethodGet, "GET "+c.send+" HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d %s, want 200", c.send, res.StatusCode, res.Header.Get(ReasonHeader))
			continue
		}
		if got := <-seen; got != c.want {
			t.Errorf("%s: the worker saw %q, want %q", c.send, got, c.want)
		}
	}
}

func TestTargetsThatAreRefused(t *testing.T) {
	var reached atomic.Int64
	s := before(t, func(http.ResponseWriter, *http.Request) { reached.Add(1) })
	for _, c := range []struct {
		why, line string
		status    int
	}{
		{"R17: unknown function", "GET /fn/nope/x HTTP/1.1", 404},
		{"an empty name", "GET /fn// HTTP/1.1", 404},
		{"no name", "GET /fn HTTP/1.1", 404},
		{"a name with a slash in it", "GET /fn/a%2Fb/ HTTP/1.1", 404},
		{"a name that cannot be decoded", "GET /fn/%zz/ HTTP/1.1", 400},
		{"asynchronous calls are not for functions", "POST /async/f HTTP/1.1", 404},
		{"a path that cannot be passed on as it is", "GET /fn/f//a|b HTTP/1.1", 400},
		{"4.1: CONNECT", "CONNECT elsewhere.example:443 HTTP/1.1", 405},
		{"F17: target too long", "GET /" + strings.Repeat("a", 8<<10) + " HTTP/1.1", 414},
		{"not a path", "GET x HTTP/1.1", 400},
	} {
		res := s.ask(http.MethodGet, c.line+"\r\nHost: h\r\nConnection: close\r\n\r\n")
		if res.StatusCode != c.status {
			t.Errorf("%s: status %d, want %d", c.why, res.StatusCode, c.status)
		}
		if c.status != 400 && record.ServerFrom(res.Header.Get).Start != record.Edge {
			t.Errorf("%s: headers %v, want start edge", c.why, res.Header)
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("%d of them reached the worker, want 0", n)
	}
}

func TestTwoFunctions(t *testing.T) {
	worker := func(name string) string {
		return serveHTTP(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, name+r.RequestURI) //nolint:gosec // an echo is what is tested
		})
	}
	s := newSockets(t, Config{Functions: []Function{static("a", 1, worker("a")), static("b", 1, worker("b1"), worker("b2"))}})
	for path, want := range map[string]string{"/fn/a/x": "a/x", "/fn/b/y": "b1/y"} {
		if res, body := s.do(s.request(http.MethodGet, path, nil)); res.StatusCode != 200 || body != want {
			t.Errorf("%s: %d %q, want 200 %q", path, res.StatusCode, body, want)
		}
	}
	if res, _ := s.do(s.request(http.MethodGet, "/", nil)); res.StatusCode != http.StatusNotFound {
		t.Errorf("/ with two functions: %d, want 404", res.StatusCode)
	}
	if res, body := s.do(s.request(http.MethodGet, "/healthz", nil)); res.StatusCode != 200 || body != "ok\n" {
		t.Errorf("/healthz: %d %q, want 200 ok", res.StatusCode, body)
	}
}

func TestDemandThatCannotBeRead(t *testing.T) {
	s := before(t, func(http.ResponseWriter, *http.Request) { t.Error("it reached the worker") })
	for _, text := range []string{"exec", "exec=-1ms", "exec=1y", "what=1ms", "exec=1ms;exec=2ms", "pre=2h", ""} {
		req := s.request(http.MethodGet, "/", nil)
		req.Header.Set(workload.DemandHeader, text)
		if res, _ := s.do(req); res.StatusCode != http.StatusBadRequest || res.Header.Get(ReasonHeader) != "demand" {
			t.Errorf("demand %q: %d, want 400 demand", text, res.StatusCode)
		}
	}
}

func TestParseStatic(t *testing.T) {
	for text, want := range map[string]string{"http://127.0.0.1:9000": "127.0.0.1:9000", "http://localhost": "localhost:80", "http://[::1]:1/": "[::1]:1"} {
		if got, err := ParseStatic(text); got != want || err != nil {
			t.Errorf("ParseStatic(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"", "127.0.0.1:9000", "https://h", "http://h:0", "http://h:99999", "http://h/path", "http://h?q", "http://u:secret@h", "http://:80", "http://h#f"} {
		got, err := ParseStatic(text)
		if !errors.Is(err, ErrStaticURL) {
			t.Errorf("ParseStatic(%q) = %q, %v, want ErrStaticURL", text, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("ParseStatic(%q) tells a password: %v", text, err)
		}
	}
}

// FuzzRoute: a route never panics, and what it passes on is what came in.
func FuzzRoute(f *testing.F) {
	for _, s := range []string{"/", "/fn/f/a%2Fb?c=d", "/fn/f", "http://h/fn/f/x", "//x", "/healthz", "*", "/fn/%66/?"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, target string) {
		r, err := parseRoute(target)
		if err != nil || r.own != "" {
			return
		}
		if !strings.HasPrefix(r.path, "/") || r.hasQuery != strings.Contains(target, "?") {
			t.Fatalf("parseRoute(%q) = %+v: path or query is wrong", target, r)
		}
		passed := r.path
		if r.hasQuery {
			passed += "?" + r.query
		}
		if !strings.HasSuffix(target, strings.TrimPrefix(passed, "/")) && passed != "/" {
			t.Fatalf("parseRoute(%q) passes %q on, which is no end of it", target, passed)
		}
		u, err := r.url("worker:80")
		if err != nil {
			return
		}
		if got := u.RequestURI(); got != passed {
			t.Fatalf("parseRoute(%q).url() asks for %q, want %q", target, got, passed)
		}
	})
}

// FuzzRequestID: what is accepted is safe to write anywhere.
func FuzzRequestID(f *testing.F) {
	f.Add("run-1")
	f.Add("a b")
	f.Fuzz(func(t *testing.T, id string) {
		if !isRequestID(id) {
			return
		}
		if len(id) > 64 || url.PathEscape(id) != id || slices.ContainsFunc([]byte(id), func(b byte) bool { return b < '-' || b > 'z' }) {
			t.Fatalf("isRequestID(%q) = true", id)
		}
	})
}
