package references

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
)

// side is one run of the evidence, cut into waves.
type side struct {
	Cell
	waves []wave
}

// wave is the records of one wave, by seq.
type wave []*record.Record

func newSide(c Cell) side {
	byNumber := map[int32]wave{}
	for i := range c.Run.Records {
		r := &c.Run.Records[i]
		byNumber[r.Wave] = append(byNumber[r.Wave], r)
	}
	s := side{Cell: c}
	for _, w := range byNumber {
		slices.SortFunc(w, func(a, b *record.Record) int { return cmp.Compare(a.Seq, b.Seq) })
		s.waves = append(s.waves, w)
	}
	slices.SortFunc(s.waves, func(a, b wave) int { return cmp.Compare(a[0].Wave, b[0].Wave) })
	return s
}

func (s side) name() string {
	if s.Scene != "" {
		return s.Scene
	}
	return s.Pattern + " " + string(s.Role)
}

// later returns all waves but the first, which finds no instance in either role.
func (s side) later() []wave { return s.waves[min(1, len(s.waves)):] }

// pooled returns the requests of all waves but the first.
func (s side) pooled() wave { return slices.Concat(s.later()...) }

// burst returns the largest wave.
func (s side) burst() wave {
	if len(s.waves) == 0 {
		return nil
	}
	return slices.MaxFunc(s.waves, func(a, b wave) int { return cmp.Compare(len(a), len(b)) })
}

// responses returns the response times of the successful requests.
func (w wave) responses() []time.Duration {
	var out []time.Duration
	for _, r := range w {
		if r.Outcome == record.OK {
			out = append(out, r.Response())
		}
	}
	return out
}

func (w wave) stats() analysis.Stats { return analysis.Of(w.responses()) }

func (w wave) start() clock.Instant {
	at := clock.Never
	for _, r := range w {
		at = min(at, r.Intended)
	}
	return at
}

// levels returns when each successful request was answered since the wave began, ascending.
func (w wave) levels() []time.Duration {
	var out []time.Duration
	for _, r := range w {
		if r.Outcome == record.OK {
			out = append(out, r.Done.Sub(w.start()))
		}
	}
	slices.Sort(out)
	return out
}

// of returns the successful requests with that start kind.
func (w wave) of(kinds ...record.StartKind) wave {
	var out wave
	for _, r := range w {
		if r.Outcome == record.OK && slices.Contains(kinds, r.Server.Start) {
			out = append(out, r)
		}
	}
	return out
}

func (w wave) count(o record.Outcome) (n int) {
	for _, r := range w {
		if r.Outcome == o {
			n++
		}
	}
	return n
}

// milli prints a duration in milliseconds: "161.3 ms", from a second on "1231 ms".
func milli(d time.Duration) string {
	if d >= time.Second {
		return fmt.Sprintf("%.0f ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.1f ms", float64(d)/1e6)
}
