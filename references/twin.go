package references

import (
	"fmt"
	"strings"

	"coldwave/analysis"
)

// twin judges FR-8: the run on the wire and its virtual twin differ by milliseconds only.
func twin(in input) outcome {
	var wrong findings
	var measured []string
	for _, s := range in.sides {
		d := s.Run.Twin
		if d == nil {
			return outcome{verdict: NotComparable, reason: s.name() + ": the system under test has no twin: its policy and its draws are not known"}
		}
		wrong = append(wrong, unlike(s, d)...)
		wrong = append(wrong, in.away(s, d.Later)...)
		measured = append(measured, fmt.Sprintf("%s: %d of %d waves and %d of %d requests alike, later by p50 %s, max %s", s.name(),
			d.SameWaves(), len(d.Waves), d.Compared-len(d.Different), d.Compared, milli(d.Later.P50), milli(d.Later.Max)))
	}
	return wrong.outcome(strings.Join(measured, "; "))
}

// unlike lists what was decided otherwise than in the twin.
func unlike(s side, d *analysis.Distance) (wrong findings) {
	wrong.add(d.Starts != d.TwinStarts, "%s: %d starts, twin %d", s.name(), d.Starts, d.TwinStarts)
	for _, w := range d.Waves {
		wrong.add(!w.Same(), "%s wave %d: served by %s, twin %s", s.name(), w.Wave+1, ways(w.Wire), ways(w.Twin))
	}
	wrong.add(len(d.Different) > 0, "%s: %d of %d requests that arrived in the same order were served otherwise, such as %v", s.name(),
		len(d.Different), d.Compared, d.Different[:min(1, len(d.Different))])
	return wrong
}

// away lists response times too far from the twin's.
func (in *input) away(s side, later analysis.Stats) (wrong findings) {
	early, late := in.ms("early_max_ms", in.evidence.Law), in.ms("late_max_ms", in.evidence.Law)
	wrong.add(later.Min < -early, "%s: an answer came %s before the twin's", s.name(), milli(-later.Min))
	wrong.add(later.Max > late, "%s: an answer came %s after the twin's", s.name(), milli(later.Max))
	return wrong
}

// ways writes counts such as "2 idle, 18 freed".
func ways(s analysis.Served) string {
	var parts []string
	for w, n := range s {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n, analysis.Way(w)))
		}
	}
	return strings.Join(parts, ", ")
}
