package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

const sec = clock.Instant(time.Second)

// house is a service with its cores, stepped by a test.
type house struct {
	t     *testing.T
	s     *Service
	cores []*Core
	last  []RequestID // by revision - 1
	log   []string    // what the cores decided, and notices
}

func newHouse(t *testing.T) *house {
	t.Helper()
	return &house{t: t, s: NewService(ServiceConfig{})}
}

// keeper starts what Min asks for, serves like greedy, and stops idle instances above Min at once when it is configured.
func keeper(c *Control, ev Event) {
	greedy(c, ev)
	if ev.Kind == Arrival && c.IsWaiting(ev.Req) {
		c.Wait(ev.Req, c.Now()+1000*sec)
	}
	if ev.Kind == Configure {
		for c.Alive() > c.Config().Min && c.IdleOldest() != 0 {
			c.Stop(c.IdleOldest())
		}
	}
	for (ev.Kind == Configure || ev.Kind == Failed) && c.Alive() < c.Config().Min {
		c.Start(0, 0)
	}
}

func (h *house) deploy(at clock.Instant, name string, p Policy, cfg Config, split string) error {
	h.t.Helper()
	d := Deployment{Name: name, Core: New(p, cfg, 1), Limits: cfg}
	if split != "" {
		d.Split = h.split(split)
	}
	orders, rev, err := h.s.Deploy(nil, at, d)
	if err != nil {
		return err
	}
	if int(rev) != len(h.cores)+1 {
		h.t.Fatalf("revision %q has id %d, want %d", name, rev, len(h.cores)+1)
	}
	h.cores, h.last = append(h.cores, d.Core), append(h.last, 0)
	h.obey(at, orders)
	return nil
}

