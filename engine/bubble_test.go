package engine

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/realclock"
	"coldwave/record"
	"coldwave/workload"
)

// memoryNet is a network in memory: inside a bubble its time is virtual, so elapsed times are exact.
type memoryNet struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	dials  atomic.Int64
}

func newMemoryNet() *memoryNet {
	return &memoryNet{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (m *memoryNet) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case m.conns <- there:
		m.dials.Add(1)
		return here, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *memoryNet) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memoryNet) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memoryNet) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// bubble is one sender and one real http.Server in virtual time. The epoch is one second ahead of its start.
type bubble struct {
	t      *testing.T
	clock  *realclock.Clock
	net    *memoryNet
	sender *Vegeta
	engine *Engine
}

// inBubble runs test with a server that has the time limits of the bundled gateway: 5 s for a header, 60 s idle.
func inBubble(t *testing.T, h http.HandlerFunc, change func(*VegetaConfig), test func(b *bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{t: t, clock: realclock.Timers(time.Now().Add(time.Second)), net: newMemoryNet()}
		server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
		go func() { _ = server.Serve(b.net) }()
		cfg := VegetaConfig{Clock: b.clock, Run: "test", Request: Request{Target: target(t, "http://127.0.0.1:80/")}, Dial: b.net.dial}
		if change != nil {
			change(&cfg)
		}
		b.sender = newSender(t, cfg)
		b.engine = &Engine{Clock: b.clock, Sender: b.sender}
		test(b)
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

// pause lets virtual time pass; the contract of a bubble's clock is exact.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func takes(d time.Duration) http.HandlerFunc {
	return func(_ http.ResponseWriter, q *http.Request) { pause(q.Context(), d) }
}

func at(seconds float64) clock.Instant { return clock.Instant(seconds * float64(time.Second)) }

func (b *bubble) run(ctx context.Context, s *workload.Schedule) ([]record.Record, error) {
	b.t.Helper()
	records, err := b.engine.Run(ctx, s, nil)
	if len(records) != len(s.Arrivals) {
		b.t.Fatalf("%d records of %d arrivals, want one each", len(records), len(s.Arrivals))
	}
	return records, err
}

// Sent at the intended instant, done after exactly the time that the target takes.
func TestExactTimesInBubble(t *testing.T) {
	t.Parallel()
	inBubble(t, takes(100*time.Millisecond), nil, func(b *bubble) {
		records, err := b.run(b.t.Context(), schedule(50, func(i int) clock.Instant { return clock.Instant(i/5) * at(0.033) }))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if r.Outcome != record.OK || r.SendLag() != 0 || r.Response() != 100*time.Millisecond || r.Service() != r.Response() {
				t.Errorf("seq %d: %v, lag %v, response %v, service %v, want ok, 0, 100ms, 100ms", r.Seq, r.Outcome, r.SendLag(), r.Response(), r.Service())
			}
		}
	})
}

// LG-19: a slow target does not slow the sender, and nothing waits for a free connection or worker.
func TestNoHiddenLimit(t *testing.T) {
	t.Parallel()
	inBubble(t, takes(10*time.Second), nil, func(b *bubble) {
		records, err := b.run(b.t.Context(), schedule(1000, func(i int) clock.Instant { return clock.Instant(i) * at(0.01) }))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if r.Outcome != record.OK || r.SendLag() != 0 {
				t.Fatalf("seq %d: %v with lag %v, want ok with lag 0", r.Seq, r.Outcome, r.SendLag())
			}
		}
		if p := b.engine.Progress(); p != (Progress{Scheduled: 1000, Sent: 1000, Done: 1000}) {
			t.Errorf("Progress() = %+v, want 1000 scheduled, sent and done", p)
		}
	})
}

