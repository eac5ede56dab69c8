package references

import (
	"fmt"
	"slices"
	"time"

	"coldwave/analysis"
	"coldwave/platform"
)

// online judges FR-12: the rate of an online user steps up from 11 requests a second. Before, to 25: the p99 of the time
// after the step is a multiple of that before it. After, to 32: it stays below a limit and far below that before.
func online(in input) outcome {
	if o := in.sameCold(); o.verdict != "" {
		return o
	}
	window := in.ms("window_ms", "")
	spike, ok25 := stepOf(in.sides[0], window) // sides: 25 before, 25 after, 32 before, 32 after
	worst, okBound := stepOf(in.sides[2], window)
	calm, ok32 := stepOf(in.sides[3], window)
	if !ok25 || !okBound || !ok32 {
		return outcome{verdict: Inconclusive, reason: "the pattern has no step"}
	}
	ratio, share := in.Limits["spike_ratio_min"], in.Limits["after_share_max"]
	most := in.ms("after_max_ms", "")
	var wrong findings
	wrong.add(float64(spike.after.P99) < ratio*float64(spike.before.P99), "before: p99 %v is not a spike of %v times", spike, ratio)
	wrong.add(calm.after.P99 > most, "after: p99 %v is above %s", calm, milli(most))
	wrong.add(float64(calm.after.P99) >= share*float64(worst.after.P99), "after: p99 %v is not below %v of the %s before", calm, share, milli(worst.after.P99))
	return wrong.outcome(fmt.Sprintf("before: p99 %v; after: p99 %v", spike, calm))
}

// sameCold refuses runs whose starts do not all take the stated time.
func (in *input) sameCold() outcome {
	cold, _ := in.Cold()
	want := platform.Constant(cold).Name()
	for _, s := range in.sides {
		if s.Run.Law != want {
			return outcome{verdict: NotComparable, reason: fmt.Sprintf("%s has the cold-start law %s, the claim speaks of %s", s.name(), s.Run.Law, want)}
		}
	}
	return outcome{}
}

// step is a change of the size of waves: the requests of all waves before it but the warm-up, and of those that begin in a
// window after it.
type step struct {
	from, to      int // requests of a wave
	before, after analysis.Stats
}

func (s step) String() string {
	return fmt.Sprintf("%s → %s (%d → %d requests a wave)", milli(s.before.P99), milli(s.after.P99), s.from, s.to)
}

func stepOf(s side, window time.Duration) (step, bool) {
	const warmUp = 1
	var before, after wave
	var at int
	for i, w := range s.waves {
		switch {
		case i < warmUp:
		case at == 0 && len(w) == len(s.waves[warmUp]):
			before = append(before, w...)
		case at == 0:
			at, after = i, slices.Clone(w)
		case w.start() < s.waves[at].start().Add(window):
			after = append(after, w...)
		}
	}
	if at == 0 {
		return step{}, false
	}
	return step{len(s.waves[warmUp]), len(s.waves[at]), before.stats(), after.stats()}, true
}
