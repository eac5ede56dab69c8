package patterns

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"coldwave/internal/clock"
)

// Rate is Count requests in each Per: a fraction, so that 6/m and 3/7s are exact.
type Rate struct {
	Count int64         // ≥ 0
	Per   time.Duration // > 0
}

// rateHelp says how a rate is written.
const rateHelp = "write it as in 100/s, 6/m or 3/7s"

// maxDecimals keeps a decimal rate exact in 64 bits.
const maxDecimals = 9

// ParseRate reads "1000/s", "6/m", "3/7s", "0.5/s": a number of requests without sign, with at most nine decimals, a
// slash, and a unit of time or a duration. The error is an *Error.
func ParseRate(text string) (Rate, error) {
	r, err := parseRate("rate", text)
	if err != nil {
		return Rate{}, err
	}
	return r, nil
}

func parseRate(key, text string) (Rate, *Error) {
	number, unit, found := strings.Cut(text, "/")
	if !found {
		do := rateHelp
		if _, err := strconv.ParseFloat(text, 64); err == nil && text[0] != '-' {
			do = fmt.Sprintf("write %s/s for that many each second", text)
		}
		return Rate{}, wrong(key, do, "%s %q has no unit of time", key, text)
	}
	if strings.HasPrefix(number, "-") {
		return Rate{}, wrong(key, "give a rate above 0", "%s %q is negative", key, text)
	}
	whole, decimals, _ := strings.Cut(number, ".")
	count, err := strconv.ParseUint(whole+decimals, 10, 63)
	if err != nil || len(decimals) > maxDecimals {
		return Rate{}, wrong(key, rateHelp, "%s %q has no number of requests, with at most %d decimals", key, text, maxDecimals)
	}
	if unit != "" && (unit[0] < '0' || unit[0] > '9') {
		unit = "1" + unit
	}
	per, err := time.ParseDuration(unit)
	if err != nil || per <= 0 {
		return Rate{}, wrong(key, rateHelp, "%s %q has no unit of time above 0", key, text)
	}
	scale := int64(1)
	for range decimals {
		scale *= 10
	}
	if int64(per) > maxPer/scale {
		return Rate{}, wrong(key, "use a shorter one or fewer decimals", "%s %q has too long a unit of time", key, text)
	}
	return Rate{Count: int64(count), Per: per * time.Duration(scale)}, nil
}

// maxPer bounds Per so that sums of instants stay far from the end of 64 bits.
const maxPer = int64(1) << 61

// String is such as "6/m" or "3/7s"; ParseRate reads it back.
func (r Rate) String() string {
	unit := span(r.Per)
	switch r.Per {
	case time.Hour, time.Minute, time.Second, time.Millisecond, time.Microsecond, time.Nanosecond:
		unit = strings.TrimPrefix(unit, "1")
	}
	return strconv.FormatInt(r.Count, 10) + "/" + unit
}

// PerSecond is the rate in requests per second.
func (r Rate) PerSecond() float64 { return float64(r.Count) / r.Per.Seconds() }

// period is the mean time between two requests, in nanoseconds.
func (r Rate) period() float64 { return float64(r.Per) / float64(r.Count) }

// at is floor(k·Per/Count): the instant of the k-th request from 0 on, computed from k alone so that no rounding adds
// up. ok is false if it lies beyond limit.
func (r Rate) at(k int64, limit time.Duration) (at clock.Instant, ok bool) {
	hi, lo := bits.Mul64(uint64(k), uint64(r.Per))
	if hi >= uint64(r.Count) {
		return clock.Never, false // the quotient has more than 64 bits
	}
	q, _ := bits.Div64(hi, lo, uint64(r.Count))
	if q > uint64(limit) {
		return clock.Never, false
	}
	return clock.Instant(q), true
}

// covers is ceil(n·Per/Count): the shortest whole time in which the rate sends exactly n requests. It is the longest
// Duration if it does not fit.
func (r Rate) covers(n int64) time.Duration {
	hi, lo := bits.Mul64(uint64(n), uint64(r.Per))
	lo, carry := bits.Add64(lo, uint64(r.Count)-1, 0)
	hi += carry
	if hi >= uint64(r.Count) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(r.Count))
	return time.Duration(min(q, math.MaxInt64))
}

// check checks 0 ≤ rate ≤ limit, or 0 < rate if it must not be 0.
func (r Rate) check(key string, l Limits, zero bool) *Error {
	switch {
	case r.Per <= 0 || int64(r.Per) > maxPer || r.Count < 0:
		return wrong(key, rateHelp, "%s %v must be a number of requests from 0 on per time above 0", key, r)
	case r.Count == 0 && !zero:
		return wrong(key, "give a rate above 0, such as 100/s", "%s %v must be above 0", key, r)
	}
	hi, lo := bits.Mul64(uint64(r.Count), uint64(time.Second))
	limitHi, limitLo := bits.Mul64(uint64(l.Rate), uint64(r.Per))
	if hi > limitHi || hi == limitHi && lo > limitLo {
		return above(key, r, Rate{Count: l.Rate, Per: time.Second})
	}
	return nil
}

// span writes a duration in ASCII without zero parts at its end: "10s", "1m", "42.2ms", "5us". time.ParseDuration reads
// it back.
func span(d time.Duration) string {
	s := strings.Replace(d.String(), "µ", "u", 1)
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
