package reports

import (
	"math"
	"strconv"
	"time"
)

// empty stands where a statistic of no samples would stand: a zero would be read as a time.
const empty = "n/a (n=0)"

// A unit of time as it is printed. The names are ASCII, so that they are the same bytes on every terminal.
type unit struct {
	name string
	size time.Duration
}

var (
	seconds      = unit{"s", time.Second}
	milliseconds = unit{"ms", time.Millisecond}
	microseconds = unit{"us", time.Microsecond}
	nanoseconds  = unit{"ns", time.Nanosecond}
)

// unitFor returns the largest unit in which d is at least 1.
func unitFor(d time.Duration) unit {
	for _, u := range []unit{seconds, milliseconds, microseconds} {
		if d >= u.size || -d >= u.size {
			return u
		}
	}
	return nanoseconds
}

// duration prints d with three significant digits and its own unit, such as "12.5 ms".
func duration(d time.Duration) string {
	if d == 0 {
		return "0 s"
	}
	u := unitFor(d)
	return significant(float64(d)/float64(u.size)) + " " + u.name
}

// significant prints x with three significant digits, and never drops digits before the point.
func significant(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "n/a"
	}
	return strconv.FormatFloat(x, 'f', decimals(x), 64)
}

// decimals returns how many digits behind the point give x three significant digits.
func decimals(x float64) int {
	x = math.Abs(x)
	switch {
	case x >= 99.95 || x == 0:
		return 0
	case x >= 9.995:
		return 1
	case x >= 0.9995:
		return 2
	default:
		return 3
	}
}

// inUnit prints d in u with the given number of digits behind the point and without the unit's name.
func inUnit(d time.Duration, u unit, digits int) string {
	return strconv.FormatFloat(float64(d)/float64(u.size), 'f', digits, 64)
}

// A scale is the unit and the number of digits behind the point that one column of durations shares.
type scale struct {
	unit   unit
	digits int
}

// scaleOf chooses the unit by the largest value and gives the smallest one three significant digits, but no more than
// two digits behind the point: a column is compared line by line.
func scaleOf(values ...time.Duration) scale {
	var most, least time.Duration
	for _, v := range values {
		most = max(most, v)
		if v > 0 && (least == 0 || v < least) {
			least = v
		}
	}
	s := scale{unit: milliseconds}
	if most > 0 && most < time.Millisecond {
		s.unit = unitFor(most)
	}
	s.digits = min(2, decimals(float64(least)/float64(s.unit.size)))
	return s
}

func (s scale) text(d time.Duration) string { return inUnit(d, s.unit, s.digits) }
