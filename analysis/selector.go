package analysis

import (
	"fmt"
	"strconv"
	"strings"

	"coldwave/record"
)

// Stat is a kind of number that a selector takes from a run.
type Stat uint8

// The statistics. Only Quantile, Max, Mean and Rate can be limited to one start kind.
const (
	QuantileStat  Stat = iota // of the response time, nearest rank
	MaxStat                   // longest response time
	MeanStat                  // of the response time
	RateStat                  // successful answers a second of covered time
	ErrorStat                 // share of the arrivals that did not end ok, dropped ones included
	ColdShare                 // share of the successful requests that were the first of a new instance
	Makespan                  // from a wave's first intended start to its last answer; of a run: the longest
	PeakInstances             // most instances alive at once
)

// statNames are the words of the statistics that are one word; quantiles are p and a number.
var statNames = []struct {
	name string
	stat Stat
}{
	{"max", MaxStat}, {"mean", MeanStat}, {"rate", RateStat}, {"errors", ErrorStat}, {"cold_share", ColdShare}, {"makespan", Makespan},
	{"peak_instances", PeakInstances},
}

// IsTime says whether the statistic is a duration in nanoseconds.
func (s Stat) IsTime() bool {
	return s == QuantileStat || s == MaxStat || s == MeanStat || s == Makespan
}

// IsShare says whether the statistic is a share from 0 to 1.
func (s Stat) IsShare() bool { return s == ErrorStat || s == ColdShare }

func (s Stat) byStart() bool {
	return s == QuantileStat || s == MaxStat || s == MeanStat || s == RateStat
}

// needsLabels says whether the number depends on how requests are said to have been served.
func (s Selector) needsLabels() bool { return s.Start != allStarts || s.Stat == ColdShare }

// allStarts stands for every start kind, told or not.
const allStarts = record.StartUnknown

// startNames are the start kinds that a selector may name.
var startNames = []struct {
	name string
	kind record.StartKind
}{
	{"all", allStarts}, {"warm", record.Warm}, {"queued", record.Queued}, {"cold", record.Cold}, {"cold_wait", record.ColdWait},
}

// Selector names one number of a run, such as "warm.p99" or "makespan over wave 1".
type Selector struct {
	Start record.StartKind // StartUnknown: all
	Stat  Stat
	Q     float64 // of QuantileStat, in (0, 1)
	Phase string  // empty: the whole run
	Wave  int     // from 1; 0: the whole run
}

// Name is the selector without what it is limited to, such as "warm.p99".
func (s Selector) Name() string {
	stat := "p" + strconv.FormatFloat(100*s.Q, 'g', 8, 64)
	for _, n := range statNames {
		if n.stat == s.Stat {
			stat = n.name
		}
	}
	for _, n := range startNames {
		if n.kind == s.Start && n.kind != allStarts {
			stat = n.name + "." + stat
		}
	}
	return stat
}

// String is the selector as ParseSelector reads it.
func (s Selector) String() string {
	switch {
	case s.Phase != "":
		return s.Name() + " over phase " + s.Phase
	case s.Wave > 0:
		return fmt.Sprintf("%s over wave %d", s.Name(), s.Wave)
	}
	return s.Name()
}

// ParseSelector reads "[start.]stat [over phase NAME|wave N]". Its errors are a *SyntaxError.
func ParseSelector(text string) (Selector, error) {
	p := &phrase{text: text}
	s := p.selector()
	p.scope(&s)
	p.end("nothing more, or 'over phase NAME', or 'over wave N'")
	if p.wrong != nil {
		return Selector{}, p.wrong
	}
	return s, nil
}

// selector reads "[start.]stat".
func (p *phrase) selector() Selector {
	word, at := p.word("a statistic such as p99 or warm.p99")
	start, stat, dotted := strings.Cut(word, ".")
	if !dotted || isQuantile(word) {
		start, stat = "all", word
	} else {
		at += len(start) + 1
	}
	s := Selector{Start: p.start(start, at-len(start)-1)}
	p.stat(&s, stat, at)
	return s
}

// isQuantile says whether the word is such as "p99.9", whose dot divides nothing.
func isQuantile(word string) bool {
	rest, ok := strings.CutPrefix(word, "p")
	_, err := strconv.ParseFloat(rest, 64)
	return ok && err == nil
}

func (p *phrase) start(name string, at int) record.StartKind {
	var known []string
	for _, n := range startNames {
		if n.name == name {
			return n.kind
		}
		known = append(known, n.name)
	}
	p.unknown(at, "start kind", name, known)
	return allStarts
}

func (p *phrase) stat(s *Selector, name string, at int) {
	known := []string{"p50", "p90", "p95", "p99", "p99.9"}
	for _, n := range statNames {
		known = append(known, n.name)
		if n.name == name {
			s.Stat = n.stat
			if s.Start != allStarts && !n.stat.byStart() {
				p.fail(at, "%s is one number for all start kinds; leave out what is before the dot", name)
			}
			return
		}
	}
	percent, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
	switch {
	case !isQuantile(name) || err != nil:
		p.unknown(at, "statistic", name, known)
	case !(percent > 0 && percent < 100):
		p.fail(at, "a percentile lies between p0 and p100; the largest value is max")
	default:
		s.Stat, s.Q = QuantileStat, percent/100
	}
}

// maxWave bounds the number of a wave: waves are counted in 32 bits.
const maxWave = 1<<31 - 1

// scope reads "over phase NAME" or "over wave N", if it is there.
func (p *phrase) scope(s *Selector) {
	if !p.skip("over") {
		return
	}
	kind, at := p.word("'phase NAME' or 'wave N'")
	switch {
	case p.wrong != nil:
	case s.Stat == PeakInstances:
		p.fail(at, "peak_instances is one number of the whole run")
	case kind == "phase":
		s.Phase, _ = p.word("the name of a phase")
	case kind == "wave":
		text, at := p.word("the number of a wave, from 1")
		n, err := strconv.Atoi(text)
		if p.wrong == nil && (err != nil || n < 1 || n > maxWave) {
			p.fail(at, "a wave is a number from 1 on")
		}
		s.Wave = n
	default:
		p.unknown(at, "scope", kind, []string{"phase", "wave"})
	}
}
