package policytest

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/platform"
	"coldwave/scheduler"
	"coldwave/sim"
	"coldwave/workload"
)

// scenario is what one seed does to the policy: its requests, its platform and what goes wrong. Each seed leaves some kinds
// of fault out altogether: what shows only without a fault would stay hidden if all were always on.
type scenario struct {
	seed     uint64
	min, max int
	limit    int32
	fail     float64 // share of starts that fail
	slower   float64 // share of starts that take longer
	unheard  float64 // share of starts whose readiness is never heard of; they count as failed after the longest start
	crash    float64 // share of instances that end by themselves
	breaks   float64 // share of requests that end their instance just before, at or just after their answer
	leave    float64 // share of clients that go away
	errors   float64 // share of bodies that end with an error
	grid     clock.Instant
	burst    int           // arrivals at one instant, up to
	slow     time.Duration // factor of start-up and service times: some seeds are too slow for any wait limit
	handover time.Duration
	pre      time.Duration // longest way of a request to the core
	lingers  time.Duration // longest time that an instance takes to stop
	shares   resources     // of an instance; in most seeds bodies share nothing

	arrivals []clock.Instant
	changes  []sim.Change
	quiet    clock.Instant // no fault begins later
	streams  [streams]rng.Key

	// A scenario may be played twice in one run. Then arrivals and instances from second on draw like the first ones.
	second clock.Instant // Never: it is played once
	starts int64         // instances before second
}

// Each question has a stream of its own.
const (
	service = iota
	onItsWay
	bodyError
	startUp
	slowStart
	unheardStart
	failedStart
	crashed
	broken
	left
	stopping
	streams
)

var streamNames = [streams]string{
	"service", "on its way", "body error", "start-up", "slow start", "unheard start", "failed start", "crashed", "broken",
	"left", "stopping",
}

// Times of a scenario whose factor slow is 1.
const (
	longestBody  = 400 * time.Millisecond
	longestStart = 3 * time.Second
)

// swarm draws the scenario of a seed.
func swarm(seed uint64, o Options) *scenario {
	d := rng.NewKey(seed, "swarm").Draw(0)
	tie := clock.Instant(50 * time.Millisecond)
	s := &scenario{
		seed: seed, limit: o.Limit, max: pick(&d, 1, 2, 5, 20, scheduler.Unlimited),
		fail: pick(&d, 0, 0, 0.125, 0.6), slower: pick(&d, 0, 0, 0.2), unheard: pick(&d, 0, 0, 0.1),
		crash: pick(&d, 0, 0, 0.4), breaks: pick(&d, 0, 0, 0.1), leave: pick(&d, 0, 0.2), errors: pick(&d, 0, 0.1),
		grid: pick(&d, 1, tie), burst: pick(&d, 1, 3, 12), slow: pick[time.Duration](&d, 1, 1, 1, 60),
		handover: pick(&d, 0, 0, time.Duration(tie)), pre: pick(&d, 0, 0, 2*time.Duration(tie)),
		lingers: pick(&d, 0, 500*time.Millisecond), second: clock.Never,
	}
	s.min = min(pick(&d, 0, 0, 2), s.max)
	s.shares = sharedBy(seed, s.limit)
	s.name()
	s.draw(&d, o.Requests)
	if pick(&d, false, false, true) {
		s.reconfigure(pick(&d, 1, 2))
	}
	return s
}

func (s *scenario) name() {
	for k, name := range streamNames {
		s.streams[k] = rng.NewKey(s.seed, name)
	}
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
	s.quiet = at
}

// reconfigure lowers and raises the limits during the run some times, and brings the first ones back.
func (s *scenario) reconfigure(times int) {
	tight, loose := scheduler.Config{Max: 1}, scheduler.Config{Min: 3, Max: 8}
	var limits []scheduler.Config
	for range times {
		limits = append(limits, loose, tight, loose, scheduler.Config{}, s.limits())
	}
	step := s.quiet / clock.Instant(len(limits)+1)
	for k, l := range limits {
		l.Limit = s.limit
		s.changes = append(s.changes, sim.Change{At: max(s.snap(clock.Instant(k+1)*step), s.lastChange()+1), Limits: l})
	}
}

func (s *scenario) lastChange() clock.Instant {
	if len(s.changes) == 0 {
		return 0
	}
	return s.changes[len(s.changes)-1].At
}

func (s *scenario) limits() scheduler.Config {
	return scheduler.Config{Min: s.min, Max: s.max, Limit: s.limit}
}

// settled returns when everything must be over: twice the longest wait and the longest start after the last fault (F2).
func (s *scenario) settled(o Options) clock.Instant {
	end := max(s.quiet, s.lastChange()).Add(2 * (o.Wait + s.slow*longestStart))
	if s.second != clock.Never {
		end += s.second
	}
	return end
}

