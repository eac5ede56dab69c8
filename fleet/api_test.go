package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/fleet"
	"coldwave/fleet/worker"
	"coldwave/internal/realclock"
	"coldwave/platform"
)

func newAPI(t *testing.T, change func(*fleet.APIConfig)) *fleet.API {
	t.Helper()
	cfg := fleet.APIConfig{
		Clock: realclock.New(time.Now()), ColdStart: platform.Constant(time.Millisecond), Service: time.Millisecond,
		Drain: patience, Seed: 1,
	}
	if change != nil {
		change(&cfg)
	}
	a, err := fleet.NewAPI(cfg)
	if err != nil {
		t.Fatalf("NewAPI error %v, want none", err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("Close() = %v, want none", err)
		}
	})
	return a
}

// told is a worker as the API tells of it.
type told struct {
	ID          string `json:"id"`
	Function    string `json:"function"`
	State       string `json:"state"`
	Address     string `json:"address"`
	URL         string `json:"url"`
	ColdStart   int64  `json:"cold_start_ns"`
	Service     int64  `json:"service_ns"`
	Concurrency int    `json:"concurrency"`
	Finished    int64  `json:"finished"`
	Error       string `json:"error"`
}

// ask sends one request to the API as a program on this host would.
func ask(t *testing.T, h http.Handler, method, target, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:8090"
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		}
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if got := w.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("%s %s: Content-Type %q, want JSON", method, target, got)
	}
	return w
}

func read[T any](t *testing.T, w *httptest.ResponseRecorder, status int) T {
	t.Helper()
	var v T
	if w.Code != status {
		t.Errorf("status = %d, want %d: %s", w.Code, status, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Errorf("answer %q: %v, want JSON", w.Body, err)
	}
	return v
}

// The life of a worker: made, used, told of, ended.
func TestAPIWorker(t *testing.T) {
	a := newAPI(t, nil)
	w := ask(t, a, "POST", "/workers", `{"id":"a.1","function":"f","cold_start":"2ms","service":"3ms","concurrency":4}`)
	made := read[told](t, w, 201)
	want := told{ID: "a.1", Function: "f", State: "ready", Address: made.Address, URL: "http://" + made.Address,
		ColdStart: 2e6, Service: 3e6, Concurrency: 4}
	if made != want || !strings.HasPrefix(made.Address, "127.0.0.1:") {
		t.Errorf("POST /workers = %+v, want %+v", made, want)
	}
	if got := w.Header().Get("Location"); got != "/workers/a.1" {
		t.Errorf("Location = %q, want /workers/a.1", got)
	}
	status, server := get(t.Context(), made.Address, "/")
	if status != 200 || server.Instance != "a.1" || server.Exec < 3*time.Millisecond {
		t.Errorf("the worker answers %d %+v, want 200 as a.1 after at least 3ms", status, server)
	}
	want.Finished = 1
	if got := read[told](t, ask(t, a, "GET", "/workers/a.1", ""), 200); got != want {
		t.Errorf("GET /workers/a.1 = %+v, want %+v", got, want)
	}
	want.State = "stopped"
	if got := read[told](t, ask(t, a, "DELETE", "/workers/a.1", ""), 200); got != want {
		t.Errorf("DELETE /workers/a.1 = %+v, want %+v", got, want)
	}
	if status, _ := get(t.Context(), made.Address, "/"); status != 0 {
		t.Errorf("the deleted worker answers %d, want no connection", status)
	}
	read[told](t, ask(t, a, "DELETE", "/workers/a.1", ""), 404)
	read[told](t, ask(t, a, "POST", "/workers", `{"id":"a.1"}`), 201) // the name is free again
}

// Without a body the fleet's own settings hold, and names are given.
func TestAPIDefaults(t *testing.T) {
	a := newAPI(t, func(c *fleet.APIConfig) { c.Concurrency = 3 })
	read[told](t, ask(t, a, "POST", "/workers", `{"id":"w2"}`), 201)
	var names []string
	for _, body := range []string{"", "{}", "null"} {
		got := read[told](t, ask(t, a, "POST", "/workers", body), 201)
		names = append(names, got.ID)
		if got.ColdStart != 1e6 || got.Service != 1e6 || got.Concurrency != 3 {
			t.Errorf("POST %q = %+v, want 1ms, 1ms, 3", body, got)
		}
	}
	if want := "[w3 w4 w5]"; fmt.Sprint(names) != want {
		t.Errorf("names = %v, want %s: a taken one is skipped", names, want)
	}
	all := read[struct{ Workers []told }](t, ask(t, a, "GET", "/workers", ""), 200).Workers
	if len(all) != 4 || all[0].ID != "w2" || all[3].ID != "w5" {
		t.Errorf("GET /workers = %+v, want w2, w3, w4, w5", all)
	}
}

func TestAPIListOfNothingIsAList(t *testing.T) {
	if got, want := ask(t, newAPI(t, nil), "GET", "/workers", "").Body.String(), `{"workers":[]}`+"\n"; got != want {
		t.Errorf("GET /workers = %s, want %s", got, want)
	}
}

// wait=false answers before the worker can serve; the list tells when it can.
func TestAPIWithoutWaiting(t *testing.T) {
	a := newAPI(t, nil)
	got := read[told](t, ask(t, a, "POST", "/workers?wait=false", `{"id":"slow","cold_start":"10m"}`), 202)
	if got.State != "starting" || got.Address != "" {
		t.Errorf("POST = %+v, want starting without an address", got)
	}
	read[told](t, ask(t, a, "POST", "/workers?wait=false", `{"id":"fast"}`), 202)
	eventually(t, "fast is ready", func() bool {
		return read[told](t, ask(t, a, "GET", "/workers/fast", ""), 200).State == "ready"
	})
	if got := read[told](t, ask(t, a, "GET", "/workers/slow", ""), 200); got.State != "starting" {
		t.Errorf("slow is %s, want starting", got.State)
	}
	if got := read[told](t, ask(t, a, "DELETE", "/workers/slow", ""), 200); got.State != "stopped" {
		t.Errorf("DELETE of a starting one = %+v, want stopped", got)
	}
}

// A client that does not wait for its worker any more gets none, and leaves none.
func TestAPIClientGone(t *testing.T) {
	a := newAPI(t, nil)
	ctx, gone := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, "POST", "/workers", strings.NewReader(`{"id":"a","cold_start":"10m"}`))
	r.Host = "localhost"
	var done sync.WaitGroup
	done.Go(func() { a.ServeHTTP(httptest.NewRecorder(), r) })
	eventually(t, "the start", func() bool { return ask(t, a, "GET", "/workers/a", "").Code == 200 })
	gone()
	done.Wait()
	read[told](t, ask(t, a, "GET", "/workers/a", ""), 404)
}

