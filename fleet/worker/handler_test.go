package worker_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"coldwave/fleet/worker"
	"coldwave/internal/realclock"
	"coldwave/record"
	"coldwave/workload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newWorker returns a worker named "7" on the time of the bubble that the test runs in.
func newWorker(t *testing.T, change func(*worker.Config)) *worker.Handler {
	t.Helper()
	cfg := worker.Config{Name: "7", Function: "f", Clock: realclock.Timers(time.Now()), Body: 100 * time.Millisecond}
	if change != nil {
		change(&cfg)
	}
	h, err := worker.New(cfg)
	if err != nil {
		t.Fatalf("New(%+v) error %v, want none", cfg, err)
	}
	return h
}

func request(method, target string, header ...string) *http.Request {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func serve(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestExecutionTime(t *testing.T) {
	rows := []struct {
		name   string
		target string
		demand string
		want   time.Duration
		timing string
	}{
		{"the configured body, without a demand", "/", "", 100 * time.Millisecond, "exec;dur=100"},
		{"a demand says how long, to the nanosecond", "/", "exec=20000001ns", 20000001, "exec;dur=20.000001"},
		{"pre and post belong to the gateway: the worker does not sleep them", "/x", "exec=30ms;pre=6ms;post=7ms", 30 * time.Millisecond, "exec;dur=30"},
		{"a demand of nothing", "/", "exec=0s", 0, "exec;dur=0"},
		{"a sleep path beats the demand", "/sleep/250", "exec=30ms", 250 * time.Millisecond, "exec;dur=250"},
		{"the longest sleep", "/sleep/600000", "", 10 * time.Minute, "exec;dur=600000"},
		{"a query is no part of the path", "/sleep/5?x=1", "", 5 * time.Millisecond, "exec;dur=5"},
		{"health answers at once", "/healthz", "exec=30ms", 0, ""},
		{"an echo takes the execution time too", "/echo", "exec=30ms", 30 * time.Millisecond, "exec;dur=30"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newWorker(t, nil)
				r := request("GET", row.target)
				if row.demand != "" {
					r.Header.Set(workload.DemandHeader, row.demand)
				}
				began := time.Now()
				w := serve(h, r)
				if got := time.Since(began); got != row.want {
					t.Errorf("%s took %v, want %v", row.target, got, row.want)
				}
				if got := w.Header().Get(record.TimingHeader); got != row.timing {
					t.Errorf("%s: %s = %q, want %q", row.target, record.TimingHeader, got, row.timing)
				}
				if w.Code != http.StatusOK {
					t.Errorf("%s = %d, want 200", row.target, w.Code)
				}
			})
		})
	}
}

// The worker's timing must be what the reader of the wire contract reads.
func TestTimingIsReadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serve(newWorker(t, nil), request("GET", "/", workload.DemandHeader, "exec=1234567ns"))
		got := record.ServerFrom(w.Header().Get)
		want := record.Server{Exec: 1234567, Instance: "7", Start: record.Cold, Source: record.FromHeader}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ServerFrom (-want +got):\n%s", diff)
		}
	})
}

func TestStartKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newWorker(t, nil)
		serve(h, request("GET", "/healthz")) // a probe is not the function
		for i, want := range []string{"cold", "warm", "warm"} {
			w := serve(h, request("GET", "/", record.RequestIDHeader, "run-1"))
			if got := w.Header().Get(record.StartHeader); got != want {
				t.Errorf("request %d: %s = %q, want %q", i+1, record.StartHeader, got, want)
			}
		}
	})
}

func TestRequestIDIsEchoed(t *testing.T) {
	long := strings.Repeat("a", 64)
	rows := []struct{ name, id, want string }{
		{"as the sender makes it", "r1-000017", "r1-000017"},
		{"the longest", long, long},
		{"one byte too long", long + "a", ""},
		{"none", "", ""},
		{"a space", "a b", ""},
		{"a line break would forge a log line", "a\nb", ""},
		{"not ASCII", "ä", ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := request("GET", "/")
				r.Header[record.RequestIDHeader] = []string{row.id}
				w := serve(newWorker(t, nil), r)
				if got := w.Header().Get(record.RequestIDHeader); got != row.want {
					t.Errorf("id %q: echoed %q, want %q", row.id, got, row.want)
				}
			})
		})
	}
}

