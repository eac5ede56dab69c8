package references

import (
	"fmt"
	"strings"
	"time"

	"coldwave/record"
)

// mean judges the mean of the pooled waves after the first, and with a limit for them that of each such wave.
func mean(in input) outcome {
	s, law := in.sides[0], in.evidence.Law
	got := s.pooled().stats()
	low, high := in.ms("mean_min_ms", law), in.ms("mean_max_ms", law)
	var wrong findings
	wrong.add(got.Mean < low || got.Mean > high, "mean %s is outside %s to %s", milli(got.Mean), milli(low), milli(high))
	if _, ok := in.Limits["wave_mean_max_ms"]; ok {
		for i, w := range s.later() {
			m := w.stats().Mean
			wrong.add(m >= in.ms("wave_mean_max_ms", law), "mean %s of wave %d is not below %s", milli(m), i+2, milli(in.ms("wave_mean_max_ms", law)))
		}
	}
	return wrong.outcome(fmt.Sprintf("mean %s (n=%d)", milli(got.Mean), got.N))
}

// waveP99 judges the p99 of each wave after the first; large waves may have a higher lower limit of their own.
func waveP99(in input) outcome {
	s, law := in.sides[0], in.evidence.Law
	var wrong findings
	var measured []string
	for i, w := range s.later() {
		got := w.stats().P99
		low, high := in.ms("p99_min_ms", law), in.ms("p99_max_ms", law)
		if size := in.Limits["large_count"]; size > 0 && len(w) >= int(size) {
			low = in.ms("large_p99_min_ms", law)
		}
		wrong.add(got < low || got >= high, "p99 %s of wave %d is outside %s to %s", milli(got), i+2, milli(low), milli(high))
		measured = append(measured, fmt.Sprintf("%.0f", float64(got)/1e6))
	}
	return wrong.outcome("p99 of waves 2 and up: " + strings.Join(measured, ", ") + " ms")
}

// coldRange judges FR-5: each request that waited for its own start lies in the stated range.
func coldRange(in input) outcome {
	return within(in, func(w wave) wave { return w.of(record.Cold) }, "cold")
}

// warmRange judges FR-9: each request that found an idle instance lies in the stated range.
func warmRange(in input) outcome {
	return within(in, func(w wave) wave { return w.of(record.Warm) }, "warm")
}

func within(in input, pick func(wave) wave, name string) outcome {
	low, high := in.ms("min_ms", in.evidence.Law), in.ms("max_ms", in.evidence.Law)
	var wrong findings
	var got []time.Duration
	for _, s := range in.sides {
		for _, w := range s.waves {
			for _, r := range pick(w) {
				d := r.Response()
				got = append(got, d)
				wrong.add(d < low || d > high, "%s: request %d took %s", s.name(), r.Seq, milli(d))
			}
		}
	}
	if len(got) == 0 {
		return outcome{verdict: Inconclusive, reason: "there are no " + name + " requests"}
	}
	least, most := extremes(got)
	return wrong.outcome(fmt.Sprintf("%s to %s (n=%d %s)", milli(least), milli(most), len(got), name))
}

func extremes(d []time.Duration) (least, most time.Duration) {
	least, most = d[0], d[0]
	for _, v := range d {
		least, most = min(least, v), max(most, v)
	}
	return least, most
}
