package engine

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// A target with a single thread: 2 ms for each request, but 1 s for the first one from 5 s on. It tells the time inside.
const (
	stallAt    = 5 * time.Second
	stallTakes = time.Second
	usualTakes = 2 * time.Millisecond
)

// stalling returns the handler; now is the time since the first request is due.
func stalling(now func() clock.Instant) http.HandlerFunc {
	thread := make(chan struct{}, 1)
	stalled := false
	return func(w http.ResponseWriter, q *http.Request) {
		thread <- struct{}{} // waiting senders are served in order
		defer func() { <-thread }()
		takes := usualTakes
		if !stalled && now() >= clock.Instant(stallAt) {
			stalled, takes = true, stallTakes
		}
		pause(q.Context(), takes)
		w.Header().Set(record.TimingHeader, record.Server{Exec: takes}.Timing())
	}
}

func nearestRank(d []time.Duration, percent int) time.Duration {
	slices.Sort(d)
	return d[(len(d)*percent+99)/100-1]
}

// Coordinated omission: the response times of the open loop show what the target's own clock and a closed loop leave
// out. Times are virtual, so the quantiles are exact: the request that comes k·10 ms after the stalled one waits until
// k·2 ms after its end, so the responses are 1 s − k·8 ms.
func TestCoordinatedOmission(t *testing.T) {
	t.Parallel()
	var h http.HandlerFunc
	inBubble(t, func(w http.ResponseWriter, q *http.Request) { h(w, q) }, nil, func(b *bubble) {
		h = stalling(b.clock.Now)
		records, err := b.run(b.t.Context(), schedule(1000, func(i int) clock.Instant { return clock.Instant(i) * at(0.01) }))
		if err != nil {
			t.Fatal(err)
		}
		var response, exec []time.Duration
		for i := range records {
			response = append(response, records[i].Response())
			exec = append(exec, records[i].Server.Exec)
		}
		for _, row := range []struct {
			sentence string
			got      time.Duration
			want     time.Duration
		}{
			{"response time p95", nearestRank(response, 95), 600 * time.Millisecond},
			{"response time p99", nearestRank(response, 99), 920 * time.Millisecond},
			{"response time max", nearestRank(response, 100), time.Second},
			{"the target's own p99", nearestRank(exec, 99), usualTakes},
			{"the target's own max", nearestRank(exec, 100), time.Second},
		} {
			if row.got != row.want {
				t.Errorf("%s = %v, want %v", row.sentence, row.got, row.want)
			}
		}
	})
}

// The same target under a closed loop: one client that waits for each answer, and for the 10 ms between two requests.
func TestClosedLoopMissesTheStall(t *testing.T) {
	t.Parallel()
	var h http.HandlerFunc
	inBubble(t, func(w http.ResponseWriter, q *http.Request) { h(w, q) }, nil, func(b *bubble) {
		h = stalling(b.clock.Now)
		client := &http.Client{Transport: &http.Transport{DialContext: b.net.dial}}
		defer client.CloseIdleConnections()
		var service []time.Duration
		for next := clock.Instant(0); next < at(10); next = max(next+at(0.01), b.clock.Now()) {
			if err := b.clock.WaitUntil(b.t.Context(), next); err != nil {
				t.Fatal(err)
			}
			began := b.clock.Now()
			resp, err := client.Get("http://127.0.0.1:80/")
			if err != nil {
				t.Fatal(err)
			}
			if err := resp.Body.Close(); err != nil {
				t.Fatal(err)
			}
			service = append(service, b.clock.Now().Sub(began))
		}
		if p99, longest := nearestRank(service, 99), nearestRank(service, 100); p99 != usualTakes || longest != stallTakes {
			t.Errorf("closed loop: p99 %v and max %v of %d requests, want %v and %v: it meets the stall once", p99, longest, len(service), usualTakes, stallTakes)
		}
	})
}

// LG-15: what could not be sent in time is sent at once and late, by an amount that its record tells; nothing is skipped.
func TestLateIsRecorded(t *testing.T) {
	t.Parallel()
	inBubble(t, takes(0), nil, func(b *bubble) {
		if err := b.clock.WaitUntil(b.t.Context(), at(2)); err != nil {
			t.Fatal(err)
		}
		records, err := b.run(b.t.Context(), schedule(31, func(i int) clock.Instant { return clock.Instant(i) * at(0.1) }))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			want := max(0, at(2).Sub(r.Intended))
			if r.Outcome != record.OK || r.SendLag() != want || r.Response() != want {
				t.Errorf("seq %d: %v, lag %v, response %v, want ok, %v, %v", r.Seq, r.Outcome, r.SendLag(), r.Response(), want, want)
			}
		}
	})
}
