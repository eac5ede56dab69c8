package scheduler

import (
	"strconv"
	"testing"

	"coldwave/internal/clock"
)

// bench is the shortest policy there is: newest idle instance, else wait; a slot that frees serves the first.
func bench(c *Control, ev Event) {
	switch ev.Kind {
	case Configure:
		for c.Alive() < c.Config().Max {
			c.Start(0, 0)
		}
	case Arrival:
		if i := c.IdleNewest(); i != 0 {
			c.Assign(ev.Req, i)
			return
		}
		c.Queue(ev.Req, c.Now()+60_000_000_000)
	case Done:
		if r := c.Front(); r != 0 {
			c.Assign(r, ev.Inst)
		}
	case Timer:
		c.Reject(ev.Req, 503)
	default:
	}
}

// loaded returns a core with n ready instances, all but spare of them busy, and that many requests in the queue.
func loaded(n, spare, queued int) (*Core, RequestID) {
	cfg := Config{Max: n}
	c := New(puppet(bench), cfg, 1)
	c.Configure(nil, 0, cfg)
	for i := range n {
		c.Step(nil, 1, ready(InstanceID(i+1)))
	}
	last := RequestID(n - spare + queued)
	for r := range last {
		c.Step(nil, 2, arrival(r+1))
	}
	return c, last
}

// steps steps the core b.N times: arrivals and ends in turn, the oldest request ends first.
func steps(b *testing.B, c *Core, last RequestID, running int) {
	b.ReportAllocs()
	now, acts := clock.Instant(10), make([]Action, 0, 16)
	oldest := RequestID(1)
	if running < 1 {
		oldest = last + 1
	}
	for k := 0; b.Loop(); k++ {
		now += 1000
		if k%2 == 0 {
			last++
			acts = c.Step(acts[:0], now, arrival(last))
		} else {
			acts = c.Step(acts[:0], now, done(oldest))
			oldest++
		}
	}
}

// BenchmarkStep measures one event. Warm: it finds an idle instance. Queued: it waits behind others.
func BenchmarkStep(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		b.Run("warm/instances="+strconv.Itoa(n), func(b *testing.B) {
			c, last := loaded(n, n/2, 0)
			steps(b, c, last, n/2)
		})
	}
	for _, n := range []int{10, 1000, 100_000, 1_000_000} {
		b.Run("queued/instances=100/waiting="+strconv.Itoa(n), func(b *testing.B) {
			c, last := loaded(100, 0, n)
			steps(b, c, last, 100)
		})
	}
}

// TestBenchmarks keeps the set-up of the benchmarks right: it is the load that their names say.
func TestBenchmarks(t *testing.T) {
	c, last := loaded(10, 5, 0)
	if c.Running() != 5 || c.Waiting() != 0 || last != 5 {
		t.Errorf("warm: %d run, %d wait, want 5, 0", c.Running(), c.Waiting())
	}
	c, last = loaded(100, 0, 10)
	if c.Running() != 100 || c.Waiting() != 10 || last != 110 {
		t.Errorf("queued: %d run, %d wait, want 100, 10", c.Running(), c.Waiting())
	}
}
