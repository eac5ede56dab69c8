package realclock

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/internal/clock"
)

// handAlarm ends wait when the test says so.
type handAlarm struct {
	mu    sync.Mutex
	armed []clock.Instant
	ring  chan struct{}
}

func (a *handAlarm) arm(at clock.Instant) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.armed = append(a.armed, at)
}

func (a *handAlarm) wait() { <-a.ring }

func (a *handAlarm) last() clock.Instant {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.armed[len(a.armed)-1]
}

// handQueue returns a queue whose clock and alarm the test moves.
func handQueue(now *clock.Instant) (*queue, *handAlarm) {
	a := &handAlarm{ring: make(chan struct{})}
	return &queue{alarm: a, now: func() clock.Instant { return *now }}, a
}

func TestQueueWakesInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now clock.Instant
		q, a := handQueue(&now)
		instants := []clock.Instant{50, 10, 40, 10, 30, 20, 60}
		list := make([]*entry, len(instants))
		for i, at := range instants {
			list[i] = q.entry()
			q.set(list[i], at)
		}
		woken := make([]bool, len(list))
		for now = 0; now <= 60; now += 5 {
			a.ring <- struct{}{}
			synctest.Wait()
			for i, e := range list {
				woken[i] = woken[i] || len(e.c) == 1
				if due := instants[i] <= now; woken[i] != due {
					t.Errorf("at %d: entry of %d woken: %v, want %v", now, instants[i], woken[i], due)
				}
			}
		}
		if q.running || len(q.heap) != 0 {
			t.Errorf("after the last wake-up: running %v with %d entries, want an ended queue", q.running, len(q.heap))
		}
	})
}

func TestQueueArmsTheEarliest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now clock.Instant
		q, a := handQueue(&now)
		first, second := q.entry(), q.entry()
		for _, step := range []struct {
			sentence string
			entry    *entry
			at       clock.Instant
			want     clock.Instant
		}{
			{"the first entry arms the alarm", first, 100, 100},
			{"an earlier one arms it anew", second, 40, 40},
			{"one that moves behind the other leaves the alarm early, which costs one look", second, 140, 40},
			{"one that moves to the front arms it", second, 30, 30},
		} {
			q.set(step.entry, step.at)
			if got := a.last(); got != step.want {
				t.Errorf("%s: armed %v, want %v", step.sentence, got, step.want)
			}
		}
		now = 35
		a.ring <- struct{}{}
		synctest.Wait()
		if got := a.last(); got != 100 {
			t.Errorf("after the second was woken: armed %v, want 100", got)
		}
		q.set(first, clock.Never)
		if got := a.last(); got != now {
			t.Errorf("an empty queue arms %v, want %v, so that its goroutine ends", got, now)
		}
		a.ring <- struct{}{}
	})
}

// The heap agrees with a sorted list after any sequence of moves.
func TestQueueAgainstSortedList(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var now clock.Instant
		q, a := handQueue(&now)
		r := rand.New(rand.NewPCG(7, 7))
		list := make([]*entry, 20)
		for i := range list {
			list[i] = q.entry()
		}
		want := map[*entry]clock.Instant{}
		for range 2000 {
			e := list[r.IntN(len(list))]
			at := clock.Instant(1 + r.Int64N(1000))
			if r.IntN(4) == 0 {
				at = clock.Never
				delete(want, e)
			} else {
				want[e] = at
			}
			q.set(e, at)
			if len(q.heap) != len(want) {
				t.Fatalf("%d entries queued, want %d", len(q.heap), len(want))
			}
			if len(want) > 0 && q.heap[0].at != earliest(want) {
				t.Fatalf("front is %v, want %v", q.heap[0].at, earliest(want))
			}
			if len(want) == 0 && q.running {
				a.ring <- struct{}{}
				synctest.Wait()
			}
		}
		now = 1000
		if q.running {
			a.ring <- struct{}{}
		}
	})
}

func earliest(m map[*entry]clock.Instant) clock.Instant {
	var all []clock.Instant
	for _, at := range m {
		all = append(all, at)
	}
	return slices.Min(all)
}

// BenchmarkLateness compares how late the three ways of waiting end, taken in turn so that noise meets all alike.
func BenchmarkLateness(b *testing.B) {
	c := New(time.Now())
	th := c.NewThread()
	defer th.Close()
	ways := []struct {
		name string
		wait func(context.Context, clock.Instant) error
	}{{"thread", th.SleepUntil}, {"descriptor", c.WaitUntil}, {"gotimer", c.waitTimer}}
	late := make([][]time.Duration, len(ways))
	for b.Loop() {
		for i, way := range ways {
			late[i] = append(late[i], lateness(b, c, i > 0, way.wait))
		}
	}
	for i, way := range ways {
		slices.Sort(late[i])
		b.ReportMetric(quantile(late[i], 0.50), way.name+"-p50-µs")
		b.ReportMetric(quantile(late[i], 0.99), way.name+"-p99-µs")
	}
}

// lateness waits once. The thread's goroutine is locked, so the other ways wait in a goroutine of their own (apart).
func lateness(b *testing.B, c *Clock, apart bool, wait func(context.Context, clock.Instant) error) time.Duration {
	at := c.Now().Add(1300 * time.Microsecond)
	late := make(chan time.Duration, 1)
	once := func() {
		if err := wait(b.Context(), at); err != nil {
			b.Error(err)
		}
		late <- c.Now().Sub(at)
	}
	if apart {
		go once()
	} else {
		once()
	}
	return <-late
}

// quantile returns the nearest-rank quantile of sorted samples in microseconds.
func quantile(sorted []time.Duration, q float64) float64 {
	i := min(int(q*float64(len(sorted))), len(sorted)-1)
	return float64(sorted[i]) / float64(time.Microsecond)
}
