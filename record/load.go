package record

import (
	"encoding/json"
	"errors"
	"fmt"
)

// LoadPath is where an instance tells its load to the scheduler that made it.
const LoadPath = "/healthz/load"

// LoadBytes is the most that an answer at LoadPath may have.
const LoadBytes = 4 << 10

// Load is the answer at LoadPath: counters, of which whoever asks takes differences. Times are nanoseconds on the instance's
// own clock.
type Load struct {
	Age         int64  `json:"age_ns"` // since it was ready; 0 before
	CPU         *int64 `json:"cpu_ns"` // CPU time used since then, background included; null: it does not know
	InFlight    int64  `json:"in_flight"`
	Concurrency int    `json:"concurrency"`
	Served      int64  `json:"served"` // requests that have left it, however they ended
	Memory      int64  `json:"memory_bytes"`
	MemoryPeak  int64  `json:"memory_peak_bytes"`
}

// ErrLoad is wrapped by every error of ParseLoad.
var ErrLoad = errors.New("no load of an instance")

// ParseLoad reads an answer at LoadPath. What it does not know is skipped; a negative number is an error.
func ParseLoad(text []byte) (Load, error) {
	if len(text) > LoadBytes {
		return Load{}, fmt.Errorf("%w: %d bytes, at most %d", ErrLoad, len(text), LoadBytes)
	}
	var l Load
	if err := json.Unmarshal(text, &l); err != nil {
		return Load{}, fmt.Errorf("%w: %w", ErrLoad, err)
	}
	if l.Age < 0 || l.CPU != nil && *l.CPU < 0 || l.InFlight < 0 || l.Concurrency < 0 || l.Served < 0 || l.Memory < 0 || l.MemoryPeak < 0 {
		return Load{}, fmt.Errorf("%w: a number is negative", ErrLoad)
	}
	return l, nil
}
