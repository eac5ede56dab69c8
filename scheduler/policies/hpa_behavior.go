package policies

import (
	"math"
	"time"

	"coldwave/internal/clock"
)

// HPASelect says which of several policies of one direction counts.
type HPASelect uint8

// The choices.
const (
	HPAMost     HPASelect = iota // the policy that allows the largest change
	HPALeast                     // the one that allows the smallest
	HPADisabled                  // no change in this direction
)

// HPARule allows a change of Value instances, or of Value percent, in any period.
type HPARule struct {
	Value   int
	Percent bool
	Period  time.Duration
}

// HPARules is what holds in one direction.
type HPARules struct {
	Rules         []HPARule
	Select        HPASelect
	Stabilization time.Duration
}

// HPABehavior is how recommendations turn into steps (HPA-11, HPA-12). Without: as the HPA is without a behavior field.
type HPABehavior struct {
	Without  bool
	Up, Down HPARules
}

// hpaPeriod is the time between two decisions (HPA-1).
const hpaPeriod = 15 * time.Second

// HPADefault returns the default behavior: up by the larger of 4 instances and 100 % in 15 s at once, down by 100 % in 15 s
// after 300 s.
func HPADefault() HPABehavior {
	return HPABehavior{
		Up:   HPARules{Rules: []HPARule{{4, false, hpaPeriod}, {100, true, hpaPeriod}}},
		Down: HPARules{Rules: []HPARule{{100, true, hpaPeriod}}, Stabilization: 300 * time.Second},
	}
}

// HPAStep is one decision and what led to it.
type HPAStep struct {
	Proposed   int // by the metrics
	Stabilized int // after the stabilization window
	Replicas   int // after the rate limits and the bounds
}

// HPARecommender turns proposals into steps. It is deterministic: equal inputs give equal steps.
type HPARecommender struct {
	b           HPABehavior
	recommended hpaNotes
	up, down    hpaNotes // what was added and what was taken away
}

// NewHPARecommender returns a recommender without history.
func NewHPARecommender(b HPABehavior) *HPARecommender {
	r := &HPARecommender{b: b}
	r.recommended = newHPANotes(max(b.Up.Stabilization, b.Down.Stabilization))
	r.up, r.down = newHPANotes(b.Up.longest()), newHPANotes(b.Down.longest())
	return r
}

func (r HPARules) longest() time.Duration {
	var d time.Duration
	for _, rule := range r.Rules {
		d = max(d, rule.Period)
	}
	return d
}

// Recommend takes what the metrics propose for the present number, stabilizes it, then limits its rate and keeps it in
// least … most (HPA-13).
func (r *HPARecommender) Recommend(now clock.Instant, current, proposed, least, most int) HPAStep {
	s := HPAStep{Proposed: proposed, Stabilized: r.stabilize(now, current, proposed)}
	switch {
	case r.b.Without:
		s.Replicas = min(s.Stabilized, max(2*current, 4))
	case s.Stabilized > current:
		s.Replicas = min(s.Stabilized, r.upLimit(now, current))
	case s.Stabilized < current:
		s.Replicas = max(s.Stabilized, r.downLimit(now, current))
	default:
		s.Replicas = current
	}
	s.Replicas = min(max(s.Replicas, least), most)
	return s
}

// Scaled notes that the number was changed, for the rate limits.
func (r *HPARecommender) Scaled(now clock.Instant, from, to int) {
	if to > from {
		r.up.add(now, to-from)
	} else if to < from {
		r.down.add(now, from-to)
	}
}

// Rest is what a proposal of nothing at that time would have left.
func (r *HPARecommender) Rest(at clock.Instant) { r.recommended.add(at, 0) }

// stabilize returns the largest recommendation of the window when fewer are proposed, the smallest when more are
// (HPA-11). With behavior, one that is as old as the window does not count; without, it does.
func (r *HPARecommender) stabilize(now clock.Instant, current, proposed int) int {
	r.recommended.add(now, proposed)
	n := proposed
	if r.b.Without {
		r.recommended.since(now.Add(-r.b.Down.Stabilization)-1, func(v int) { n = max(n, v) })
		return n
	}
	if proposed >= current {
		r.recommended.since(now.Add(-r.b.Up.Stabilization), func(v int) { n = min(n, v) })
		return max(n, current)
	}
	r.recommended.since(now.Add(-r.b.Down.Stabilization), func(v int) { n = max(n, v) })
	return min(n, current)
}

// upLimit returns how many there may be at most. Periods are measured from the number at their beginning.
func (r *HPARecommender) upLimit(now clock.Instant, current int) int {
	if r.b.Up.Select == HPADisabled {
		return current
	}
	limit := hpaFirst(r.b.Up.Select, math.MinInt, math.MaxInt)
	for _, rule := range r.b.Up.Rules {
		added := 0
		r.up.since(now.Add(-rule.Period), func(n int) { added += n })
		n := current - added + rule.Value
		if rule.Percent {
			n = int(math.Ceil(float64(current-added) * (1 + float64(rule.Value)/100)))
		}
		limit = hpaChoose(r.b.Up.Select, max(limit, n), min(limit, n))
	}
	return max(limit, current)
}

// downLimit returns how many there may be at least.
func (r *HPARecommender) downLimit(now clock.Instant, current int) int {
	if r.b.Down.Select == HPADisabled {
		return current
	}
	limit := hpaFirst(r.b.Down.Select, math.MaxInt, math.MinInt)
	for _, rule := range r.b.Down.Rules {
		taken := 0
		r.down.since(now.Add(-rule.Period), func(n int) { taken += n })
		n := current + taken - rule.Value
		if rule.Percent {
			n = int(float64(current+taken) * (1 - float64(rule.Value)/100))
		}
		limit = hpaChoose(r.b.Down.Select, min(limit, n), max(limit, n))
	}
	return min(limit, current)
}

// hpaFirst returns where the choice among the rules begins.
func hpaFirst(s HPASelect, most, least int) int { return hpaChoose(s, most, least) }

func hpaChoose(s HPASelect, most, least int) int {
	if s == HPAMost {
		return most
	}
	return least
}

// hpaNotes is a ring of numbers with their times, long enough for one in each period of a window.
type hpaNotes struct {
	notes []hpaNote
	next  int
}

type hpaNote struct {
	at clock.Instant
	n  int
}

func newHPANotes(window time.Duration) hpaNotes {
	q := hpaNotes{notes: make([]hpaNote, 2*(int(window/hpaPeriod)+2))}
	for k := range q.notes {
		q.notes[k].at = -clock.Never
	}
	return q
}

func (q *hpaNotes) add(at clock.Instant, n int) {
	q.notes[q.next] = hpaNote{at, n}
	q.next = (q.next + 1) % len(q.notes)
}

// since calls use for each number after cutoff.
func (q *hpaNotes) since(cutoff clock.Instant, use func(n int)) {
	for _, note := range q.notes {
		if note.at > cutoff {
			use(note.n)
		}
	}
}