// A client may wait as long as the cold start takes: the time that it has for its body must not end that.
func TestAPIWaitsLongerThanForABody(t *testing.T) {
	for _, body := range []string{"", "{}"} {
		t.Run("body "+body, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAPI(t, func(c *fleet.APIConfig) {
					c.Clock, c.ColdStart = realclock.Timers(time.Now()), platform.Constant(fleet.ColdStartMax)
				})
				m, s := newMemory(), worker.NewServer(a, 0, nil)
				go func() { _ = s.Serve(m) }()
				defer s.Close()
				ctx, cancel := context.WithTimeout(t.Context(), 9*time.Minute)
				defer cancel()
				r, _ := http.NewRequestWithContext(ctx, "POST", "http://localhost/workers", strings.NewReader(body))
				client := http.Client{Transport: &http.Transport{DialContext: m.dial, DisableKeepAlives: true}}
				resp, err := client.Do(r)
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("POST = %v, %v; want it to wait until the client gives up after 9 minutes", resp, err)
				}
			})
		})
	}
}

// What is refused, with its status and a message that names the problem.
func TestAPIErrors(t *testing.T) {
	a := newAPI(t, func(c *fleet.APIConfig) { c.Max = 2 })
	read[told](t, ask(t, a, "POST", "/workers", `{"id":"a"}`), 201)
	rows := []struct {
		name, method, target, body string
		status                     int
		want                       string
	}{
		{"a name that is taken", "POST", "/workers", `{"id":"a"}`, 409, `id "a": a worker of that id exists`},
		{"a name that is no word", "POST", "/workers", `{"id":"a b"}`, 400, `id "a b"`},
		{"a name with a meaning in paths", "POST", "/workers", `{"id":".."}`, 400, `id ".."`},
		{"a function that is no word", "POST", "/workers", `{"function":"\n"}`, 400, `function "\n"`},
		{"an unknown key", "POST", "/workers", `{"conc":1}`, 400, `unknown field "conc"`},
		{"no JSON", "POST", "/workers", `id=a`, 400, "one JSON object"},
		{"two objects", "POST", "/workers", `{}{}`, 400, "one JSON object"},
		{"a list", "POST", "/workers", `[]`, 400, "one JSON object"},
		{"a body of more than 64 KiB", "POST", "/workers", `{"id":"` + strings.Repeat("a", fleet.APIBodyMax) + `"}`, 413, "65536 bytes"},
		{"every problem at once", "POST", "/workers", `{"cold_start":"x","service":"-1s","concurrency":0}`, 400, "concurrency 0"},
		{"a cold start that is none", "POST", "/workers", `{"cold_start":"fast"}`, 400, `law "fast"`},
		{"a range the wrong way", "POST", "/workers", `{"cold_start":"3s-2s"}`, 400, "uniform:3s-2s"},
		{"a cold start beyond its bound", "POST", "/workers", `{"cold_start":"11m"}`, 400, "0s to 10m0s"},
		{"a negative cold start", "POST", "/workers", `{"cold_start":"-1s"}`, 400, "cold start"},
		{"a service time beyond its bound", "POST", "/workers", `{"service":"11m"}`, 400, "service 11m0s"},
		{"a service time that is none", "POST", "/workers", `{"service":"1"}`, 400, "missing unit"},
		{"a wait that is neither", "POST", "/workers?wait=maybe", `{}`, 400, `wait="maybe"`},
		{"a worker that is not there", "GET", "/workers/b", "", 404, `no worker "b"`},
		{"its end", "DELETE", "/workers/b", "", 404, `no worker "b"`},
		{"a drain that is none", "DELETE", "/workers/a?drain=x", "", 400, `drain="x"`},
		{"a drain beyond its bound", "DELETE", "/workers/a?drain=2h", "", 400, "1h0m0s"},
		{"another path", "GET", "/worker", "", 404, "/workers"},
		{"another method", "PUT", "/workers", "", 405, "GET or POST"},
		{"a change by GET is none", "GET", "/workers/a/stop", "", 404, "/workers"},
		{"another method of one worker", "POST", "/workers/a", "", 405, "GET or DELETE"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w := ask(t, a, row.method, row.target, row.body)
			got := read[struct{ Error string }](t, w, row.status).Error
			if !strings.Contains(got, row.want) {
				t.Errorf("%s %s error %q, want one with %q", row.method, row.target, got, row.want)
			}
			if row.status == 405 && w.Header().Get("Allow") == "" {
				t.Error("405 without an Allow header")
			}
		})
	}
	read[told](t, ask(t, a, "POST", "/workers", ""), 201)
	got := read[struct{ Error string }](t, ask(t, a, "POST", "/workers", ""), 503).Error
	if !strings.Contains(got, "2 workers") || !strings.Contains(got, "--max") {
		t.Errorf("a third worker: %q, want the limit of 2 and what to do", got)
	}
}

