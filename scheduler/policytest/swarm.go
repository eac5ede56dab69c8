package policytest

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/scheduler"
)

// scenario is what one seed does to the policy. Each seed leaves some kinds of fault out altogether: what shows only
// without a fault would stay hidden if all were always on.
type scenario struct {
	seed        uint64
	min, max    int
	fail        float64 // share of starts that fail
	crash       float64 // share of instances that end by themselves
	leave       float64 // share of clients that go away
	reconfigure bool    // limits change during the run
	grid        clock.Instant
	burst       int           // arrivals at one instant, up to
	slow        time.Duration // factor of start-up and service times: some seeds are too slow for any wait limit

	arrivals []clock.Instant // relative to the start of a play
	streams  [5]rng.Key
}

const (
	serviceTime = iota
	startTime
	crashTime
	leaveTime
	stopTime
)

// swarm draws the scenario of a seed.
func swarm(seed uint64, o Options) scenario {
	d := rng.NewKey(seed, "swarm").Draw(0)
	s := scenario{
		seed: seed, max: pick(&d, 1, 2, 5, 20, scheduler.Unlimited), fail: pick(&d, 0, 0, 0.125, 0.6),
		crash: pick(&d, 0, 0, 0.4), leave: pick(&d, 0, 0.2), reconfigure: pick(&d, false, false, true),
		grid: pick(&d, 1, clock.Instant(50*time.Millisecond)), burst: pick(&d, 1, 3, 12),
		slow: pick[time.Duration](&d, 1, 1, 1, 60),
	}
	s.min = min(pick(&d, 0, 0, 2), s.max)
	for k, name := range [...]string{"service", "start", "crash", "leave", "stop"} {
		s.streams[k] = rng.NewKey(seed, name)
	}
	s.draw(&d, o.Requests)
	return s
}

// draw fixes the arrivals: bursts with gaps between, some of them long.
func (s *scenario) draw(d *rng.Draw, n int) {
	at := clock.Instant(0)
	for len(s.arrivals) < n {
		at = s.snap(at + clock.Instant(d.Int64N(pick[int64](d, 60, 600, 6000)*int64(time.Millisecond))))
		for range 1 + d.Int64N(int64(s.burst)) {
			s.arrivals = append(s.arrivals, at)
		}
	}
}

func pick[T any](d *rng.Draw, of ...T) T { return of[d.Int64N(int64(len(of)))] }

// snap moves an instant up to the grid of the scenario, so that many things happen at once.
func (s *scenario) snap(t clock.Instant) clock.Instant { return (t + s.grid - 1) / s.grid * s.grid }

// within draws a duration for id in (0, most], on the grid.
func (s *scenario) within(stream int, id int64, most time.Duration) time.Duration {
	d := s.streams[stream].Draw(id)
	return time.Duration(s.snap(clock.Instant(1 + d.Int64N(int64(most)))))
}

// happens draws whether something of that share happens to id.
func (s *scenario) happens(stream int, id int64, share float64) bool {
	d := s.streams[stream].Draw(-id)
	return d.Float64() < share
}
