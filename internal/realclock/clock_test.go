package realclock

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"coldwave/internal/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clocks are the two kinds that New and Timers give. On a host without timer descriptors both are the same.
func clocks() map[string]*Clock {
	epoch := time.Now()
	return map[string]*Clock{"descriptor": New(epoch), "go timers": Timers(epoch)}
}

func TestNeverEarly(t *testing.T) {
	t.Parallel()
	for name, c := range clocks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all sync.WaitGroup
			for i := range 200 {
				all.Go(func() {
					r := rand.New(rand.NewPCG(1, uint64(i)))
					at := c.Now().Add(time.Duration(r.Int64N(int64(20 * time.Millisecond))))
					if err := c.WaitUntil(t.Context(), at); err != nil {
						t.Errorf("WaitUntil(%v) = %v, want nil", at, err)
					}
					if now := c.Now(); now < at {
						t.Errorf("WaitUntil(%v) returned at %v, want not before", at, now)
					}
				})
			}
			all.Wait()
		})
	}
}

func TestThreadNeverEarly(t *testing.T) {
	t.Parallel()
	for name, c := range clocks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			th := c.NewThread()
			defer th.Close()
			r := rand.New(rand.NewPCG(2, 2))
			for range 50 {
				at := c.Now().Add(time.Duration(r.Int64N(int64(2 * time.Millisecond))))
				if err := th.SleepUntil(t.Context(), at); err != nil {
					t.Fatalf("SleepUntil(%v) = %v, want nil", at, err)
				}
				if now := c.Now(); now < at {
					t.Errorf("SleepUntil(%v) returned at %v, want not before", at, now)
				}
			}
		})
	}
}

// A step of the wall clock shows only in times without a monotonic reading (R10).
func TestEpochWithoutMonotonicReading(t *testing.T) {
	t.Parallel()
	c := New(time.Now().Add(-time.Hour).Round(0))
	if now := c.Now(); now < clock.Instant(time.Hour) {
		t.Errorf("Now() = %v, want at least 1h after an epoch that is 1h ago", now)
	}
}

func TestPassedInstantReturnsAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range clocks() {
		for _, at := range []clock.Instant{-1 << 62, -1, 0} {
			if err := c.WaitUntil(t.Context(), at); err != nil {
				t.Errorf("%s: WaitUntil(%v) = %v, want nil", name, at, err)
			}
		}
		if c.queue != nil && len(c.queue.heap) != 0 {
			t.Errorf("%s: %d entries queued for instants that have passed, want 0", name, len(c.queue.heap))
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	cause := errors.New("stop")
	for name, c := range clocks() {
		for _, at := range []clock.Instant{c.Now().Add(time.Hour), clock.Never} {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(cause)
			if err := c.WaitUntil(ctx, at); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: WaitUntil(canceled, %v) = %v, want %v", name, at, err, context.Canceled)
			}
			ctx, cancelLater := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- c.WaitUntil(ctx, at) }()
			cancelLater()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: canceled WaitUntil(%v) = %v, want %v", name, at, err, context.Canceled)
			}
		}
		th := c.NewThread()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		if err := th.SleepUntil(ctx, c.Now().Add(time.Hour)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: SleepUntil with a deadline = %v, want %v", name, err, context.DeadlineExceeded)
		}
		cancel()
		th.Close()
		th.Close()
	}
}

func TestTimerMoves(t *testing.T) {
	t.Parallel()
	for name, c := range clocks() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			timer := c.NewTimer()
			select {
			case <-timer.C():
				t.Fatal("a new timer fires, want it stopped")
			default:
			}
			timer.Reset(c.Now().Add(time.Hour))
			at := c.Now().Add(2 * time.Millisecond)
			timer.Reset(at)
			<-timer.C()
			if now := c.Now(); now < at {
				t.Errorf("timer of %v fired at %v, want not before", at, now)
			}
			timer.Reset(0)
			if err := c.WaitUntil(t.Context(), c.Now().Add(3*time.Millisecond)); err != nil {
				t.Fatal(err)
			}
			timer.Reset(clock.Never)
			select {
			case <-timer.C():
				t.Error("a wake-up of before Reset(Never) arrives, want it dropped")
			default:
			}
		})
	}
}

// On Go timers, waits are exact in the fake time of a bubble: that is what tests of drivers rely on.
func TestTimersInBubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := Timers(time.Now().Add(-time.Second))
		th := c.NewThread()
		defer th.Close()
		timer := c.NewTimer()
		timer.Reset(clock.Instant(1500 * time.Millisecond))
		<-timer.C()
		if got := c.Now(); got != clock.Instant(1500*time.Millisecond) {
			t.Errorf("timer of 1.5s fired at %v, want 1.5s", got)
		}
		if err := c.WaitUntil(t.Context(), clock.Instant(2*time.Second)); err != nil || c.Now() != clock.Instant(2*time.Second) {
			t.Errorf("WaitUntil(2s) = %v at %v, want nil at 2s", err, c.Now())
		}
		if err := th.SleepUntil(t.Context(), clock.Instant(time.Minute)); err != nil || c.Now() != clock.Instant(time.Minute) {
			t.Errorf("SleepUntil(1m) = %v at %v, want nil at 1m", err, c.Now())
		}
	})
}
