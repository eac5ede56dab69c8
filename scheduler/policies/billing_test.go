package policies

import (
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// TestWatchedBill is CR-31: what each kind of billing counts, with and without rounding (U-23), and the idle time of CR-17.
func TestWatchedBill(t *testing.T) {
	const ms = time.Millisecond
	tests := []struct {
		name       string
		tariff     watchTariff
		least      int // Min
		arrivals   []time.Duration
		fails      time.Duration // of the first instance; 0: never
		until      time.Duration
		full, idle time.Duration
	}{
		{"by request: the start-up and the request", watchTariff{}, 0, seconds(0), 0, 800 * one, 3050 * ms, 0},
		{"and the end, here of a nanosecond", watchTariff{}, 0, seconds(0), 0, 2000 * one, 3050*ms + 1, 0},
		{"a span is rounded up once", watchTariff{Round: 100 * ms}, 0, seconds(0), 0, 800 * one, 3100 * ms, 0},
		{"so is each of two", watchTariff{Round: 100 * ms}, 0, seconds(0, 10), 0, 800 * one, 3100*ms + 1100*ms, 0},
		{"requests at once are a union", watchTariff{}, 0, seconds(0, 0, 0), 0, 800 * one, 3050 * ms, 0},
		{"requests that overlap too", watchTariff{}, 0, seconds(0, 10, 10.5), 0, 800 * one, 3050*ms + 1550*ms, 0},
		{"one that follows at once goes on", watchTariff{Round: 100 * ms}, 0, seconds(0, 10, 11.05), 0, 800 * one, 3100*ms + 2100*ms, 0},
		{"by instance: the whole life, 15 min idle", watchTariff{ByInstance: true}, 0, seconds(0), 0, 2000 * one, 904*one + 1, 0},
		{"by instance: up to now", watchTariff{ByInstance: true}, 0, seconds(0), 0, 100 * one, 100 * one, 0},
		{"by instance: at least a minute", watchTariff{ByInstance: true, Least: time.Minute}, 0, seconds(0), 10 * one, 2000 * one, time.Minute, 0},
		{"a crash ends the span", watchTariff{}, 0, seconds(0), 2500 * ms, 2000 * one, 2500 * ms, 0},
		{"CR-17 two kept, none active", watchTariff{}, 2, nil, 0, 100 * one, 4 * one, 2 * 98 * one},
		{"CR-17 one of them active for a while", watchTariff{}, 2, seconds(50), 0, 100 * one, 4*one + 1050*ms, 2*98*one - 1050*ms},
		{"by instance idle time has no rate of its own", watchTariff{ByInstance: true}, 2, nil, 0, 100 * one, 200 * one, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bill := newWatchedBill(tt.tariff)
			s := newStage(t, onDemandOnly, scheduler.Config{Max: 10, Min: tt.least, Limit: 80}, 2*one, 1050*ms)
			s.watch = bill.Watch
			bill.Watch(&s.core.Control, 0, false, scheduler.Event{}, s.log)
			for _, at := range tt.arrivals {
				s.arrive(at, 1)
			}
			if tt.fails > 0 {
				s.fail(tt.fails, 1)
			}
			s.run(tt.until)
			full, idle := bill.Total(clock.Instant(tt.until))
			equal(t, "at the full rate", full, tt.full)
			equal(t, "at the idle rate", idle, tt.idle)
		})
	}
}
