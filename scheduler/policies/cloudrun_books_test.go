package policies

import (
	"fmt"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/scheduler"
)

// books compares what the policy keeps with what the core says.
func (s *stage) books() error {
	c, up, future := &s.core.Control, 0, int64(0)
	for i := c.FirstAlive(); i != 0; i = c.Next(i) {
		v := s.p.servers.Get(int64(i))
		switch {
		case v == nil:
			return fmt.Errorf("instance %d is alive and unknown", i)
		case int(v.level) != c.InFlight(i):
			return fmt.Errorf("instance %d has %d in flight, known are %d", i, c.InFlight(i), v.level)
		case !c.Up(i):
			future += int64(v.most)
		case v.pos < 0 || s.p.order[v.pos] != (place{v.key(c.Limit(i)), i}):
			return fmt.Errorf("instance %d is ready and has no place, or a wrong one", i)
		default:
			up++
		}
	}
	for k := range s.p.order {
		if k > 0 && s.p.order[k].before(s.p.order[(k-1)/2]) {
			return fmt.Errorf("place %d comes before place %d", k, (k-1)/2)
		}
	}
	switch {
	case s.p.servers.Len() != c.Alive() || len(s.p.order) != up || s.p.future != future:
		return fmt.Errorf("%d instances, %d places, %d slots to come; want %d, %d, %d", s.p.servers.Len(), len(s.p.order), s.p.future, c.Alive(), up, future)
	case c.Waiting() > 0 && s.p.best() != 0:
		return fmt.Errorf("%d wait while instance %d has a free slot", c.Waiting(), s.p.best())
	case s.p.dropped < 0 || s.p.reserved < 0 || s.p.reserved > s.p.dropped:
		return fmt.Errorf("%d deprioritised, %d of them in reserve", s.p.dropped, s.p.reserved)
	case s.p.n < int64(c.Config().Min) || s.p.n > int64(c.Config().Max):
		return fmt.Errorf("recommendation %d, min %d, max %d", s.p.n, c.Config().Min, c.Config().Max)
	}
	return nil
}

// chaos plays random traffic, CPU use, crashes and limits, and checks the books at each full second and each change.
func chaos(t *testing.T, seed uint64, cheat func(s *stage)) error {
	t.Helper()
	d := rng.NewKey(seed, "chaos").Draw(0)
	cfg := scheduler.Config{Max: 1 + int(d.Int64N(20)), Limit: int32(1 + d.Int64N(10))}
	s := newStage(t, "cloudrun:idle_timeout=90s,overshoot_spike=3", cfg, time.Duration(1+d.Int64N(4e9)), 0)
	s.service = func(r scheduler.RequestID) time.Duration {
		key := rng.NewKey(seed, "service").Draw(int64(r))
		return time.Duration(1 + key.Int64N(8e9))
	}
	noise := rng.NewKey(seed, "cpu").Draw(1)
	s.cpu = func(_ scheduler.InstanceID, n int) int64 { return noise.Int64N(int64(1 + 400*min(n, 3))) }
	for k := range 300 {
		at := time.Duration(k) * one
		if d.Int64N(3) > 0 && k%100 < 60 {
			s.arrive(at+time.Duration(d.Int64N(1e9)), int(d.Int64N(12)))
		}
		switch i := s.core.FirstAlive(); {
		case d.Int64N(20) == 0 && i != 0:
			s.fail(at+1, i)
		case d.Int64N(40) == 0:
			cfg.Max = int(d.Int64N(20))
			cfg.Min = min(int(d.Int64N(4)), cfg.Max)
			cfg.Overshoot = d.Int64N(2) == 0
			s.did(s.core.Configure(nil, clock.Instant(at), cfg))
		}
		s.run(at + one - 1)
		cheat(s)
		if err := s.books(); err != nil {
			return fmt.Errorf("seed %d, %v: %w", seed, at, err)
		}
	}
	return nil
}

// TestCloudRunBooks: whatever happens, what the policy keeps agrees with the core; a wrong count is found.
func TestCloudRunBooks(t *testing.T) {
	limits := 0
	for seed := range uint64(60) {
		err := chaos(t, seed, func(s *stage) {
			for i := s.core.FirstAlive(); i != 0; i = s.core.Control.Next(i) {
				if v := s.p.servers.Get(int64(i)); s.core.Limit(i) < v.most {
					limits++
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if limits == 0 {
		t.Error("no limit was ever lowered: the CPU use is too small")
	}
	for name, cheat := range map[string]func(s *stage){
		"a slot too many": func(s *stage) { s.p.future++ },
		"a wrong level": func(s *stage) {
			if i := s.core.FirstAlive(); i != 0 {
				s.p.servers.Get(int64(i)).level++
			}
		},
		"a wrong group":          func(s *stage) { s.p.reserved = s.p.dropped + 1 },
		"a wrong recommendation": func(s *stage) { s.p.n = -1 },
	} {
		if err := chaos(t, 1, cheat); err == nil {
			t.Errorf("%s is not found", name)
		}
	}
}
