package gateway

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/realclock"
	"coldwave/internal/rng"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/sim"
	"coldwave/workload"
)

// TestLoopParity: under every policy the real-time loop decides what the simulator decides, action for action, with the
// instants and codes of them, on requests, faults and changes of limits of which many come at one instant (U-1). The
// loop has a fleet in memory that tells it what happens, simultaneous events in any order. $SEEDS sets how many seeds.
func TestLoopParity(t *testing.T) {
	n, err := strconv.ParseUint(cmp.Or(os.Getenv("SEEDS"), "20"), 10, 64)
	if err != nil || n == 0 {
		t.Fatalf("SEEDS=%s: give a number of seeds, 1 or more", os.Getenv("SEEDS"))
	}
	seen := &sightings{count: map[string]int{}}
	t.Cleanup(func() { seen.demand(t, len(policies.All())*int(n)) })
	for _, e := range policies.All() {
		t.Run(e.Name, func(t *testing.T) {
			for seed := uint64(1); seed <= n; seed++ {
				t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
					t.Parallel()
					w := worldOf(seed)
					want := w.simulate(t, e, seen)
					synctest.Test(t, func(t *testing.T) {
						if err := w.compare(e, want, w.loop(t, e, nil)); err != nil {
							t.Error(err)
						}
					})
				})
			}
		})
	}
}

// course is what one driver made of a world.
type course struct {
	actions       []scheduler.Action
	events, stale int64
}

