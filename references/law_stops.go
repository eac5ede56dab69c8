package references

import "coldwave/internal/clock"

// stopInstants judges when instances were told to stop. One that ended by itself was not.
func stopInstants(v view) (string, findings) {
	var found []clock.Instant
	for _, e := range v.Events {
		if e.What == Stop && e.Text == "" {
			found = append(found, e.At)
		}
	}
	return v.compare("stops", found)
}
