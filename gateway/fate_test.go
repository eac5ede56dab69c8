package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/workload"
)

var second = workload.Demand{Exec: time.Second}

// inBubble runs a test of the whole stack in virtual time.
func inBubble(t *testing.T, cfg bubbleConfig, test func(*testing.T, *bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, cfg)
		defer b.end()
		test(t, b)
	})
}

func (b *bubble) counted(o outcome) int { return countedIn(b.t, b.g, o) }

// countedIn reads a counter from the metrics.
func countedIn(t *testing.T, g *Gateway, o outcome) int {
	t.Helper()
	families, err := g.stats.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if f.GetName() == "coldwave_gateway_requests_total" && l.GetName() == "outcome" && l.GetValue() == string(o) {
					total += m.GetCounter().GetValue()
				}
			}
		}
	}
	return int(total)
}

// actions are the decisions about requests and instances as text, such as "start 1 for a".
func (b *bubble) actions() []string {
	var out []string
	made, _ := b.g.services[0].made.last(1000)
	for _, d := range made {
		text := fmt.Sprintf("%v %s", d.Do, d.Name)
		if d.Inst != 0 {
			text += fmt.Sprintf(" on %d", d.Inst)
		}
		if d.Status != 0 {
			text += fmt.Sprintf(" %d", d.Status)
		}
		out = append(out, text)
	}
	return out
}

func (b *bubble) wantActions(want ...string) {
	b.t.Helper()
	settle()
	if got := b.actions(); !slices.Equal(got, want) {
		b.t.Errorf("actions = %q\nwant      %q", got, want)
	}
}

func TestClientGoneWhileQueuedIsACancel(t *testing.T) {
	inBubble(t, bubbleConfig{policy: fcRace(), cold: 2 * time.Second}, func(t *testing.T, b *bubble) {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if r := b.get(ctx, "gone", second); !errors.Is(r.err, context.DeadlineExceeded) {
			t.Fatalf("get = %v, want the client's own deadline", r.err)
		}
		b.wantActions("queue gone", "start gone on 1", "end gone 499")
		if got := b.g.Counts(); got != (Counts{Alive: 1, Starting: 1}) {
			t.Errorf("Counts() = %+v, want one instance that still starts (FC-8)", got)
		}
		if got := b.counted(outcomeCanceled); got != 1 {
			t.Errorf("canceled = %d, want 1", got)
		}
	})
}

func TestClientGoneBeforeTheSchedulerSawIt(t *testing.T) {
	inBubble(t, bubbleConfig{policy: fcRace(), cold: 2 * time.Second}, func(t *testing.T, b *bubble) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Millisecond)
		defer cancel()
		b.get(ctx, "early", workload.Demand{Exec: time.Second, Pre: 6 * time.Millisecond})
		b.wantActions()
		if got := b.counted(outcomeCanceled); got != 1 {
			t.Errorf("canceled = %d, want 1", got)
		}
	})
}

// TestClientGoneWhileRunning: the worker learns of it at once, the request counts as canceled and not as 502, and the
// slot comes back (R15, RP-11).
func TestClientGoneWhileRunning(t *testing.T) {
	inBubble(t, bubbleConfig{policy: fcRace(), cold: 2 * time.Second}, func(t *testing.T, b *bubble) {
		b.get(t.Context(), "first", second)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		b.get(ctx, "gone", second)
		settle()
		settle()
		if r := b.get(t.Context(), "next", second); r.status != http.StatusOK || r.took != time.Second {
			t.Errorf("the next request got %d after %v, want 200 after 1s on the freed slot", r.status, r.took)
		}
		b.wantActions("queue first", "start first on 1", "assign first on 1", "end first on 1 200",
			"assign gone on 1", "end gone on 1 499", "assign next on 1", "end next on 1 200")
		if c, u := b.counted(outcomeCanceled), b.counted(outcomeUpstream); c != 1 || u != 0 {
			t.Errorf("canceled %d, upstream errors %d, want 1 and 0", c, u)
		}
		in := b.g.Instances()[0]
		if want := 2*time.Second + 300*time.Millisecond + 1; in.Busy != want || in.Served != 2 {
			t.Errorf("instance was busy %v and served %d, want %v and 2", in.Busy, in.Served, want)
		}
	})
}

