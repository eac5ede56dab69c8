package policies

import (
	"slices"
	"testing"
	"time"

	"coldwave/scheduler"
)

// TestCloudRunOnDemand: what on-demand scaling and the pending limit do, without metrics.
func TestCloudRunOnDemand(t *testing.T) {
	tests := []struct {
		name          string
		params        string
		cfg           scheduler.Config
		cold, service time.Duration
		warm, n       int
		starts        int             // beside the warm ones
		assigned      []time.Duration // after the arrival; nil: not looked at
		refused       []time.Duration // 429
	}{
		{"CR-t from zero, 100 at once take two instances of 80", "", scheduler.Config{Max: unli, Limit: 80}, 2 * one, one, 0, 100,
			2, repeat(2*one, 100), nil},
		{"CR-u at max requests pend for 10 s, then 429", "", scheduler.Config{Max: 1}, 2 * one, 3 * one, 0, 6,
			1, seconds(2, 5, 8), repeat(10*one, 3)},
		{"CR-v the one that gets its slot at the very limit is served", "", scheduler.Config{Max: 1}, 2 * one, 4 * one, 0, 6,
			1, seconds(2, 6, 10), repeat(10*one, 3)},
		{"CR-w a long cold start makes the limit 14 s", ",cold_start=4s", scheduler.Config{Max: 1}, 4 * one, 3 * one, 0, 6,
			1, seconds(4, 7, 10, 13), repeat(14*one, 2)},
		{"CR-w with the default prediction it is 10 s", "", scheduler.Config{Max: 1}, 4 * one, 3 * one, 0, 6,
			1, seconds(4, 7, 10), repeat(10*one, 3)},
		{"CR-x short bodies free enough slots", ",service_time=100ms", scheduler.Config{Max: unli}, 2 * one, one / 10, 2, 20,
			0, seconds(0, 0, .1, .1, .2, .2, .3, .3, .4, .4, .5, .5, .6, .6, .7, .7, .8, .8, .9, .9), nil},
		{"CR-y bodies of 1 s free four slots", ",service_time=1s", scheduler.Config{Max: unli}, 2 * one, one, 2, 20, 14, nil, nil},
		{"CR-y bodies of 3 s free none in time", ",service_time=3s", scheduler.Config{Max: unli}, 2 * one, 3 * one, 2, 20, 18, nil, nil},
		{"CR-z a tie goes to the current instance", ",service_time=2s", scheduler.Config{Max: unli}, 2 * one, 2 * one, 1, 2, 0, nil, nil},
		{"CR-z one millisecond longer does not", ",service_time=2001ms", scheduler.Config{Max: unli}, 2 * one, 2001 * time.Millisecond, 1, 2,
			1, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := tt.cfg
			cfg.Min = tt.warm
			s := newStage(t, onDemandOnly+tt.params, cfg, tt.cold, tt.service)
			arrival := time.Duration(0)
			if tt.warm > 0 {
				arrival = 10 * one
			}
			s.arrive(arrival, tt.n)
			s.run(arrival + 50*one)
			equal(t, "starts", len(s.times(scheduler.Start))-tt.warm, tt.starts)
			if tt.assigned != nil {
				same(t, "assigned", since(s.times(scheduler.Assign), arrival), tt.assigned)
			}
			same(t, "429", since(s.rejected(429), arrival), tt.refused)
		})
	}
}

func repeat(d time.Duration, n int) []time.Duration { return slices.Repeat([]time.Duration{d}, n) }

func since(times []time.Duration, from time.Duration) []time.Duration {
	for k := range times {
		times[k] -= from
	}
	return times
}

// TestCloudRunPendingLimit is CR-s: the longer of 10 s and 3.5 cold starts.
func TestCloudRunPendingLimit(t *testing.T) {
	for _, row := range []struct{ cold, want string }{
		{"400ms", "10s"}, {"2350ms", "10s"}, {"2857ms", "10s"}, {"2860ms", "10.01s"}, {"3s", "10.5s"}, {"10s", "35s"},
	} {
		p, err := New("cloudrun:cold_start=" + row.cold)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "CR-s limit for "+row.cold, p.(*CloudRun).pendingLimit().String(), row.want)
	}
}

