package scheduler

import (
	"reflect"
	"testing"

	"coldwave/internal/clock"
	"coldwave/record"
)

// TestDueBeforeEvent: a call first fires what fell due before, each at its own instant; at one instant the order of the
// kinds decides (U-1).
func TestDueBeforeEvent(t *testing.T) {
	var seen []string
	note := puppet(func(c *Control, ev Event) {
		seen = append(seen, c.Now().String()+" "+ev.Kind.String())
		switch ev.Kind {
		case Configure:
			c.Every(1, 50)
			c.Every(2, 100)
			c.Alarm(3, 100)
			c.Start(0, 0)
		case Arrival:
			c.Queue(ev.Req, max(100, c.Now()+1))
		case Timer:
			c.Reject(ev.Req, 503)
		default:
		}
	})
	tests := []struct {
		name string
		ev   Event
		want []string
	}{
		{"ready comes before what is due at its instant", ready(1), []string{"50ns tick", "100ns ready"}},
		{"an arrival comes after the deadlines of its instant, before the ticks", arrival(3),
			[]string{"50ns tick", "100ns timer", "100ns timer", "100ns arrival"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := begin(note, Config{Max: 1})
			drive(c, at{1, arrival(1)}, at{2, arrival(2)})
			seen = nil
			drive(c, at{100, tt.ev})
			same(t, "events", seen, tt.want)
			seen = nil
			if got := c.Next(); got != 100 {
				t.Errorf("Next() = %v, want 100ns", got)
			}
		})
	}
	t.Run("Advance fires all of its instant, ticks last and by name", func(t *testing.T) {
		c := begin(note, Config{Max: 1})
		drive(c, at{1, arrival(1)})
		seen = nil
		c.Advance(nil, 100)
		same(t, "events", seen, []string{"50ns tick", "100ns timer", "100ns tick", "100ns tick", "100ns tick"})
		if got := c.Next(); got != 150 {
			t.Errorf("Next() = %v, want 150ns", got)
		}
	})
}

// TestNextIsNeverLate: whatever falls due, Next has announced it.
func TestNextIsNeverLate(t *testing.T) {
	var fired clock.Instant
	c := begin(puppet(func(c *Control, ev Event) {
		switch ev.Kind {
		case Arrival:
			c.Queue(ev.Req, c.Now()+clock.Instant(1000/ev.Req)+1)
			c.Alarm(1, c.Now()+77)
		case Timer:
			fired = c.Now()
			c.Reject(ev.Req, 503)
		case Tick:
			fired = c.Now()
		default:
		}
	}), Config{})
	for k := range clock.Instant(300) {
		now := k * 20
		for c.Next() < now {
			next := c.Next()
			fired = clock.Never
			c.Advance(nil, next)
			if fired != clock.Never && fired != next {
				t.Fatalf("something fell due at %v, Next() said %v", fired, next)
			}
		}
		c.Step(nil, now, arrival(RequestID(k+1)))
		c.Check()
	}
}

// TestTies: at the instant of its deadline a request is served if a slot frees then (U-1).
func TestTies(t *testing.T) {
	c := begin(puppet(greedy), Config{Max: 1})
	drive(c, at{0, arrival(1)}, at{0, arrival(2)}, at{10, ready(1)})
	got := drive(c, at{1000, done(1)})
	same(t, "decisions", texts(got), []string{"1µs end r1 200", "1µs assign r2 i1 queued"})
	if got := c.Advance(nil, 1000); len(got) != 0 {
		t.Errorf("Advance = %v, want nothing: the deadline was met", got)
	}
}

// TestFailedTakesItsRequests: a crash ends all requests of the instance before the policy sees it, once each.
func TestFailedTakesItsRequests(t *testing.T) {
	c := begin(puppet(greedy), Config{Max: 1, Limit: 3})
	drive(c, at{0, arrival(1)}, at{0, arrival(2)}, at{0, arrival(3)}, at{0, arrival(4)}, at{10, ready(1)}, at{11, cancel(2)})
	got := drive(c, at{20, failed(1)}, at{21, done(1)}, at{21, done(2)}, at{21, done(3)})
	same(t, "decisions", texts(got), []string{"20ns lost r1 502", "20ns lost r3 502"})
	if c.Running() != 0 || c.Waiting() != 1 || c.Stale() != 3 {
		t.Errorf("%d run, %d wait, %d too late; want 0, 1, 3", c.Running(), c.Waiting(), c.Stale())
	}
}