func TestRefusals(t *testing.T) {
	body := func(n int) io.Reader { return strings.NewReader(strings.Repeat("x", n)) }
	rows := []struct {
		name   string
		make   func() *http.Request
		status int
		reason error
	}{
		{"a sleep beyond ten minutes", func() *http.Request { return request("GET", "/sleep/600001") }, 400, worker.ErrSleep},
		{"a sleep that is no number", func() *http.Request { return request("GET", "/sleep/1s") }, 400, worker.ErrSleep},
		{"a negative sleep", func() *http.Request { return request("GET", "/sleep/-1") }, 400, worker.ErrSleep},
		{"a sleep beyond any integer", func() *http.Request { return request("GET", "/sleep/99999999999999999999") }, 400, worker.ErrSleep},
		{"a demand that cannot be read", func() *http.Request { return request("GET", "/", workload.DemandHeader, "exec=fast") }, 400, worker.ErrDemand},
		{"a demand beyond its cap", func() *http.Request { return request("GET", "/", workload.DemandHeader, "exec=11m") }, 400, worker.ErrDemand},
		{"a declared body of 1 MiB + 1", func() *http.Request { return httptest.NewRequest("POST", "/echo", body(1<<20+1)) }, 413, worker.ErrBodyLimit},
		{"a body of unknown length, 1 MiB + 1", func() *http.Request {
			r := httptest.NewRequest("POST", "/", body(1<<20+1))
			r.ContentLength = -1
			return r
		}, 413, worker.ErrBodyLimit},
		{"a body that breaks off", func() *http.Request {
			return httptest.NewRequest("POST", "/echo", io.MultiReader(body(3), brokenReader{}))
		}, 400, worker.ErrBodyRead},
		{"a target of 8 KiB + 1", func() *http.Request { return request("GET", "/"+strings.Repeat("a", 8<<10)) }, 414, worker.ErrURLLimit},
		{"TRACE", func() *http.Request { return request("TRACE", "/") }, 405, worker.ErrMethod},
		{"CONNECT", func() *http.Request { return request("CONNECT", "/") }, 405, worker.ErrMethod},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newWorker(t, nil)
				w := serve(h, row.make())
				if w.Code != row.status || w.Header().Get(worker.ReasonHeader) != row.reason.Error() {
					t.Errorf("got %d %q, want %d %q", w.Code, w.Header().Get(worker.ReasonHeader), row.status, row.reason)
				}
				if got, want := h.Stats(), (worker.Stats{Started: 1, Failed: 1}); got != want {
					t.Errorf("Stats() = %+v, want %+v", got, want)
				}
			})
		})
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestEcho(t *testing.T) {
	for _, n := range []int{0, 1, 70_000, 1 << 20} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				text := strings.Repeat("y", n)
				w := serve(newWorker(t, nil), httptest.NewRequest("POST", "/echo", strings.NewReader(text)))
				want := fmt.Sprintf(`{"length":%d,"sha256":"%x"}`+"\n", n, sha256.Sum256([]byte(text)))
				if got := w.Body.String(); got != want {
					t.Errorf("echo of %d bytes = %s, want %s", n, got, want)
				}
			})
		})
	}
}

// A request beyond the limit is refused after the grace time, and takes no slot (R16).
func TestConcurrencyLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newWorker(t, func(c *worker.Config) { c.Concurrency = 2 })
		for range 2 {
			go serve(h, request("GET", "/"))
		}
		synctest.Wait()
		began := time.Now()
		w := serve(h, request("GET", "/"))
		if w.Code != 503 || w.Header().Get(worker.ReasonHeader) != "concurrency_limit" {
			t.Errorf("third request = %d %q, want 503 concurrency_limit", w.Code, w.Header().Get(worker.ReasonHeader))
		}
		if got := time.Since(began); got != worker.DefaultGrace {
			t.Errorf("refused after %v, want %v", got, worker.DefaultGrace)
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if got, want := h.Stats(), (worker.Stats{Started: 2, Finished: 2, Refused: 1, Overlapped: 1}); got != want {
			t.Errorf("Stats() = %+v, want %+v", got, want)
		}
	})
}