// A limit that was asked for is an outcome, never a wait.
func TestMaxInFlight(t *testing.T) {
	t.Parallel()
	inBubble(t, takes(time.Second), func(c *VegetaConfig) { c.MaxInFlight = 3 }, func(b *bubble) {
		records, err := b.run(b.t.Context(), schedule(10, func(i int) clock.Instant { return clock.Instant(i/5) * at(5) }))
		if err != nil {
			t.Fatal(err)
		}
		count := record.Count(records)
		if count[record.OK] != 6 || count[record.Dropped] != 4 {
			t.Errorf("outcomes of two waves of 5 at a limit of 3: %d ok, %d dropped, want 6 and 4", count[record.OK], count[record.Dropped])
		}
		for _, r := range records {
			if r.Outcome == record.Dropped && (r.Cause != CauseInFlight || r.Sent != clock.Never || r.Done != r.Intended) {
				t.Errorf("dropped record = %+v, want cause %s, never sent, known at once", r, CauseInFlight)
			}
		}
	})
}

// The connections of a wave are open before it, also after a gap in which the server closed what was idle (5 s without
// any request, 60 s after one).
func TestWaveAfterIdleGapDialsNothing(t *testing.T) {
	t.Parallel()
	for _, gap := range []time.Duration{500 * time.Millisecond, 3 * time.Second, 10 * time.Second, 59 * time.Second, 5 * time.Minute} {
		inBubble(t, takes(200*time.Millisecond), nil, func(b *bubble) {
			sizes := []int{1, 32, 2, 32}
			s := schedule(67, func(i int) clock.Instant {
				for wave, n := range sizes {
					if i -= n; i < 0 {
						return clock.Instant(wave) * clock.Instant(gap)
					}
				}
				return 0
			})
			records, err := b.run(b.t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range records {
				if r.Outcome != record.OK || r.SendLag() != 0 || r.Attempt != 1 {
					t.Errorf("gap %v, seq %d: %v %s after %d attempts with lag %v, want ok after 1 with lag 0", gap, r.Seq, r.Outcome, r.Cause, r.Attempt, r.SendLag())
				}
			}
			ahead, atSend := b.sender.Dials()
			if atSend != 0 || ahead < 32 {
				t.Errorf("gap %v: %d connections opened ahead and %d at the send, want at least 32 and 0", gap, ahead, atSend)
			}
			if got := b.net.dials.Load(); got != ahead {
				t.Errorf("gap %v: the network saw %d dials, the sender counts %d", gap, got, ahead)
			}
		})
	}
}

// R8: the first stop ends the scheduling, requests in flight have the grace, the rest is canceled.
func TestStop(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		sentence string
		takes    time.Duration
		abort    time.Duration // after the start; 0: never
		want     [record.Outcomes]int
		end      clock.Instant
	}{
		{"all in flight end within the grace", 4 * time.Second, 0, [record.Outcomes]int{record.OK: 6, record.Dropped: 4}, at(9)},
		{"the grace is 5 s", 7 * time.Second, 0, [record.Outcomes]int{record.OK: 4, record.Canceled: 2, record.Dropped: 4}, at(10.5)},
		{"none in flight ends within the grace", time.Hour, 0, [record.Outcomes]int{record.Canceled: 6, record.Dropped: 4}, at(10.5)},
		{"an abort ends the grace", time.Hour, 7 * time.Second, [record.Outcomes]int{record.Canceled: 6, record.Dropped: 4}, at(6)},
		{"an abort is a stop without a grace", time.Hour, 2500 * time.Millisecond, [record.Outcomes]int{record.Canceled: 2, record.Dropped: 8}, at(1.5)},
	} {
		var abort chan struct{}
		inBubble(t, takes(row.takes), func(c *VegetaConfig) {
			abort = make(chan struct{})
			c.Abort = abort
		}, func(b *bubble) {
			ctx, cancel := context.WithTimeout(b.t.Context(), 6500*time.Millisecond) // the epoch is 1 s ahead: at 5.5 s
			defer cancel()
			if row.abort > 0 {
				time.AfterFunc(row.abort, func() { close(abort) })
			}
			records, err := b.run(ctx, schedule(10, func(i int) clock.Instant { return clock.Instant(i) * at(1) }))
			if count := record.Count(records); count != row.want {
				t.Errorf("%s: outcomes = %v, want %v", row.sentence, count, row.want)
			}
			if got := b.clock.Now(); got != row.end {
				t.Errorf("%s: Run ended at %v, want %v", row.sentence, got, row.end)
			}
			checkStopped(t, row.sentence, records, err)
		})
	}
}

