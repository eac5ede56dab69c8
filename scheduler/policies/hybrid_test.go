package policies_test

import (
	"strings"
	"testing"
	"time"

	"coldwave/scheduler"
)

// visits lets a request come after each of the idle times and returns when the last one has ended.
func (a *app) visits(idle ...time.Duration) time.Duration {
	a.visit(0)
	end := 2 * time.Second
	for _, d := range idle {
		a.visit(end + d)
		end += d + 2*time.Second
	}
	return end
}

// repeat returns n times an idle time.
func repeat(n int, idle time.Duration) []time.Duration {
	var all []time.Duration
	for range n {
		all = append(all, idle)
	}
	return all
}

// bins returns an idle time in each of the first k bins of the histogram.
func bins(k int) []time.Duration {
	var all []time.Duration
	for bin := range k {
		all = append(all, time.Duration(bin)*time.Minute+30*time.Second)
	}
	return all
}

// TestHybridHistogramExamples: what is loaded and unloaded after the last request of a history. An instance that is
// kept is not stopped and so is not started again.
func TestHybridHistogramExamples(t *testing.T) {
	const tenAndAHalf = 10*time.Minute + 30*time.Second
	const standard, ahead = "stop 4h0m0s", "stop 0s start 9m0s (ahead) stop 12m6s"
	const of47, predicted = "stop 0s start 1m48s (ahead) stop 51m42s", "stop 0s start 4h15m0s (ahead) stop 5h45m0s"
	five := repeat(1, 5*time.Hour)
	tests := []struct {
		id, name, spec string
		idle           []time.Duration
		want           string
	}{
		{"AZ-a", "bin 10: loaded after 0.9 of its lower edge, unloaded after 1.1 of its upper", "hybrid-histogram", repeat(9, tenAndAHalf), ahead},
		{"AZ-a", "once is enough", "hybrid-histogram", repeat(1, tenAndAHalf), ahead},
		{"AZ-a", "CV 15.46: above 15.459", "hybrid-histogram:cv=15.459", repeat(9, tenAndAHalf), ahead},
		{"AZ-a", "CV 15.46: not above 15.46", "hybrid-histogram:cv=15.46", repeat(9, tenAndAHalf), standard},
		{"U-34", "CV of a sample, 15.492: above 15.491", "hybrid-histogram:sample_cv=true,cv=15.491", repeat(9, tenAndAHalf), ahead},
		{"U-34", "CV of a sample, 15.492: not above 15.492", "hybrid-histogram:sample_cv=true,cv=15.492", repeat(9, tenAndAHalf), standard},
		{"U-34", "the keep-alive from the loading on", "hybrid-histogram:end_after_load=true", repeat(9, tenAndAHalf), "stop 0s start 9m0s (ahead) stop 21m6s"},
		{"AZ-b", "47 equal bins, CV 2.026: histogram", "hybrid-histogram", bins(47), of47},
		{"AZ-b", "47 equal bins: CV above 2.026", "hybrid-histogram:cv=2.026", bins(47), of47},
		{"AZ-b", "47 equal bins: CV not above 2.027", "hybrid-histogram:cv=2.027", bins(47), standard},
		{"AZ-b", "48 equal bins, CV 2.000 is not above 2: standard", "hybrid-histogram", bins(48), standard},
		{"AZ-b", "240 equal bins, CV 0: standard", "hybrid-histogram", bins(240), standard},
		{"AZ-b", "240 equal bins: not above 0 either", "hybrid-histogram:cv=0", bins(240), standard},
		{"AZ-c", "one arrival in 5 h: predicted", "hybrid-histogram", repeat(3, 5*time.Hour), predicted},
		{"AZ-5", "half out of bounds: predicted", "hybrid-histogram", append(repeat(1, tenAndAHalf), five...), predicted},
		{"AZ-5", "a third out of bounds: histogram", "hybrid-histogram", append(repeat(2, tenAndAHalf), five...), ahead},
		{"AZ-5", "a third, from a third on", "hybrid-histogram:out_of_bounds=0.333", append(repeat(2, tenAndAHalf), five...), predicted},
		{"AZ-2", "a nanosecond less than 4 h is in the last bin", "hybrid-histogram", repeat(1, 4*time.Hour-1),
			"stop 0s start 3h35m6s (ahead) stop 4h24m0s"},
		{"AZ-2", "4 h are out of bounds", "hybrid-histogram", repeat(1, 4*time.Hour), "stop 0s start 3h24m0s (ahead) stop 4h36m0s"},
		{"U-34", "the prediction is the mean of the last ones", "hybrid-histogram:predict_last=2", []time.Duration{50 * time.Hour, 10 * time.Hour, 20 * time.Hour},
			"stop 0s start 12h45m0s (ahead) stop 17h15m0s"},
		{"U-34", "none is predicted", "hybrid-histogram:predict_last=0", repeat(3, 5*time.Hour), standard},
		{"U-34", "a representative histogram is asked first", "hybrid-histogram:cv_first=true", append(repeat(1, tenAndAHalf), five...), ahead},
		{"AZ-d", "20 s: never unloaded before the tail", "hybrid-histogram", repeat(5, 20*time.Second), "stop 1m6s"},
		{"AZ-f", "the first request ever: standard", "hybrid-histogram", nil, standard},
		{"AZ-4", "a standard of 0 unloads at once", "hybrid-histogram:standard_keep_alive=0s", nil, "stop 0s"},
	}
	for _, tt := range tests {
		t.Run(tt.id+"/"+tt.name, func(t *testing.T) {
			a := newApp(t, tt.spec, scheduler.Config{Max: scheduler.Unlimited})
			end := a.visits(tt.idle...)
			a.until(end + 1000*time.Hour)
			must(t, "after the last request", a.loads(end), tt.want)
			must(t, "alive", a.core.Alive(), 0)
		})
	}
}