func TestFullQueue(t *testing.T) {
	inBubble(t, bubbleConfig{policy: fcRace(), cold: 2 * time.Second, core: scheduler.Config{Max: 1}, limits: Limits{Queue: 3}},
		func(t *testing.T, b *bubble) {
			replies := b.wave("r", 8, workload.Demand{Exec: 100 * time.Millisecond})
			full := 0
			for _, r := range replies {
				if r.status != http.StatusServiceUnavailable {
					continue
				}
				full++
				s := r.server()
				if r.took != 0 || r.header.Get("Retry-After") != "1" || s.Start != record.Edge || r.header.Get(ReasonHeader) != "queue_full" {
					t.Errorf("refused after %v with %v, want at once, Retry-After, start edge and the reason (R16)", r.took, r.header)
				}
			}
			settle()
			if full != 5 || b.counted(outcomeRejected) != 5 || b.g.services[0].full.Load() != 5 {
				t.Errorf("%d of 8 refused, counted %d, want 5", full, b.counted(outcomeRejected))
			}
			if got := len(b.g.Instances()); got != 1 {
				t.Errorf("starts = %d, want 1: a refused request must not cause one", got)
			}
			if r := b.get(t.Context(), "after", second); r.status != http.StatusOK {
				t.Errorf("after the rush: status %d, want 200", r.status)
			}
		})
}

func TestRejectOfThePolicyPassesItsStatus(t *testing.T) {
	inBubble(t, bubbleConfig{policy: fcBound(), cold: 2 * time.Second, core: scheduler.Config{Max: 1}}, func(t *testing.T, b *bubble) {
		status := map[int]int{}
		for _, r := range b.wave("r", 3, second) {
			status[r.status]++
			if r.status == http.StatusServiceUnavailable && (r.header.Get(record.StartHeader) != "edge" || r.header.Get(ReasonHeader) != "rejected") {
				t.Errorf("rejected with %v, want start edge and the reason", r.header)
			}
		}
		if status[200] != 1 || status[503] != 2 {
			t.Errorf("statuses %v, want 1 × 200 and 2 × 503 (FC-10)", status)
		}
	})
}

func TestWaitTimeout(t *testing.T) {
	inBubble(t, bubbleConfig{policy: mustPolicy("fc-race:wait_timeout=5s"), cold: 20 * time.Second}, func(t *testing.T, b *bubble) {
		r := b.get(t.Context(), "late", second)
		if s := r.server(); r.status != 503 || r.took != 5*time.Second || s.Queue != 5*time.Second || s.Start != record.Edge {
			t.Errorf("got %d after %v, %+v, want 503 after 5s of queue at the edge", r.status, r.took, s)
		}
	})
}

// TestPolicyStatus: a policy may turn a request away with 500. It is no defect of the gateway (U-39).
func TestPolicyStatus(t *testing.T) {
	inBubble(t, bubbleConfig{policy: mustPolicy("lambda"), cold: 2 * time.Second}, func(t *testing.T, b *bubble) {
		b.fleet.fails = func(scheduler.InstanceID) bool { return true }
		r := b.get(t.Context(), "unlucky", second)
		if s := r.server(); r.status != http.StatusInternalServerError || s.Start != record.Edge {
			t.Errorf("got %d, %+v, want 500 from the edge", r.status, s)
		}
		if rejected, broken := b.counted(outcomeRejected), b.counted(outcomeBroken); rejected != 1 || broken != 0 {
			t.Errorf("counted %d as rejected and %d as broken, want 1 and 0", rejected, broken)
		}
	})
}

// TestFailedStarts: the request ends after bounded tries, and nothing hangs (R17).
func TestFailedStarts(t *testing.T) {
	inBubble(t, bubbleConfig{policy: fcBound(), cold: 2 * time.Second}, func(t *testing.T, b *bubble) {
		b.fleet.fails = func(scheduler.InstanceID) bool { return true }
		if r := b.get(t.Context(), "unlucky", second); r.status != http.StatusServiceUnavailable {
			t.Errorf("status %d, want 503", r.status)
		}
		for _, in := range b.g.Instances() {
			if !in.Failed || in.Cause != "unlucky" {
				t.Errorf("instance %+v, want a failed start caused by the request", in)
			}
		}
		if got := len(b.g.Instances()); got != 2 {
			t.Errorf("starts = %d, want 2: the first and one retry", got)
		}
		b.fleet.fails = nil
		if r := b.get(t.Context(), "lucky", second); r.status != http.StatusOK {
			t.Errorf("after the failures: status %d, want 200", r.status)
		}
	})
}

