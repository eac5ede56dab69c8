package analysis

import (
	"cmp"
	"fmt"
	"math"
)

// Verdict says whether a threshold is met.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "PASS"         // the whole interval obeys
	Fail         Verdict = "FAIL"         // the whole interval breaks it, or there is nothing that could be judged
	Inconclusive Verdict = "INCONCLUSIVE" // the limit lies in the interval
)

// Gate is a threshold and what became of it.
type Gate struct {
	Threshold
	Estimate
	Runs    int // over whose median it was judged; 0: one run, by its requests
	Verdict Verdict
	Reason  string // why it is no plain PASS or FAIL; empty otherwise
	More    int    // requests, or runs, that would likely (80 %) decide it beside these; 0: cannot be told, or it is decided
}

// Judge decides a threshold by one run. It passes if the one-sided limit on the side that matters obeys it and fails if
// the other one breaks it. No samples is never a pass.
func (r Reading) Judge(t Threshold) Gate {
	g := Gate{Threshold: t, Estimate: r.Of(t.Selector)}
	g.decide("requests")
	return g
}

// JudgeRuns decides a threshold by the median over runs of one number a run: the run is the unit of replication. Tail is
// the probability that a limit is missed; 0: 1 − DefaultConfidence.
func JudgeRuns(t Threshold, each []Estimate, tail float64) Gate {
	g := Gate{Threshold: t, Estimate: overRuns(each, cmp.Or(tail, 1-DefaultConfidence)), Runs: len(each)}
	g.decide("runs")
	return g
}

// Void takes the verdict back: the run is invalid, and judges nothing.
func (g Gate) Void(why string) Gate {
	g.settle(Inconclusive, "void: "+why)
	g.More = 0
	return g
}

// decide gives the verdict; what is a sample of these.
func (g *Gate) decide(what string) {
	switch {
	case g.guessed > 0:
		g.settle(Fail, fmt.Sprintf("refused: a model guessed %d of the labels; let the target tell them, or --allow-model-labels", g.guessed))
	case g.N == 0:
		g.settle(Fail, "no samples")
	case g.N < g.Runs: // a run without the number is no run that obeys
		g.settle(Fail, fmt.Sprintf("no samples in %d of %d runs", g.Runs-g.N, g.Runs))
	case g.AtLeast && g.upper():
		g.settle(Fail, "it reached the time limit")
	case g.holds(g.Low) && g.holds(g.High):
		g.settle(Pass, "")
	case !g.holds(g.Low) && !g.holds(g.High):
		g.settle(Fail, "")
	default:
		g.doubt(what)
	}
}

func (g *Gate) settle(v Verdict, reason string) { g.Verdict, g.Reason = v, reason }

// doubt says why the run cannot tell, and what would.
func (g *Gate) doubt(what string) {
	g.settle(Inconclusive, "")
	if g.unsure > 0 {
		g.Reason = fmt.Sprintf("%d requests do not tell how they were served", g.unsure)
		return
	}
	n := g.wanted()
	if n > 0 && g.Runs == 0 && g.N > 0 && g.total > g.N {
		n = int(math.Ceil(float64(n) * float64(g.total) / float64(g.N))) // only a part of the requests counts
	}
	if have := max(g.total, g.N); n > 0 {
		g.More = max(n-have, 1)
	}
	g.Reason = "the limit lies within what the run can tell"
	if math.IsInf(g.Low, -1) || math.IsInf(g.High, 1) {
		g.Reason = fmt.Sprintf("too few %s for a limit (n=%d)", what, g.N)
	}
}

// mostWanted is the largest sample that is named: what needs more lies on the limit.
const mostWanted = 1_000_000_000

// wanted returns how large a sample like this one would likely (80 %) decide the threshold, 0 if none can be told.
func (g *Gate) wanted() int {
	const sure, found = 1.645, 0.84 // one-sided 95 %, and 80 % of the cases
	deviation := func(share float64) float64 { return math.Sqrt(max(share*(1-share), 0)) }
	var distance, reach float64
	least := 0
	switch {
	case g.share != nil:
		share := g.share(g.Limit)
		distance, reach, least = share-g.q, sure*deviation(g.q)+found*deviation(share), leastSample(g.q)
	case g.deviation > 0:
		distance, reach = g.Value-g.Limit, (sure+found)*g.deviation
	case g.Stat.IsShare():
		distance, reach = g.Value-g.Limit, sure*deviation(g.Limit)+found*deviation(g.Value)
	}
	n := reach / distance
	if n *= n; distance == 0 || !(n <= mostWanted) {
		return 0
	}
	return max(int(math.Ceil(n)), least)
}

// leastSample is the smallest sample with an upper and a lower one-sided 95 % limit of a quantile.
func leastSample(q float64) int {
	return int(math.Ceil(math.Log(1-DefaultConfidence) / math.Log(max(q, 1-q))))
}
