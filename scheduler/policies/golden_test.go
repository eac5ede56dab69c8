package policies_test

import (
	"testing"
	"time"

	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/sim"
	"coldwave/workload"
)

var (
	ramp  = every(10*time.Second, 1, 2, 4, 8, 16, 32)
	burst = every(10*time.Second, 2, 2, 2, 20, 2, 2, 2)
)

// TestGoldenWaves is FA-1: with C = 2350 ms and h = 12.5 ms every wave's figures are exact to the nanosecond.
func TestGoldenWaves(t *testing.T) {
	const c = 2350 * ms
	const half = 162500 * time.Microsecond // half of the wave waits one slot
	tests := []struct {
		name, policy   string
		waves          []wave
		first, last    int32 // waves
		mean, p50, p99 time.Duration
	}{
		{"ramp: the first request has no instance in either", "fc-bound", ramp, 0, 0, c, c, c},
		{"ramp: the first request has no instance in either", "fc-race", ramp, 0, 0, c, c, c},
		{"ramp: bound, half reuses, half waits for its own start", "fc-bound", ramp, 1, 5, 1231250 * time.Microsecond, warm, c},
		{"ramp: race, half reuses, half waits one slot", "fc-race", ramp, 1, 5, half, warm, 212500 * time.Microsecond},
		{"burst: the first two", "fc-bound", burst, 0, 0, c, c, c},
		{"burst: the first two", "fc-race", burst, 0, 0, c, c, c},
		{"burst: steady", "fc-bound", burst, 1, 2, warm, warm, warm},
		{"burst: steady", "fc-race", burst, 1, 2, warm, warm, warm},
		{"burst: 20, bound", "fc-bound", burst, 3, 3, 2126250 * time.Microsecond, c, c},
		{"burst: 20, race", "fc-race", burst, 3, 3, 562500 * time.Microsecond, 512500 * time.Microsecond, 1012500 * time.Microsecond},
		{"burst: after it", "fc-bound", burst, 4, 6, warm, warm, warm},
		{"burst: after it", "fc-race", burst, 4, 6, warm, warm, warm},
	}
	for _, tt := range tests {
		t.Run("FA-1/"+tt.policy+"/"+tt.name, func(t *testing.T) {
			res := play(t, tt.policy, fixed(c), 1, scheduler.Unlimited, 70*time.Second, tt.waves)
			for w := tt.first; w <= tt.last; w++ {
				got := responses(res, w)
				must(t, "mean", mean(got), tt.mean)
				must(t, "p50", quantile(got, 500), tt.p50)
				must(t, "p99", quantile(got, 990), tt.p99)
			}
		})
	}
}

// TestGoldenLadder: the 20 requests of the burst leave in ten pairs, one slot apart (FC-7).
func TestGoldenLadder(t *testing.T) {
	res := play(t, "fc-race", fixed(2350*ms), 1, scheduler.Unlimited, 70*time.Second, burst)
	for k, got := range responses(res, 3) {
		if want := warm + time.Duration(k/2)*100*ms; got != want {
			t.Errorf("row %d of the ladder = %v, want %v", k+1, got, want)
		}
	}
}

// TestGoldenResources is FA-2: starts, instance-seconds and waiting of both patterns.
func TestGoldenResources(t *testing.T) {
	const s = 2237500 * time.Microsecond // start-up: C − 100 ms − h
	tests := []struct {
		name, policy      string
		waves             []wave
		length            time.Duration
		starts            int
		allocated, busy   time.Duration
		ready             time.Duration
		waiting           time.Duration
		cold, queued, hot int
	}{
		{"bound, each cold request waits its own start", "fc-bound", ramp, 60 * time.Second, 32, 630 * time.Second,
			6300 * ms, 630*time.Second - 32*s, 32 * s, 32, 0, 31},
		{"race, one start and 31 slots are waited for", "fc-race", ramp, 60 * time.Second, 32, 630 * time.Second,
			6300 * ms, 630*time.Second - 32*s, s + 31*100*ms, 1, 31, 31},
		{"bound, each cold request waits its own start", "fc-bound", burst, 70 * time.Second, 20, 860 * time.Second,
			3200 * ms, 860*time.Second - 20*s, 20 * s, 20, 0, 12},
		{"race, two starts and nine pairs of slots", "fc-race", burst, 70 * time.Second, 20, 860 * time.Second,
			3200 * ms, 860*time.Second - 20*s, 2*s + 2*4500*ms, 2, 18, 12},
	}
	for _, tt := range tests {
		t.Run("FA-2/"+tt.policy+"/"+tt.name, func(t *testing.T) {
			res := play(t, tt.policy, fixed(2350*ms), 1, scheduler.Unlimited, tt.length, tt.waves)
			must(t, "starts", len(res.Instances), tt.starts)
			// A wave reaches the scheduler h/2 after its intended start, so the window moves by that much.
			allocated, ready, busy := instanceTime(res, tt.length+h/2)
			must(t, "allocated", allocated, tt.allocated)
			must(t, "ready", ready, tt.ready)
			must(t, "busy", busy, tt.busy)
			must(t, "waiting", waited(res), tt.waiting)
			var n [record.StartKinds]int
			for k := range res.Records {
				n[res.Records[k].Server.Start]++
			}
			must(t, "cold", n[record.Cold], tt.cold)
			must(t, "queued", n[record.Queued], tt.queued)
			must(t, "warm", n[record.Warm], tt.hot)
		})
	}
}

