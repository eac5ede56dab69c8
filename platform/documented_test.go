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

// Half of a wave of 32 warm and half on its own start take 1063.4 ms on average under the documented law, the figure of
// the source ("about 1000 ms"), and 1231.25 ms under the stated range. The law has a deviation of 239 ms, so the mean of
// one wave has 239/√16/2 = 30 ms and that of 400 waves 1.5 ms; five of these are allowed.
//
// FA-8 allows one wave ± 95 ms, three deviations. The law leans to one side, because one of the 18 values is a second
// longer than the others: a wave that draws it four times of 16 is out, which about 1 % of the seeds do.
func TestDocumentedWaveMean(t *testing.T) {
	const seeds, allowed = 400, 95 * ms
	waveMean := func(p Profile, seed uint64) time.Duration {
		d := p.Draws(seed)
		var sum time.Duration
		for i := range int64(16) {
			warm := d.Demand(i)
			sum += warm.Exec + warm.Overhead() + d.Cold(i)
		}
		return sum / 32
	}
	var documented, stated time.Duration
	out := 0
	for seed := range uint64(seeds) {
		got := waveMean(DocumentedRun(), seed)
		out += count((got - 1060*ms).Abs() > allowed)
		documented += got / seeds
		stated += waveMean(Default(), seed) / seeds
	}
	if limit := 7500 * time.Microsecond; (documented - 1063401*time.Microsecond).Abs() > limit {
		t.Errorf("mean of %d waves under the documented law %v, want 1063.4 ms ± %v", seeds, documented, limit)
	}
	if out > seeds*35/1000 { // five standard errors above 1 %
		t.Errorf("%d of %d waves are out of 1060 ± 95 ms (FA-8), want at most 3.5 %%", out, seeds)
	}
	if (stated - 1060*ms).Abs() <= allowed {
		t.Errorf("mean of %d waves under the stated range %v, which the check of the documented law would accept", seeds, stated)
	}
}
