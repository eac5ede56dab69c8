package experiment

import (
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
)

// No two waves of the main job coincide, and the whole takes hardly longer than the longest cell.
func TestNoTwoWavesCoincide(t *testing.T) {
	for _, quick := range []bool{false, true} {
		v := Verify{Before: "fc-bound", After: "fc-race", Profile: platform.Default(), Quick: quick, Claims: []string{"FR-1", "fc-quota"}}
		claims, err := v.claims()
		if err != nil {
			t.Fatal(err)
		}
		cells, err := v.cells(claims)
		if err != nil {
			t.Fatal(err)
		}
		offsets, err := stagger(cells)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[clock.Instant]string{}
		for i, cell := range cells {
			schedule, err := cell.Schedule()
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range schedule.Waves() {
				at := w.First.Add(offsets[i])
				for other, name := range seen {
					if d := at.Sub(other).Abs(); d < 500*time.Millisecond {
						t.Errorf("quick %v: a wave of %s starts %v from one of %s", quick, cell.Name(), d, name)
					}
				}
				seen[at] = cell.Name()
			}
		}
	}
}