// TestHardBounds is FA-3: whatever h is drawn, group g of a race leaves within 100g + 5 … 100g + 20 ms, and the 18
// queued requests of the burst are all served by freed instances. The bounds hold for d > 0 too.
func TestHardBounds(t *testing.T) {
	for _, d := range []time.Duration{0, 2800 * time.Microsecond} {
		p := platform.Default()
		p.Handover = d
		for seed := range uint64(200) {
			inBounds(t, play(t, "fc-race", p, seed, scheduler.Unlimited, 0, ramp), 1, 5, 2, d)
			res := play(t, "fc-race", p, seed, scheduler.Unlimited, 0, burst)
			inBounds(t, res, 3, 3, 10, d)
			for k := range res.Records {
				if r := &res.Records[k]; r.Wave == 3 && r.Server.Start != record.Warm && r.Server.Start != record.Queued {
					t.Fatalf("FA-3: seed %d: request %d of the burst is %v, want warm or queued", seed, r.Seq, r.Server.Start)
				}
			}
		}
	}
}

// inBounds checks that the waves have that many equal groups, each within its bounds.
func inBounds(t *testing.T, res sim.Result, first, last int32, groups int, d time.Duration) {
	t.Helper()
	for w := first; w <= last; w++ {
		all := responses(res, w)
		for k, got := range all {
			g := time.Duration(k * groups / len(all)) // slots waited
			low := 105*ms + g*(100*ms+d)
			if got < low || got > low+15*ms {
				t.Fatalf("FA-3: d %v, wave %d, row %d took %v, want %v … %v", d, w, k, got, low, low+15*ms)
			}
		}
	}
}

// TestOwnDraw is FA-4: under fc-bound the warm half takes 105 … 120 ms, and each other request its own draw C.
func TestOwnDraw(t *testing.T) {
	for seed := range uint64(200) {
		d := platform.Default().Draws(seed)
		res := play(t, "fc-bound", platform.Default(), seed, scheduler.Unlimited, 0, ramp)
		for k := range res.Records {
			r := &res.Records[k]
			if r.Server.Start == record.Warm {
				if got := r.Response(); got < 105*ms || got > 120*ms {
					t.Fatalf("FA-4: seed %d: warm request %d took %v, want 105ms … 120ms", seed, r.Seq, got)
				}
				continue
			}
			got, want := r.Response(), d.Cold(instanceOf(t, r))
			if got != want || got < 1700*ms || got > 3*time.Second || r.Server.StartBy != record.ByOwn {
				t.Fatalf("FA-4: seed %d: request %d took %v by %v, want its own draw %v", seed, r.Seq, got, r.Server.StartBy, want)
			}
		}
	}
}

// TestBurstRatio is FA-7: the burst's p99 is at least halved, under any seed, by both the uniform law and a real spread.
func TestBurstRatio(t *testing.T) {
	for seed := range uint64(200) {
		bound := responses(play(t, "fc-bound", platform.Default(), seed, scheduler.Unlimited, 0, burst), 3)
		race := responses(play(t, "fc-race", platform.Default(), seed, scheduler.Unlimited, 0, burst), 3)
		if b, r := quantile(bound, 990), quantile(race, 990); b < 2*r {
			t.Fatalf("FA-7: seed %d: p99 %v before, %v after, want a ratio ≥ 2", seed, b, r)
		}
	}
}

// TestBatches is FA-10 and the reason for the demand-aware reading (U-4): a batch each second on 11 warm instances
// grows from 11. The literal reading of FC-8 starts as many as fc-bound does, which FC-10 denies.
func TestBatches(t *testing.T) {
	const c = 2350 * ms
	const after = 312500 * time.Microsecond
	tests := []struct {
		policy      string
		size        int
		starts, end int
		p99, mean   time.Duration // of the ten batches after the step, rounded down to 1 ns
	}{
		{"fc-bound", 25, 42, 53, c, 488400 * time.Microsecond},
		{"fc-race:start_per_request=true", 25, 42, 53, after, 132900 * time.Microsecond},
		{"fc-race", 25, 14, 25, after, 132900 * time.Microsecond},
		{"fc-bound", 32, 63, 74, c, 553007812},
		{"fc-race:start_per_request=true", 32, 63, 74, after, 141562500},
		{"fc-race", 32, 21, 32, after, 141562500},
	}
	for _, tt := range tests {
		t.Run("FA-10/"+tt.policy, func(t *testing.T) {
			waves := []wave{{0, 11}} // warms 11
			for k := range 10 {
				waves = append(waves, wave{time.Duration(10+k) * time.Second, 11})
			}
			for k := range 10 {
				waves = append(waves, wave{time.Duration(20+k) * time.Second, tt.size})
			}
			res := play(t, tt.policy, fixed(c), 1, scheduler.Unlimited, 0, waves)
			must(t, "starts after the step", startsIn(res, 20*time.Second, time.Hour), tt.starts)
			must(t, "instances at the end", len(res.Instances), tt.end)
			got := ofWaves(res, 11, 20)
			must(t, "p99", quantile(got, 990), tt.p99)
			must(t, "mean", mean(got), tt.mean)
		})
	}
}

