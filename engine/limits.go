package engine

import (
	"errors"
	"fmt"
	"time"

	"coldwave/internal/clock"
	"coldwave/workload"
)

// The caps of a schedule unless Limits says otherwise (R24).
const (
	DefaultLoopbackRate = 10_000 // requests in one second
	DefaultRemoteRate   = 100    // requests in one second
	DefaultDuration     = 2 * time.Hour
	DefaultRequests     = 5_000_000
)

// Errors of Limits.Check.
var (
	ErrRateLimit     = errors.New("above the rate limit")
	ErrDurationLimit = errors.New("above the duration limit")
	ErrRequestLimit  = errors.New("above the limit of requests")
)

// Limits are the caps of a schedule. A zero field means its default.
type Limits struct {
	LoopbackRate int           // requests in any one second, to this host
	RemoteRate   int           // the same, to any other host
	Duration     time.Duration // of the schedule
	Requests     int           // in all
}

// Check refuses a schedule that exceeds a cap, before anything is sent. The rate counts the requests of the busiest
// second, so a wave counts by its size. Errors wrap ErrRateLimit, ErrDurationLimit or ErrRequestLimit.
func (l Limits) Check(s *workload.Schedule, t *Target) error {
	rate, kind := or(l.LoopbackRate, DefaultLoopbackRate), "this host"
	if !t.Loopback() {
		rate, kind = or(l.RemoteRate, DefaultRemoteRate), "another host"
	}
	duration, requests := or(l.Duration, DefaultDuration), or(l.Requests, DefaultRequests)
	if s.Length > duration {
		return fmt.Errorf("schedule of %v: %w of %v: shorten it or raise the limit", s.Length, ErrDurationLimit, duration)
	}
	if n := len(s.Arrivals); n > requests {
		return fmt.Errorf("schedule of %d requests: %w, %d: shorten it or raise the limit", n, ErrRequestLimit, requests)
	}
	if n, from := busiest(s.Arrivals, time.Second); n > rate {
		return fmt.Errorf("schedule with %d requests in the second from %v: %w of %d/s to %s: lower its rate or raise the limit",
			n, from, ErrRateLimit, rate, kind)
	}
	return nil
}

// busiest returns the most arrivals in any half-open window of the given length, and where the first such window starts.
func busiest(arrivals []workload.Arrival, window time.Duration) (most int, from clock.Instant) {
	first := 0
	for i := range arrivals {
		for arrivals[i].At.Sub(arrivals[first].At) >= window {
			first++
		}
		if n := i - first + 1; n > most {
			most, from = n, arrivals[first].At
		}
	}
	return most, from
}

// or returns v, or the default if v is zero.
func or[T int | int64 | time.Duration](v, preset T) T {
	if v == 0 {
		return preset
	}
	return v
}
