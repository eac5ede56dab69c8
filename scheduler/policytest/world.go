package policytest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// world is a host: it makes happen what a core decides, in virtual time, and keeps books of its own.
//
// Note: it is not built on sim. What judges policies should not share a mistake with what they run on.
type world struct {
	o    Options
	s    scenario
	core *scheduler.Core
	now  clock.Instant
	cfg  scheduler.Config

	pending   []planned
	requests  []request  // by id; [0] is unused
	instances []instance // by id; [0] is unused
	past      int        // all instances before it have gone
	waiting   int
	hungry    clock.Instant // since when requests wait while nothing lives; Never: they do not
	log       []scheduler.Action

	// The log and all draws count from here, so that two plays of one world can be compared.
	start    clock.Instant
	requestN int
	instN    int
}

type planned struct {
	at  clock.Instant
	ev  scheduler.Event
	cfg scheduler.Config // of a Configure
}

type request struct {
	ended, waits bool
	inst         scheduler.InstanceID
}

type instance struct {
	ready, stopping, gone bool
	inFlight              int
}

func newWorld(p scheduler.Policy, o Options, s scenario) *world {
	w := &world{
		o: o, s: s, cfg: scheduler.Config{Min: s.min, Max: s.max, Limit: o.Limit},
		requests: make([]request, 1), instances: make([]instance, 1), hungry: clock.Never,
	}
	w.core = scheduler.New(p, w.cfg, s.seed)
	w.absorb(w.core.Configure(nil, 0, w.cfg))
	return w
}

func (w *world) broken(rule Rule, format string, args ...any) {
	panic(Violation{rule, w.s.seed, w.now, fmt.Sprintf(format, args...)})
}

// play brings the arrivals of the scenario, the first at start or later, and runs until everything is over.
func (w *world) play(start clock.Instant) {
	w.start, w.requestN, w.instN, w.log = start, len(w.requests), len(w.instances), nil
	for k, at := range w.s.arrivals {
		id := scheduler.RequestID(w.requestN + k)
		w.plan(start+at, scheduler.Event{Kind: scheduler.Arrival, Req: id})
		if w.s.happens(leaveTime, int64(k), w.s.leave) {
			wait := w.s.within(leaveTime, int64(k), 4*time.Second)
			w.plan(start+at.Add(wait), scheduler.Event{Kind: scheduler.Cancel, Req: id})
		}
	}
	last := start + w.s.arrivals[len(w.s.arrivals)-1]
	if w.s.reconfigure {
		w.planLimits(start, last)
	}
	w.until(last.Add(w.o.Settle))
	w.over()
}

// planLimits lowers and raises the limits during the run, and brings the first ones back.
func (w *world) planLimits(start, last clock.Instant) {
	tight := scheduler.Config{Max: 1, Limit: w.o.Limit}
	loose := scheduler.Config{Min: 3, Max: 8, Limit: w.o.Limit}
	step := (last - start) / 6
	for k, cfg := range []scheduler.Config{loose, tight, loose, {Limit: w.o.Limit}, w.cfg} {
		w.pending = append(w.pending, planned{start + clock.Instant(k+1)*step, scheduler.Event{Kind: scheduler.Configure}, cfg})
	}
}

func (w *world) plan(at clock.Instant, ev scheduler.Event) {
	w.pending = append(w.pending, planned{at: at, ev: ev})
}

// until runs up to and including the instant end.
func (w *world) until(end clock.Instant) {
	for {
		at := clock.Never
		k := w.nextPlanned()
		if k >= 0 {
			at = w.pending[k].at
		}
		due := w.core.Next()
		switch {
		case min(at, due) > end:
			w.step(end, func() []scheduler.Action { return w.core.Advance(nil, end) })
			return
		case due < at:
			w.step(due, func() []scheduler.Action { return w.core.Advance(nil, due) })
		default:
			p := w.pending[k]
			w.pending = slices.Delete(w.pending, k, k+1)
			w.step(at, func() []scheduler.Action { return w.tell(p) })
		}
	}
}

// nextPlanned returns the index of the next event in order of instant, kind and id, or -1.
func (w *world) nextPlanned() int {
	best := -1
	for k, p := range w.pending {
		if best < 0 || order(p, w.pending[best]) < 0 {
			best = k
		}
	}
	return best
}

func order(a, b planned) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.ev.Kind, b.ev.Kind),
		cmp.Compare(a.ev.Req, b.ev.Req), cmp.Compare(a.ev.Inst, b.ev.Inst))
}

// step is one call of the core with all that is checked after it.
func (w *world) step(at clock.Instant, call func() []scheduler.Action) {
	w.now = at
	events, load := w.core.Events(), w.waiting+len(w.instances)
	acts := call()
	if most := int(w.core.Events()-events)*8 + 2*(load+w.cfg.Min+w.waiting); len(acts) > most+8 {
		w.broken(Bounded, "%d acts in one step", len(acts))
	}
	w.absorb(acts)
	w.judge()
}

// tell writes a planned event into the books and steps the core.
func (w *world) tell(p planned) []scheduler.Action {
	switch p.ev.Kind {
	case scheduler.Configure:
		w.cfg = p.cfg
		return w.core.Configure(nil, p.at, p.cfg)
	case scheduler.Arrival:
		w.requests = append(w.requests, request{})
	case scheduler.Done:
		if in := &w.instances[w.requests[p.ev.Req].inst]; !in.gone {
			in.inFlight--
		}
	case scheduler.Ready:
		in := &w.instances[p.ev.Inst]
		in.ready = !in.stopping && !in.gone
	case scheduler.Failed, scheduler.Stopped:
		w.instances[p.ev.Inst].gone = true
	default:
	}
	return w.core.Step(nil, p.at, p.ev)
}
