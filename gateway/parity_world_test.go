package gateway

import (
	"strconv"
	"strings"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/platform"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/sim"
	"coldwave/workload"
)

// parityArrivals is how many requests one seed of the loop's parity has.
const parityArrivals = 2000

// tie is the grid on which a world's events lie, so that many come at one instant. A second is a multiple of it: full
// seconds, at which idle instances are reclaimed, are on it too.
const tie = 10 * time.Millisecond

// world is what one seed does to both drivers alike: requests, service times, start-ups, and what goes wrong. It is
// their platform. Each answer is keyed by the id that it is about, so neither driver's order of questions matters.
type world struct {
	seed     uint64
	limits   scheduler.Config
	nodes    scheduler.Nodes
	changes  []sim.Change
	handover time.Duration
	lingers  int64   // an instance that is told to stop takes up to so many ties
	fail     float64 // share of starts that fail
	crash    float64 // share of instances that end by themselves
	breaks   float64 // share of requests that end their instance, around the instant of their answer
	leave    float64 // share of clients that go away
	shared   platform.Resources
	schedule *workload.Schedule
}

// worldOf draws the world of a seed. What goes wrong is left out of some seeds altogether.
func worldOf(seed uint64) *world {
	d := rng.NewKey(seed, "parity").Draw(0)
	w := &world{
		seed: seed, handover: time.Duration(oneOf(&d, 0, 1, 3)) * tie, lingers: oneOf[int64](&d, 0, 0, 20),
		fail: oneOf(&d, 0, 0.1, 0.3), crash: oneOf(&d, 0, 0.2, 0.5), breaks: oneOf(&d, 0, 0.02), leave: oneOf(&d, 0, 0.1, 0.3),
		limits: scheduler.Config{Max: oneOf(&d, 4, 9, 20, scheduler.Unlimited), Min: oneOf(&d, 0, 0, 2), Limit: oneOf[int32](&d, 1, 1, 1, 3)},
	}
	w.nodes = oneOf(&d, scheduler.Nodes{}, scheduler.Nodes{Count: 3, Slots: 2, Keep: 2 * time.Second, Cache: true}, scheduler.Nodes{Count: 10, Slots: 4, Keep: 500 * time.Millisecond, Cache: true})
	w.share()
	w.schedule = &workload.Schedule{Seed: seed, Function: workload.Function{Name: "f", Concurrency: int(w.limits.Limit)}}
	at := clock.Instant(0)
	for seq := range int64(parityArrivals) {
		at = at.Add(gap(&d))
		w.schedule.Arrivals = append(w.schedule.Arrivals, workload.Arrival{Seq: seq, At: at, Wave: -1, Demand: w.demand(seq)})
	}
	if oneOf(&d, false, true) {
		w.change(at)
	}
	// A wait limit of a minute and all that follows are over by then. Nothing happens at this very instant.
	w.schedule.Length = time.Duration(at) + 2*time.Minute + tie/3
	return w
}

// gap draws the time to the next arrival: most come together or soon, and now and then there is a pause in which idle
// instances are reclaimed.
func gap(d *rng.Draw) time.Duration {
	switch p := d.Int64N(1000); {
	case p < 600:
		return 0
	case p < 970:
		return tie * time.Duration(1+d.Int64N(4))
	case p < 995:
		return tie * time.Duration(10+d.Int64N(40))
	default:
		return time.Second + tie*time.Duration(d.Int64N(400))
	}
}

// change lowers and raises the limits on the way to the last arrival, and brings the first ones back.
func (w *world) change(last clock.Instant) {
	n := w.limits.Limit
	all := []scheduler.Config{{Max: 2, Limit: n}, {Min: 3, Max: 8, Limit: n}, {Limit: n}, w.limits}
	step := last / clock.Instant(len(all)+1)
	for k, limits := range all {
		at := clock.Instant(k+1) * step
		w.changes = append(w.changes, sim.Change{At: at - at%clock.Instant(tie), Limits: limits})
	}
}

