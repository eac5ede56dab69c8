package policies

import (
	"slices"
	"testing"
	"time"

	"coldwave/scheduler"
)

// underPressure returns a stage with one instance at a concurrency of 80, and the function that reports one second of it: how
// many requests are in flight, and its CPU in per cent.
func underPressure(t *testing.T, params string) (s *stage, report func(inFlight int, percent int64) int32) {
	t.Helper()
	s = newStage(t, "cloudrun"+params, scheduler.Config{Min: 1, Max: 1, Limit: 80}, one, time.Hour)
	s.run(one)
	at := one
	return s, func(inFlight int, percent int64) int32 {
		if more := inFlight - s.core.Running(); more > 0 {
			s.arrive(at+1, more)
		}
		at += one
		s.run(at)
		for more := s.core.Running() - inFlight; more > 0; more-- {
			s.did(s.core.Step(nil, s.nowOf(at), scheduler.Event{Kind: scheduler.Done, Req: s.core.FirstOn(1)}))
		}
		s.did(s.core.Step(nil, s.nowOf(at), scheduler.Event{Kind: scheduler.Sample, Inst: 1, Value: percent * 10}))
		return s.core.Limit(1)
	}
}

// TestCloudRunACT is CR-23 and CR-24: CR-q and CR-r.
func TestCloudRunACT(t *testing.T) {
	type second struct {
		inFlight int
		percent  int64
		want     int32
	}
	tests := []struct {
		name, params string
		seconds      []second
	}{
		{"CR-q", "", []second{
			{10, 95, 79}, {10, 95, 78}, {10, 91, 77}, {10, 90, 77}, {77, 89, 77}, {77, 69, 78}, {77, 69, 78}, {78, 70, 78},
		}},
		{"CR-r at the configured maximum nothing is added", "", []second{{80, 10, 80}, {80, 10, 80}}},
		{"off", ":act=false", []second{{10, 95, 80}, {10, 95, 80}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, report := underPressure(t, tt.params)
			for k, now := range tt.seconds {
				if got := report(now.inFlight, now.percent); got != now.want {
					t.Errorf("second %d, %d in flight, CPU %d %%: limit %d, want %d", k+1, now.inFlight, now.percent, got, now.want)
				}
			}
		})
	}
}

// TestCloudRunACTFloor is CR-r: the limit does not fall below one.
func TestCloudRunACTFloor(t *testing.T) {
	_, report := underPressure(t, "")
	for k := range 100 {
		if got, want := report(0, 99), int32(max(1, 79-k)); got != want {
			t.Fatalf("CR-r: after %d seconds the limit is %d, want %d", k+1, got, want)
		}
	}
}

// TestCloudRunACTPeaks is CR-ai: peaks of background work lower the limit although it is never reached.
func TestCloudRunACTPeaks(t *testing.T) {
	_, report := underPressure(t, "")
	got := int32(0)
	for k := range 60 {
		percent := int64(30)
		if k%10 < 2 {
			percent = 95
		}
		got = report(5, percent)
	}
	equal(t, "CR-ai limit after 60 s", got, 68)
}

// TestCloudRunACTTooOften: of reports that come faster than once a second not all count.
func TestCloudRunACTTooOften(t *testing.T) {
	s, report := underPressure(t, "")
	equal(t, "limit", report(0, 95), 79)
	for k := range 4 {
		s.did(s.core.Step(nil, s.core.Now()+100_000_000, scheduler.Event{Kind: scheduler.Sample, Inst: 1, Value: 950 + int64(k)}))
	}
	equal(t, "limit after four reports within 0.4 s", s.core.Limit(1), 79)
}

// TestCloudRunCPUDriver is CR-ag in motion: a body that saturates one CPU makes two instances of 1 CPU, and one of 4.
func TestCloudRunCPUDriver(t *testing.T) {
	for _, row := range []struct {
		name, params string
		alive        int
		limit        int32
	}{
		{"1 CPU", "", 2, 70}, // of ten seconds
		{"4 CPUs", ":milli_cpus=4000", 1, 80},
		{"1 CPU and 3 of a sidecar", ":sidecar_milli_cpus=3000", 1, 80},
	} {
		t.Run("CR-ag "+row.name, func(t *testing.T) {
			s := newStage(t, "cloudrun"+row.params, scheduler.Config{Max: 10, Limit: 80}, one, time.Hour)
			s.cpu = func(_ scheduler.InstanceID, inFlight int) int64 { return 1000 * int64(min(inFlight, 1)) }
			s.arrive(0, 1)
			s.run(11 * one)
			equal(t, "alive", s.core.Alive(), row.alive)
			equal(t, "limit", s.core.Limit(1), row.limit)
			_, driver := s.p.Recommendation()
			equal(t, "driver", driver, ForCPU)
		})
	}
}

