package references

import (
	"fmt"
	"slices"
	"time"
)

// ladder judges FR-2: with two idle instances, the k-th request of the burst is answered in group g = ceil(k/2), and all
// of the group lie between the model's bounds (10.1) plus what each hand-over and HTTP may add.
func ladder(in input) outcome {
	levels := in.sides[0].burst().levels()
	var wrong findings
	for i, got := range levels {
		low, high := bounds(in, i/pairSize+1)
		wrong.add(got < low || got > high, "row %d: %s is outside %s to %s", i+1, milli(got), milli(low), milli(high))
	}
	last := levels[len(levels)-1]
	return wrong.outcome(fmt.Sprintf("%d of %d rows inside, last %s", len(levels)-len(wrong), len(levels), milli(last)))
}

func bounds(in input, g int) (low, high time.Duration) {
	law := in.evidence.Law
	base := time.Duration(g) * in.ms("exec_ms", law)
	slack := in.ms("wire_ms", law) + time.Duration(g-1)*in.ms("slot_slack_ms", law)
	return base + in.ms("overhead_min_ms", law), base + in.ms("overhead_max_ms", law) + slack
}

// steps judges FR-3: neighbouring groups of the burst are one execution time apart. The level of a group is the mean of
// its pair.
func steps(in input) outcome {
	groups := groupLevels(in.sides[0].burst())
	if len(groups) < 2 {
		return outcome{verdict: Inconclusive, reason: "there are fewer than two groups"}
	}
	diffs := make([]time.Duration, len(groups)-1)
	inside := 0
	law := in.evidence.Law
	low, high := in.ms("step_min_ms", law), in.ms("step_max_ms", law)
	for i := range diffs {
		diffs[i] = groups[i+1] - groups[i]
		if diffs[i] >= low && diffs[i] <= high {
			inside++
		}
	}
	slices.Sort(diffs)
	median := diffs[len(diffs)/2]
	var wrong findings
	wrong.add(inside < len(diffs)-int(in.Limits["outlier_count"]), "%d of %d steps lie in %s to %s", inside, len(diffs), milli(low), milli(high))
	wrong.add(median < in.ms("median_min_ms", law) || median > in.ms("median_max_ms", law), "median step %s", milli(median))
	return wrong.outcome(fmt.Sprintf("%d of %d steps inside, %s to %s, median %s", inside, len(diffs), milli(diffs[0]), milli(diffs[len(diffs)-1]), milli(median)))
}

func groupLevels(w wave) (groups []time.Duration) {
	for pair := range slices.Chunk(w.levels(), pairSize) {
		groups = append(groups, (pair[0]+pair[len(pair)-1])/2)
	}
	return groups
}

// pairs judges FR-4: each two requests share a level.
func pairs(in input) outcome {
	levels := in.sides[0].burst().levels()
	limit := in.ms("pair_max_ms", in.evidence.Law)
	n, inside := 0, 0
	var widest time.Duration
	for pair := range slices.Chunk(levels, pairSize) {
		n++
		width := pair[len(pair)-1] - pair[0]
		widest = max(widest, width)
		if width <= limit {
			inside++
		}
	}
	var wrong findings
	wrong.add(inside < n-int(in.Limits["outlier_count"]), "%d of %d pairs differ by at most %s", inside, n, milli(limit))
	return wrong.outcome(fmt.Sprintf("%d of %d pairs inside, widest %s", inside, n, milli(widest)))
}
