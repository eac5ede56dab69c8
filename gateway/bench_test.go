package gateway

import (
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/realclock"
	"coldwave/record"
	"coldwave/scheduler"
)

// BenchmarkLoop is one request through the loop, nothing else: arrival, assign, done. 64 clients, each with one request
// at a time, on 64 instances.
func BenchmarkLoop(b *testing.B) {
	b.ReportAllocs()
	run(b, 64, b.N)
}

// TestLoopBenchmarkRuns keeps the benchmark from rotting.
func TestLoopBenchmarkRuns(t *testing.T) { run(t, 4, 100) }

func run(tb testing.TB, clients, requests int) {
	tb.Helper()
	g, err := New(Config{Clock: realclock.Timers(time.Now()), Functions: []Function{{Spec: static("f", 1).Spec, Policy: Fixed{},
		Core: scheduler.Config{Min: clients, Max: clients}, Provisioner: Static{Addrs: []string{"nowhere:1"}}}}})
	if err != nil {
		tb.Fatal(err)
	}
	defer g.Close()
	s := g.services[0]
	var all sync.WaitGroup
	for k := range clients {
		all.Go(func() {
			for n := k; n < requests; n += clients {
				c := newCall("r", documented, func(error) {})
				s.arrive(c)
				if v := <-c.verdict; v.reason != nil {
					tb.Error(v.reason)
				}
				s.done(c, record.OK)
			}
		})
	}
	all.Wait()
	flushed := make(chan struct{})
	s.loop.Post(Message{Admit: func(clock.Instant, *scheduler.Event) bool { close(flushed); return false }})
	<-flushed
	if got := s.lives.all(0); tb.Name() == "TestLoopBenchmarkRuns" && len(got) != clients {
		tb.Errorf("%d instances, want %d", len(got), clients)
	}
}

// BenchmarkRequest is one small request over loopback: client, gateway, worker and back, one at a time.
func BenchmarkRequest(b *testing.B) {
	l, s := benchWorker(b)
	defer s.Close()
	g, err := New(Config{Clock: realclock.New(time.Now()), Functions: []Function{static("f", 1, l)}})
	if err != nil {
		b.Fatal(err)
	}
	front := benchListener(b)
	go func() { _ = g.Serve(front, nil) }()
	defer g.Close()
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	b.ReportAllocs()
	for b.Loop() {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://"+front.Addr().String()+"/", nil)
		if err != nil {
			b.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			b.Fatalf("status %d", res.StatusCode)
		}
	}
}