// TestCloudRunGroups is CR-al: how those that are deprioritised one by one are divided (U-18), and CR-ab: all at once. The
// last row is another share.
func TestCloudRunGroups(t *testing.T) {
	for _, row := range []struct {
		name, params string
		n            []int64
		want         [][2]int // in the first and the second group
	}{
		{"CR-al", "", []int64{9, 8, 7, 6}, [][2]int{{0, 1}, {1, 1}, {1, 2}, {2, 2}}},
		{"CR-ab", "", []int64{4}, [][2]int{{3, 3}}},
		{"the last one is kept", "", []int64{9, 10, 9}, [][2]int{{0, 1}, {0, 0}, {0, 1}}},
		{"those that are recommended again do not count", "", []int64{8, 9, 8}, [][2]int{{1, 1}, {0, 1}, {1, 1}}},
		{"no reserve", ",reserve=0", []int64{9, 8}, [][2]int{{1, 0}, {2, 0}}},
		{"only reserve", ",reserve=1", []int64{9, 7}, [][2]int{{0, 1}, {0, 3}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newStage(t, onDemandOnly+row.params, scheduler.Config{Min: 10, Max: 10}, one, one)
			s.run(2 * one)
			cfg := scheduler.Config{Max: 10}
			s.did(s.core.Configure(nil, 3*second, cfg))
			for k, n := range row.n {
				s.p.n = n
				s.run(time.Duration(5*(k+1)) * one)
				var got [2]int
				for _, v := range s.p.servers.All() {
					if v.rank != recommended {
						got[v.rank-spare]++
					}
				}
				if got != row.want[k] {
					t.Errorf("at N = %d groups of %v, want %v", n, got, row.want[k])
				}
			}
		})
	}
}

// TestCloudRunTwoStages is CR-ab: of six that are deprioritised three stop at the first tick at which a minute of their use
// was below 10 %, three when they were idle for 15 minutes.
func TestCloudRunTwoStages(t *testing.T) {
	s := newStage(t, onDemandOnly, scheduler.Config{Min: 10, Max: 10}, one, one)
	s.run(2 * one)
	s.did(s.core.Configure(nil, 3*second, scheduler.Config{Max: 10}))
	s.p.n = 4
	s.arrive(4*one, 4) // to the oldest, which are recommended
	s.run(2000 * one)
	stops := s.times(scheduler.Stop)
	same(t, "CR-ab stops of the first group", stops[:3], repeat(65*one, 3)) // ready at 1 s, a minute old at the tick of 65 s
	same(t, "CR-ab stops of the second group", stops[3:6], repeat(901*one, 3))
	same(t, "CR-ab stops of the others", stops[6:], repeat(905*one, 4))
	var first []scheduler.InstanceID
	for _, a := range s.log {
		if a.Do == scheduler.Stop {
			first = append(first, a.Inst)
		}
	}
	if want := []scheduler.InstanceID{5, 6, 7}; !slices.Equal(first[:3], want) {
		t.Errorf("CR-ab: first stops %v, want %v", first[:3], want)
	}
}

// TestCloudRunHardlyUsed is CR-ac: 10 % for a minute is not below 10 %.
func TestCloudRunHardlyUsed(t *testing.T) {
	for _, row := range []struct {
		name  string
		milli int64
		want  int
	}{
		{"CR-ac exactly 10 %", 100, 4},
		{"just below", 99, 3},
	} {
		s := newStage(t, onDemandOnly, scheduler.Config{Min: 4, Max: 4}, one, one)
		s.run(2 * one)
		s.cpu = func(scheduler.InstanceID, int) int64 { return row.milli }
		s.did(s.core.Configure(nil, 3*second, scheduler.Config{Max: 4}))
		s.p.n = 2
		s.run(300 * one)
		equal(t, row.name+": alive", s.core.Alive(), row.want)
	}
}

// TestCloudRunBusySpare: an instance of the first group with a request in flight is not stopped, however little it does.
func TestCloudRunBusySpare(t *testing.T) {
	s := newStage(t, onDemandOnly, scheduler.Config{Min: 3, Max: 3, Limit: 100}, one, 400*one)
	s.run(2 * one)
	s.did(s.core.Configure(nil, 3*second, scheduler.Config{Max: 3, Limit: 100}))
	s.arrive(4*one, 3) // one each: 1 % of the concurrency
	s.run(4 * one)
	s.p.n = 1
	s.run(300 * one)
	equal(t, "alive", s.core.Alive(), 3)
	s.run(410 * one)
	equal(t, "alive after the requests", s.core.Alive(), 2)
}

