package policies

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
)

// TestOWSteps is OW-a: the steps for some numbers of invokers. Each of them visits all.
func TestOWSteps(t *testing.T) {
	for n, want := range map[int][]int{
		1: {1}, 2: {1}, 3: {1, 2}, 5: {1, 2, 3}, 8: {1, 3, 5, 7}, 9: {1, 2, 5, 7}, 10: {1, 3, 7},
	} {
		got := OWSteps(n)
		if !slices.Equal(got, want) {
			t.Errorf("OW-a: OWSteps(%d) = %v, want %v", n, got, want)
		}
		for _, step := range got {
			seen := map[int]bool{}
			for k := range n {
				seen[k*step%n] = true
			}
			if len(seen) != n {
				t.Errorf("step %d visits %d of %d invokers", step, len(seen), n)
			}
		}
	}
}

// TestOWWalk is OW-b: the way of hash 13 over ten invokers.
func TestOWWalk(t *testing.T) {
	k, step := OWWalk(13, 10, OWSteps(10))
	var way []int
	for range 10 {
		way = append(way, k)
		k = (k + step) % 10
	}
	if want := []int{3, 6, 9, 2, 5, 8, 1, 4, 7, 0}; step != 3 || !slices.Equal(way, want) {
		t.Errorf("OW-b: step %d, way %v, want 3 and %v", step, way, want)
	}
}

// TestOWHash: the hash of a string is that of the source's language (OW-1).
func TestOWHash(t *testing.T) {
	if got := javaHash("guest"); got != 98708952 {
		t.Errorf(`javaHash("guest") = %d, want 98708952`, got)
	}
	if got := javaHash("polygenelubricants"); got != -1<<31 {
		t.Errorf("javaHash of the string with the smallest hash = %d, want %d", got, -1<<31)
	}
	if got := OWHash("polygenelubricants", ""); got != 0 {
		t.Errorf("the hash of the smallest number = %d, want one that an invoker can be chosen by", got)
	}
	if one, two := OWHash("guest", "guest/a"), OWHash("guest", "guest/b"); one == two {
		t.Errorf("two actions have the hash %d", one)
	}
}