// Only programs on this host get in (RELIABILITY 4.5).
func TestAPIGuard(t *testing.T) {
	open := newAPI(t, nil)
	locked := newAPI(t, func(c *fleet.APIConfig) { c.Token = "t0ken" })
	rows := []struct {
		name   string
		api    *fleet.API
		method string
		header []string
		want   int
	}{
		{"an address", open, "GET", []string{"Host", "127.0.0.1"}, 200},
		{"an address with a port", open, "GET", []string{"Host", "127.0.0.9:1"}, 200},
		{"localhost", open, "GET", []string{"Host", "LOCALHOST:8090"}, 200},
		{"IPv6", open, "GET", []string{"Host", "[::1]:8090"}, 200},
		{"a name that was bound to 127.0.0.1", open, "GET", []string{"Host", "evil.example:8090"}, 403},
		{"one that looks like localhost", open, "GET", []string{"Host", "localhost.evil.example"}, 403},
		{"no host", open, "GET", []string{"Host", ""}, 403},
		{"a page of another site", open, "POST", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"a page of another port", open, "POST", []string{"Origin", "http://127.0.0.1:3000"}, 403},
		{"no token", locked, "GET", nil, 401},
		{"a wrong token", locked, "GET", []string{"Authorization", "Bearer t0ke"}, 401},
		{"the token as another scheme", locked, "GET", []string{"Authorization", "Basic t0ken"}, 401},
		{"the token", locked, "GET", []string{"Authorization", "Bearer t0ken"}, 200},
		{"the token does not replace the host", locked, "GET", []string{"Authorization", "Bearer t0ken", "Host", "evil.example"}, 403},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w := ask(t, row.api, row.method, "/workers", "", row.header...)
			if w.Code != row.want {
				t.Errorf("%s %v = %d, want %d: %s", row.method, row.header, w.Code, row.want, w.Body)
			}
		})
	}
	if w := ask(t, locked, "GET", "/healthz", ""); w.Code != 200 {
		t.Errorf("/healthz without the token = %d, want 200", w.Code)
	}
	if all := read[struct{ Workers []told }](t, ask(t, open, "GET", "/workers", ""), 200).Workers; len(all) != 0 {
		t.Errorf("a refused request made %+v", all)
	}
}

