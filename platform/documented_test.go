package platform

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
	"time"
)

// The table in the program is the published one: the "before" rows that waited for a cold start.
func TestDocumentedIsThePublishedTable(t *testing.T) {
	src, err := os.ReadFile("../references/fc.json")
	if err != nil {
		t.Fatal(err)
	}
	var fc struct {
		Table struct {
			Before []float64 `json:"before"`
		} `json:"burst_table_ms"`
	}
	if err := json.Unmarshal(src, &fc); err != nil {
		t.Fatal(err)
	}
	var want []time.Duration
	for _, v := range fc.Table.Before {
		if v >= 1700 {
			want = append(want, time.Duration(math.Round(v*100))*10*time.Microsecond)
		}
	}
	if got := Documented().Values; !slices.Equal(got, want) {
		t.Errorf("Documented() = %v, want %v", got, want)
	}
	if len(want) != 18 {
		t.Errorf("fc.json has %d cold rows, want 18", len(want))
	}
}