// TestOWDecide has the examples of the newer scheduler, OW-c to OW-e, and each other case of OW-10.
func TestOWDecide(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		id   string
		s    OWSnapshot
		want OWDecision
	}{
		{"OW-c, nothing in progress", OWSnapshot{Existing: 2, Waiting: 18, Stale: 18, Duration: 100 * ms}, OWDecision{Start: 18}},
		{"OW-c, 18 in progress", OWSnapshot{Existing: 2, Waiting: 18, Stale: 18, Duration: 100 * ms, InProgress: 18}, OWDecision{}},
		{"OW-d", OWSnapshot{Existing: 2, Waiting: 18, Stale: 18, Duration: 10 * ms}, OWDecision{Start: 2}},
		{"OW-e", OWSnapshot{Existing: 1, Waiting: 9, Stale: 5, InProgress: 2}, OWDecision{Start: 3}},
		{"OW-e, with a concurrency of 2", OWSnapshot{Existing: 1, Waiting: 9, Stale: 5, InProgress: 2, Concurrency: 2}, OWDecision{Start: 1}},
		{"OW-10: not more than wait", OWSnapshot{Existing: 1, Waiting: 2, Stale: 5, InProgress: 1}, OWDecision{Start: 2}},
		{"OW-10: the first container", OWSnapshot{Waiting: 5}, OWDecision{Start: 1}},
		{"OW-10: none is left", OWSnapshot{Waiting: 5, Initialized: true, Duration: 10 * ms}, OWDecision{Start: 1}},
		{"OW-10: none is left, nobody waits", OWSnapshot{Initialized: true, Duration: 10 * ms}, OWDecision{}},
		{"OW-10: no duration and nothing stale", OWSnapshot{Existing: 1, Waiting: 5, Initialized: true}, OWDecision{}},
		{"OW-10: fresh ones that those which exist end in time", OWSnapshot{Existing: 2, Waiting: 3, Duration: 50 * ms}, OWDecision{}},
		{"OW-10: at the edge they count", OWSnapshot{Existing: 2, Waiting: 4, Duration: 50 * ms}, OWDecision{}},
		{"OW-10: fresh ones beyond them", OWSnapshot{Existing: 2, Waiting: 9, Duration: 50 * ms}, OWDecision{Start: 3}},
		{"OW-10: fresh ones of long runs: no more containers than requests", OWSnapshot{Existing: 1, InProgress: 1, Waiting: 3, Duration: 1000 * ms}, OWDecision{Start: 1}},
		{"OW-10: concurrency counts as throughput", OWSnapshot{Existing: 2, Waiting: 18, Stale: 18, Duration: 100 * ms, Concurrency: 10}, OWDecision{Start: 2}},
		{"OW-10: the capacity is reached", OWSnapshot{Existing: 2, Waiting: 18, Stale: 18, Duration: 100 * ms, Capacity: 5}, OWDecision{Start: 5, Throttle: true}},
		{"OW-10: exactly", OWSnapshot{Existing: 2, Waiting: 18, Stale: 18, Duration: 100 * ms, Capacity: 18}, OWDecision{Start: 18}},
		{"OW-10: no capacity, but containers", OWSnapshot{Existing: 2, Waiting: 3, Capacity: -1}, OWDecision{Throttle: true}},
		{"OW-10: no capacity and no container", OWSnapshot{Waiting: 3, Capacity: -1}, OWDecision{Throttle: true, Drop: true}},
		{"OW-10: still none", OWSnapshot{Existing: 2, Waiting: 3, Capacity: -1, Throttled: true}, OWDecision{}},
		{"OW-10: capacity again", OWSnapshot{Existing: 2, Waiting: 3, Throttled: true}, OWDecision{Release: true}},
	} {
		if tt.s.Concurrency == 0 {
			tt.s.Concurrency = 1
		}
		switch tt.s.Capacity {
		case 0:
			tt.s.Capacity = 100
		case -1:
			tt.s.Capacity = 0
		}
		if got := OWDecide(tt.s); got != tt.want {
			t.Errorf("%s: OWDecide(%+v) = %+v, want %+v", tt.id, tt.s, got, tt.want)
		}
	}
}

// TestOWCompletionTimeout is OW-f: the wait for the end of an action with a limit of 60 s; a shorter one counts as that.
func TestOWCompletionTimeout(t *testing.T) {
	for limit, want := range map[time.Duration]time.Duration{
		time.Minute: 180 * time.Second, time.Second: 180 * time.Second, 5 * time.Minute: 11 * time.Minute,
	} {
		if got := OWCompletionTimeout(limit); got != want {
			t.Errorf("OW-f: OWCompletionTimeout(%v) = %v, want %v", limit, got, want)
		}
	}
}

// TestOWPrewarmWanted is OW-g: the number of prewarmed containers after so many cold starts.
func TestOWPrewarmWanted(t *testing.T) {
	w := OWPrewarm{Initial: 7, Reactive: true, Min: 1, Max: 3, Threshold: 2, Increment: 1}
	for cold, want := range map[int]int{0: 1, 1: 1, 4: 2, 5: 2, 9: 3} {
		if got := w.Wanted(cold); got != want {
			t.Errorf("OW-g: Wanted(%d) = %d, want %d", cold, got, want)
		}
	}
	w.Reactive = false
	if got := w.Wanted(9); got != 7 {
		t.Errorf("OW-8: a fixed number is %d after cold starts, want 7", got)
	}
}

