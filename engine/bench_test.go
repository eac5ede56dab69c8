package engine

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/realclock"
	"coldwave/record"
	"coldwave/workload"
)

// BenchmarkSendLag is the sender's own lateness on this host, target and sender on the same cores. One iteration is a
// wave of 32, or 32 arrivals at a constant rate; give -benchtime in multiples, such as 50x.
func BenchmarkSendLag(b *testing.B) {
	for _, bc := range []struct {
		name    string
		arrival func(i int) clock.Instant
	}{
		{"waves-of-32", func(i int) clock.Instant { return clock.Instant(i/32) * clock.Instant(100*time.Millisecond) }},
		{"1000-per-second", func(i int) clock.Instant { return clock.Instant(i) * clock.Instant(time.Millisecond) }},
		{"5000-per-second", func(i int) clock.Instant { return clock.Instant(i) * clock.Instant(200*time.Microsecond) }},
	} {
		b.Run(bc.name, func(b *testing.B) {
			n := 0
			for b.Loop() {
				n += 32
			}
			reportLag(b, schedule(n, bc.arrival))
		})
	}
}

// BenchmarkCatchUp begins two seconds late at 5,000/s, as after a stall of the host, and reports how many connections the
// sender opened to catch up and when it was back in time. Run it once: -benchtime 1x.
func BenchmarkCatchUp(b *testing.B) {
	for b.Loop() {
		s := schedule(25_000, func(i int) clock.Instant { return clock.Instant(i) * clock.Instant(200*time.Microsecond) })
		records, v := runBench(b, s, -2*time.Second)
		var back clock.Instant
		for i := range records {
			if records[i].SendLag() > 5*time.Millisecond {
				back = records[i].Sent
			}
		}
		_, atSend := v.Dials()
		b.ReportMetric(float64(atSend), "dials-at-send")
		b.ReportMetric(time.Duration(back).Seconds(), "in-time-from-s")
	}
}

// schedule makes n arrivals by their instants.
func schedule(n int, at func(i int) clock.Instant) *workload.Schedule {
	s := &workload.Schedule{Arrivals: make([]workload.Arrival, n)}
	for i := range s.Arrivals {
		s.Arrivals[i] = workload.Arrival{Seq: int64(i), At: at(i), Wave: -1}
		s.Length = time.Duration(s.Arrivals[i].At) + 1
	}
	return s
}

// runBench sends the schedule to a server in this process; the epoch is so far ahead.
func runBench(b *testing.B, s *workload.Schedule, ahead time.Duration) ([]record.Record, *Vegeta) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	defer server.Close()
	c := realclock.New(time.Now().Add(ahead))
	v := newSender(b, VegetaConfig{Clock: c, Run: "bench", Request: Request{Target: target(b, server.URL)}})
	records, err := (&Engine{Clock: c, Sender: v}).Run(context.Background(), s, nil)
	if err != nil {
		b.Fatal(err)
	}
	return records, v
}

func reportLag(b *testing.B, s *workload.Schedule) {
	records, _ := runBench(b, s, Lead+50*time.Millisecond)
	lag := make([]time.Duration, 0, len(records))
	for i := range records {
		if records[i].Outcome != record.OK {
			b.Fatalf("record %d: %+v", i, records[i])
		}
		lag = append(lag, records[i].SendLag())
	}
	slices.Sort(lag)
	b.ReportMetric(micros(lag, 0.50), "lag-p50-µs")
	b.ReportMetric(micros(lag, 0.99), "lag-p99-µs")
	b.ReportMetric(micros(lag, 1), "lag-max-µs")
	b.ReportMetric(0, "ns/op") // it counts arrivals, the time is in the lag
}

// micros returns the nearest-rank quantile of sorted samples in microseconds.
func micros(sorted []time.Duration, q float64) float64 {
	return float64(sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]) / float64(time.Microsecond)
}

func newSender(tb testing.TB, cfg VegetaConfig) *Vegeta {
	tb.Helper()
	v, err := NewVegeta(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func target(tb testing.TB, raw string) *Target {
	tb.Helper()
	t, err := (*Guard)(nil).Target(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}
