package policies

import (
	"errors"
	"math"
	"time"

	"coldwave/internal/clock"
)

// ErrNoMetric says that a metric of the HPA has no value: that is not 0.
var ErrNoMetric = errors.New("no metric for any ready instance")

// HPATolerance is the distance from 1 within which a ratio changes nothing (HPA-3). Float64, as in the source: the edges
// depend on it (HPA-4).
type HPATolerance struct {
	Down, Up float64
	Old      bool // the arithmetic before the tolerances were split: |1 − ratio| ≤ Up
}

// Close reports whether a ratio is within the tolerance. Both edges belong to it as far as float64 can tell.
func (t HPATolerance) Close(ratio float64) bool {
	if t.Old {
		return math.Abs(1-ratio) <= t.Up
	}
	return 1-t.Down <= ratio && ratio <= 1+t.Up
}

// HPAGroup is how one instance counts for a metric (HPA-6).
type HPAGroup uint8

// The groups.
const (
	HPAGone    HPAGroup = iota // on its way out: it does not count at all
	HPACounted                 // ready, with a metric
	HPAIgnored                 // not ready
	HPAMissing                 // without a metric
)

// HPAPod is what is known of one instance.
type HPAPod struct {
	Gone    bool          // deleted or failed
	Pending bool          // not running yet
	Ready   bool          // now
	Began   clock.Instant // its start
	Changed clock.Instant // when Ready became what it is
	Sampled clock.Instant // the end of its last sample; Never: it has none
	Window  time.Duration // of the sample
}

// HPATimes are the times of the rule for CPU.
type HPATimes struct {
	Initialization time.Duration // 5 min: so long a CPU sample may belong to the start
	Readiness      time.Duration // 30 s: one that is not ready and changed within it has never been ready
}

// Group returns how an instance counts for its CPU (HPA-6).
func (h HPATimes) Group(now clock.Instant, p HPAPod) HPAGroup {
	switch {
	case p.Gone:
		return HPAGone
	case p.Pending:
		return HPAIgnored
	case p.Sampled == clock.Never:
		return HPAMissing
	case p.Began.Add(h.Initialization) > now:
		if !p.Ready || p.Sampled < p.Changed.Add(p.Window) {
			return HPAIgnored
		}
	case !p.Ready && p.Began.Add(h.Readiness) > p.Changed:
		return HPAIgnored
	}
	return HPACounted
}

// HPALoad sums the instances of each group.
type HPALoad struct {
	Counted, Ignored, Missing int
	Usage                     int64 // of those that are counted
	Request                   int64 // of those that are counted; for CPU
	MissingRequest            int64
	IgnoredRequest            int64
}

// HPAReason is why a metric proposes what it proposes.
type HPAReason uint8

// The reasons.
const (
	HPAScaled   HPAReason = iota + 1 // by the ratio
	HPAClose                         // within the tolerance
	HPAReversed                      // the missing and the ignored ones would turn its direction
)

// HPAProposal is what one metric proposes, and why.
type HPAProposal struct {
	Replicas int
	Ratio    float64 // that decided, value over target
	Reason   HPAReason
}

// HPAUtilization proposes by CPU: the usage in percent of the request, truncated (HPA-5), over a target in percent. It
// returns ErrNoMetric if no instance is counted.
func HPAUtilization(current int, l HPALoad, target int64, t HPATolerance) (HPAProposal, error) {
	full := max(100, target)
	fill := l.MissingRequest * full / 100
	return hpaByPods(current, l, fill, t, func(usage int64, l HPALoad) float64 {
		return float64(usage*100/l.Request) / float64(target)
	})
}

// HPAMean proposes by the mean of a metric over the instances, truncated, over its target in the same unit. It returns
// ErrNoMetric if no instance is counted.
func HPAMean(current int, l HPALoad, target int64, t HPATolerance) (HPAProposal, error) {
	return hpaByPods(current, l, int64(l.Missing)*target, t, func(usage int64, l HPALoad) float64 {
		return float64(usage/int64(l.Counted)) / float64(target)
	})
}

// hpaByPods is what CPU and other metrics of instances have in common (HPA-7, HPA-8). Missing ones count with fill in all
// when the ratio is below 1, with nothing when it is above; ignored ones count with nothing when it is above.
func hpaByPods(current int, l HPALoad, fill int64, t HPATolerance, ratioOf func(int64, HPALoad) float64) (HPAProposal, error) {
	if l.Counted == 0 {
		return HPAProposal{}, ErrNoMetric
	}
	first := ratioOf(l.Usage, l)
	ignored := l.Ignored > 0 && first > 1
	if !ignored && l.Missing == 0 {
		return hpaByRatio(current, l.Counted, first, t), nil
	}
	all, usage := l, l.Usage
	if l.Missing > 0 && first != 1 {
		all.Counted, all.Request = all.Counted+l.Missing, all.Request+l.MissingRequest
		if first < 1 {
			usage += fill
		}
	}
	if ignored {
		all.Counted, all.Request = all.Counted+l.Ignored, all.Request+l.IgnoredRequest
	}
	ratio := ratioOf(usage, all)
	if t.Close(ratio) {
		return HPAProposal{current, ratio, HPAClose}, nil
	}
	n := int(math.Ceil(ratio * float64(all.Counted)))
	if turned := first < 1 && ratio > 1 || first > 1 && ratio < 1; turned || ratio < 1 && n > current || ratio > 1 && n < current {
		return HPAProposal{current, ratio, HPAReversed}, nil
	}
	return HPAProposal{n, ratio, HPAScaled}, nil
}

func hpaByRatio(current, counted int, ratio float64, t HPATolerance) HPAProposal {
	if t.Close(ratio) {
		return HPAProposal{current, ratio, HPAClose}
	}
	return HPAProposal{int(math.Ceil(ratio * float64(counted))), ratio, HPAScaled}
}

// HPAValue proposes by the value of one object over its target. From 0 instances there is no tolerance (HPA-10).
func HPAValue(current, ready int, value, target float64, t HPATolerance) HPAProposal {
	ratio := value / target
	if current == 0 {
		return HPAProposal{int(math.Ceil(ratio)), ratio, HPAScaled}
	}
	return hpaByRatio(current, ready, ratio, t)
}

// HPATotal proposes by a total, such as the traffic of a Gateway, over a target of one instance (HPA-2, HPA-3).
func HPATotal(current int, total, target float64, t HPATolerance) HPAProposal {
	if current == 0 {
		return HPAProposal{int(math.Ceil(total / target)), math.Inf(1), HPAScaled}
	}
	ratio := total / (target * float64(current))
	if t.Close(ratio) {
		return HPAProposal{current, ratio, HPAClose}
	}
	return HPAProposal{int(math.Ceil(total / target)), ratio, HPAScaled}
}

// HPALargest collects the proposals of several metrics (HPA-9). The zero value has none.
type HPALargest struct {
	replicas int
	valid    bool
	failed   bool
}

// Add adds the proposal of one metric, or its failure.
func (l *HPALargest) Add(p HPAProposal, err error) {
	if err != nil {
		l.failed = true
		return
	}
	l.replicas, l.valid = max(l.replicas, p.Replicas), true
}

// Replicas returns the largest proposal. False: nothing may change, since every metric failed, or one did and the others
// ask for fewer.
func (l *HPALargest) Replicas(current int) (n int, ok bool) {
	if !l.valid || l.failed && l.replicas < current {
		return current, false
	}
	return l.replicas, true
}