// simulate runs the world in the simulator.
func (w *world) simulate(t *testing.T, e policies.Entry, seen *sightings) course {
	t.Helper()
	witness := &witness{Policy: mustPolicy(w.reading(e))}
	res, err := sim.Run(sim.Config{
		Schedule: w.schedule, Policy: witness, Limits: w.limits, Nodes: w.nodes, Changes: w.changes, Platform: w, Faults: mishaps{world: w},
		Resources: w.shared, Handover: w.handover, Seed: w.seed, Trace: sim.Actions,
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.End.Sub(0) > w.schedule.Length {
		t.Fatalf("%s: requests are under way until %v, after the length %v: make the world longer", w.reading(e), res.End, w.schedule.Length)
	}
	if seen != nil {
		seen.add(witness, res)
	}
	return course{res.Actions, res.Events, res.Stale}
}

// loop runs the world in the real-time loop, in a bubble. Late says by how much the fleet tells an event too late, as no
// correct fleet does; nil: none.
func (w *world) loop(t *testing.T, e policies.Entry, late func(scheduler.Event) time.Duration) course {
	t.Helper()
	f := newMemoryFleet(w, mustPolicy(w.reading(e)))
	if late != nil {
		f.late = late
	}
	stop := runLoop(f.loop)
	var clients sync.WaitGroup
	clients.Go(func() { f.send(t) })
	clients.Go(func() { f.sample(t) })
	if err := f.clock.WaitUntil(t.Context(), clock.Instant(w.schedule.Length)); err != nil {
		t.Error(err)
	}
	clients.Wait()
	if err := stop(); err != nil {
		t.Error(err)
	}
	return course{f.acts, f.core.Events(), f.core.Stale()}
}

// memoryFleet is clients and instances without sockets. It carries out what the loop decides by telling it later what
// came of it. What is not under the lock belongs to the loop's goroutine.
type memoryFleet struct {
	w      *world
	clock  *realclock.Clock
	core   *scheduler.Core
	policy scheduler.Policy
	loop   *Loop
	late   func(scheduler.Event) time.Duration
	last   scheduler.RequestID
	calls  []*workload.Arrival // by id; [0] is unused
	acts   []scheduler.Action

	mu  sync.Mutex
	due map[clock.Instant][]Message

	machines machines
}

func newMemoryFleet(w *world, p scheduler.Policy) *memoryFleet {
	f := &memoryFleet{
		w: w, clock: realclock.Timers(time.Now()), core: scheduler.NewOn(p, w.limits, w.nodes, w.seed), policy: p, calls: make([]*workload.Arrival, 1),
		late: func(scheduler.Event) time.Duration { return 0 }, due: map[clock.Instant][]Message{},
	}
	f.machines.of = map[scheduler.InstanceID]*machine{}
	f.loop = NewLoop(f.clock, f.core, f.carry, nil)
	f.loop.Settle = synctest.Wait
	for _, c := range w.changes {
		f.plan(c.At, Message{Event: scheduler.Event{Kind: scheduler.Configure}, Admit: func(at clock.Instant, _ *scheduler.Event) bool {
			for _, a := range f.core.Configure(nil, at, c.Limits) {
				f.carry(a)
			}
			return false
		}})
	}
	return f
}

// send posts the arrivals, each at the instant at which the scheduler is to see it.
func (f *memoryFleet) send(t *testing.T) {
	for k, a := range f.w.sent() {
		late := f.late(scheduler.Event{Kind: scheduler.Arrival, Req: scheduler.RequestID(k + 1)})
		if err := f.clock.WaitUntil(t.Context(), a.At.Add(a.Demand.Pre+late)); err != nil {
			t.Error(err)
		}
		f.loop.Post(Message{Event: scheduler.Event{Kind: scheduler.Arrival}, Admit: func(at clock.Instant, ev *scheduler.Event) bool {
			f.last++
			ev.Req = f.last
			f.calls = append(f.calls, &a)
			f.consequence(at, mishaps{world: f.w}.Leaves(a.Seq, at), scheduler.Event{Kind: scheduler.Cancel, Req: f.last})
			return true
		}})
	}
}

// sent returns the arrivals in the order in which the scheduler is to see them.
func (w *world) sent() []workload.Arrival {
	return slices.SortedStableFunc(slices.Values(w.schedule.Arrivals), func(a, b workload.Arrival) int {
		return cmp.Compare(a.At.Add(a.Demand.Pre), b.At.Add(b.Demand.Pre))
	})
}

// plan tells the loop of an event at an instant.
func (f *memoryFleet) plan(at clock.Instant, m Message) {
	at = at.Add(f.late(m.Event))
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.due[at] == nil {
		time.AfterFunc(at.Sub(f.clock.Now()), func() { f.tell(at) })
	}
	f.due[at] = append(f.due[at], m)
}

// tell posts what is due at an instant, in an order that the seed chooses: the loop has to put it right.
func (f *memoryFleet) tell(at clock.Instant) {
	f.mu.Lock()
	all := f.due[at]
	delete(f.due, at)
	f.mu.Unlock()
	d := rng.NewKey(f.w.seed, "parity order").Draw(int64(at))
	for k := len(all); k > 0; k-- {
		pick := d.Int64N(int64(k))
		f.loop.Post(all[pick])
		all[pick] = all[k-1]
	}
}

// consequence plans an event that follows from one at now, if it is to come. No delay is zero.
func (f *memoryFleet) consequence(now, at clock.Instant, ev scheduler.Event) {
	if at == clock.Never {
		return
	}
	m := Message{Event: ev}
	if ev.Kind == scheduler.Failed {
		m.Admit = f.gone
	}
	f.plan(max(at, now+1), m)
}

func (f *memoryFleet) carry(a scheduler.Action) {
	f.acts = append(f.acts, a)
	switch a.Do {
	case scheduler.Assign:
		f.assign(a)
	case scheduler.Start:
		f.start(a)
	case scheduler.Stop: // may be over at once if no policy reads that; on a node one does
		at := max(a.At, mishaps{world: f.w}.Stopped(int64(a.Inst), a.At))
		if f.w.nodes.On() {
			at = max(at, a.At+1)
		}
		f.plan(at, Message{Event: scheduler.Event{Kind: scheduler.Stopped, Inst: a.Inst}, Admit: f.gone})
	default:
	}
}

func (f *memoryFleet) assign(a scheduler.Action) {
	call, how := f.calls[a.Req], record.OK
	if f.w.RequestFails(call.Seq) {
		how = record.HTTPError
	}
	over := a.At.Add(call.Demand.Exec)
	if f.w.shared.Modelled() {
		f.begin(a, call.Demand, how)
	} else {
		f.consequence(a.At, over.Add(f.w.handover), scheduler.Event{Kind: scheduler.Done, Code: uint8(how), Req: a.Req})
	}
	f.consequence(a.At, mishaps{world: f.w}.Breaks(call.Seq, over), scheduler.Event{Kind: scheduler.Failed, Inst: a.Inst})
}

func (f *memoryFleet) start(a scheduler.Action) {
	up := f.w.StartUp(int64(a.Inst), workload.Demand{})
	if f.core.Cached(a.Inst) {
		up = up.Without(platform.StageDownload)
	}
	if up.Fails {
		f.consequence(a.At, a.At.Add(up.Total), scheduler.Event{Kind: scheduler.Failed, Inst: a.Inst})
		return
	}
	f.plan(a.At.Add(up.Total), Message{Event: scheduler.Event{Kind: scheduler.Ready, Inst: a.Inst}, Admit: f.ready})
}

// ready plans the crash of an instance, unless it has ended or must.
func (f *memoryFleet) ready(at clock.Instant, ev *scheduler.Event) bool {
	if f.core.State(ev.Inst) == scheduler.Starting {
		crash := mishaps{world: f.w}.Crashes(int64(ev.Inst), at)
		f.consequence(at, crash, scheduler.Event{Kind: scheduler.Failed, Inst: ev.Inst})
		f.equip(at, ev.Inst)
	}
	return true
}

// disagreement is the first action in which the loop differs from the simulator. An action that one of them does not
// have is the zero Action there, of which the length tells.
type disagreement struct {
	spec      string
	repeat    string // the command
	seed      uint64
	index     int
	sim, loop scheduler.Action
	of        [2]int // actions of the simulator and of the loop
}

func (d *disagreement) Error() string {
	side := func(name string, n int, a scheduler.Action) string {
		if d.index >= n {
			return fmt.Sprintf("%s: none, it has only %d", name, n)
		}
		return fmt.Sprintf("%s: %v at %v (do %d, code %d, status %d, instance %d, request %d, instant %d)",
			name, a, a.At, a.Do, a.Code, a.Status, a.Inst, a.Req, a.At)
	}
	return fmt.Sprintf("%s, seed %d: action %d differs\n%s\n%s\nrepeat it with: %s", d.spec, d.seed, d.index,
		side("simulator", d.of[0], d.sim), side("loop", d.of[1], d.loop), d.repeat)
}

// compare returns the first difference between the courses of both drivers, as a *disagreement if it is one of actions.
func (w *world) compare(e policies.Entry, want, got course) error {
	d := &disagreement{spec: w.reading(e), seed: w.seed, of: [2]int{len(want.actions), len(got.actions)}}
	d.repeat = fmt.Sprintf("SEEDS=%d go test ./gateway -run '^TestLoopParity$/^%s$/^seed=%d$'", max(w.seed, 20), e.Name, w.seed)
	for d.index < min(d.of[0], d.of[1]) && want.actions[d.index] == got.actions[d.index] {
		d.index++
	}
	if d.index < max(d.of[0], d.of[1]) {
		if d.index < d.of[0] {
			d.sim = want.actions[d.index]
		}
		if d.index < d.of[1] {
			d.loop = got.actions[d.index]
		}
		return d
	}
	if want.events != got.events || want.stale != got.stale {
		return fmt.Errorf("%s, seed %d: the simulator handled %d events and %d late ones, the loop %d and %d\nrepeat it with: %s",
			d.spec, d.seed, want.events, want.stale, got.events, got.stale, d.repeat)
	}
	return nil
}

// witness takes note of which kinds of event a policy sees at one instant.
type witness struct {
	scheduler.Policy
	at    clock.Instant
	kinds uint16 // bit k: kind k
	sets  []uint16

	failed  uint8   // code of the last Failed
	samples []int64 // values of Sample
}

func (p *witness) Samples() bool { return scheduler.WantsSamples(p.Policy) }

func (p *witness) Handle(c *scheduler.Control, ev scheduler.Event) {
	if c.Now() != p.at {
		p.sets = append(p.sets, p.kinds)
		p.at, p.kinds = c.Now(), 0
	}
	p.kinds |= 1 << ev.Kind
	switch ev.Kind {
	case scheduler.Failed:
		p.failed = ev.Code
	case scheduler.Sample:
		p.samples = append(p.samples, ev.Value)
	default:
	}
	p.Policy.Handle(c, ev)
}

// ties are what must come at one instant.
var ties = []struct {
	name  string
	kinds uint16
}{
	{"a slot is freed and a request arrives", 1<<scheduler.Done | 1<<scheduler.Arrival},
	{"an instance becomes ready and a request arrives", 1<<scheduler.Ready | 1<<scheduler.Arrival},
	{"a slot is freed and an instance becomes ready", 1<<scheduler.Done | 1<<scheduler.Ready},
	{"a slot is freed and a wait limit is over", 1<<scheduler.Done | 1<<scheduler.Timer},
	{"an instance becomes ready and a wait limit is over", 1<<scheduler.Ready | 1<<scheduler.Timer},
	{"a wait limit is over and a request arrives", 1<<scheduler.Timer | 1<<scheduler.Arrival},
	{"an instance ends and a slot is freed on another", 1<<scheduler.Failed | 1<<scheduler.Done},
	{"an instance ends and a request arrives", 1<<scheduler.Failed | 1<<scheduler.Arrival},
	{"a client leaves and a request arrives", 1<<scheduler.Cancel | 1<<scheduler.Arrival},
	{"a client leaves and an instance becomes ready", 1<<scheduler.Cancel | 1<<scheduler.Ready},
	{"idle instances are reclaimed and a request arrives", 1<<scheduler.Tick | 1<<scheduler.Arrival},
	{"limits change and a request arrives", 1<<scheduler.Configure | 1<<scheduler.Arrival},
	{"an instance is sampled and a slot is freed", 1<<scheduler.Sample | 1<<scheduler.Done},
	{"an instance is sampled and a request arrives", 1<<scheduler.Sample | 1<<scheduler.Arrival},
}

// sightings count what must have been seen, so that parity is no parity of runs in which nothing happens.
type sightings struct {
	mu    sync.Mutex
	runs  int
	count map[string]int
}

// states are what must have happened, beside the ties.
var states = []string{
	"a start failed", "an instance crashed", "a request was rejected", "a request was lost", "a waiting client left",
	"a client left while it was served", "an instance stopped", "an event came too late", "a start skipped the download", "a node was given back",
	"an instance ran out of memory",
}

func (s *sightings) add(w *witness, res sim.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs++
	for _, tie := range ties {
		for _, kinds := range w.sets {
			s.note(tie.name, kinds&tie.kinds == tie.kinds)
		}
	}
	for _, in := range res.Instances {
		s.note("a start failed", in.Failed && in.Ready == clock.Never)
		s.note("an instance crashed", in.Failed && in.Ready != clock.Never)
		s.note("a start skipped the download", in.Cached)
		s.note("an instance ran out of memory", in.Failure != "")
	}
	for _, a := range res.Actions {
		left := a.Do == scheduler.End && a.Status == 499
		s.note("a request was rejected", a.Do == scheduler.Reject)
		s.note("a request was lost", a.Do == scheduler.Lost)
		s.note("a waiting client left", left && a.Inst == 0)
		s.note("a client left while it was served", left && a.Inst != 0)
		s.note("an instance stopped", a.Do == scheduler.Stop)
		s.note("a node was given back", a.Do == scheduler.Reclaim)
	}
	s.note("an event came too late", res.Stale > 0)
}

func (s *sightings) note(name string, seen bool) {
	if seen {
		s.count[name]++
	}
}

// demand fails the test for what was never seen in all runs. Where only some of them were asked for it only tells.
func (s *sightings) demand(t *testing.T, runs int) {
	names := slices.Clone(states)
	for _, tie := range ties {
		names = append(names, tie.name)
	}
	var table strings.Builder
	for _, name := range names {
		fmt.Fprintf(&table, "\n%7d × %s", s.count[name], name)
		if s.count[name] == 0 && s.runs == runs && runs >= 20 {
			t.Errorf("never in %d runs: %s", runs, name)
		}
	}
	t.Logf("%d runs of %d requests:%s", s.runs, parityArrivals, &table)
}
