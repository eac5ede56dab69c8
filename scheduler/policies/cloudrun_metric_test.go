package policies

import (
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// cpus is a use of the CPUs over a minute, in milli-CPUs; concurrent one of slots, in hundredths of a request.
func cpus(milli, milliCPUs int64) usage {
	return usage{sum: 60 * milli, seen: 60, capacity: milliCPUs, parts: 1}
}

func concurrent(hundredths, limit int64) usage {
	return usage{sum: 60 * hundredths * int64(second) / 100, seen: int64(minute), capacity: limit, parts: 1}
}

// TestCloudRunFormula is CR-2 and CR-3 without the band: nothing was recommended before.
func TestCloudRunFormula(t *testing.T) {
	tests := []struct {
		name   string
		use    usage
		target int64
		want   int64
	}{
		{"CR-a 2.46 CPUs of 1 CPU: 4.1", cpus(2460, 1000), 600, 5},
		{"CR-b 4.92 CPUs of 2 CPUs: 4.1", cpus(4920, 2000), 600, 5},
		{"CR-c exactly 5", cpus(3000, 1000), 600, 5},
		{"CR-c just above 5", usage{sum: 30_001, seen: 10, capacity: 1000, parts: 1}, 600, 6},
		{"CR-c exactly 1", cpus(600, 1000), 600, 1},
		{"CR-c above 1", cpus(610, 1000), 600, 2},
		{"CR-c 5.4 CPUs of 2 CPUs at 90 %", cpus(5400, 2000), 900, 3},
		{"CR-d 200 of 80", concurrent(200_00, 80), 600, 5},
		{"CR-f 48 of 80", concurrent(48_00, 80), 600, 1},
		{"CR-f 48.01 of 80", concurrent(48_01, 80), 600, 2},
		{"CR-f 196.8 of 80", concurrent(196_80, 80), 600, 5},
		{"CR-g one request of 1", concurrent(1_00, 1), 600, 2},
		{"CR-p ACT 80, 60, 40", usage{sum: 90 * 60, seen: 60, capacity: 180, parts: 3}, 600, 3},
		{"CR-p ACT 80, 80, 80", usage{sum: 90 * 60, seen: 60, capacity: 240, parts: 3}, 600, 2},
		{"CR-p ACT 40, 40, 40", usage{sum: 90 * 60, seen: 60, capacity: 120, parts: 3}, 600, 4},
		{"CR-ag one of 4 CPUs busy: 0.417", cpus(1000, 4000), 600, 1},
		{"CR-ag the only CPU busy: 1.667", cpus(1000, 1000), 600, 2},
		{"CR-ah 1.2 CPUs of 1 and a sidecar's 1", cpus(1200, 2000), 600, 1},
		{"nothing used", cpus(0, 1000), 600, 0},
		{"products beyond 64 bits", usage{sum: 1_000_000 * int64(tenMinutes), seen: int64(tenMinutes), capacity: 1000, parts: 1}, 600, 1667},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.use.recommend(0, tt.target); got != tt.want {
				t.Errorf("recommend(%+v) = %d, want %d", tt.use, got, tt.want)
			}
		})
	}
}

// TestCloudRunBand is CR-7, CR-8 and CR-9. The need is in thousandths of an instance at the target.
func TestCloudRunBand(t *testing.T) {
	tests := []struct {
		name          string
		n, need, want int64 // need in ten-thousandths
	}{
		{"CR-h 54 % is in the band", 5, 4_5000, 5},
		{"CR-h 66 % is in the band", 5, 5_5000, 5},
		{"CR-i 53.88 %", 5, 4_4900, 5},
		{"CR-i 66.12 %", 5, 5_5100, 6},
		{"CR-i 48 %", 5, 4_0000, 4},
		{"CR-j 1 holds at 66 %", 1, 1_1000, 1},
		{"CR-j and not above", 1, 1_1001, 2},
		{"CR-k 2 stays at 31.5 %", 2, 1_0500, 2},
		{"CR-k and falls at 30 %", 2, 1_0000, 1},
		{"CR-l lower edge", 10, 9_0000, 10},
		{"CR-l below it", 10, 8_9900, 9},
		{"CR-l upper edge", 10, 11_0000, 10},
		{"CR-l above it", 10, 11_0100, 12},
		{"CR-a through the band: 61.5 % holds 4", 4, 4_1000, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			use := usage{sum: 6 * tt.need, seen: 10, capacity: 10_000, parts: 1} // 0.6 · need of a capacity of 1
			if got := use.recommend(tt.n, 600); got != tt.want {
				t.Errorf("recommend(N=%d, need %d/10000) = %d, want %d", tt.n, tt.need, got, tt.want)
			}
		})
	}
}