// TestOWShares is OW-3: nine of ten invokers are for managed actions and one for blackbox ones; with few they overlap.
func TestOWShares(t *testing.T) {
	for _, tt := range []struct {
		n, managed int
		want       string
	}{
		{10, 900, "0–9 9–10"}, {1, 900, "0–1 0–1"}, {2, 900, "0–2 1–2"}, {20, 900, "0–18 18–20"}, {10, 0, "0–1 0–10"}, {10, 1000, "0–10 9–10"},
	} {
		a, b, c, d := OWShares(tt.n, tt.managed)
		if got := fmt.Sprintf("%d–%d %d–%d", a, b, c, d); got != tt.want {
			t.Errorf("OWShares(%d, %d) = %s, want %s", tt.n, tt.managed, got, tt.want)
		}
	}
}

// TestOWPermits is OW-2: the room of an invoker is split among the controllers, to no less than one container each.
func TestOWPermits(t *testing.T) {
	if a, b, c := OWPermits(8, 1), OWPermits(8, 3), OWPermits(2, 3); a != 8 || b != 2 || c != 1 {
		t.Errorf("OWPermits = %d, %d, %d, want 8, 2, 1", a, b, c)
	}
}

// TestOWHealth is OW-4: more than three system errors among the last ten results, and ten seconds without a ping.
func TestOWHealth(t *testing.T) {
	var h owHealth
	for k := range 20 {
		h.note(k < 4)
		if got, want := h.bad(3), k >= 3 && k < 10; got != want {
			t.Errorf("after %d results: bad %t, want %t", k+1, got, want)
		}
	}
	if OWOffline(10*time.Second) || !OWOffline(10*time.Second+1) {
		t.Error("an invoker is offline after ten seconds without a ping, not at ten")
	}
}

// TestOWMinute is OW-9: as many as allowed in each minute of the clock, and 0 is no limit.
func TestOWMinute(t *testing.T) {
	var m owMinute
	var got []bool
	for _, at := range []time.Duration{59 * time.Second, 59 * time.Second, 60*time.Second - 1, 60 * time.Second, 61 * time.Second, 62 * time.Second} {
		got = append(got, m.over(clock.Instant(at), 2))
	}
	if want := []bool{false, false, true, false, false, true}; !slices.Equal(got, want) {
		t.Errorf("over = %v, want %v", got, want)
	}
	if m.over(clock.Instant(62*time.Second), 0) {
		t.Error("without a limit one is too many")
	}
}

// TestOWSharedPermits is OW-2: with a concurrency of three one container's permit serves three requests of an action, and is
// one for another action again when all of them have ended.
func TestOWSharedPermits(t *testing.T) {
	p := NewOpenWhisk(OWOptions{Actions: 2})
	p.balancer.limit = 3
	p.invokers = []owInvoker{{permits: 1, shared: make([]int32, 2)}}
	in := &p.invokers[0]
	for k := range 3 {
		if !p.acquire(in, 0) {
			t.Fatalf("request %d of the first action finds no permit", k+1)
		}
	}
	if p.acquire(in, 0) || p.acquire(in, 1) {
		t.Error("a fourth request, or one of another action, finds a permit")
	}
	p.release(0, 0)
	p.release(0, 0)
	if p.acquire(in, 1) {
		t.Error("the container still serves one request, and another action finds its permit")
	}
	p.release(0, 0)
	if !p.acquire(in, 1) {
		t.Error("all have ended, and another action finds no permit")
	}
}

// TestOWSinglePermits: with a concurrency of one a permit that comes back is anybody's.
func TestOWSinglePermits(t *testing.T) {
	p := NewOpenWhisk(OWOptions{Actions: 2})
	p.balancer.limit = 1
	p.invokers = []owInvoker{{permits: 1, shared: make([]int32, 2)}}
	in := &p.invokers[0]
	if !p.acquire(in, 0) || p.acquire(in, 1) {
		t.Error("one permit is there, for one request")
	}
	if p.release(0, 0); !p.acquire(in, 1) {
		t.Error("another action does not find what came back")
	}
}
