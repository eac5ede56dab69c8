package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"coldwave/internal/cliargs"
	"coldwave/record"
	"coldwave/workload"
)

// running is a gateway in this process that was started by its command line.
type running struct {
	t           *testing.T
	data, admin string
	signals     chan os.Signal
	code        chan int
	mu          sync.Mutex
	text        strings.Builder // what came on stderr
	client      *http.Client
}

var bannerForm = regexp.MustCompile(`^gateway: data (http://\S+) admin (\S+);`)

func start(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{t: t, signals: make(chan os.Signal, 2), code: make(chan int, 1), client: &http.Client{Transport: &http.Transport{}}}
	out, in := io.Pipe()
	args = append([]string{"gateway", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)
	go func() {
		r.code <- (&program{stderr: in, signals: r.signals}).run(t.Context(), args, io.Discard)
		_ = in.Close()
	}()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatalf("gateway %q printed nothing and ended with %d", args, <-r.code)
	}
	m := bannerForm.FindStringSubmatch(lines.Text())
	if m == nil {
		t.Fatalf("first line %q, want the addresses", lines.Text())
	}
	r.data, r.admin = m[1], m[2]
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines.Scan() {
			r.mu.Lock()
			r.text.WriteString(lines.Text() + "\n")
			r.mu.Unlock()
		}
	}()
	t.Cleanup(func() { r.client.CloseIdleConnections(); <-read })
	return r
}

func (r *running) get(url, demand string) (*http.Response, string) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if demand != "" {
		req.Header.Set(workload.DemandHeader, demand)
	}
	res, err := r.client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res, string(body)
}

func (r *running) stderr() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// end drains and checks the exit code.
func (r *running) end(want int) {
	r.t.Helper()
	r.signals <- syscall.SIGTERM
	if code := <-r.code; code != want {
		r.t.Errorf("exit %d, want %d; stderr: %s", code, want, r.stderr())
	}
}

// TestColdAndWarm: the first request starts an instance, the second finds it, and the admin port tells so.
func TestColdAndWarm(t *testing.T) {
	r := start(t, "--cold-law", "constant:20ms", "--function", "hello", "--policy", "fc-race")
	for _, want := range []record.StartKind{record.Cold, record.Warm} {
		res, body := r.get(r.data+"/fn/hello/", "exec=1ms")
		if s := record.ServerFrom(res.Header.Get); res.StatusCode != 200 || body != "ok\n" || s.Start != want || s.Instance != "1" {
			t.Errorf("%d %q %+v, want 200 ok, %v on instance 1", res.StatusCode, body, s, want)
		}
	}
	_, text := r.get(r.admin+"/instances", "")
	var instances []struct{ Served int }
	if err := json.Unmarshal([]byte(text), &instances); err != nil || len(instances) != 1 || instances[0].Served != 2 {
		t.Errorf("/instances = %s %v, want one that served 2", text, err)
	}
	if code := (&program{stderr: io.Discard}).run(t.Context(), []string{"gateway", "health", "--listen", strings.TrimPrefix(r.data, "http://")}, io.Discard); code != cliargs.OK {
		t.Errorf("health: exit %d, want 0", code)
	}
	r.end(cliargs.OK)
}

// TestStaticWorker: any HTTP server can stand behind the gateway; the fleet is not started beside it.
func TestStaticWorker(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "at "+r.RequestURI) })} //nolint:gosec // an echo is what is tested
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close(); <-done })
	r := start(t, "--static-worker", "api=http://"+l.Addr().String())
	if res, body := r.get(r.data+"/fn/api/x?y=%2F", ""); res.StatusCode != 200 || body != "at /x?y=%2F" {
		t.Errorf("%d %q, want 200 from the server", res.StatusCode, body)
	}
	if res, _ := r.get(r.data+"/fn/fc-test/", ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("the fleet's function: %d, want 404", res.StatusCode)
	}
	r.end(cliargs.OK)
}

// TestTermWhileARequestRuns: it gets its answer, then the process ends with 0 (R18).
func TestTermWhileARequestRuns(t *testing.T) {
	r := start(t, "--cold-law", "constant:1ms", "--function", "f")
	got := make(chan int, 1)
	go func() {
		res, _ := r.get(r.data+"/", "exec=300ms")
		got <- res.StatusCode
	}()
	for body := ""; !strings.Contains(body, `"running": 1`); {
		_, body = r.get(r.admin+"/stats", "")
	}
	r.end(cliargs.OK)
	if status := <-got; status != http.StatusOK {
		t.Errorf("status %d, want 200", status)
	}
	if !strings.Contains(r.stderr(), "draining for at most 30s") {
		t.Errorf("stderr %q, want that it drains", r.stderr())
	}
}

func TestSecondSignalEndsAtOnce(t *testing.T) {
	r := start(t, "--cold-law", "constant:9m", "--function", "f")
	got := make(chan int, 1)
	go func() {
		res, _ := r.get(r.data+"/", "exec=1ms")
		got <- res.StatusCode
	}()
	for body := ""; !strings.Contains(body, `"queued": 1`); {
		_, body = r.get(r.admin+"/stats", "")
	}
	r.signals <- syscall.SIGINT
	r.end(cliargs.Terminated)
	if status := <-got; status != http.StatusServiceUnavailable {
		t.Errorf("the request that waited got %d, want 503", status)
	}
}

func TestAdminTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, "--admin-token-file", path, "--function", "f")
	if res, _ := r.get(r.admin+"/stats", ""); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("without the token: %d, want 401", res.StatusCode)
	}
	r.end(cliargs.OK)
	if strings.Contains(r.stderr(), "s3cret") {
		t.Error("the token is on stderr")
	}
}