// config is the run of the scenario under a policy. It lasts for the time in which idle instances must go.
func (s *scenario) config(p scheduler.Policy, o Options) sim.Config {
	schedule := &workload.Schedule{Seed: s.seed, Function: workload.Function{Name: "f", Concurrency: int(s.limit)}}
	for k, at := range s.arrivals {
		seq := int64(k)
		schedule.Arrivals = append(schedule.Arrivals, workload.Arrival{Seq: seq, At: at, Wave: -1, Demand: s.demand(seq)})
	}
	schedule.Length = time.Duration(s.settled(o)) + o.Settle
	return sim.Config{
		Schedule: schedule, Policy: p, Limits: s.limits(), Nodes: o.Nodes, Changes: s.changes, Platform: s, Faults: faults{s}, Handover: s.handover,
		Resources: s.shares.Resources, Seed: s.seed,
	}
}

// twice plays the arrivals again after a long silence.
func (s *scenario) twice(o Options) {
	hour := clock.Instant(time.Hour)
	s.second = (s.settled(o).Add(o.Settle+time.Hour)/hour + 1) * hour
	for _, at := range s.arrivals {
		s.arrivals = append(s.arrivals, s.second+at)
	}
}

// late reports whether no fault begins any more.
func (s *scenario) late(at clock.Instant) bool {
	if at >= s.second {
		at -= s.second
	}
	return at > s.quiet
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
	d := s.streams[stream].Draw(-id - 1)
	return d.Float64() < share
}

// arrival and instance return the ids from which an arrival and an instance draw.
func (s *scenario) arrival(seq int64) int64 {
	if s.second != clock.Never {
		return seq % int64(len(s.arrivals)/2)
	}
	return seq
}

func (s *scenario) instance(id int64) int64 {
	if id > s.starts && s.starts > 0 {
		return id - s.starts
	}
	return id
}

func (s *scenario) demand(seq int64) workload.Demand {
	id := s.arrival(seq)
	demand := workload.Demand{Exec: s.within(service, id, s.slow*longestBody)}
	demand.CPU = demand.Exec / 1000 * time.Duration(s.shares.mille)
	if s.pre > 0 {
		demand.Pre = s.within(onItsWay, id, s.pre)
	}
	return demand
}

// StartUp draws how an instance starts; Faults.StartUp, which knows when, decides what becomes of it.
func (s *scenario) StartUp(int64, workload.Demand) platform.StartUp { return platform.StartUp{} }

// RequestFails draws whether a body ends with an error.
func (s *scenario) RequestFails(seq int64) bool {
	return s.happens(bodyError, s.arrival(seq), s.errors)
}

// faults are the faults of a scenario. Its Platform and its Faults both have a method StartUp.
type faults struct{ *scenario }

// StartUp draws how an instance starts.
func (f faults) StartUp(instance int64, at clock.Instant, _ platform.StartUp) platform.StartUp {
	s := f.scenario
	if at >= s.second && s.starts == 0 {
		s.starts = instance - 1
	}
	id := s.instance(instance)
	longest := s.slow * longestStart
	up := platform.StartUp{Total: s.within(startUp, id, longest)}
	switch {
	case s.late(at):
	case s.happens(unheardStart, id, s.unheard):
		up.Total, up.Fails = longest, true
	default:
		if s.happens(slowStart, id, s.slower) {
			up.Total = min(4*up.Total, longest)
		}
		up.Fails = s.happens(failedStart, id, s.fail)
	}
	return up
}

// Leaves draws when a client goes away.
func (s *scenario) Leaves(seq int64, at clock.Instant) clock.Instant {
	id := s.arrival(seq)
	if s.late(at) || !s.happens(left, id, s.leave) {
		return clock.Never
	}
	return at.Add(s.within(left, id, 4*time.Second))
}

// Crashes draws when an instance ends by itself.
func (s *scenario) Crashes(instance int64, at clock.Instant) clock.Instant {
	id := s.instance(instance)
	if !s.happens(crashed, id, s.crash) {
		return clock.Never
	}
	return s.before(at.Add(s.within(crashed, id, 3*time.Second)))
}

// Breaks draws whether a request ends its instance, a nanosecond before its body ends, at that instant, or later.
func (s *scenario) Breaks(seq int64, at clock.Instant) clock.Instant {
	id := s.arrival(seq)
	if !s.happens(broken, id, s.breaks) {
		return clock.Never
	}
	d := s.streams[broken].Draw(id)
	return s.before(at + pick(&d, -1, 0, 1, clock.Instant(s.handover/2), s.grid))
}

// before returns at if faults still begin then.
func (s *scenario) before(at clock.Instant) clock.Instant {
	if s.late(at) {
		return clock.Never
	}
	return at
}

// Stopped draws how long an instance takes to stop.
func (s *scenario) Stopped(instance int64, at clock.Instant) clock.Instant {
	if s.lingers == 0 {
		return at
	}
	return at.Add(s.within(stopping, s.instance(instance), s.lingers))
}

var (
	_ sim.Platform = (*scenario)(nil)
	_ sim.Faults   = faults{}
)