// TestCloudRunLimitBelowMax: below max the end of the limit starts an instance and the request waits once more, then 429
// (CR-20, U-15); the request timeout ends it before with 504 (CR-22).
func TestCloudRunLimitBelowMax(t *testing.T) {
	s := newStage(t, onDemandOnly, scheduler.Config{Max: 5}, time.Hour, one)
	s.arrive(0, 1)
	s.run(60 * one)
	same(t, "starts", s.times(scheduler.Start), seconds(0, 10))
	equal(t, "starts at the limit", s.startsFor(ForPendingLimit), 1)
	same(t, "429", s.rejected(429), seconds(20))

	s = newStage(t, onDemandOnly+",request_timeout=15s", scheduler.Config{Max: 5}, time.Hour, one)
	s.arrive(0, 1)
	s.run(60 * one)
	same(t, "504", s.rejected(504), seconds(15))
	same(t, "429", s.rejected(429), nil)
}

// TestCloudRunPredictions: the cold start is the mean of all seen, the service time a moving average (U-13, U-37).
func TestCloudRunPredictions(t *testing.T) {
	s := newStage(t, onDemandOnly, scheduler.Config{Max: unli}, 4*one, one)
	equal(t, "before the first", s.p.coldStart(), int64(2*one))
	s.arrive(0, 1)
	s.arrive(100*one, 1)
	s.run(50 * one)
	equal(t, "after one start of 4 s", s.p.coldStart(), int64(4*one))
	equal(t, "after one body of 1 s", s.p.service, int64(one))
	s.service = func(scheduler.RequestID) time.Duration { return 2 * one }
	s.run(150 * one)
	equal(t, "after one more of 2 s", s.p.service, int64(1100*time.Millisecond))
}

// TestCloudRunStartRate is CR-28: with a limit of starts further ones wait, and the requests with them.
func TestCloudRunStartRate(t *testing.T) {
	s := newStage(t, onDemandOnly+",start_rate=2", scheduler.Config{Max: unli}, 5*one, 60*one)
	s.arrive(0, 6)
	s.run(9 * one)
	same(t, "starts", s.times(scheduler.Start), seconds(0, 0, 1, 1, 2, 2))
	same(t, "assigned", s.times(scheduler.Assign), seconds(5, 5, 6, 6, 7, 7))
	s = newStage(t, onDemandOnly, scheduler.Config{Max: unli}, 5*one, 60*one)
	s.arrive(0, 6)
	s.run(9 * one)
	same(t, "starts without the limit", s.times(scheduler.Start), repeat(0, 6))
}

// TestCloudRunRetries: starts in place of failed ones are limited, and come later.
func TestCloudRunRetries(t *testing.T) {
	s := newStage(t, onDemandOnly+",start_retries=2", scheduler.Config{Max: unli, Limit: 10}, 5*one, one)
	s.arrive(0, 1)
	for i := range 3 {
		s.fail(one, scheduler.InstanceID(i+1))
		s.run(one)
	}
	s.run(3 * one)
	same(t, "starts", s.times(scheduler.Start), seconds(0, 1, 1, 2))
}

// TestCloudRunOvershoot is CR-27: max may be exceeded by the spike switch only where the core allows it, by at most that many
// and for 15 minutes, and not beyond twice max.
func TestCloudRunOvershoot(t *testing.T) {
	for _, row := range []struct {
		name string
		cfg  scheduler.Config
		want int
	}{
		{"off in the core", scheduler.Config{Max: 4}, 4},
		{"three above", scheduler.Config{Max: 4, Overshoot: true}, 7},
		{"not beyond twice max", scheduler.Config{Max: 2, Overshoot: true}, 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newStage(t, onDemandOnly+",overshoot_spike=3", row.cfg, 2*one, 5*one)
			s.arrive(0, 20)
			s.run(2 * one)
			equal(t, "alive", s.core.Alive(), row.want)
			s.run(30 * time.Minute)
			equal(t, "alive after idle", s.core.Alive(), 0)
			s.arrive(31*time.Minute, 20)
			s.run(31*time.Minute + 2*one)
			equal(t, "alive after the spike is over", s.core.Alive(), row.cfg.Max)
		})
	}
}