// share lets bodies share CPU in a half of the worlds, with periodic work in the background, and in some the last request
// that an instance may have is one too many for its memory. Peaks begin off the grid.
func (w *world) share() {
	d := rng.NewKey(w.seed, "parity shares").Draw(0)
	if d.Int64N(2) == 0 {
		return
	}
	w.shared = platform.Resources{MilliCPUs: oneOf[int64](&d, 300, 500, 1000), Threads: oneOf(&d, 1, 2)}
	if d.Int64N(2) == 0 {
		w.shared.Background = platform.Background{Milli: 20, Peak: 200, Every: 3*time.Second + tie/3, For: 2*tie + 1}
	}
	if n := int64(w.limits.Limit); n > 1 && d.Int64N(2) == 0 {
		w.shared.Memory = platform.Memory{Base: 1, Request: 10, Limit: 10 * n}
	}
}

// demand is on the grid: what a body computes too, and what it waits for.
func (w *world) demand(seq int64) workload.Demand {
	d := rng.NewKey(w.seed, "parity demand").Draw(seq)
	demand := workload.Demand{Exec: tie * time.Duration(1+d.Int64N(16)), Pre: tie * oneOf[time.Duration](&d, 0, 0, 0, 1, 3)}
	if w.shared.Modelled() {
		demand.CPU = oneOf(&d, 0, min(demand.Exec, tie), demand.Exec/2, demand.Exec)
	}
	return demand
}

// StartUp takes up to sixty ties.
func (w *world) StartUp(instance int64, _ workload.Demand) platform.StartUp {
	d := rng.NewKey(w.seed, "parity start-up").Draw(instance)
	n := time.Duration(1 + d.Int64N(60))
	up := platform.StartUp{Total: tie * n, Fails: d.Float64() < w.fail}
	up.Stages[platform.StageDownload] = tie * (n / 4)
	return up
}

// RequestFails is true for one body in sixteen.
func (w *world) RequestFails(seq int64) bool {
	d := rng.NewKey(w.seed, "parity error").Draw(seq)
	return d.Int64N(16) == 0
}

// fewest stands for the smallest value that a parameter takes.
const fewest = "fewest"

// reading is the policy of an entry with the parameters that the seed chooses. Limits of time are short and on the grid,
// so that deadlines and reclaims are among the ties.
func (w *world) reading(e policies.Entry) string {
	spec, sep := e.Name, ":"
	for k, try := range []struct{ name, value string }{
		{"idle_timeout", "1s"}, {"wait_timeout", "300ms"}, {"start_retries", fewest}, {"start_per_request", "true"},
	} {
		d := rng.NewKey(w.seed, "parity reading").Draw(int64(k))
		for _, p := range e.Params {
			if p.Name == try.name && d.Int64N(4) > int64(k) {
				value := strings.ReplaceAll(try.value, fewest, strconv.FormatInt(p.Min, 10))
				spec, sep = spec+sep+try.name+"="+value, ","
			}
		}
	}
	return spec
}

// mishaps are the faults of a world.
type mishaps struct {
	sim.NoFaults
	*world
}

// StartUp changes nothing: the platform lets starts fail.
func (mishaps) StartUp(_ int64, _ clock.Instant, up platform.StartUp) platform.StartUp { return up }

// happens draws whether and when something of that share happens to id: within so many ties from at on.
func (m mishaps) happens(name string, id int64, share float64, at clock.Instant, ties int64) clock.Instant {
	d := rng.NewKey(m.seed, name).Draw(id)
	if d.Float64() >= share {
		return clock.Never
	}
	return at.Add(tie * time.Duration(d.Int64N(ties)))
}

// Leaves lets clients go while they wait, while they are served, and after their answer.
func (m mishaps) Leaves(seq int64, at clock.Instant) clock.Instant {
	return m.happens("parity leave", seq, m.leave, at, 60)
}

// Crashes ends instances a while after they became ready.
func (m mishaps) Crashes(instance int64, at clock.Instant) clock.Instant {
	return m.happens("parity crash", instance, m.crash, at, 300)
}

// Breaks ends instances just before, at and just after the end of a body.
func (m mishaps) Breaks(seq int64, at clock.Instant) clock.Instant {
	return m.happens("parity break", seq, m.breaks, at.Add(-tie), 5)
}

// Stopped lets an instance linger.
func (m mishaps) Stopped(instance int64, at clock.Instant) clock.Instant {
	return m.happens("parity stop", instance, 1, at, 1+m.lingers)
}

func oneOf[T any](d *rng.Draw, of ...T) T { return of[d.Int64N(int64(len(of)))] }
