package engine

import (
	"errors"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/workload"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	g, err := NewGuard("example.org:80")
	if err != nil {
		t.Fatal(err)
	}
	here := target(t, "http://127.0.0.1:80")
	there, err := g.Target("http://example.org")
	if err != nil {
		t.Fatal(err)
	}
	every := func(d time.Duration) func(int) clock.Instant {
		return func(i int) clock.Instant { return clock.Instant(i) * clock.Instant(d) }
	}
	long := schedule(1, every(0))
	long.Length = DefaultDuration + 1
	for _, row := range []struct {
		sentence string
		limits   Limits
		schedule *workload.Schedule
		target   *Target
		want     error
	}{
		{"an empty schedule passes", Limits{}, &workload.Schedule{}, here, nil},
		{"10,000/s to this host pass", Limits{}, schedule(20_000, every(100*time.Microsecond)), here, nil},
		{"a little more does not", Limits{}, schedule(20_000, every(99*time.Microsecond)), here, ErrRateLimit},
		{"100/s to another host pass", Limits{}, schedule(300, every(10*time.Millisecond)), there, nil},
		{"101/s do not", Limits{}, schedule(300, every(time.Second/101)), there, ErrRateLimit},
		{"a wave counts by its size", Limits{}, schedule(101, every(0)), there, ErrRateLimit},
		{"as many to this host pass", Limits{}, schedule(101, every(0)), here, nil},
		{"the busiest second decides, wherever it lies", Limits{LoopbackRate: 3}, schedule(8, func(i int) clock.Instant {
			return clock.Instant(max(0, i-3))*clock.Instant(300*time.Millisecond) + clock.Instant(i)*clock.Instant(time.Second)/2
		}), here, nil},
		{"four within a second, at its far edge", Limits{LoopbackRate: 3}, schedule(4, every(time.Second/3)), here, ErrRateLimit},
		{"the window is half-open", Limits{LoopbackRate: 3}, schedule(4, every(time.Second/3+1)), here, nil},
		{"a limit can be raised", Limits{RemoteRate: 101}, schedule(101, every(0)), there, nil},
		{"2 h and a nanosecond are too long", Limits{}, long, here, ErrDurationLimit},
		{"unless that is allowed", Limits{Duration: 3 * time.Hour}, long, here, nil},
		{"the count is limited", Limits{Requests: 9}, schedule(10, every(time.Second)), here, ErrRequestLimit},
		{"inclusively", Limits{Requests: 10}, schedule(10, every(time.Second)), here, nil},
	} {
		if err := row.limits.Check(row.schedule, row.target); !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
			t.Errorf("%s: Check = %v, want %v", row.sentence, err, row.want)
		}
	}
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	const ms = clock.Instant(time.Millisecond)
	waves := func(i int) clock.Instant { // 1, 2, 4, 8 at 0, 10, 20, 30 s
		for k, first := 0, 0; ; k++ {
			if i < first+1<<k {
				return clock.Instant(k) * 10_000 * ms
			}
			first += 1 << k
		}
	}
	for _, row := range []struct {
		sentence string
		n        int
		at       func(int) clock.Instant
		want     []need
	}{
		{"nothing is sent, nothing is needed", 0, nil, nil},
		{"the first look covers the largest wave", 15, waves, []need{{0, 8}, {10_000 * ms, 2}, {20_000 * ms, 4}, {30_000 * ms, 8}}},
		{"a wave that takes 8 ms needs a connection each", 5, func(i int) clock.Instant { return clock.Instant(i) * 2 * ms }, []need{{0, 5}}},
		{"groups within 250 ms are one look at the larger", 12, func(i int) clock.Instant {
			return []clock.Instant{0, 0, 700, 700, 750, 750, 750, 930, 950, 950, 950, 950}[i] * ms
		}, []need{{0, 5}, {700 * ms, 3}, {950 * ms, 4}}},
		{"a steady rate begins with its busiest 100 ms", 1000, func(i int) clock.Instant { return clock.Instant(i) * ms / 2 }, []need{{0, 200}, {252 * ms, 21}}},
		{"at most 256 of them", 2000, func(i int) clock.Instant { return clock.Instant(i) * ms / 10 }, []need{{0, 256}}},
		{"but a wave is never cut", 1000, func(int) clock.Instant { return 0 }, []need{{0, 1000}}},
	} {
		got := needs(schedule(row.n, row.at).Arrivals)
		if len(got) != len(row.want) {
			t.Errorf("%s: needs = %v, want %v", row.sentence, got, row.want)
			continue
		}
		for i := range got {
			if got[i] != row.want[i] {
				t.Errorf("%s: need %d = %v, want %v", row.sentence, i, got[i], row.want[i])
			}
		}
	}
}