// TestCloudRunReplace is CR-am: each replacement starts while the old instance drains, and no request fails.
func TestCloudRunReplace(t *testing.T) {
	s := newStage(t, onDemandOnly+",replace=3,replace_at=20s,replace_over=180s", scheduler.Config{Max: 3}, 2*one, 30*one)
	for k := range 30 {
		s.arrive(time.Duration(k)*10*one, 1)
	}
	s.run(400 * one)
	equal(t, "replacements", s.startsFor(ForReplacement), 3)
	equal(t, "alive at most", s.tallest, 3)
	if s.widest > 4 {
		t.Errorf("CR-am: alive and draining = %d, want ≤ 4", s.widest)
	}
	same(t, "429", s.rejected(429), nil)
	for _, a := range s.log {
		if a.Do == scheduler.Lost || a.Do == scheduler.Reject {
			t.Errorf("CR-am: %v at %v, want no request to fail", a, a.At)
		}
	}
}

// TestCloudRunDraining is U-20: replacements wait while alive and draining instances are twice max, and so do starts for
// those who wait, unless nothing is alive.
func TestCloudRunDraining(t *testing.T) {
	s := newStage(t, onDemandOnly+",replace=6,replace_at=5s,replace_over=6s", scheduler.Config{Max: 2}, one, 20*one)
	for k := range 40 {
		s.arrive(time.Duration(k)*one, 1)
	}
	s.run(120 * one)
	equal(t, "alive and draining at most", s.widest, 4)
	equal(t, "replacements", s.startsFor(ForReplacement), 6)

	s = newStage(t, onDemandOnly, scheduler.Config{Max: 8}, one, 20*one)
	s.arrive(0, 8)
	s.run(2 * one)
	s.did(s.core.Configure(nil, 2*second, scheduler.Config{Max: 2}))
	s.arrive(3*one, 3)
	s.fail(4*one, s.core.FirstAlive())
	s.run(10 * one)
	same(t, "starts while six drain", s.times(scheduler.Start)[8:], nil)
	s.fail(11*one, s.core.FirstAlive())
	s.run(11 * one)
	same(t, "starts when nothing is alive", s.times(scheduler.Start)[8:], seconds(11))
}

// TestCloudRunLatency is CR-18: when bodies turn out to be longer than predicted, the end of the first one starts an instance.
func TestCloudRunLatency(t *testing.T) {
	s := newStage(t, onDemandOnly+",service_time=100ms", scheduler.Config{Min: 1, Max: 10}, 2*one, 5*one)
	s.arrive(10*one, 11)
	s.run(15 * one)
	same(t, "starts", s.times(scheduler.Start), seconds(0, 15))
}

// TestCloudRunPick is CR-12 and U-22: the least used share first, the oldest among equals; of the deprioritised ones the
// one used last, and only when every recommended one is full.
func TestCloudRunPick(t *testing.T) {
	s := newStage(t, onDemandOnly, scheduler.Config{Max: 4, Min: 4, Limit: 2}, one, time.Hour)
	s.run(4 * one)
	for i := scheduler.InstanceID(3); i <= 4; i++ {
		s.p.servers.Get(int64(i)).rank = spare
		s.p.rekey(&s.core.Control, i, s.p.servers.Get(int64(i)))
	}
	s.arrive(5*one, 9)
	s.run(6 * one)
	var got []scheduler.InstanceID
	for _, a := range s.log {
		if a.Do == scheduler.Assign {
			got = append(got, a.Inst)
		}
	}
	if want := []scheduler.InstanceID{1, 2, 1, 2, 3, 3, 4, 4}; !slices.Equal(got, want) {
		t.Errorf("CR-12: requests went to %v, want %v", got, want)
	}
	equal(t, "waiting", s.core.Waiting(), 1)
}
