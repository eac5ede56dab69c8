package patterns

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"coldwave/internal/clock"
	"coldwave/workload"
)

// Waves sends groups of simultaneous requests, the first at 0 and the others Gap apart. The last one has its gap too.
type Waves struct {
	Sizes []int         // requests of each wave, ≥ 1
	Gap   time.Duration // > 0
}

// Open ignores r: nothing is random.
func (w Waves) Open(*rand.Rand) func() (workload.Intent, bool) {
	wave, sent := 0, 0
	return func() (workload.Intent, bool) {
		if wave < len(w.Sizes) && sent == w.Sizes[wave] {
			wave, sent = wave+1, 0
		}
		if wave == len(w.Sizes) {
			return workload.Intent{}, false
		}
		sent++
		return workload.Intent{At: clock.Instant(w.Gap) * clock.Instant(wave), Wave: int32(wave)}, true
	}
}

// Length is the number of waves times the gap.
func (w Waves) Length() time.Duration { return time.Duration(len(w.Sizes)) * w.Gap }

// String is such as "{kind: waves, sizes: [1, 2, 4], gap: 10s}".
func (w Waves) String() string {
	return fmt.Sprintf("{kind: waves, sizes: %s, gap: %s}", list(w.Sizes), span(w.Gap))
}

// list writes whole numbers such as "[1, 2, 4]".
func list(numbers []int) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = strconv.Itoa(n)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// Override takes a gap.
func (w Waves) Override(s Settings) (Pattern, error) {
	if err := first(s.only("waves", "gap")); err != nil {
		return nil, err
	}
	w.Gap = preset(s.Gap, w.Gap)
	return checked(w, s.Limits)
}

// Check wants at least one wave, no empty wave and a gap above 0.
func (w Waves) Check(l Limits) error {
	l = l.or()
	if len(w.Sizes) == 0 {
		return wrong("sizes", "give the size of at least one wave, as in sizes: [1, 2, 4]", "sizes is empty")
	}
	for i, n := range w.Sizes {
		if p := between("sizes", int64(n), 1, l.Requests); p != nil {
			p.Item = i
			p.What = fmt.Sprintf("wave %d: ", i) + strings.Replace(p.What, "sizes", "size", 1)
			return p
		}
	}
	return first(
		between("sizes", int64(len(w.Sizes)), 1, int64(l.Waves)),
		within("gap", w.Gap, l.Duration/time.Duration(len(w.Sizes))),
	)
}

// checked returns the pattern if it passes.
func checked(p Pattern, l Limits) (Pattern, error) {
	if err := p.Check(l); err != nil {
		return nil, err
	}
	return p, nil
}

// buildWaves reads the keys of the kind.
func buildWaves(f *fields) Pattern {
	return Waves{Sizes: f.counts("sizes"), Gap: f.duration("gap")}
}