func checkStopped(t *testing.T, sentence string, records []record.Record, err error) {
	t.Helper()
	if !errors.Is(err, ErrStopped) {
		t.Errorf("%s: Run = %v, want %v", sentence, err, ErrStopped)
	}
	for _, r := range records {
		if r.Outcome == record.Dropped && r.Cause != CauseStopped {
			t.Errorf("%s: seq %d dropped because %q, want %q", sentence, r.Seq, r.Cause, CauseStopped)
		}
		if r.Outcome == record.Canceled && r.Sent != r.Intended {
			t.Errorf("%s: seq %d canceled, sent at %v, want %v", sentence, r.Seq, r.Sent, r.Intended)
		}
	}
}

// Each arrival may have its own request; what it leaves out is the common target.
func TestRequestOfEachArrival(t *testing.T) {
	t.Parallel()
	paths := make(chan string, 10)
	inBubble(t, func(_ http.ResponseWriter, q *http.Request) { paths <- q.Method + " " + q.RequestURI }, func(c *VegetaConfig) {
		other := target(t, "http://127.0.0.1:80/other")
		c.Each = func(a workload.Arrival) Request {
			if a.Seq%2 == 0 {
				return Request{Method: "PUT"}
			}
			return Request{Target: other}
		}
	}, func(b *bubble) {
		if _, err := b.run(b.t.Context(), schedule(4, func(i int) clock.Instant { return at(float64(i)) })); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"PUT /", "GET /other", "PUT /", "GET /other"} {
			if got := <-paths; got != want {
				t.Errorf("the target saw %q, want %q", got, want)
			}
		}
	})
}

func TestEmptySchedule(t *testing.T) {
	t.Parallel()
	inBubble(t, takes(0), nil, func(b *bubble) {
		if _, err := b.run(b.t.Context(), &workload.Schedule{}); err != nil || b.net.dials.Load() != 0 {
			t.Errorf("Run(empty) = %v after %d dials, want nil after none", err, b.net.dials.Load())
		}
	})
}

// A target that is gone shows in every record; the run goes on.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	inBubble(t, takes(0), nil, func(b *bubble) {
		if err := b.net.Close(); err != nil {
			t.Fatal(err)
		}
		records, err := b.run(b.t.Context(), schedule(3, func(i int) clock.Instant { return at(float64(i)) }))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if r.Outcome != record.TransportError || r.Cause != ClassDial || r.Sent != clock.Never || r.Done != r.Intended {
				t.Errorf("record = %+v, want a transport error of class dial at once", r)
			}
		}
	})
}

// F11: whenever the run is stopped, each arrival has one record, and what was in flight ends within the grace.
func TestStopAtAnyTime(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 11))
		stop := time.Duration(r.Int64N(int64(12 * time.Second)))
		body := time.Duration(r.Int64N(int64(12 * time.Second)))
		inBubble(t, takes(body), nil, func(b *bubble) {
			ctx, cancel := context.WithTimeout(b.t.Context(), stop)
			defer cancel()
			stopped := b.clock.Now().Add(stop)
			records, err := b.run(ctx, schedule(60, func(i int) clock.Instant { return clock.Instant(i/6) * at(1) }))
			if err != nil && !errors.Is(err, ErrStopped) {
				t.Errorf("seed %d: Run = %v, want nil or %v", seed, err, ErrStopped)
			}
			if end := b.clock.Now(); end > max(stopped.Add(DefaultGrace), 0) {
				t.Errorf("seed %d: stopped at %v, ended at %v, want at most the grace later", seed, stopped, end)
			}
			for _, r := range records {
				if sent := r.Sent != clock.Never; sent != (r.Intended < stopped) && r.Intended != stopped {
					t.Errorf("seed %d: stopped at %v, seq %d of %v sent: %v", seed, stopped, r.Seq, r.Intended, sent)
				}
			}
		})
	}
}