// TestCloudRunLongestMean is CR-d and CR-e: the larger of the two means counts.
func TestCloudRunLongestMean(t *testing.T) {
	for _, row := range []struct {
		name       string
		early, now int64
		want       int64
	}{
		{"CR-d the minute: 200, ten minutes: below", 111, 200, 5},
		{"CR-e the minute: 30, ten minutes: 200", 219, 30, 5},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := NewCloudRun(CloudRunOptions{Concurrency: true, ConcurrencyTarget: 600, StartRetries: 1, MilliCPUs: 1000})
			p.demand.advance(0)
			p.demand.level = row.early
			p.demand.advance(540 * second)
			p.demand.level = row.now
			p.demand.advance(600 * second)
			core := scheduler.New(p, scheduler.Config{Max: 100, Limit: 80}, 1)
			if n, driver := p.decide(p.drivers(&core.Control)); n != row.want || driver != ForConcurrency {
				t.Errorf("decide = %d by %v, want %d by concurrency", n, driver, row.want)
			}
		})
	}
}

// TestCloudRunLargestDriver is CR-5 and CR-o.
func TestCloudRunLargestDriver(t *testing.T) {
	driver := func(w Why, need int64) demandOf {
		return demandOf{w, 600, int64(second), usage{sum: need * 600 * int64(second), seen: int64(second), capacity: 1000, parts: 1}}
	}
	p := NewCloudRun(CloudRunOptions{MilliCPUs: 1000, StartRetries: 1})
	for _, row := range []struct {
		name           string
		cpu, conc, act int64
		n              int64
		driver         Why
	}{
		{"CR-o 3, 5, 4", 3, 5, 4, 5, ForConcurrency},
		{"CPU", 6, 5, 4, 6, ForCPU},
		{"ACT", 3, 5, 7, 7, ForACT},
		{"the first among equals", 5, 5, 5, 5, ForCPU},
	} {
		n, by := p.decide([3]demandOf{driver(ForCPU, row.cpu), driver(ForConcurrency, row.conc), driver(ForACT, row.act)})
		if n != row.n || by != row.driver {
			t.Errorf("%s: decide = %d by %v, want %d by %v", row.name, n, by, row.n, row.driver)
		}
	}
	p.n = 7
	if n, by := p.decide([3]demandOf{}); n != 7 || by != 0 {
		t.Errorf("without a driver decide = %d by %v, want to hold 7", n, by)
	}
}

// decay plays so many requests in flight for ten minutes and none afterwards, and returns the recommendation after it.
func decay(t *testing.T, n int, at []time.Duration) []int64 {
	t.Helper()
	s := newStage(t, "cloudrun", scheduler.Config{Max: 100, Limit: 80}, 1, 600*one-1)
	s.arrive(0, n)
	var out []int64
	for _, d := range at {
		s.run(600*one + d)
		out = append(out, s.p.n)
	}
	return out
}

// TestCloudRunDecay is CR-m and CR-n: what the ten minutes remember.
func TestCloudRunDecay(t *testing.T) {
	tests := []struct {
		name string
		n    int
		at   []time.Duration
		want []int64
	}{
		{"CR-m 80 requests", 80, seconds(0, 235, 240, 595, 600), []int64{2, 2, 1, 1, 0}},
		{"CR-n 400 requests", 400, seconds(0, 20, 25, 95, 100, 165, 170, 235, 240, 310, 315, 380, 385, 455, 460, 525, 530, 595, 600),
			[]int64{9, 9, 8, 8, 7, 7, 6, 6, 5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := decay(t, tt.n, tt.at); !slices.Equal(got, tt.want) {
				t.Errorf("recommendations at %v = %v, want %v", tt.at, got, tt.want)
			}
		})
	}
}

// TestCloudRunSteady is CR-aa: both mechanisms together, from zero to the steady state.
func TestCloudRunSteady(t *testing.T) {
	s := newStage(t, "cloudrun", scheduler.Config{Max: 100, Limit: 10}, 2*one, one)
	for k := range 20 * 60 {
		s.arrive(time.Duration(k)*50*time.Millisecond, 1)
	}
	for _, row := range []struct {
		at   float64
		want int64
	}{{4.9, 6}, {5, 6}, {10, 5}, {15, 5}, {20, 5}, {25, 4}, {40, 4}, {60, 4}} {
		s.run(time.Duration(row.at * 1e9))
		if s.p.n != row.want {
			t.Errorf("CR-aa: at %v s the recommendation is %d, want %d", row.at, s.p.n, row.want)
		}
	}
	same(t, "CR-aa starts", s.times(scheduler.Start), seconds(0, .5, 1, 1.5, 2, 2.5))
	n, driver := s.p.Recommendation()
	if n != 4 || driver != ForConcurrency {
		t.Errorf("Recommendation() = %d, %v, want 4, concurrency", n, driver)
	}
	marked := 0
	for _, a := range s.log {
		if a.Do == scheduler.Mark && CRMark(a.Code) == MarkConcurrency {
			marked++
		}
	}
	equal(t, "CR-25 marks of the driver", marked, 1)
}

