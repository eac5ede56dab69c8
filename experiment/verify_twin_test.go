package experiment

import (
	"context"
	"errors"
	"testing"
	"time"

	"coldwave/patterns"
	"coldwave/platform"
)

// A run on the wire decides as its virtual twin does: nothing of that hangs on milliseconds, for a freed instance comes 0.5 s
// before a new one.
func TestWireDecidesAsItsTwin(t *testing.T) {
	for _, policy := range []string{"fc-bound", "fc-race"} {
		cell := small(policy)
		cell.Profile.Cold = platform.Constant(700 * time.Millisecond)
		process, err := cell.Process.Override(patterns.Settings{Gap: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		cell.Process = process
		r, err := setup{ID: "twin", Epoch: time.Now().Add(setUp)}.open(t.Context(), cell)
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(replayAll(t.Context(), []*replay{r}, func(Progress) {}), Verify{}.compare(cell, r), r.system.close(context.Background()))
		if err != nil {
			t.Fatal(err)
		}
		d := r.run.Twin
		if d == nil || d.SameWaves() != 3 || len(d.Waves) != 3 || d.Starts != 4 || d.TwinStarts != 4 || len(d.Different) > 0 {
			t.Errorf("%s: distance to the twin %+v, want three waves alike and 4 starts", policy, d)
		}
		if d != nil && d.Later.N != 7 {
			t.Errorf("%s: %d response times compared, want 7", policy, d.Later.N)
		}
	}
}

// There is no twin of a run that was stopped, nor of a system whose policy is not known.
func TestNoTwin(t *testing.T) {
	for why, c := range map[string]struct {
		verify Verify
		replay replay
	}{
		"stopped":            {Verify{}, replay{runError: context.Canceled}},
		"a standing gateway": {Verify{Gateway: &Remote{}}, replay{}},
	} {
		if err := c.verify.compare(small("fc-race"), &c.replay); err != nil || c.replay.run.Twin != nil {
			t.Errorf("%s: compare = %v, %v, want no twin", why, c.replay.run.Twin, err)
		}
	}
}
