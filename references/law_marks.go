package references

import (
	"strings"

	"coldwave/internal/clock"
)

// marksAt judges how many marks of a name were made up to an instant.
func marksAt(v view) (string, findings) {
	return v.level(v.Text, func(at clock.Instant) (n int) {
		for _, e := range v.Events {
			if e.What == Mark && e.Text == v.Text && e.At <= at && v.sees(e.At) {
				n++
			}
		}
		return n
	})
}

// lastMarkAt judges the last mark of a sort up to an instant, such as "scaling_driver=cpu": marks of one sort have the
// same name up to the sign =.
func lastMarkAt(v view) (string, findings) {
	sort, _, _ := strings.Cut(v.Text, "=")
	var wrong findings
	last := "no mark"
	for _, s := range v.At {
		last = "no mark"
		for _, e := range v.Events {
			if e.What == Mark && strings.HasPrefix(e.Text, sort+"=") && e.At <= v.zero().Add(seconds(s)) {
				last = e.Text
			}
		}
		wrong.add(last != v.Text, "%s: %s at %s, want %s", v.name(), last, second(seconds(s)), v.Text)
	}
	return last, wrong
}