// TestCloudRunIdle is CR-ad, CR-aj and CR-ak: the way to zero, and min.
func TestCloudRunIdle(t *testing.T) {
	background := func(scheduler.InstanceID, int) int64 { return 500 }
	tests := []struct {
		name, params string
		min          int
		cpu          func(scheduler.InstanceID, int) int64
		service      time.Duration
		want         []time.Duration // of stops
	}{
		{"CR-ad the last instance stops 15 min after its request", "", 0, nil, one, seconds(903)},
		{"CR-ad with GPU after 10 min", ":gpu=true", 0, nil, one, seconds(603)},
		{"CR-ad not with a request in flight", "", 0, nil, 2000 * one, nil},
		{"CR-ad not sooner without a reserve", ":reserve=0", 0, nil, one, seconds(903)},
		{"CR-aj background CPU does not keep it", "", 0, background, one, seconds(903)},
		{"CR-aj min does", "", 1, background, one, nil},
		{"never", ":idle_timeout=0s", 0, nil, one, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, "cloudrun"+tt.params, scheduler.Config{Max: 10, Min: tt.min, Limit: 80}, 2*one, tt.service)
			s.cpu = tt.cpu
			s.arrive(0, 1)
			s.run(1500 * one)
			same(t, "stops", s.times(scheduler.Stop), tt.want)
			if n, _ := s.p.Recommendation(); n == 0 && len(tt.want) == 0 && tt.service > one {
				t.Errorf("recommendation 0 with a request in flight, want ≥ 1 (CR-16)")
			}
		})
	}
}

// TestCloudRunInFlight is CR-16: while a request is in flight one instance is recommended, even if the windows are empty yet.
func TestCloudRunInFlight(t *testing.T) {
	s := newStage(t, "cloudrun", scheduler.Config{Max: 10, Limit: 80}, one, one)
	s.arrive(0, 1)
	s.run(695 * one)
	equal(t, "recommendation after ten minutes of silence", s.p.n, 0)
	s.arrive(700*one, 1)
	s.run(700 * one)
	equal(t, "recommendation at the tick of the arrival", s.p.n, 1)
}

// TestCloudRunShortSight is U-10: with less than a second seen the metrics say nothing.
func TestCloudRunShortSight(t *testing.T) {
	s := newStage(t, "cloudrun", scheduler.Config{Max: 100}, 2*one, 3*one)
	s.arrive(4500*time.Millisecond, 20)
	s.run(5 * one)
	equal(t, "starts at the first tick", s.startsFor(ForConcurrency)+s.startsFor(ForACT), 0)
	s.run(10 * one)
	equal(t, "starts at the next one", s.startsFor(ForConcurrency)+s.startsFor(ForACT) > 0, true)
}

// TestCloudRunMin is CR-ak and CR-17: min is there without traffic, and within 5 s after a loss.
func TestCloudRunMin(t *testing.T) {
	s := newStage(t, "cloudrun", scheduler.Config{Min: 3, Max: 10}, one, one)
	equal(t, "CR-ak alive at deployment", s.core.Alive(), 3)
	s.fail(7*one, 2)
	s.run(7 * one)
	equal(t, "alive after the crash", s.core.Alive(), 2)
	s.run(10 * one)
	equal(t, "CR-ak alive within 5 s", s.core.Alive(), 3)
	s.run(2 * time.Hour)
	equal(t, "alive without traffic", s.core.Alive(), 3)
	s.arrive(2*time.Hour+one, 2)
	s.run(2*time.Hour + one)
	equal(t, "CR-17 idle with two active", s.core.Idling(), 1)
}

// TestCloudRunSleeps: after the way to zero nothing is to be done any more, and the meters are as they were at first.
func TestCloudRunSleeps(t *testing.T) {
	s := newStage(t, "cloudrun", scheduler.Config{Max: 10}, one, one)
	s.arrive(0, 5)
	s.run(3 * time.Hour)
	equal(t, "next", s.core.Next().String(), "never")
	equal(t, "recommendation", s.p.n, 0)
	equal(t, "deprioritised", s.p.dropped, 0)
	equal(t, "seen", s.p.demand.seen(tenMinutes), 0)
	equal(t, "instances known", s.p.servers.Len(), 0)
	equal(t, "slots of starting instances", s.p.future, 0)
}

// TestCloudRunMaxLowered: those that must go leave no trace, and the recommendation follows.
func TestCloudRunMaxLowered(t *testing.T) {
	s := newStage(t, "cloudrun", scheduler.Config{Max: 10}, 2*one, 10*one)
	s.arrive(0, 4)
	s.run(3 * one)
	s.arrive(3*one, 3)
	s.run(4 * one)
	s.did(s.core.Configure(nil, 4*second, scheduler.Config{Max: 2}))
	equal(t, "alive", s.core.Alive(), 2)
	equal(t, "draining", s.core.Draining(), 2)
	equal(t, "recommendation", s.p.n, 2)
	equal(t, "slots of starting instances", s.p.future, 0)
	equal(t, "waiting", s.core.Waiting(), 3)
	s.run(60 * one)
	equal(t, "served", len(s.times(scheduler.Assign)), 6)
	same(t, "429", s.rejected(429), seconds(13))
}

// TestCloudRunMarks: each mark has a name.
func TestCloudRunMarks(t *testing.T) {
	seen := map[string]bool{}
	for m := MarkRecommended; m <= MarkACT; m++ {
		seen[m.String()] = true
	}
	if len(seen) != int(MarkACT) || seen["unknown"] || CRMark(0).String() != "unknown" || CRMark(99).String() != "unknown" {
		t.Errorf("names %v, want one each and unknown for the rest", seen)
	}
}
