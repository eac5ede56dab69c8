package gateway

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/workload"
)

// documented is the demand of the golden numbers (10.2): 100 ms of work, h = 12.5 ms.
var documented = workload.Demand{Exec: 100 * time.Millisecond, Pre: 6250 * time.Microsecond, Post: 6250 * time.Microsecond}

const documentedCold = 2350 * time.Millisecond

func fcRace() scheduler.Policy  { return mustPolicy("fc-race") }
func fcBound() scheduler.Policy { return mustPolicy("fc-bound") }

func mustPolicy(spec string) scheduler.Policy {
	p, err := policies.New(spec)
	if err != nil {
		panic(err)
	}
	return p
}

func times(replies []reply) []time.Duration {
	var out []time.Duration
	for _, r := range replies {
		out = append(out, r.took)
	}
	slices.Sort(out)
	return out
}

func repeat(d time.Duration, n int) []time.Duration { return slices.Repeat([]time.Duration{d}, n) }

func ms(x float64) time.Duration { return time.Duration(x * float64(time.Millisecond)) }

// ladder is the documented race of a burst: pairs, one slot apart.
func ladder(pairs int, slot time.Duration) []time.Duration {
	var out []time.Duration
	for k := range pairs {
		out = append(out, repeat(ms(112.5)+time.Duration(k)*slot, 2)...)
	}
	return out
}

// TestBurstOverHTTP replays the documented burst through the whole stack and demands the exact golden numbers (10.2).
func TestBurstOverHTTP(t *testing.T) {
	for _, c := range []struct {
		why    string
		policy scheduler.Policy
		slot   time.Duration
		burst  []time.Duration
	}{
		{"FC-7: a waiting request takes the next free instance: ten pairs, 100 ms apart", fcRace(), 0, ladder(10, 100*time.Millisecond)},
		{"10.1: a slot that changes hands in 3 ms moves each pair by 3 ms", fcRace(), 3 * time.Millisecond, ladder(10, 103*time.Millisecond)},
		{"FC-6: each request without an idle instance waits for its own start", fcBound(), 0, append(repeat(ms(112.5), 2), repeat(documentedCold, 18)...)},
	} {
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, bubbleConfig{policy: c.policy, cold: documentedCold, handover: c.slot})
				defer b.end()
				for k, want := range [][]time.Duration{
					repeat(documentedCold, 2), repeat(ms(112.5), 2), repeat(ms(112.5), 2), c.burst, repeat(ms(112.5), 2), repeat(ms(112.5), 2),
				} {
					b.until(time.Duration(k) * 10 * time.Second)
					if got := times(b.wave(fmt.Sprintf("w%d", k), len(want), documented)); !slices.Equal(got, want) {
						t.Errorf("wave %d took %v, want %v", k, got, want)
					}
				}
				settle()
				if got := len(b.g.Instances()); got != 20 {
					t.Errorf("starts = %d, want 20 (10.2)", got)
				}
			})
		})
	}
}

// TestServerTimingAddsUp checks the labels of a cold pair and a warm pair (wire contract of the answer's headers).
func TestServerTimingAddsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, bubbleConfig{policy: fcRace(), cold: documentedCold})
		defer b.end()
		for _, r := range b.wave("cold", 1, documented) {
			want := record.Server{Queue: 0, Init: documentedCold - ms(112.5), Exec: ms(100), Instance: "1", Start: record.Cold,
				StartBy: record.ByOwn, Source: record.FromHeader}
			if got := r.server(); got != want || r.header.Get(record.RequestIDHeader) != "cold-0" {
				t.Errorf("cold answer says %+v, want %+v", got, want)
			}
		}
		first := b.wave("warm", 2, documented)
		slices.SortFunc(first, func(x, y reply) int { return int(x.took - y.took) })
		warm := record.Server{Exec: ms(100), Instance: "1", Start: record.Warm, StartBy: record.ByNone, Source: record.FromHeader}
		queued := warm
		queued.Queue, queued.Start = ms(100), record.Queued
		for k, want := range []record.Server{warm, queued} {
			if got := first[k].server(); got != want {
				t.Errorf("answer %d says %+v, want %+v", k, got, want)
			}
		}
	})
}