// A worker learns that a client has gone a little after its gateway: the next request takes over the slot.
func TestHandover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newWorker(t, nil)
		ctx, gone := context.WithCancel(t.Context())
		go serve(h, request("GET", "/sleep/10000").WithContext(ctx))
		synctest.Wait()
		time.AfterFunc(20*time.Millisecond, gone)
		began := time.Now()
		if w := serve(h, request("GET", "/")); w.Code != 200 {
			t.Errorf("next request = %d, want 200", w.Code)
		}
		if got, want := time.Since(began), 120*time.Millisecond; got != want {
			t.Errorf("next request took %v, want %v", got, want)
		}
		if got, want := h.Stats(), (worker.Stats{Started: 2, Finished: 1, Canceled: 1, Overlapped: 1}); got != want {
			t.Errorf("Stats() = %+v, want %+v", got, want)
		}
	})
}

// A client that gives up while it waits for a slot leaves nothing behind.
func TestClientGoneBeforeItsSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newWorker(t, nil)
		go serve(h, request("GET", "/"))
		synctest.Wait()
		ctx, gone := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer gone()
		serve(h, request("GET", "/").WithContext(ctx))
		time.Sleep(time.Second)
		synctest.Wait()
		if got, want := h.Stats(), (worker.Stats{Started: 1, Finished: 1, Refused: 1, Overlapped: 1}); got != want {
			t.Errorf("Stats() = %+v, want %+v", got, want)
		}
	})
}

// The client's going ends the wait at once and frees the slot (R15).
func TestClientGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newWorker(t, nil)
		ctx, gone := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer gone()
		began := time.Now()
		serve(h, request("GET", "/sleep/600000").WithContext(ctx))
		if got, want := time.Since(began), 30*time.Millisecond; got != want {
			t.Errorf("the wait ended after %v, want %v", got, want)
		}
		if got, want := h.Stats(), (worker.Stats{Started: 1, Canceled: 1}); got != want {
			t.Errorf("Stats() = %+v, want %+v", got, want)
		}
	})
}

// Which arrivals fail depends on the seed and the arrival's number: not on the worker, nor on the order.
func TestFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 400
		fails := func(name string, backwards bool) (failed [n]bool) {
			h := newWorker(t, func(c *worker.Config) { c.Name, c.FailRatio, c.Seed, c.Body = name, 0.25, 3, 0 })
			for i := range n {
				if backwards {
					i = n - 1 - i
				}
				w := serve(h, request("GET", "/", record.RequestIDHeader, fmt.Sprintf("run-%d", i)))
				failed[i] = w.Code == 500 && w.Header().Get(worker.ReasonHeader) == "failed_on_purpose"
			}
			return failed
		}
		a, b := fails("1", false), fails("2", true)
		if a != b {
			t.Error("two workers let different arrivals fail")
		}
		count := 0
		for _, f := range a {
			if f {
				count++
			}
		}
		// 400 draws at 0.25: mean 100, standard deviation 8.7; five of them is 44.
		if math.Abs(float64(count-100)) > 44 {
			t.Errorf("%d of %d failed, want 100 ± 44", count, n)
		}
	})
}

func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		log := worker.NewLog(&out, time.Now)
		h := newWorker(t, func(c *worker.Config) { c.Log = log })
		time.Sleep(time.Second)
		serve(h, request("POST", "/echo?secret=1", record.RequestIDHeader, "r-1"))
		go serve(h, request("GET", "/sleep/1000", record.RequestIDHeader, "r-2"))
		synctest.Wait()
		serve(h, request("GET", "/", record.RequestIDHeader, "r-3"))
		serve(h, request("GET", "/healthz", record.RequestIDHeader, "r-4"))
		time.Sleep(time.Second)
		synctest.Wait()
		got := out.String()
		want := `{"time":"2000-01-01T00:00:01Z","at_ns":1000000000,"event":"start","request":"r-1","instance":"7","function":"f","method":"POST","path":"/echo","start":"cold"}
{"time":"2000-01-01T00:00:01.1Z","at_ns":1100000000,"event":"finish","request":"r-1","instance":"7","function":"f","method":"POST","path":"/echo","status":200,"exec_ns":100000000}
{"time":"2000-01-01T00:00:01.1Z","at_ns":1100000000,"event":"start","request":"r-2","instance":"7","function":"f","method":"GET","path":"/sleep/1000","start":"warm"}
{"time":"2000-01-01T00:00:01.15Z","at_ns":1150000000,"event":"refuse","request":"r-3","instance":"7","function":"f","method":"GET","path":"/","status":503,"reason":"concurrency_limit"}
{"time":"2000-01-01T00:00:02.1Z","at_ns":2100000000,"event":"finish","request":"r-2","instance":"7","function":"f","method":"GET","path":"/sleep/1000","status":200,"exec_ns":1000000000}
`
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("log (-want +got):\n%s", diff)
		}
		if err := log.Err(); err != nil {
			t.Errorf("Err() = %v, want none", err)
		}
	})
}

