package gateway

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// TestDrainFinishesWhatWaitsAndRuns: R18.
func TestDrainFinishesWhatWaitsAndRuns(t *testing.T) {
	inBubble(t, bubbleConfig{policy: fcRace(), cold: 2 * time.Second, core: scheduler.Config{Max: 1}}, func(t *testing.T, b *bubble) {
		b.get(t.Context(), "first", second)
		var all sync.WaitGroup
		for _, id := range []string{"runs", "waits"} {
			all.Go(func() {
				if r := b.get(t.Context(), id, second); r.status != http.StatusOK {
					t.Errorf("%s got %d %v, want 200", id, r.status, r.err)
				}
			})
		}
		settle()
		begin := b.clock.Now()
		if err := b.g.Drain(t.Context()); err != nil {
			t.Errorf("Drain() = %v, want nil", err)
		}
		if took := b.clock.Now().Sub(begin); took < 2*time.Second-1 || took > 2*time.Second+lastBytes {
			t.Errorf("Drain took %v, want 2s and at most %v: as long as the last request (R18)", took, lastBytes)
		}
		all.Wait()
		for _, in := range b.g.Instances() {
			if in.Stopped == clock.Never || in.Failed {
				t.Errorf("instance %+v, want stopped", in)
			}
		}
		if r := b.get(t.Context(), "late", second); r.err == nil {
			t.Errorf("after the drain: status %d, want no connection", r.status)
		}
	})
}

// TestDrainAtItsLimit: what still waits gets 503, what still runs is cut, and the drain says so.
func TestDrainAtItsLimit(t *testing.T) {
	inBubble(t, bubbleConfig{policy: fcRace(), cold: 2 * time.Second, core: scheduler.Config{Max: 1}}, func(t *testing.T, b *bubble) {
		b.get(t.Context(), "first", second)
		long := second
		long.Exec = 5 * time.Minute
		var all sync.WaitGroup
		got := map[string]reply{}
		var mu sync.Mutex
		for _, id := range []string{"runs", "waits"} {
			all.Go(func() {
				r := b.get(t.Context(), id, long)
				mu.Lock()
				defer mu.Unlock()
				got[id] = r
			})
			settle()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		begin := b.clock.Now()
		if err := b.g.Drain(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Drain() = %v, want the deadline", err)
		}
		if took := b.clock.Now().Sub(begin); took > 11*time.Second {
			t.Errorf("Drain took %v, want about its limit of 10s", took)
		}
		all.Wait()
		for id, r := range got {
			if r.status != http.StatusServiceUnavailable || r.header.Get(ReasonHeader) != "closing" {
				t.Errorf("%s got %d %v, want 503 closing", id, r.status, r.err)
			}
		}
	})
}

// TestSecondSignal: Close during Drain ends it at once.
func TestSecondSignal(t *testing.T) {
	inBubble(t, bubbleConfig{policy: fcRace(), cold: time.Hour}, func(t *testing.T, b *bubble) {
		go b.get(t.Context(), "waits", second)
		settle()
		drained := make(chan error)
		go func() { drained <- b.g.Drain(t.Context()) }()
		b.until(time.Second)
		begin := b.clock.Now()
		if err := b.g.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
		if err := <-drained; err == nil {
			t.Error("Drain() = nil, want an error: a request was cut")
		}
		if took := b.clock.Now().Sub(begin); took > time.Second {
			t.Errorf("Close took %v, want at once", took)
		}
		if in := b.g.Instances(); len(in) != 1 || in[0].Stopped == clock.Never || in[0].Ready != clock.Never {
			t.Errorf("instances %+v, want one that was given up while starting", in)
		}
	})
}

func TestIdleGatewayEndsAtOnce(t *testing.T) {
	inBubble(t, bubbleConfig{policy: fcRace(), cold: time.Second}, func(t *testing.T, b *bubble) {
		begin := b.clock.Now()
		if err := b.g.Drain(t.Context()); err != nil {
			t.Errorf("Drain() = %v, want nil", err)
		}
		if took := b.clock.Now().Sub(begin); took != 0 {
			t.Errorf("Drain of an idle gateway took %v, want 0", took)
		}
	})
}
