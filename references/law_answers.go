package references

import (
	"fmt"

	"coldwave/internal/clock"
)

// answerCount judges how many requests that arrived in the window were answered with a status.
func answerCount(v view) (string, findings) {
	n := 0
	for i := range v.Run.Records {
		if r := &v.Run.Records[i]; r.Status == v.Status && v.sees(r.Intended) {
			n++
		}
	}
	return v.total(v.answersName(), n)
}

// answerInstants judges when requests were answered with a status.
func answerInstants(v view) (string, findings) {
	var found []clock.Instant
	for i := range v.Run.Records {
		if r := &v.Run.Records[i]; r.Status == v.Status {
			found = append(found, r.Done)
		}
	}
	return v.compare(v.answersName(), found)
}

func (v view) answersName() string { return fmt.Sprintf("answers %d", v.Status) }