// TestCrashWhileRunning: the request gets 502, the instance's life ends as failed, and the next request is served by a
// new one.
func TestCrashWhileRunning(t *testing.T) {
	inBubble(t, bubbleConfig{policy: fcRace(), cold: 2 * time.Second}, func(t *testing.T, b *bubble) {
		b.get(t.Context(), "first", second)
		go func() {
			b.until(2500 * time.Millisecond)
			b.fleet.crash(b.t, 1)
		}()
		r := b.get(t.Context(), "hit", second)
		if r.status != http.StatusBadGateway || r.took != 500*time.Millisecond || r.server().Start != record.Edge {
			t.Errorf("got %d after %v, %+v, want 502 at the edge after 500ms", r.status, r.took, r.server())
		}
		settle()
		if got := b.counted(outcomeUpstream); got != 1 {
			t.Errorf("upstream errors = %d, want 1", got)
		}
		if r := b.get(t.Context(), "next", second); r.status != 200 || r.server().Instance != "2" {
			t.Errorf("got %d from instance %q, want 200 from instance 2", r.status, r.server().Instance)
		}
		in := b.g.Instances()[0]
		if !in.Failed || in.Busy != 1500*time.Millisecond || in.Served != 1 {
			t.Errorf("instance %+v, want failed, busy for 1.5s, one request served", in)
		}
	})
}

func TestNewsOfUnknownInstancesIsDropped(t *testing.T) {
	inBubble(t, bubbleConfig{policy: fcRace(), cold: 2 * time.Second}, func(t *testing.T, b *bubble) {
		b.fleet.lost <- Loss{Instance: 77, Err: errors.New("never made")}
		if r := b.get(t.Context(), "a", second); r.status != http.StatusOK {
			t.Errorf("status %d, want 200: the loop must survive", r.status)
		}
	})
}

func TestIdleInstancesAreStopped(t *testing.T) {
	inBubble(t, bubbleConfig{policy: mustPolicy("fc-race:idle_timeout=30s"), cold: 2 * time.Second}, func(t *testing.T, b *bubble) {
		b.get(t.Context(), "a", second)
		b.until(time.Minute)
		settle()
		in := b.g.Instances()[0]
		if in.Failed || in.Stopped < 0 || time.Duration(in.Stopped) > time.Minute || b.g.Counts() != (Counts{}) {
			t.Errorf("instance %+v, counts %+v, want a stopped instance and nothing alive (FC-4)", in, b.g.Counts())
		}
	})
}

// TestClientGoneAfterTheSlotWasGivenBack: the demand's post is outside the instance, so the slot is free meanwhile.
func TestClientGoneAfterTheSlotWasGivenBack(t *testing.T) {
	inBubble(t, bubbleConfig{policy: fcRace(), cold: 2 * time.Second}, func(t *testing.T, b *bubble) {
		slow := workload.Demand{Exec: 100 * time.Millisecond, Post: time.Second}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		if r := b.get(ctx, "gone", slow); r.err == nil {
			t.Fatalf("status %d, want the client's own deadline", r.status)
		}
		settle()
		if in := b.g.Instances()[0]; in.Busy != 100*time.Millisecond || in.Served != 1 {
			t.Errorf("instance %+v, want busy for 100ms and one request served", in)
		}
		if c, held := b.counted(outcomeCanceled), b.g.heldBytes.used.Load(); c != 1 || held != 0 {
			t.Errorf("canceled %d, held %d bytes, want 1 and 0", c, held)
		}
	})
}

// TestHeldAnswerAtTheEnd: an answer that is complete and only held back is not lost when the gateway ends.
func TestHeldAnswerAtTheEnd(t *testing.T) {
	inBubble(t, bubbleConfig{policy: fcRace(), cold: 2 * time.Second}, func(t *testing.T, b *bubble) {
		got := make(chan reply, 1)
		go func() {
			got <- b.get(t.Context(), "held", workload.Demand{Exec: 100 * time.Millisecond, Post: time.Minute})
		}()
		b.until(5 * time.Second)
		if err := b.g.Close(); err != nil {
			t.Error(err)
		}
		if r := <-got; r.status != http.StatusOK || r.body != "ok\n" {
			t.Errorf("got %d %q %v, want the answer", r.status, r.body, r.err)
		}
	})
}
