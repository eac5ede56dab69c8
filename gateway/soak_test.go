package gateway

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"coldwave/internal/rng"
	"coldwave/scheduler"
	"coldwave/workload"
)

// TestFaultsOverHTTP throws random faults at the whole stack: clients that leave at any time, failed starts, instances
// that die. Whatever happens, each request has exactly one outcome, each slot comes back, and the core's books agree
// (F1, F2).
func TestFaultsOverHTTP(t *testing.T) {
	const seeds, requests = 12, 60
	rare := map[string]int{}
	for seed := uint64(1); seed <= seeds; seed++ {
		policy := []string{"fc-race:idle_timeout=3s", "fc-bound:idle_timeout=3s"}[seed%2]
		t.Run(fmt.Sprintf("%s/seed=%d", policy, seed), func(t *testing.T) {
			cfg := bubbleConfig{policy: mustPolicy(policy), cold: 2 * time.Second, core: scheduler.Config{Max: 6}, handover: time.Millisecond}
			inBubble(t, cfg, func(t *testing.T, b *bubble) {
				draw := rng.Stream(seed, "faults")
				broken := map[scheduler.InstanceID]bool{}
				for id := range scheduler.InstanceID(500) {
					broken[id] = draw.IntN(8) == 0
				}
				b.fleet.fails = func(id scheduler.InstanceID) bool { return broken[id] }
				status := faultyTraffic(b, draw, requests)
				b.until(5 * time.Minute)
				checkBooks(t, b, status, requests)
				for s, n := range status {
					rare[fmt.Sprint(s)] += n
				}
			})
		})
	}
	for _, s := range []string{"0", "200", "502", "503"} {
		if rare[s] == 0 {
			t.Errorf("no request of any seed ended with %s: the soak does not reach what it is for (saw %v)", s, rare)
		}
	}
}

// faultyTraffic sends requests at random times, some by impatient clients, and kills instances in between. It returns
// how many ended with which status; 0: the client had gone.
func faultyTraffic(b *bubble, draw *rand.Rand, requests int) map[int]int {
	var all sync.WaitGroup
	var mu sync.Mutex
	status := map[int]int{}
	for k := range requests {
		at, patience := time.Duration(draw.Int64N(int64(20*time.Second))), time.Hour
		if draw.IntN(4) == 0 {
			patience = time.Duration(1 + draw.Int64N(int64(3*time.Second)))
		}
		d := workload.Demand{Exec: time.Duration(1 + draw.Int64N(int64(800*time.Millisecond))), Pre: time.Duration(draw.Int64N(int64(10 * time.Millisecond))),
			Post: time.Duration(draw.Int64N(2)) * 5 * time.Millisecond}
		all.Go(func() {
			b.until(at)
			ctx, cancel := context.WithTimeout(b.t.Context(), patience)
			defer cancel()
			r := b.get(ctx, fmt.Sprintf("r-%d", k), d)
			mu.Lock()
			defer mu.Unlock()
			status[r.status]++
		})
	}
	for range 6 {
		at, victim := time.Duration(draw.Int64N(int64(20*time.Second))), scheduler.InstanceID(1+draw.IntN(12))
		all.Go(func() {
			b.until(at)
			if in := b.g.services[0].lives.get(victim); in != nil && b.fleet.isUp(victim) {
				b.fleet.crash(b.t, victim)
			}
		})
	}
	all.Wait()
	return status
}

func (f *pipeFleet) isUp(id scheduler.InstanceID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.up[id] != nil
}

func checkBooks(t *testing.T, b *bubble, status map[int]int, requests int) {
	t.Helper()
	total := 0
	for _, n := range status {
		total += n
	}
	counted := 0
	for _, o := range outcomes {
		counted += b.counted(o)
	}
	if total != requests || counted != requests {
		t.Errorf("%d requests sent, clients saw %d ends and the gateway counted %d", requests, total, counted)
	}
	if got := b.counted(outcomeOK); got < status[http.StatusOK] || got > status[http.StatusOK]+status[0] {
		t.Errorf("the gateway counted %d ok, clients saw %d and %d had gone", got, status[http.StatusOK], status[0])
	}
	if got := b.g.Counts(); got != (Counts{}) {
		t.Errorf("long after the last request: %+v, want nothing alive, waiting or running", got)
	}
	ends, begun := 0, map[scheduler.RequestID]int{}
	made, _ := b.g.services[0].made.last(1 << 20)
	for _, d := range made {
		if d.Do == scheduler.Reject || d.Do == scheduler.Lost || d.Do == scheduler.End {
			ends++
			begun[d.Req]++
		}
	}
	for r, n := range begun {
		if n != 1 {
			t.Errorf("request %d ended %d times", r, n)
		}
	}
	s := b.g.services[0]
	if arrived := s.load.Load().Arrived; int64(ends) != arrived || len(s.calls) != 0 {
		t.Errorf("%d of %d arrivals ended, %d calls are kept", ends, arrived, len(s.calls))
	}
	for _, in := range b.g.Instances() {
		if in.Stopped < in.Started || in.Busy < 0 || in.Busy > in.Stopped.Sub(in.Started) {
			t.Errorf("instance %+v: its times make no sense", in)
		}
	}
	s.core.Check()
}

// TestScaleToZeroAndBack: each single request to a function at zero is answered within its cold start, every time
// (F12, AS-11).
func TestScaleToZeroAndBack(t *testing.T) {
	const cycles = 200
	inBubble(t, bubbleConfig{policy: mustPolicy("fc-race:idle_timeout=1s"), cold: 2 * time.Second}, func(t *testing.T, b *bubble) {
		for k := range cycles {
			if r := b.get(t.Context(), "single", second); r.status != http.StatusOK || r.took != 2*time.Second {
				t.Fatalf("cycle %d: %d after %v, want 200 after 2s", k, r.status, r.took)
			}
			b.until(time.Duration(b.clock.Now()) + 5*time.Second)
			settle()
			if got := b.g.Counts(); got != (Counts{}) {
				t.Fatalf("cycle %d: %+v, want zero", k, got)
			}
		}
		if got := len(b.g.Instances()); got != cycles {
			t.Errorf("starts = %d, want %d", got, cycles)
		}
	})
}

// TestOneSlotServesManyOneAfterTheOther: AS-17.
func TestOneSlotServesManyOneAfterTheOther(t *testing.T) {
	inBubble(t, bubbleConfig{policy: fcRace(), cold: 2 * time.Second, core: scheduler.Config{Max: 1}}, func(t *testing.T, b *bubble) {
		for k := range 10 {
			if r := b.get(t.Context(), "r", second); r.status != 200 || r.server().Instance != "1" {
				t.Errorf("request %d: %d from %q, want 200 from instance 1", k, r.status, r.server().Instance)
			}
		}
	})
}
