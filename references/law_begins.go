package references

import (
	"coldwave/internal/clock"
	"coldwave/record"
)

// beginInstants judges when the bodies of the requests that were answered began: their answers less their execution times.
// A request counts if it arrived in the window.
func beginInstants(v view) (string, findings) {
	var found []clock.Instant
	for i := range v.Run.Records {
		if r := &v.Run.Records[i]; r.Outcome == record.OK && v.sees(r.Intended) {
			found = append(found, r.Done.Add(-r.Server.Exec))
		}
	}
	return v.compare("bodies begin", found)
}