// TestCancel: a client may go away at any time, and no slot leaks.
func TestCancel(t *testing.T) {
	told := 0
	c := begin(puppet(func(c *Control, ev Event) {
		if ev.Kind == Cancel {
			told++
		}
		greedy(c, ev)
	}), Config{Max: 1})
	got := drive(c,
		at{0, arrival(1)}, at{0, arrival(2)}, at{0, arrival(3)}, at{1, cancel(2)}, at{2, ready(1)},
		at{3, cancel(1)}, at{4, cancel(1)}, at{9, done(1)}, at{10, cancel(1)})
	same(t, "decisions", texts(got), []string{
		"0s queue r1", "0s start i1 for r1", "0s queue r2", "0s queue r3",
		"1ns end r2 499", "2ns assign r1 i1 cold",
		"3ns end r1 499",          // its slot is held
		"9ns assign r3 i1 queued", // until its body has ended; no second end of r1
	})
	if told != 1 || c.Stale() != 2 {
		t.Errorf("the policy was told %d times and %d events were too late, want 1 and 2", told, c.Stale())
	}
}

// TestDraining: a busy instance that is stopped gets no new request and stops after its last.
func TestDraining(t *testing.T) {
	c := begin(puppet(greedy), Config{Max: 2, Limit: 2})
	drive(c, at{0, arrival(1)}, at{0, arrival(2)}, at{1, ready(1)}, at{1, ready(2)})
	got := c.Configure(nil, 2, Config{Max: 0})
	same(t, "decisions", texts(got), []string{"2ns stop i2"})
	if c.State(1) != Draining || c.State(2) != Stopping || c.Alive() != 0 || c.Draining() != 1 {
		t.Errorf("i1 is %v, i2 is %v, %d alive, %d draining", c.State(1), c.State(2), c.Alive(), c.Draining())
	}
	got = drive(c, at{3, done(1)}, at{4, stoppedEv(2)}, at{5, done(2)}, at{6, failed(1)}, at{7, stoppedEv(1)})
	same(t, "decisions", texts(got), []string{"3ns end r1 200", "5ns end r2 200", "5ns stop i1"})
	if c.Stale() != 1 {
		t.Errorf("%d events were too late, want 1: the end of what has failed", c.Stale())
	}
}

// TestReadyAfterStop: a start that is stopped may still report, too late.
func TestReadyAfterStop(t *testing.T) {
	c := begin(puppet(greedy), Config{Max: 1})
	drive(c, at{0, arrival(1)})
	c.Configure(nil, 1, Config{})
	drive(c, at{2, ready(1)}, at{3, stoppedEv(1)}, at{4, ready(1)})
	if c.Stale() != 2 || c.Up(1) {
		t.Errorf("%d events were too late, want 2", c.Stale())
	}
}

// TestDispatched: a request was dispatched when it was assigned, for as long as it is on its instance.
func TestDispatched(t *testing.T) {
	c := begin(puppet(greedy), Config{Max: 1})
	check := func(name string, r RequestID, want clock.Instant) {
		t.Helper()
		if got := c.Dispatched(r); got != want {
			t.Errorf("%s: Dispatched(r%d) = %v, want %v", name, r, got, want)
		}
	}
	drive(c, at{0, arrival(1)}, at{5, arrival(2)})
	check("it waits", 1, clock.Never)
	drive(c, at{10, ready(1)})
	check("it runs since the instance was ready", 1, 10)
	drive(c, at{20, Event{Kind: Cancel, Req: 1}})
	check("its client has gone, its slot is held", 1, 10)
	drive(c, at{30, done(1)})
	check("it has ended", 1, clock.Never)
	check("it took the freed slot", 2, 30)
}

