package references

import (
	"fmt"

	"coldwave/internal/clock"
)

// startCount judges the number of starts, all or those for one reason.
func startCount(v view) (string, findings) {
	n := 0
	for _, at := range v.starts() {
		if v.sees(at) {
			n++
		}
	}
	return v.total(v.startsName(), n)
}

// startInstants judges when instances were started.
func startInstants(v view) (string, findings) { return v.compare(v.startsName(), v.starts()) }

// starts lists the instants of the starts that the want speaks of. Their reasons are told in virtual time only.
func (v view) starts() (found []clock.Instant) {
	if v.Text == "" {
		for i := range v.Run.Instances {
			found = append(found, v.Run.Instances[i].Started)
		}
		return found
	}
	for _, e := range v.Events {
		if e.What == Start && e.Text == v.Text {
			found = append(found, e.At)
		}
	}
	return found
}

func (v view) startsName() string {
	if v.Text == "" {
		return "starts"
	}
	return fmt.Sprintf("starts (%s)", v.Text)
}
