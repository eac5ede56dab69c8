package analysis

import (
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// lives returns the instances of a documented pattern as 10.2 has them: started waves[i] at a time every 10 s, ready after
// S = 2350 − 100 − 12.5 ms, alive to the end; each request takes 100 ms.
func lives(waves []int, requests int) []record.Instance {
	var out []record.Instance
	for i, n := range waves {
		for range n {
			at := clock.Instant(i) * 10 * second
			out = append(out, record.Instance{Started: at, Ready: at.Add(2237500 * time.Microsecond), Stopped: clock.Never})
		}
	}
	for i := range requests {
		in := &out[i%len(out)]
		in.Served++
		in.Busy += 100 * ms
	}
	return out
}

// The instance-seconds of 10.2 (FA-2), exact.
func TestInstanceSecondsOfTheDocumentedPatterns(t *testing.T) {
	for _, c := range []struct {
		name      string
		instances []record.Instance
		end       clock.Instant
		want      InstanceTotals
	}{
		{"ramp", lives([]int{1, 1, 2, 4, 8, 16}, 63), 60 * second,
			InstanceTotals{Starts: 32, Peak: 32, Allocated: 630 * time.Second, Ready: 558400 * ms, Busy: 6300 * ms, Idle: 552100 * ms}},
		{"burst", lives([]int{2, 0, 0, 18, 0, 0, 0}, 32), 70 * second,
			InstanceTotals{Starts: 20, Peak: 20, Allocated: 860 * time.Second, Ready: 815250 * ms, Busy: 3200 * ms, Idle: 812050 * ms}},
	} {
		if got := Total(c.instances, c.end); got != c.want {
			t.Errorf("%s: Total = %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestTotal(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []record.Instance
		want InstanceTotals
	}{
		{"none", nil, InstanceTotals{}},
		{"stopped before the end", []record.Instance{{Started: 10, Ready: 12, Stopped: 20}}, InstanceTotals{Starts: 1, Peak: 1, Allocated: 10, Ready: 8, Idle: 8}},
		{"torn down after the end: only up to the end", []record.Instance{{Started: 90, Ready: 95, Stopped: 500}}, InstanceTotals{Starts: 1, Peak: 1, Allocated: 10, Ready: 5, Idle: 5}},
		{"ready after the end", []record.Instance{{Started: 90, Ready: 105, Stopped: clock.Never}}, InstanceTotals{Starts: 1, Peak: 1, Allocated: 10}},
		{"started after the end", []record.Instance{{Started: 101, Ready: 105, Stopped: clock.Never}}, InstanceTotals{Starts: 1, Peak: 1}},
		{"never ready: its start failed", []record.Instance{{Started: 10, Ready: clock.Never, Stopped: 30, Failed: true}}, InstanceTotals{Starts: 1, Failed: 1, Peak: 1, Allocated: 20}},
		{"one ends when the next begins: never two", []record.Instance{{Started: 10, Ready: 10, Stopped: 20}, {Started: 20, Ready: 20, Stopped: 30}},
			InstanceTotals{Starts: 2, Peak: 1, Allocated: 20, Ready: 20, Idle: 20}},
		{"two at once, then one", []record.Instance{{Started: 10, Ready: 10, Stopped: 20}, {Started: 19, Ready: 19, Stopped: 30}, {Started: 25, Ready: 25, Stopped: 26}},
			InstanceTotals{Starts: 3, Peak: 2, Allocated: 22, Ready: 22, Idle: 22}},
		{"one that ended at once", []record.Instance{{Started: 10, Ready: clock.Never, Stopped: 10, Failed: true}}, InstanceTotals{Starts: 1, Failed: 1}},
	} {
		if got := Total(c.in, 100); got != c.want {
			t.Errorf("%s: Total = %+v, want %+v", c.name, got, c.want)
		}
	}
}