// TestStartKinds: the label of each way to an instance, and whose start it was.
func TestStartKinds(t *testing.T) {
	c := begin(puppet(greedy), Config{Max: 2, Limit: 2})
	var got []Dispatch
	step := func(now clock.Instant, ev Event) {
		for _, a := range c.Step(nil, now, ev) {
			if a.Do == Assign {
				got = append(got, c.Account(a))
			}
		}
	}
	step(0, arrival(1))  // starts i1
	step(10, arrival(2)) // starts i2
	step(20, arrival(3))
	step(30, arrival(4))
	step(100, ready(2)) // serves r1, r2
	step(150, done(1))  // serves r3
	step(200, ready(1)) // serves r4
	step(210, arrival(5))
	want := []Dispatch{
		{Inst: 2, Cause: 2, Since: 0, At: 100, Init: 90, Queue: 10, Start: record.Cold, StartBy: record.ByOther, First: true},
		{Inst: 2, Cause: 2, Since: 10, At: 100, Init: 90, Start: record.ColdWait, StartBy: record.ByOwn},
		{Inst: 2, Cause: 2, Since: 20, At: 150, Init: 80, Queue: 50, Start: record.Queued, StartBy: record.ByNone},
		{Inst: 1, Cause: 1, Since: 30, At: 200, Init: 170, Start: record.Cold, StartBy: record.ByOther, First: true},
		{Inst: 1, Cause: 1, Since: 210, At: 210, Start: record.Warm, StartBy: record.ByNone},
	}
	for k := range min(len(got), len(want)) {
		if got[k] != want[k] {
			t.Errorf("account %d = %+v, want %+v", k+1, got[k], want[k])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d requests were assigned, want %d", len(got), len(want))
	}
	if got := c.Account(Action{Do: Assign, Req: 99, Inst: 1}); got != (Dispatch{}) {
		t.Errorf("Account of an unknown request = %+v, want nothing", got)
	}
}

// TestAccountWithinOneCall: an assignment can be accounted for even if the same call has ended the request.
func TestAccountWithinOneCall(t *testing.T) {
	c := begin(puppet(func(c *Control, ev Event) {
		switch ev.Kind {
		case Configure:
			c.Start(0, 0)
		case Arrival:
			c.Queue(ev.Req, c.Now()+10)
		case Timer:
			c.Assign(ev.Req, 1)
		default:
		}
	}), Config{Max: 1})
	drive(c, at{1, ready(1)}, at{2, arrival(1)})
	acts := drive(c, at{20, failed(1)})
	same(t, "decisions", texts(acts), []string{"12ns assign r1 i1 cold", "20ns lost r1 502"})
	want := Dispatch{Inst: 1, Since: 2, At: 12, Queue: 10, Start: record.Cold, StartBy: record.ByNone}
	if got := c.Account(acts[0]); got != want {
		t.Errorf("Account = %+v, want %+v", got, want)
	}
}

// TestInstances: what watchers see.
func TestInstances(t *testing.T) {
	c := begin(puppet(greedy), Config{Max: 3, Limit: 2})
	drive(c, at{0, arrival(1)}, at{5, arrival(2)}, at{10, ready(1)}, at{20, done(1)}, at{30, done(2)}, at{40, arrival(3)})
	c.Step(nil, 50, failed(2))
	if got, ok := c.Instance(2); !ok || got.State != Gone || got.Ready != clock.Never {
		t.Errorf("Instance(2) = %+v, %v; one that just ended is still known", got, ok)
	}
	c.Advance(nil, 60)
	want := Instance{ID: 1, State: Busy, InFlight: 1, Limit: 2, Served: 2, Cause: 1, Ready: 10, Since: 40, Busy: 40}
	got := c.Instances(nil)
	if len(got) != 1 || got[0] != want {
		t.Errorf("Instances = %+v, want %+v", got, want)
	}
	load := Load{Running: 1, Busy: 1, Arrived: 3, Started: 2, Events: 8}
	if got := c.Load(); got != load {
		t.Errorf("Load = %+v, want %+v", got, load)
	}
}

// TestSample: load reports reach the policy while the instance can serve.
func TestSample(t *testing.T) {
	var got []int64
	c := begin(puppet(func(c *Control, ev Event) {
		if ev.Kind == Sample {
			got = append(got, ev.Value)
		}
		greedy(c, ev)
	}), Config{Max: 1})
	sample := func(v int64) Event { return Event{Kind: Sample, Inst: 1, Value: v} }
	drive(c, at{0, arrival(1)}, at{1, sample(1)}, at{2, ready(1)}, at{3, sample(2)}, at{4, failed(1)}, at{5, sample(3)})
	if len(got) != 1 || got[0] != 2 || c.Stale() != 2 {
		t.Errorf("samples %v, %d too late; want [2], 2", got, c.Stale())
	}
}

// TestEventValues: the core fills in what only it knows.
func TestEventValues(t *testing.T) {
	var got []Event
	c := begin(puppet(func(c *Control, ev Event) {
		got = append(got, ev)
		greedy(c, ev)
	}), Config{Max: 1})
	drive(c, at{0, arrival(1)}, at{70, ready(1)}, at{100, Event{Kind: Done, Req: 1, Code: uint8(record.HTTPError)}})
	want := []Event{
		{Kind: Configure}, {Kind: Arrival, Req: 1}, {Kind: Ready, Inst: 1, Value: 70},
		{Kind: Done, Code: uint8(record.HTTPError), Inst: 1, Req: 1, Value: 30},
	}
	for k := range want {
		if k >= len(got) || got[k] != want[k] {
			t.Fatalf("events = %+v, want %+v", got, want)
		}
	}
}

// TestTicks: a name has one tick, periods keep their grid, an alarm fires once and can be taken back.
func TestTicks(t *testing.T) {
	var seen []string
	c := begin(puppet(func(c *Control, ev Event) {
		switch ev.Kind {
		case Configure:
			c.Every(1, 10)
			c.Every(1, 30) // a second one replaces the first
			c.Alarm(2, 45)
			c.Alarm(3, 50)
			c.Alarm(3, clock.Never)
			c.Alarm(4, clock.Never) // there is none to take back
		case Tick:
			seen = append(seen, c.Now().String()+" "+string('a'+ev.Code))
		default:
		}
	}), Config{})
	c.Advance(nil, 95)
	same(t, "ticks", seen, []string{"30ns b", "45ns c", "60ns b", "90ns b"})
}

// TestTag: a byte of a request belongs to the policy.
func TestTag(t *testing.T) {
	c := begin(puppet(func(c *Control, ev Event) {
		if ev.Kind == Arrival {
			c.Queue(ev.Req, clock.Never)
			*c.Tag(ev.Req) = 7
		}
	}), Config{})
	drive(c, at{0, arrival(1)})
	if got := c.Tag(1); *got != 7 || c.Tag(2) != nil || c.Next() != clock.Never {
		t.Errorf("Tag(1) = %d, Tag(2) = %v, Next() = %v; want 7, nil, never", *got, c.Tag(2), c.Next())
	}
}

// TestUnknownReads: reads of ids that are not there say so.
func TestUnknownReads(t *testing.T) {
	c := begin(puppet(greedy), Config{})
	if c.State(9) != Gone || c.Up(9) || c.InFlight(9) != 0 || c.Limit(9) != 0 || c.Control.Next(9) != 0 || c.Cause(9) != 0 ||
		c.FirstOn(9) != 0 || c.NextOn(9) != 0 || c.IsWaiting(9) || c.Began(9) != clock.Never ||
		c.ReadyAt(9) != clock.Never || c.IdleSince(9) != clock.Never || c.Since(9) != clock.Never ||
		c.Dispatched(9) != clock.Never {
		t.Error("a read of an unknown id gives something")
	}
	if _, ok := c.Instance(9); ok {
		t.Error("Instance(9) is known")
	}
}

// TestNoAllocation: once at its peak a step allocates nothing.
func TestNoAllocation(t *testing.T) {
	c := begin(puppet(greedy), Config{Max: 2, Limit: 2})
	drive(c, at{0, arrival(1)}, at{0, arrival(2)}, at{1, ready(1)}, at{1, ready(2)})
	now, r := clock.Instant(10), RequestID(2)
	acts := make([]Action, 0, 16)
	turn := func() {
		now++
		r++
		acts = c.Step(acts[:0], now, arrival(r))
		acts = c.Step(acts[:0], now, done(r-2))
	}
	for range 1000 {
		turn()
	}
	if got := testing.AllocsPerRun(10_000, turn); got != 0 {
		t.Errorf("a turn allocates %v times, want 0", got)
	}
}

// TestSizes: what is stored by the million is as small as its comment says, on a 64-bit machine.
func TestSizes(t *testing.T) {
	for _, tt := range []struct {
		value any
		want  uintptr
	}{{Event{}, 24}, {Action{}, ActionSize}, {request{}, 56}, {instance{}, 120}, {deadline{}, 16}} {
		got := reflect.TypeOf(tt.value).Size()
		if got != tt.want && reflect.TypeFor[uintptr]().Size() == 8 {
			t.Errorf("%T has %d bytes, want %d", tt.value, got, tt.want)
		}
	}
}

// TestAppendAction: the encoding is fixed, little endian.
func TestAppendAction(t *testing.T) {
	c := begin(puppet(greedy), Config{Max: 1})
	acts := drive(c, at{5, arrival(1)})
	got := AppendAction(nil, acts[1])
	want := []byte{byte(Start), 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0}
	if string(got) != string(want) || len(got) != ActionSize {
		t.Errorf("AppendAction = %v, want %v", got, want)
	}
}
