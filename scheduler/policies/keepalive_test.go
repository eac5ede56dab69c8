package policies_test

import (
	"testing"
	"time"

	"coldwave/scheduler"
)

// TestKeepAlive is AZ-e: which of the next requests finds the instance of the last one.
func TestKeepAlive(t *testing.T) {
	const keep = 20 * time.Minute
	tests := []struct {
		name, spec string
		idle       time.Duration
		warm       bool
	}{
		{"AZ-e/19 min 59 s: warm", "keepalive", keep - time.Second, true},
		{"AZ-e/a nanosecond before the end: warm", "keepalive", keep - 1, true},
		{"AZ-e/20 min: the end comes before the arrival", "keepalive", keep, false},
		{"AZ-e/20 min 1 s: cold", "keepalive", keep + time.Second, false},
		{"AZ-1/10 min as in Lambda, 9 min 59 s: warm", "keepalive:idle_timeout=10m", 599 * time.Second, true},
		{"AZ-1/10 min as in Lambda, 10 min: cold", "keepalive:idle_timeout=10m", 600 * time.Second, false},
		{"AZ-1/for ever", "keepalive:idle_timeout=0s", 1000 * time.Hour, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := newApp(t, tt.spec, scheduler.Config{Max: scheduler.Unlimited})
			must(t, "the first is warm", a.visit(0), false)
			must(t, "the next is warm", a.visit(2*time.Second+tt.idle), tt.warm)
		})
	}
}

// TestKeepAliveCountsFromTheLastExecution: each use puts the end off (AZ-1).
func TestKeepAliveCountsFromTheLastExecution(t *testing.T) {
	a := newApp(t, "keepalive", scheduler.Config{Max: scheduler.Unlimited})
	for k := range 5 {
		a.visit(time.Duration(k) * 15 * time.Minute)
	}
	end := 60*time.Minute + 2*time.Second
	a.until(3 * time.Hour)
	must(t, "after the last end", a.loads(end), "stop 20m0s")
	must(t, "all", a.loads(0), "start 0s (request) stop 1h20m2s")
}