// TestHybridHistogramPercentiles: of 100 idle times the 5th and the 99th in order of length bound the windows (AZ-3).
func TestHybridHistogramPercentiles(t *testing.T) {
	at := func(bin int) time.Duration { return time.Duration(bin)*time.Minute + time.Second }
	tests := []struct {
		name                     string
		low, lower, high, higher int // how many lie in the bins 10, 20, 100 and 200
		want                     string
	}{
		{"AZ-3/4 below: the head is the bin of the rest", 4, 95, 1, 0, "stop 0s start 18m0s (ahead) stop 23m6s"},
		{"AZ-3/5 below are the head", 5, 94, 1, 0, "stop 0s start 9m0s (ahead) stop 23m6s"},
		{"AZ-3/1 above is no tail", 5, 94, 0, 1, "stop 0s start 9m0s (ahead) stop 23m6s"},
		{"AZ-3/2 above are", 5, 93, 1, 1, "stop 0s start 9m0s (ahead) stop 1h51m6s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newApp(t, "hybrid-histogram", scheduler.Config{Max: scheduler.Unlimited})
			idle := append(repeat(tt.higher, at(200)), repeat(tt.high, at(100))...)
			idle = append(append(idle, repeat(tt.lower, at(20))...), repeat(tt.low, at(10))...)
			end := a.visits(idle...)
			a.until(end + 1000*time.Hour)
			must(t, "after the last request", a.loads(end), tt.want)
		})
	}
}

// TestHybridHistogramWarmth: who is warm after a history of 10 min 30 s (AZ-a), and who is at the very first (AZ-f).
func TestHybridHistogramWarmth(t *testing.T) {
	tests := []struct {
		name string
		idle time.Duration
		warm bool
		want int // starts after the last request
	}{
		{"AZ-a/before it is loaded: cold", 8 * time.Minute, false, 1},
		{"AZ-a/at the instant of loading: it waits for that start", 9 * time.Minute, false, 1},
		{"AZ-a/while it starts", 9*time.Minute + 999*ms, false, 1},
		{"AZ-a/loaded: warm", 9*time.Minute + time.Second, true, 1},
		{"AZ-a/as ever: warm", 10*time.Minute + 30*time.Second, true, 1},
		{"AZ-a/a nanosecond before the end: warm", 12*time.Minute + 6*time.Second - 1, true, 1},
		{"AZ-a/at the end: cold", 12*time.Minute + 6*time.Second, false, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newApp(t, "hybrid-histogram", scheduler.Config{Max: scheduler.Unlimited})
			must(t, "AZ-f: the first is warm", a.visit(0), false)
			end := 2 * time.Second
			for range 3 {
				a.visit(end + 10*time.Minute + 30*time.Second)
				end += 10*time.Minute + 32*time.Second
			}
			must(t, "warm", a.visit(end+tt.idle), tt.warm)
			must(t, "starts", strings.Count(a.loads(end), "start"), tt.want)
		})
	}
}

// TestHybridHistogramIsOfTheApplication: only a time in which nothing runs is an idle time (AZ-6), and a busy
// application keeps its idle instances.
func TestHybridHistogramIsOfTheApplication(t *testing.T) {
	a := newApp(t, "hybrid-histogram", scheduler.Config{Max: scheduler.Unlimited})
	a.arrive(0, 3)
	a.end(2*time.Second, 1)
	a.end(3*time.Second, 2)
	a.until(time.Hour)
	must(t, "alive while one runs", a.core.Alive(), 3)
	a.arrive(time.Hour, 1)
	a.end(time.Hour+time.Second, 4) // 59 min after an end, but not idle
	a.end(time.Hour+time.Minute, 3)
	end := time.Hour + time.Minute
	must(t, "the next one is warm", a.visit(end+10*time.Minute+30*time.Second), true)
	end += 10*time.Minute + 32*time.Second
	a.until(end + 100*time.Hour)
	must(t, "after it", a.loads(end), "stop 0s stop 0s stop 0s start 9m0s (ahead) stop 12m6s")
}

// TestHybridHistogramSheds: a busy application unloads an instance that has been idle as long as it would keep all.
func TestHybridHistogramSheds(t *testing.T) {
	a := newApp(t, "hybrid-histogram", scheduler.Config{Max: scheduler.Unlimited})
	a.arrive(0, 2)
	a.end(2*time.Second, 1)
	a.until(5 * time.Hour)
	must(t, "stops while one runs", a.loads(2*time.Second), "stop 4h0m0s")
	must(t, "alive", a.core.Alive(), 1)
}

// TestHybridHistogramKeepsMin: what the limits keep stays, and then nothing is loaded ahead.
func TestHybridHistogramKeepsMin(t *testing.T) {
	a := newApp(t, "hybrid-histogram", scheduler.Config{Min: 1, Max: 5})
	end := a.visits(repeat(3, 10*time.Minute+30*time.Second)...)
	a.until(end + 100*time.Hour)
	must(t, "all starts and stops", a.loads(0), "start 0s (min)")
}