// TestCloudRunMetricDrivers: with the drivers on, the metric tick starts two more than on-demand scaling does in CR-x.
func TestCloudRunMetricDrivers(t *testing.T) {
	for _, row := range []struct {
		name, spec string
		want       []time.Duration
	}{
		{"on", "cloudrun:service_time=100ms", seconds(5, 5)},
		{"off", onDemandOnly + ",service_time=100ms", nil},
	} {
		s := newStage(t, row.spec, scheduler.Config{Max: 100, Min: 2}, 2*one, one/10)
		s.arrive(2*one, 20)
		s.run(9 * one)
		same(t, "CR-x starts, drivers "+row.name, s.times(scheduler.Start)[2:], row.want)
		equal(t, "CR-x starts by the concurrency driver, drivers "+row.name, s.startsFor(ForConcurrency), len(row.want))
	}
}

// TestMeter: sums and times seen, over the ends of both windows, of a gap, and before the epoch.
func TestMeter(t *testing.T) {
	tests := []struct {
		name        string
		do          func(m *meter)
		short, long int64 // in level × s
		sixty, ten  int64 // seen, in ms
	}{
		{"nothing", func(*meter) {}, 0, 0, 0, 0},
		{"half a second is not full yet", func(m *meter) { m.advance(0); m.level = 2; m.advance(second / 2) }, 0, 0, 0, 0},
		{"three seconds", func(m *meter) { m.advance(0); m.level = 2; m.advance(3 * second) }, 6, 6, 3000, 3000},
		{"a start within a second", func(m *meter) { m.advance(second / 2); m.level = 2; m.advance(2 * second) }, 3, 3, 1500, 1500},
		{"the minute is full", func(m *meter) { m.advance(0); m.level = 1; m.advance(100 * second) }, 60, 100, 60_000, 100_000},
		{"both are full", func(m *meter) { m.advance(0); m.level = 1; m.advance(1000 * second) }, 60, 600, 60_000, 600_000},
		{"an end leaves the minute first", func(m *meter) {
			m.advance(0)
			m.level = 1
			m.advance(100 * second)
			m.level = 0
			m.advance(170 * second)
		}, 0, 100, 60_000, 170_000},
		{"a long gap empties it", func(m *meter) {
			m.advance(0)
			m.level = 1
			m.advance(100 * second)
			m.level = 0
			m.advance(10_000 * second)
		}, 0, 0, 60_000, 600_000},
		{"before the epoch", func(m *meter) { m.advance(-3 * second / 2); m.level = 2; m.advance(second) }, 5, 5, 2500, 2500},
		{"reports on seconds that have just ended", func(m *meter) {
			m.add(second, 5)
			m.add(2*second, 7)
			m.advance(2 * second)
		}, 12, 12, 2000, 2000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := meter{begin: clock.Never}
			tt.do(&m)
			unit := int64(1)
			if m.short > 1000 || m.long > 1000 {
				unit = int64(second)
			}
			if m.short/unit != tt.short || m.long/unit != tt.long {
				t.Errorf("sums = %d, %d, want %d, %d", m.short/unit, m.long/unit, tt.short, tt.long)
			}
			if s, l := m.seen(minute), m.seen(tenMinutes); s < second && tt.sixty != 0 || s >= second && int64(s)/1e6 != tt.sixty ||
				l >= second && int64(l)/1e6 != tt.ten {
				t.Errorf("seen %v and %v, want %d and %d ms", s, l, tt.sixty, tt.ten)
			}
		})
	}
}

// TestMeterAgainstSums compares the running sums with sums from scratch, for levels that change at odd instants.
func TestMeterAgainstSums(t *testing.T) {
	m := meter{begin: clock.Never}
	levels := make([]int64, 0, 2000) // one for each 400 ms
	for k := range 2000 {
		now := clock.Instant(k) * 400 * clock.Instant(time.Millisecond)
		m.advance(now)
		m.level = int64(k * k % 17)
		levels = append(levels, m.level)
		if now%second != 0 || k == 0 {
			continue
		}
		sum := func(window clock.Instant) (n int64) {
			for j := range k {
				if at := clock.Instant(j) * 400 * clock.Instant(time.Millisecond); at >= now-window {
					n += levels[j] * 400 * int64(time.Millisecond)
				}
			}
			return n
		}
		if m.short != sum(minute) || m.long != sum(tenMinutes) {
			t.Fatalf("at %v sums = %d, %d, want %d, %d", now, m.short, m.long, sum(minute), sum(tenMinutes))
		}
	}
}
