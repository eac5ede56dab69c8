package record

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ErrTiming is the error of a Server-Timing value that cannot be read.
var ErrTiming = errors.New("malformed Server-Timing")

// nanosPerMilli is one millisecond, the unit of Server-Timing, in nanoseconds.
const nanosPerMilli = int64(time.Millisecond)

// Timing returns the value of the Server-Timing header: "queue;dur=12.345, init;dur=0, exec;dur=100.02" in milliseconds,
// exact to the nanosecond. A negative duration is written as 0, because the header has no negative ones.
func (s Server) Timing() string {
	b := make([]byte, 0, 64)
	b = appendMetric(b, "queue", s.Queue)
	b = appendMetric(append(b, ", "...), "init", s.Init)
	b = appendMetric(append(b, ", "...), "exec", s.Exec)
	return string(b)
}

func appendMetric(b []byte, name string, d time.Duration) []byte {
	b = append(append(b, name...), ";dur="...)
	return appendMillis(b, max(d, 0))
}

// appendMillis writes d in milliseconds with the fewest decimals that keep every nanosecond.
func appendMillis(b []byte, d time.Duration) []byte {
	b = strconv.AppendInt(b, int64(d)/nanosPerMilli, 10)
	frac := int64(d) % nanosPerMilli
	if frac == 0 {
		return b
	}
	digits := strconv.FormatInt(frac+nanosPerMilli, 10)[1:] // the leading 1 keeps the zeros
	return append(append(b, '.'), strings.TrimRight(digits, "0")...)
}

// ParseTiming reads the queue, init and exec metrics of a Server-Timing value. A metric that is not there is zero, other
// metrics and parameters are skipped, and of a repeated one the first counts. The error wraps ErrTiming.
func ParseTiming(value string) (queue, init, exec time.Duration, err error) {
	var seen [3]bool
	into := [3]*time.Duration{&queue, &init, &exec}
	for rest := value; rest != "" && err == nil; {
		var metric string
		metric, rest = cutOutsideQuotes(rest, ',')
		err = readMetric(metric, &into, &seen)
	}
	if err != nil {
		return 0, 0, 0, err
	}
	return queue, init, exec, nil
}

func readMetric(metric string, into *[3]*time.Duration, seen *[3]bool) error {
	name, params := cutOutsideQuotes(metric, ';')
	i, ok := find([]string{"queue", "init", "exec"}, strings.ToLower(strings.TrimSpace(name)))
	if !ok || seen[i] {
		return nil
	}
	seen[i] = true
	text, ok := param(params, "dur")
	if !ok {
		return nil // a metric without a duration only says that something happened
	}
	d, err := parseMillis(text)
	if err != nil {
		return err
	}
	*into[i] = d
	return nil
}

// param returns the value of the first parameter of that name in "a=1;b=2".
func param(params, name string) (string, bool) {
	for params != "" {
		var one string
		one, params = cutOutsideQuotes(params, ';')
		key, value, _ := strings.Cut(one, "=")
		if strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.Trim(strings.TrimSpace(value), `"`), true
		}
	}
	return "", false
}

// cutOutsideQuotes cuts s at the first sep that is not inside a quoted string: a description may contain commas.
func cutOutsideQuotes(s string, sep byte) (before, after string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case !quoted && s[i] == sep:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// parseMillis reads a decimal number of milliseconds. Digits beyond the nanosecond are cut off.
func parseMillis(s string) (time.Duration, error) {
	whole, frac, _ := strings.Cut(s, ".")
	if !digits(whole) || !digits(frac) || whole+frac == "" {
		return 0, fmt.Errorf("%w: dur=%q: want a number of milliseconds ≥ 0", ErrTiming, s)
	}
	ms, err := strconv.ParseInt("0"+whole, 10, 64)
	ns, _ := strconv.ParseInt((frac + "000000")[:6], 10, 64) // six digits cannot fail
	if err != nil || ms > (math.MaxInt64-ns)/nanosPerMilli {
		return 0, fmt.Errorf("%w: dur=%q: longer than 292 years", ErrTiming, s)
	}
	return time.Duration(ms*nanosPerMilli + ns), nil
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