// TestQuotaExample is the quota example of FA-10: 2 warm, quota 10, 20 at once (FC-10).
func TestQuotaExample(t *testing.T) {
	tests := []struct {
		policy           string
		served, rejected int
		longest          time.Duration // served
	}{
		{"fc-bound", 10, 10, 2350 * ms},
		{"fc-race", 20, 0, 1012500 * time.Microsecond},
	}
	for _, tt := range tests {
		t.Run("FA-10/"+tt.policy, func(t *testing.T) {
			res := play(t, tt.policy, fixed(2350*ms), 1, 10, 0, every(10*time.Second, 2, 20))
			must(t, "served", countOutcome(res, record.OK)-2, tt.served)
			must(t, "rejected", countOutcome(res, record.Rejected), tt.rejected)
			must(t, "starts", startsIn(res, 10*time.Second, time.Hour), 8)
			all := responses(res, 1)
			must(t, "longest", all[len(all)-1], tt.longest)
			for k := range res.Records {
				if r := &res.Records[k]; r.Outcome == record.Rejected && (r.Status != 503 || r.Server.Start != record.Edge) {
					t.Errorf("request %d was rejected with %d by %v, want 503 by edge", r.Seq, r.Status, r.Server.Start)
				}
			}
		})
	}
}

// TestFromZero is the from-zero example of FA-10: with nothing to reuse the policies agree.
func TestFromZero(t *testing.T) {
	for _, policy := range []string{"fc-bound", "fc-race", "fc-race:start_per_request=true"} {
		t.Run("FA-10/"+policy, func(t *testing.T) {
			res := play(t, policy, fixed(2*time.Second), 1, scheduler.Unlimited, 0, every(0, 20))
			for k, got := range responses(res, 0) {
				if got != 2*time.Second {
					t.Errorf("request %d took %v, want 2s", k, got)
				}
			}
			must(t, "starts", len(res.Instances), 20)
		})
	}
}

// colds is a platform whose n-th instance has the n-th C.
type colds []time.Duration

func (c colds) StartUp(instance int64, cause workload.Demand) platform.StartUp {
	return platform.StartUp{Total: c[instance-1] - cause.Exec - cause.Overhead()}
}

func (colds) RequestFails(int64) bool { return false }

// TestTwoFromZero: the race gives C₁ and min(C₂, C₁ + slot).
func TestTwoFromZero(t *testing.T) {
	tests := []struct {
		name, policy   string
		c              colds
		shorter, other time.Duration
	}{
		{"the second start is far: the first instance serves both", "fc-race", colds{1700 * ms, 2900 * ms}, 1700 * ms, 1800 * ms},
		{"the second start comes within a slot", "fc-race", colds{1700 * ms, 1760 * ms}, 1700 * ms, 1760 * ms},
		{"whoever comes first, in either order", "fc-race", colds{2900 * ms, 1700 * ms}, 1700 * ms, 1800 * ms},
		{"bound: each its own", "fc-bound", colds{1700 * ms, 2900 * ms}, 1700 * ms, 2900 * ms},
	}
	d := fixed(0).Draws(1)
	for _, tt := range tests {
		t.Run("FA-10/"+tt.policy+"/"+tt.name, func(t *testing.T) {
			res := playOn(t, tt.policy, tt.c, scheduleOf(d, 0, every(0, 2)), 0, scheduler.Unlimited)
			got := responses(res, 0)
			must(t, "shorter", got[0], tt.shorter)
			must(t, "longer", got[1], tt.other)
		})
	}
}

// TestCrossover is FA-12: 2 warm instances serve 46 requests before the first new one can help.
func TestCrossover(t *testing.T) {
	tests := []struct {
		size, byNew int
		longest     time.Duration
	}{
		{46, 0, 2312500 * time.Microsecond},
		{60, 14, 2350 * ms},
		{100, 54, 2350 * ms},
	}
	for _, tt := range tests {
		t.Run("FA-12", func(t *testing.T) {
			res := play(t, "fc-race", fixed(2350*ms), 1, scheduler.Unlimited, 0, every(10*time.Second, 2, tt.size))
			byNew := 0
			for k := range res.Records {
				if r := &res.Records[k]; r.Wave == 1 && instanceOf(t, r) > 2 {
					byNew++
				}
			}
			must(t, "served by new instances", byNew, tt.byNew)
			all := responses(res, 1)
			must(t, "longest", all[len(all)-1], tt.longest)
		})
	}
}
