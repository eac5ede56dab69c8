package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// Phase is a named part of a run: the requests that were to start within it.
type Phase struct {
	Name     string
	From, To clock.Instant // from on, before to
}

// Reading takes numbers from one run. Response times are those of the successful requests and of those that timed out,
// which count as longer than all others; requests that failed otherwise are in the share of errors only, because a
// system that fails fast must not look fast.
type Reading struct {
	Run    *Run
	Phases []Phase
	Tail   float64 // probability that a limit is missed; 0: 1 − DefaultConfidence
	// Exact asks for Clopper and Pearson's limits of shares instead of Wilson's.
	Exact bool
	// Models lets labels count that a model guessed. Else those requests are left out of everything that needs labels.
	Models bool
}

// Find says why a selector can name nothing in this run, or in none with these phases if Run is nil: a phase that there is
// not, a run that kept no requests.
func (r Reading) Find(s Selector) error {
	if s.Phase != "" && !slices.ContainsFunc(r.Phases, func(p Phase) bool { return p.Name == s.Phase }) {
		return fmt.Errorf("%s: there is no phase %q; phases are named in the scenario file", s, s.Phase)
	}
	if r.Run != nil && len(r.Run.Records) == 0 && r.Run.Summary.Scheduled > 0 && s.Stat != PeakInstances {
		return fmt.Errorf("%s: the run kept no single requests; raise --exact", s)
	}
	return nil
}

// Of returns the number that a selector names. N is 0 where the run has none.
func (r Reading) Of(s Selector) Estimate {
	tail := cmp.Or(r.Tail, 1-DefaultConfidence)
	if s.Stat == PeakInstances {
		return whole(len(r.Run.Instances), float64(r.Run.Summary.Instances.Peak), false)
	}
	part := r.part(s)
	var e Estimate
	switch s.Stat {
	case QuantileStat:
		e = quantileOf(part.response, part.timedOut, s.Q, tail)
	case MaxStat:
		e = part.longest()
	case MeanStat:
		e = meanOf(part.response, part.timedOut, tail)
	case RateStat:
		e = whole(part.all, float64(part.ok)/r.covered(s).Seconds(), false)
	case ErrorStat:
		e = shareOf(part.all-part.ok, part.all, 0, tail, r.shares())
	case ColdShare:
		e = shareOf(part.cold, part.ok, part.unlabelled, tail, r.shares())
	case Makespan:
		e = r.makespan(s)
	case PeakInstances: // above
	}
	e.total, e.guessed = len(r.Run.Records), part.guessed
	return e
}

func (r Reading) shares() func(k, n int, tail float64) Span {
	if r.Exact {
		return ClopperPearson
	}
	return Wilson
}

// part is what a selector looks at.
type part struct {
	response   []float64 // sorted; the last ones timed out
	timedOut   int
	all, ok    int
	cold       int // of ok, as far as told
	unlabelled int // of ok
	guessed    int // successful ones that are left out, because a model labelled them
}

func (p *part) longest() Estimate {
	if len(p.response) == 0 {
		return whole(0, 0, false)
	}
	return whole(len(p.response), p.response[len(p.response)-1], p.timedOut > 0)
}

// part collects the requests of a selector.
func (r Reading) part(s Selector) part {
	var p part
	var known, timedOut []time.Duration
	from, to := r.window(s)
	for i := range r.Run.Records {
		one := &r.Run.Records[i]
		if s.Wave > 0 && one.Wave != int32(s.Wave-1) || one.Intended < from || one.Intended >= to {
			continue
		}
		if one.Outcome == record.OK && !r.Models && s.needsLabels() && one.Server.Source == record.FromModel {
			p.guessed++
			continue
		}
		if s.Start != allStarts && kind(one) != s.Start {
			continue
		}
		p.all++
		switch one.Outcome {
		case record.OK:
			p.count(one)
			known = append(known, one.Response())
		case record.Timeout:
			timedOut = append(timedOut, one.Response())
		default: // in the share of errors
		}
	}
	slices.Sort(known)
	slices.Sort(timedOut)
	p.response, p.timedOut = nanoseconds(append(known, timedOut...)), len(timedOut)
	return p
}

func (p *part) count(one *record.Record) {
	p.ok++
	switch kind(one) {
	case record.Cold:
		p.cold++
	case record.StartUnknown:
		p.unlabelled++
	default: // told, and not cold
	}
}

// window is the time that a selector is limited to.
func (r Reading) window(s Selector) (from, to clock.Instant) {
	if s.Phase == "" {
		return 0, clock.Never
	}
	for _, p := range r.Phases {
		if p.Name == s.Phase {
			return p.From, p.To
		}
	}
	return 0, 0
}

// covered is the time over which a rate is taken: that of the schedule, or longer if the last answer came later; of a
// phase its own; of a wave up to its last answer.
func (r Reading) covered(s Selector) time.Duration {
	switch {
	case s.Phase != "":
		from, to := r.window(s)
		return max(to.Sub(from), 1)
	case s.Wave > 0:
		return max(time.Duration(r.makespan(s).Value), 1)
	}
	length := time.Duration(1)
	if r.Run.Schedule != nil {
		length = max(length, r.Run.Schedule.Length)
	}
	for i := range r.Run.Records {
		if one := &r.Run.Records[i]; answered(one) {
			length = max(length, time.Duration(one.Done))
		}
	}
	return length
}

// makespan is that of one wave; of a run or phase it is the longest of its waves, or that of all its requests if they
// come in none.
func (r Reading) makespan(s Selector) Estimate {
	from, to := r.window(s)
	type span struct {
		first, last clock.Instant
		n           int
		timedOut    bool
	}
	waves := map[int32]span{}
	for i := range r.Run.Records {
		one := &r.Run.Records[i]
		if s.Wave > 0 && one.Wave != int32(s.Wave-1) || one.Intended < from || one.Intended >= to {
			continue
		}
		w, seen := waves[one.Wave]
		if !seen {
			w.first = clock.Never
		}
		w.first = min(w.first, one.Intended)
		if answered(one) || one.Outcome == record.Timeout {
			w.last, w.n = max(w.last, one.Done), w.n+1
		}
		w.timedOut = w.timedOut || one.Outcome == record.Timeout
		waves[one.Wave] = w
	}
	var n int
	var longest time.Duration
	var timedOut bool
	for _, w := range waves { // the order does not matter: sums, largest, any
		n, timedOut = n+w.n, timedOut || w.timedOut
		longest = max(longest, w.last.Sub(w.first))
	}
	return whole(n, float64(longest), timedOut)
}

// Stats takes the numbers of yardsticks from a run: what Compare compares. A yardstick whose name is no selector, or of
// which the run has nothing, is left out.
func (r Reading) Stats(ys []Yardstick) RunStats {
	out := RunStats{}
	for _, y := range ys {
		s, err := ParseSelector(y.Name)
		if err != nil || r.Find(s) != nil {
			continue
		}
		if e := r.Of(s); e.N > 0 {
			out[y.Name] = Value{X: e.Value, AtLeast: e.AtLeast}
		}
	}
	return out
}
