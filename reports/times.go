package reports

import (
	"strconv"
	"time"

	"coldwave/internal/clock"
)

// atSeconds prints an instant in seconds since the run's epoch, such as "30" or "0.5".
func atSeconds(at clock.Instant) string {
	if at == clock.Never {
		return "never"
	}
	return strconv.FormatFloat(float64(at)/float64(time.Second), 'f', -1, 64)
}

// wallTime prints a wall time as a label: RFC 3339 in UTC, whole seconds; nothing for the zero time.
func wallTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
