package references

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
)

// fcJSON holds the documented numbers on Function Compute.
//
//go:embed fc.json
var fcJSON []byte

// Table is the documented burst: the response time of each of its requests, in processing order.
type Table struct {
	Before, After []time.Duration
}

// pairSize is the number of instances that the burst finds, and so of requests on one level of the ladder (FC-14).
const pairSize = 2

// assertedRows is the number of rows of the table that a correct policy can show; see FA-9 for the two others.
const assertedRows = 18

// Documented returns the documented burst.
func Documented() (Table, error) { return parseTable(fcJSON) }

func parseTable(src []byte) (Table, error) {
	var file struct {
		Burst struct {
			Before []float64 `json:"before"`
			After  []float64 `json:"after"`
		} `json:"burst_table_ms"`
	}
	if err := json.Unmarshal(src, &file); err != nil {
		return Table{}, fmt.Errorf("fc.json: %w", err)
	}
	if n := len(file.Burst.Before); n < assertedRows || n != len(file.Burst.After) || n%pairSize != 0 {
		return Table{}, fmt.Errorf("fc.json: burst table has %d and %d rows", n, len(file.Burst.After))
	}
	return Table{durations(file.Burst.Before), durations(file.Burst.After)}, nil
}

func durations(ms []float64) []time.Duration {
	out := make([]time.Duration, len(ms))
	for i, v := range ms {
		out[i] = time.Duration(math.Round(v*1000)) * time.Microsecond // the source has two decimals
	}
	return out
}

// cold returns the documented response times of the requests that waited for their own start, ascending.
func (t Table) cold() []time.Duration { return slices.Sorted(slices.Values(t.Before[pairSize:])) }

// sortedBefore returns the column "before" with its warm rows first and the others ascending.
func (t Table) sortedBefore() []time.Duration {
	return append(slices.Sorted(slices.Values(t.Before[:pairSize])), t.cold()...)
}

// sortedAfter returns the column "after", ascending inside each pair: which of two waiters goes first is a race.
func (t Table) sortedAfter() []time.Duration {
	out := slices.Clone(t.After)
	for pair := range slices.Chunk(out, pairSize) {
		slices.Sort(pair)
	}
	return out
}