// DELETE lets requests finish up to its own limit, and tells when it had to cut.
func TestAPIDeleteDrains(t *testing.T) {
	a := newAPI(t, nil)
	addr := read[told](t, ask(t, a, "POST", "/workers", `{"id":"a"}`), 201).Address
	status := inFlight(t, addr, "/sleep/100")
	read[told](t, ask(t, a, "DELETE", "/workers/a", ""), 200)
	if got := <-status; got != 200 {
		t.Errorf("request in flight = %d, want 200", got)
	}
	addr = read[told](t, ask(t, a, "POST", "/workers", `{"id":"a"}`), 201).Address
	status = inFlight(t, addr, "/sleep/600000")
	got := read[told](t, ask(t, a, "DELETE", "/workers/a?drain=10ms", ""), 200)
	if !strings.Contains(got.Error, "1 requests") || got.State != "stopped" {
		t.Errorf("DELETE beyond its limit = %+v, want stopped, with the cut told", got)
	}
	if got := <-status; got != 0 {
		t.Errorf("request beyond the limit = %d, want it cut", got)
	}
}

// A client that goes away during its DELETE does not cut the requests of others.
func TestAPIDeleteOutlivesItsClient(t *testing.T) {
	a := newAPI(t, nil)
	addr := read[told](t, ask(t, a, "POST", "/workers", `{"id":"a"}`), 201).Address
	status := inFlight(t, addr, "/sleep/100")
	ctx, gone := context.WithCancel(t.Context())
	gone()
	r := httptest.NewRequestWithContext(ctx, "DELETE", "/workers/a", nil)
	r.Host = "localhost"
	a.ServeHTTP(httptest.NewRecorder(), r)
	if got := <-status; got != 200 {
		t.Errorf("request in flight = %d, want 200", got)
	}
}

func TestAPIDrain(t *testing.T) {
	a := newAPI(t, nil)
	var statuses []<-chan int
	for range 3 {
		statuses = append(statuses, inFlight(t, read[told](t, ask(t, a, "POST", "/workers", ""), 201).Address, "/sleep/50"))
	}
	if err := a.Drain(t.Context()); err != nil {
		t.Errorf("Drain() = %v, want none", err)
	}
	for _, s := range statuses {
		if got := <-s; got != 200 {
			t.Errorf("request in flight = %d, want 200", got)
		}
	}
	_ = a.Close()
	if w := ask(t, a, "POST", "/workers", ""); w.Code != 503 {
		t.Errorf("POST after Close() = %d, want 503", w.Code)
	}
	read[told](t, ask(t, a, "POST", "/workers?wait=false", `{"id":"late"}`), 202)
	eventually(t, "the failure is told", func() bool {
		got := read[told](t, ask(t, a, "GET", "/workers/late", ""), 200)
		return got.State == "failed" && strings.Contains(got.Error, fleet.ErrClosed.Error())
	})
}