func (h *house) split(text string) Split {
	h.t.Helper()
	s, err := ParseSplit(text)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

func (h *house) shift(at clock.Instant, split string) error {
	h.t.Helper()
	orders, err := h.s.Shift(nil, at, h.split(split))
	h.obey(at, orders)
	return err
}

func (h *house) remove(at clock.Instant, name string) error {
	orders, err := h.s.Remove(nil, at, name)
	h.obey(at, orders)
	return err
}

func (h *house) obey(at clock.Instant, orders []Order) {
	h.s.Obey(orders, at, func(o Order) {
		h.did(o.Rev, h.cores[o.Rev-1].Configure(nil, at, o.Limits))
	})
	h.note()
}

func (h *house) did(rev RevisionID, acts []Action) {
	for _, a := range acts {
		h.log = append(h.log, fmt.Sprintf("%v r%d %v", a.At, rev, a))
	}
	h.cores[rev-1].Check()
}

func (h *house) note() {
	for _, n := range h.s.Notices(nil) {
		h.log = append(h.log, noticeText(n))
	}
}

func noticeText(n record.Notice) string {
	text := fmt.Sprintf("%v %v", n.At, n.What)
	for _, part := range []string{n.Revision, n.Split, n.Why} {
		if part != "" {
			text += " " + part
		}
	}
	if n.Need > 0 {
		text += fmt.Sprintf(" need %d", n.Need)
	}
	return text
}

func (h *house) step(at clock.Instant, rev RevisionID, ev Event) {
	h.did(rev, h.cores[rev-1].Step(nil, at, ev))
	h.obey(at, h.s.Saw(nil, at, rev, ev))
}

// arrive routes n requests.
func (h *house) arrive(at clock.Instant, n int) {
	for range n {
		rev := h.s.Route("")
		h.last[rev-1]++
		h.step(at, rev, arrival(h.last[rev-1]))
	}
}

func (h *house) ready(at clock.Instant, rev RevisionID, ids ...InstanceID) {
	for _, i := range ids {
		h.step(at, rev, ready(i))
	}
}

// want compares the log since the last call.
func (h *house) want(what string, lines ...string) {
	h.t.Helper()
	same(h.t, what, h.log, lines)
	h.log = nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestDeployment follows one deployment: instances first, traffic then; what waits and runs stays with the old revision, which
// loses its minimum; after a minute the new one is left to its policy (CR-29, U-21).
func TestDeployment(t *testing.T) {
	h := newHouse(t)
	must(t, h.deploy(0, "v1", puppet(keeper), Config{Min: 1, Max: 4}, ""))
	h.ready(2*sec, 1, 1)
	h.arrive(3*sec, 3)
	h.want("the first revision begins like a core alone",
		"0s r1 start i1", "0s deployed v1", "3s r1 queue r1", "3s r1 assign r1 i1 warm", "3s r1 queue r2", "3s r1 start i2 for r2",
		"3s r1 queue r3", "3s r1 start i3 for r3")
	must(t, h.deploy(4*sec, "v2", puppet(keeper), Config{Max: 10, Limit: 2}, ""))
	h.want("three slots need two instances of two",
		"4s r2 start i1", "4s r2 start i2", "4s deployed v2", "4s prepared v2 latest=100 need 2")
	h.arrive(5*sec, 1)
	h.ready(6*sec, 2, 1)
	h.arrive(6*sec, 1)
	h.want("one of two is not enough", "5s r1 queue r4", "5s r1 start i4 for r4", "6s r1 queue r5")
	h.ready(7*sec, 2, 2)
	h.want("the traffic moves, and the old revision keeps no minimum", "7s shifted v2 latest=100")
	h.arrive(8*sec, 1)
	h.step(9*sec, 1, done(1))
	h.want("a waiting request stays with its revision",
		"8s r2 queue r1", "8s r2 assign r1 i1 warm", "9s r1 end r1 200", "9s r1 assign r2 i1 queued")
	if got := h.s.Next(); got != 67*sec {
		t.Errorf("Next() = %v, want the end of the minute after the shift", got)
	}
	h.step(66*sec, 2, done(1))
	h.obey(67*sec, h.s.Advance(nil, 67*sec))
	h.want("a minute later it is left to its policy", "1m6s r2 end r1 200", "1m7s r2 stop i2", "1m7s r2 stop i1")
	if got := h.s.Next(); got != clock.Never {
		t.Errorf("Next() = %v, want never", got)
	}
}

// TestDeploymentFails: a start that fails, and a deadline that passes, keep the old split; the new revision is retired (U-21).
func TestDeploymentFails(t *testing.T) {
	begin := func(t *testing.T) *house {
		t.Helper()
		h := newHouse(t)
		must(t, h.deploy(0, "v1", puppet(keeper), Config{Min: 1, Max: 4}, ""))
		h.ready(1*sec, 1, 1)
		must(t, h.deploy(2*sec, "v2", puppet(keeper), Config{Min: 2, Max: 4}, ""))
		h.log = nil
		return h
	}
	t.Run("a start fails", func(t *testing.T) {
		h := begin(t)
		h.ready(3*sec, 2, 1)
		h.step(4*sec, 2, failed(2))
		h.want("the rest goes", "4s r2 start i3", "4s r2 stop i1", "4s r2 stop i3",
			"4s abandoned v2 a start of revision v2 failed; the split stays latest=100", "4s retired v2")
		h.step(5*sec, 2, stoppedEv(1))
		h.step(5*sec, 2, stoppedEv(3))
		h.want("its end", "5s gone v2")
		h.arrive(6*sec, 1)
		h.want("the old revision serves", "6s r1 queue r1", "6s r1 assign r1 i1 warm")
		must(t, h.deploy(7*sec, "v3", puppet(keeper), Config{Max: 4}, ""))
	})
	t.Run("they are never ready", func(t *testing.T) {
		h := begin(t)
		if got := h.s.Next(); got != 242*sec {
			t.Fatalf("Next() = %v, want the deadline", got)
		}
		h.ready(241*sec, 2, 1)
		h.obey(242*sec, h.s.Advance(nil, 242*sec))
		h.want("240 s are over", "4m2s r2 stop i1", "4m2s r2 stop i2",
			"4m2s abandoned v2 the instances of v2 were not ready within 4m0s; the split stays latest=100", "4m2s retired v2")
	})
	t.Run("ready at the very deadline", func(t *testing.T) {
		h := begin(t)
		h.ready(242*sec, 2, 1, 2)
		h.obey(242*sec, h.s.Advance(nil, 242*sec))
		h.want("it counts", "4m2s r1 stop i1", "4m2s shifted v2 latest=100")
	})
	t.Run("an instance that was ready crashes", func(t *testing.T) {
		h := begin(t)
		h.ready(3*sec, 2, 1)
		h.step(4*sec, 2, failed(1))
		h.ready(5*sec, 2, 2, 3)
		h.want("its replacement counts", "4s r2 start i3", "5s r1 stop i1", "5s shifted v2 latest=100")
	})
}

// TestSplitPersists: a split that names revisions stays when another one is deployed; one with latest follows (CR-30).
func TestSplitPersists(t *testing.T) {
	h := newHouse(t)
	must(t, h.deploy(0, "v1", puppet(keeper), Config{Min: 1, Max: 9}, ""))
	h.ready(1*sec, 1, 1)
	must(t, h.deploy(2*sec, "v2", puppet(keeper), Config{Min: 1, Max: 9}, "v1=90,v2=10"))
	h.ready(3*sec, 2, 1)
	h.log = nil
	must(t, h.deploy(4*sec, "v3", puppet(keeper), Config{Max: 9}, ""))
	h.arrive(4*sec, 30)
	h.log = nil
	h.ready(5*sec, 3, 1)
	h.want("no traffic moves", "5s ready v3 v1=90,v2=10")
	h.arrive(6*sec, 70)
	if got := fmt.Sprint(h.last); got != "[90 10 0]" {
		t.Errorf("of a hundred arrivals around a deployment the revisions got %s, want [90 10 0]", got)
	}
	h.log = nil
	must(t, h.shift(7*sec, "v1=50,latest=50"))
	h.want("half of the nine slots of each of the others", "7s r3 start i2", "7s r3 start i3", "7s r3 start i4", "7s r3 start i5",
		"7s r3 start i6", "7s r3 start i7", "7s r3 start i8", "7s r3 start i9", "7s prepared v3 v1=50,latest=50 need 9")
	h.ready(8*sec, 3, 2, 3, 4, 5, 6, 7, 8, 9)
	must(t, h.deploy(9*sec, "v4", puppet(keeper), Config{Max: 9, Limit: 100}, ""))
	h.log = nil
	h.ready(10*sec, 4, 1)
	h.want("latest follows", "10s shifted v4 v1=50,latest=50")
	before := slices.Clone(h.last)
	h.arrive(11*sec, 10)
	if h.last[3] != 5 || h.last[0] != before[0]+5 || h.last[1] != before[1] || h.last[2] != before[2] {
		t.Errorf("of ten arrivals the revisions got %v − %v, want 5 for v1 and 5 for v4", h.last, before)
	}
}

// TestShiftBackWarmsUp: traffic moves back to a revision only when that has its instances again.
func TestShiftBackWarmsUp(t *testing.T) {
	h := newHouse(t)
	must(t, h.deploy(0, "v1", puppet(keeper), Config{Min: 2, Max: 9}, ""))
	h.ready(1*sec, 1, 1, 2)
	must(t, h.deploy(2*sec, "v2", puppet(keeper), Config{Max: 9}, ""))
	h.ready(3*sec, 2, 1, 2)
	h.log = nil
	must(t, h.shift(4*sec, "v1"))
	h.want("its minimum was gone", "4s r1 start i3", "4s r1 start i4", "4s prepared v1 v1=100 need 2")
	h.step(5*sec, 1, failed(3))
	h.want("a revision that has served may try again", "5s r1 start i5")
	h.ready(6*sec, 1, 4, 5)
	h.want("back", "6s shifted v1=100")
	must(t, h.shift(7*sec, "v1=60,latest=40"))
	h.want("what has its instances gets its traffic at once", "7s prepared v2 v1=60,latest=40 need 1", "7s shifted v1=60,latest=40")
}

// TestRemove: a removed revision finishes its requests and is retired; no request goes to it.
func TestRemove(t *testing.T) {
	h := newHouse(t)
	must(t, h.deploy(0, "v1", puppet(keeper), Config{Max: 1}, ""))
	h.arrive(1*sec, 2)
	h.ready(2*sec, 1, 1)
	if err := h.remove(2*sec, "v1"); !errors.Is(err, ErrRevision) {
		t.Errorf("remove a revision with traffic: %v, want ErrRevision", err)
	}
	must(t, h.deploy(3*sec, "v2", puppet(keeper), Config{Max: 1}, ""))
	if err := h.remove(3*sec, "v1"); !errors.Is(err, ErrRevision) {
		t.Errorf("remove while traffic moves: %v, want ErrRevision", err)
	}
	h.ready(4*sec, 2, 1)
	h.log = nil
	must(t, h.remove(5*sec, "v1"))
	h.want("it has requests", []string(nil)...)
	if err := h.shift(5*sec, "v1"); !errors.Is(err, ErrSplit) {
		t.Errorf("shift to a revision that leaves: %v, want ErrSplit", err)
	}
	h.step(6*sec, 1, done(1))
	h.step(7*sec, 1, done(2))
	h.want("it ends them", "6s r1 end r1 200", "6s r1 assign r2 i1 queued", "7s r1 end r2 200", "7s r1 stop i1", "7s retired v1")
	h.step(8*sec, 1, stoppedEv(1))
	h.want("and goes", "8s gone v1")
	if err := h.remove(9*sec, "v1"); !errors.Is(err, ErrRevision) {
		t.Errorf("remove what is gone: %v, want ErrRevision", err)
	}
	if err := h.remove(9*sec, "v2"); !errors.Is(err, ErrRevision) {
		t.Errorf("remove the latest: %v, want ErrRevision", err)
	}
}

// TestTotalExceedsMax is CR-af: with a split of 90/10 and at most 10 instances a revision the service has up to 20 (CR-26).
func TestTotalExceedsMax(t *testing.T) {
	h := newHouse(t)
	must(t, h.deploy(0, "v1", puppet(keeper), Config{Min: 1, Max: 10}, ""))
	h.ready(1*sec, 1, 1)
	must(t, h.deploy(1*sec, "v2", puppet(keeper), Config{Max: 10}, "v1=90,v2=10"))
	h.ready(2*sec, 2, 1)
	h.arrive(3*sec, 200)
	alive, total := 0, 0
	for _, c := range h.cores {
		alive = max(alive, c.Alive())
		total += c.Alive()
	}
	if alive != 10 || total != 20 {
		t.Errorf("CR-af: at most %d instances in a revision and %d in the service, want 10 and 20", alive, total)
	}
	if h.last[0] != 180 || h.last[1] != 20 {
		t.Errorf("CR-af: the revisions got %v requests, want 180 and 20", h.last)
	}
}

// TestServiceRefuses: what cannot be done changes nothing.
func TestServiceRefuses(t *testing.T) {
	h := newHouse(t)
	good := Config{Max: 1}
	must(t, h.deploy(0, "v1", puppet(keeper), good, ""))
	for _, row := range []struct {
		name, split string
		cfg         Config
		want        error
	}{
		{"v1", "", good, ErrRevision},
		{"", "", good, ErrRevision},
		{"latest", "", good, ErrRevision},
		{"a/b", "", good, ErrRevision},
		{"v2", "", Config{}, ErrRevision},
		{"v2", "v3", good, ErrSplit},
		{"v2", "", Config{Min: 2, Max: 1}, ErrConfig},
	} {
		d := Deployment{Name: row.name, Core: New(puppet(keeper), good, 1), Limits: row.cfg}
		if row.split != "" {
			d.Split = h.split(row.split)
		}
		if orders, rev, err := h.s.Deploy(nil, sec, d); !errors.Is(err, row.want) || len(orders) > 0 || rev != 0 {
			t.Errorf("deploy %q %+v split %q = %v, %d, %v, want %v", row.name, row.cfg, row.split, orders, rev, err, row.want)
		}
	}
	must(t, h.deploy(sec, "v2", puppet(keeper), good, ""))
	if err := h.deploy(sec, "v3", puppet(keeper), good, ""); !errors.Is(err, ErrShifting) {
		t.Errorf("deploy while traffic moves: %v, want ErrShifting", err)
	}
	if err := h.shift(sec, "v1"); !errors.Is(err, ErrShifting) {
		t.Errorf("shift while traffic moves: %v, want ErrShifting", err)
	}
	if n := len(h.s.Revisions()); n != 2 {
		t.Errorf("%d revisions, want 2", n)
	}
}

// TestRevisionsAreBounded: no more than MaxRevisions exist at once; one that is gone makes room.
func TestRevisionsAreBounded(t *testing.T) {
	h := newHouse(t)
	for k := range MaxRevisions {
		must(t, h.deploy(sec, fmt.Sprint("v", k), puppet(keeper), Config{Max: 1}, ""))
		if k == 0 {
			continue
		}
		h.ready(sec, RevisionID(k+1), 1)
	}
	if err := h.deploy(sec, "more", puppet(keeper), Config{Max: 1}, ""); !errors.Is(err, ErrRevision) {
		t.Fatalf("one more than %d: %v, want ErrRevision", MaxRevisions, err)
	}
	must(t, h.remove(sec, "v0"))
	must(t, h.deploy(sec, "more", puppet(keeper), Config{Max: 1}, ""))
}
