package engine

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

func TestAnsweredOutcome(t *testing.T) {
	t.Parallel()
	edge, cold := record.Server{Start: record.Edge}, record.Server{Start: record.Cold}
	for _, row := range []struct {
		sentence string
		status   int
		server   record.Server
		bundled  bool
		want     record.Outcome
	}{
		{"success", 200, cold, true, record.OK},
		{"a redirect is an answer, it is not followed (R4)", 302, cold, true, record.OK},
		{"the function's own error", 500, cold, true, record.HTTPError},
		{"not found", 404, edge, true, record.HTTPError},
		{"503 of the bundled gateway itself", 503, edge, true, record.Rejected},
		{"429 of the bundled gateway itself", 429, edge, true, record.Rejected},
		{"503 of the function behind it", 503, cold, true, record.HTTPError},
		{"503 behind it that says nothing of itself", 503, record.Server{}, true, record.HTTPError},
		{"503 of any other target", 503, record.Server{}, false, record.Rejected},
		{"429 of any other target", 429, record.Server{}, false, record.Rejected},
		{"502 of any other target", 502, record.Server{}, false, record.HTTPError},
	} {
		if got := answered(row.status, row.server, row.bundled); got != row.want {
			t.Errorf("%s: answered(%d) = %v, want %v", row.sentence, row.status, got, row.want)
		}
	}
}

// seen is what a target saw of a request.
type seen struct {
	Method, Path, Host, Body string
	Header                   http.Header
}

func recordingServer(t *testing.T) (url string, requests chan seen) {
	t.Helper()
	requests = make(chan seen, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		requests <- seen{q.Method, q.URL.RequestURI(), q.Host, string(body), q.Header}
		w.Header().Set("Location", "/elsewhere")
		w.Header().Set(record.InstanceHeader, "i7")
		w.Header().Set(record.StartHeader, "cold")
		w.Header().Set(record.TimingHeader, "queue;dur=1, init;dur=2, exec;dur=3")
		w.WriteHeader(http.StatusFound)
		_, _ = io.WriteString(w, strings.Repeat("x", 300))
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

func TestRequestOnTheWire(t *testing.T) {
	t.Parallel()
	url, requests := recordingServer(t)
	host := strings.TrimPrefix(url, "http://")
	demand := workload.Demand{Exec: 100 * time.Millisecond, Pre: time.Millisecond, Post: time.Millisecond}
	for _, row := range []struct {
		sentence string
		bundled  bool
		request  Request
		want     seen
	}{
		{"the plain request", false, Request{Target: target(t, url+"/fn/x?a=%2F&b")}, seen{
			"GET", "/fn/x?a=%2F&b", host, "", http.Header{"User-Agent": {"coldwave/r1"}, "X-Request-Id": {"r1-42"}},
		}},
		{"the bundled stack is told the demand", true, Request{Target: target(t, url)}, seen{
			"GET", "/", host, "", http.Header{
				"User-Agent": {"coldwave/r1"}, "X-Request-Id": {"r1-42"}, "X-Coldwave-Demand": {demand.String()},
			},
		}},
		{"own headers and body, but not the engine's own", false, Request{
			Target: target(t, strings.Replace(url, "//", "//user:pw@", 1)), Method: "POST", Body: []byte("hello"),
			Header: http.Header{"X-Own": {"a", "b"}, "X-Request-Id": {"forged"}, "Host": {"fn.example"}},
		}, seen{
			"POST", "/", "fn.example", "hello", http.Header{
				"Authorization": {"Basic dXNlcjpwdw=="}, "Content-Length": {"5"}, "User-Agent": {"coldwave/r1"}, "X-Own": {"a", "b"}, "X-Request-Id": {"r1-42"},
			},
		}},
	} {
		c := courierTo(t, time.Minute)
		c.label = label{run: "r1", bundled: row.bundled}
		x, err := c.carry(t.Context(), &row.request, &workload.Arrival{Seq: 42, Demand: demand})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(row.want, <-requests); diff != "" {
			t.Errorf("%s: the target saw (-want +got):\n%s", row.sentence, diff)
		}
		if len(requests) != 0 {
			t.Errorf("%s: %d more requests, want none: redirects are not followed", row.sentence, len(requests))
		}
		if x.Sent > x.FirstByte || x.FirstByte > x.Done {
			t.Errorf("%s: sent %v, first byte %v, done %v, want them in this order", row.sentence, x.Sent, x.FirstByte, x.Done)
		}
		x.Sent, x.FirstByte, x.Done = 0, 0, 0
		want := Exchange{
			Seq: 42, Outcome: record.OK, Status: 302, BytesIn: 300, BytesOut: int64(len(row.request.Body)), Attempts: 1,
			Server: record.Server{
				Queue: time.Millisecond, Init: 2 * time.Millisecond, Exec: 3 * time.Millisecond, Instance: "i7", Start: record.Cold, Source: record.FromHeader,
			},
		}
		if diff := cmp.Diff(want, x); diff != "" {
			t.Errorf("%s: exchange (-want +got):\n%s", row.sentence, diff)
		}
	}
}

func TestRequestsAreCheckedBeforehand(t *testing.T) {
	t.Parallel()
	here := target(t, "http://127.0.0.1:1")
	for _, r := range []Request{
		{}, {Target: here, Method: "G T"}, {Target: here, Method: "GET\r\nX: y"},
		{Target: here, Header: http.Header{"X-A": {"a\r\nX-B: b"}}},
		{Target: here, Header: http.Header{"X A": {"a"}}},
		{Target: here, Header: http.Header{"X\r\nA": {"a"}}},
	} {
		if err := r.check(); err == nil {
			t.Errorf("check(%+v) = nil, want an error: net/http would refuse it at the time of sending", r)
		}
	}
	good := Request{Target: here, Method: "PATCH", Header: http.Header{"X-A": {"a b\tc é"}}}
	if err := good.check(); err != nil {
		t.Errorf("check(%+v) = %v, want nil", good, err)
	}
}

// The last byte counts, not when somebody had time to look at it.
func TestStampsBelongToTheWire(t *testing.T) {
	t.Parallel()
	trip := newTrip()
	if trip.began() {
		t.Error("a new trip has begun, want not")
	}
	for _, now := range []clock.Instant{10, 20} {
		trip.write(now)
		trip.read(now + 100)
	}
	if got := [3]int64{trip.sent.Load(), trip.first.Load(), trip.last.Load()}; got != [3]int64{10, 110, 120} {
		t.Errorf("sent, first, last = %v, want the first write, the first read and the last read: [10 110 120]", got)
	}
}