// Start-up times come from the seed and the worker's number.
func TestAPIColdStartsAreDrawn(t *testing.T) {
	times := func(seed uint64) (all []int64) {
		a := newAPI(t, func(c *fleet.APIConfig) {
			c.ColdStart, c.Seed = platform.Uniform{Min: 1, Max: 2 * time.Millisecond}, seed
		})
		for range 4 {
			all = append(all, read[told](t, ask(t, a, "POST", "/workers", ""), 201).ColdStart)
		}
		return all
	}
	a, b, c := fmt.Sprint(times(1)), fmt.Sprint(times(1)), fmt.Sprint(times(2))
	if a != b || a == c {
		t.Errorf("seed 1: %s and %s, seed 2: %s; want equal ones for equal seeds only", a, b, c)
	}
}

func TestAPIOverTheWire(t *testing.T) {
	s := httptest.NewServer(newAPI(t, nil))
	defer s.Close()
	resp, err := s.Client().Post(s.URL+"/workers", "application/json", strings.NewReader(`{"function":"f"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != 201 {
		t.Errorf("POST /workers = %d %s, want 201", resp.StatusCode, text)
	}
}

func TestParseColdStart(t *testing.T) {
	rows := []struct{ text, want string }{
		{"0s", "constant:0s"},
		{"2350ms", "constant:2.35s"},
		{"1.7s-3s", "uniform"},
		{"1s-2s", "uniform:1s-2s"},
		{"documented", "documented"},
		{"constant:2s", "constant:2s"},
	}
	for _, row := range rows {
		got, err := fleet.ParseColdStart(row.text)
		if err != nil || got.Name() != row.want {
			t.Errorf("ParseColdStart(%q) = %v, %v; want %s", row.text, got, err, row.want)
		}
	}
}

func FuzzParseColdStart(f *testing.F) {
	for _, s := range []string{"1s", "1s-2s", "-1s", "uniform", "lognormal:median=2s,sigma=0.3,cap=10s", "documented", "1s--2s", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		law, err := fleet.ParseColdStart(text)
		if err != nil {
			return
		}
		if short, long := law.Range(); short < 0 || long > fleet.ColdStartMax || short > long {
			t.Errorf("ParseColdStart(%q) range %v to %v, want within 0s to %v", text, short, long, fleet.ColdStartMax)
		}
	})
}

func TestNewAPIChecks(t *testing.T) {
	c := realclock.Timers(time.Now())
	cold := platform.Constant(time.Second)
	rows := []struct {
		name string
		cfg  fleet.APIConfig
		want string
	}{
		{"no clock", fleet.APIConfig{ColdStart: cold}, "clock"},
		{"no cold start", fleet.APIConfig{Clock: c}, "cold start"},
		{"a cold start beyond its bound", fleet.APIConfig{Clock: c, ColdStart: platform.Constant(time.Hour)}, "10m0s"},
		{"a law that is none", fleet.APIConfig{Clock: c, ColdStart: platform.Uniform{Min: 2, Max: 1}}, "cold start"},
		{"a negative drain", fleet.APIConfig{Clock: c, ColdStart: cold, Drain: -1}, "drain -1ns"},
		{"a service time beyond its bound", fleet.APIConfig{Clock: c, ColdStart: cold, Service: time.Hour}, "service 1h0m0s"},
		{"a concurrency beyond its bound", fleet.APIConfig{Clock: c, ColdStart: cold, Concurrency: worker.MaxConcurrency + 1}, "concurrency"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if _, err := fleet.NewAPI(row.cfg); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("NewAPI() = %v, want an error that names %q", err, row.want)
			}
		})
	}
}

// A log that cannot be written is told by the log, and the fleet goes on.
func TestAPILog(t *testing.T) {
	log := worker.NewLog(brokenDisk{}, nil)
	a := newAPI(t, func(c *fleet.APIConfig) { c.Log = log })
	addr := read[told](t, ask(t, a, "POST", "/workers", ""), 201).Address
	if status, _ := get(t.Context(), addr, "/"); status != 200 || !errors.Is(log.Err(), io.ErrShortWrite) {
		t.Errorf("answer %d, log %v; want 200 and the disk's error", status, log.Err())
	}
}

type brokenDisk struct{}

func (brokenDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
