package references

import "fmt"

// rampRatio judges the p99 of the pooled waves after the first: before ÷ after.
func rampRatio(in input) outcome { return ratio(in, side.pooled) }

// burstRatio judges the p99 of the largest wave: before ÷ after.
func burstRatio(in input) outcome { return ratio(in, side.burst) }

// ratio compares the p99 of the two roles over the picked requests; below 100 of them that is the maximum.
func ratio(in input, pick func(side) wave) outcome {
	before, after := pick(in.sides[0]).stats(), pick(in.sides[1]).stats()
	if after.P99 <= 0 {
		return outcome{verdict: Inconclusive, reason: "the p99 after is not positive"}
	}
	got, limit := float64(before.P99)/float64(after.P99), in.limit("ratio_min", in.evidence.Law)
	var wrong findings
	wrong.add(got < limit, "%.2f is below %v", got, limit)
	return wrong.outcome(fmt.Sprintf("%.2f (p99 %s ÷ %s, n=%d)", got, milli(before.P99), milli(after.P99), after.N))
}