type fullDisk struct{ writes int }

func (f *fullDisk) Write([]byte) (int, error) { f.writes++; return 0, io.ErrShortWrite }

func TestLogStopsAtTheFirstError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := new(fullDisk)
		log := worker.NewLog(disk, nil)
		serve(newWorker(t, func(c *worker.Config) { c.Log = log }), request("GET", "/"))
		if log.Err() == nil || disk.writes != 1 {
			t.Errorf("Err() = %v after %d writes, want an error after 1", log.Err(), disk.writes)
		}
	})
}

// One line stays one line, whatever a client sends.
func TestLogLineIsOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		h := newWorker(t, func(c *worker.Config) { c.Log = worker.NewLog(&out, nil) })
		r := request("GET", "/")
		r.URL.Path = "/" + strings.Repeat("\n\x1b", 400)
		serve(h, r)
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) != 2 {
			t.Fatalf("%d lines, want 2: %q", len(lines), out.String())
		}
		for _, l := range lines {
			var got worker.Line
			if err := json.Unmarshal([]byte(l), &got); err != nil || len(got.Path) > 256 {
				t.Errorf("line %q: error %v, path of %d bytes; want JSON and at most 256", l, err, len(got.Path))
			}
		}
	})
}

func TestConfigValidate(t *testing.T) {
	bad := worker.Config{Name: "a\n", Body: -1, Concurrency: -1, FailRatio: math.NaN(), BodyMax: -1, SleepMax: -1, Grace: -1}
	_, err := worker.New(bad)
	for _, want := range []string{`name "a\n"`, "no clock", "body -1ns", "concurrency -1", "fail ratio NaN", "body limit -1", "sleep limit -1ns", "grace -1ns"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%+v) error %q, want one that names %q", bad, err, want)
		}
	}
}

func FuzzParseSleep(f *testing.F) {
	for _, s := range []string{"/", "/sleep", "/sleep/", "/sleep/0", "/sleep/600000", "/sleep/600001", "/sleep/+1", "/sleep/1e3", "/sleep/4294967296"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		d, found, err := worker.ParseSleep(path, 10*time.Minute)
		if found != strings.HasPrefix(path, "/sleep/") {
			t.Errorf("ParseSleep(%q) found = %v", path, found)
		}
		if d < 0 || d > 10*time.Minute || d%time.Millisecond != 0 || err != nil && d != 0 {
			t.Errorf("ParseSleep(%q) = %v, %v; want whole milliseconds in [0, 10m]", path, d, err)
		}
		if found && err == nil {
			again, _, err := worker.ParseSleep(fmt.Sprintf("/sleep/%d", d.Milliseconds()), 10*time.Minute)
			if err != nil || again != d {
				t.Errorf("round trip of %q = %v, %v; want %v", path, again, err, d)
			}
		}
	})
}

func FuzzRequestID(f *testing.F) {
	f.Add("run-1")
	f.Add("a b")
	f.Add(strings.Repeat("x", 65))
	f.Fuzz(func(t *testing.T, s string) {
		got := worker.RequestID(s)
		if got != "" && got != s {
			t.Errorf("RequestID(%q) = %q, want it unchanged or nothing", s, got)
		}
		if got != "" && (len(got) > 64 || strings.ContainsFunc(got, func(r rune) bool { return r <= ' ' || r > '~' })) {
			t.Errorf("RequestID(%q) let through what must not be logged", s)
		}
	})
}
