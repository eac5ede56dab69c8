package patterns

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"coldwave/internal/clock"
	"coldwave/workload"
)

// Steps sends waves a gap apart whose size changes in steps, as an online user's load does (FR-12). A larger wave may come
// first, so that the steps find instances.
type Steps struct {
	Sizes   []int         // requests of each wave of a step, ≥ 1
	Repeats []int         // waves of each step, ≥ 1; one for each of Sizes
	Gap     time.Duration // between two waves, > 0
	WarmUp  int           // requests of the wave at 0; 0: there is none, and the steps begin at 0
	Pause   time.Duration // from the warm-up wave to the first step; 0 exactly if there is none
}

// Open ignores r: nothing is random.
func (s Steps) Open(*rand.Rand) func() (workload.Intent, bool) {
	wave, sent := 0, 0
	return func() (workload.Intent, bool) {
		if sent == s.size(wave) {
			wave, sent = wave+1, 0
		}
		if wave >= s.waves() {
			return workload.Intent{}, false
		}
		sent++
		return workload.Intent{At: s.at(wave), Wave: int32(wave)}, true
	}
}

// lead is the number of waves before the first step.
func (s Steps) lead() int { return min(s.WarmUp, 1) }

func (s Steps) waves() int {
	n := s.lead()
	for _, r := range s.Repeats {
		n += r
	}
	return n
}

// size is the number of requests of a wave; 0 beyond the last one.
func (s Steps) size(wave int) int {
	if wave < s.lead() {
		return s.WarmUp
	}
	wave -= s.lead()
	for i, r := range s.Repeats {
		if wave < r {
			return s.Sizes[i]
		}
		wave -= r
	}
	return 0
}

func (s Steps) at(wave int) clock.Instant {
	if wave < s.lead() {
		return 0
	}
	return clock.Instant(s.Pause + time.Duration(wave-s.lead())*s.Gap)
}

// Length is the pause and a gap for each wave of the steps.
func (s Steps) Length() time.Duration { return time.Duration(s.at(s.waves())) }

// String is such as "{kind: steps, sizes: [11, 25], repeats: [10, 30], gap: 1s, warm_up: 11, pause: 5s}", without the last
// two if there is no warm-up.
func (s Steps) String() string {
	lead := ""
	if s.WarmUp > 0 {
		lead = fmt.Sprintf(", warm_up: %d, pause: %s", s.WarmUp, span(s.Pause))
	}
	return fmt.Sprintf("{kind: steps, sizes: %s, repeats: %s, gap: %s%s}", list(s.Sizes), list(s.Repeats), span(s.Gap), lead)
}

// Override takes a gap.
func (s Steps) Override(set Settings) (Pattern, error) {
	if err := first(set.only("steps", "gap")); err != nil {
		return nil, err
	}
	s.Gap = preset(set.Gap, s.Gap)
	return checked(s, set.Limits)
}

// Check wants at least one step, as many repeats as sizes, no empty wave or step, a gap above 0, and a pause exactly if
// there is a warm-up.
func (s Steps) Check(l Limits) error {
	l = l.or()
	if len(s.Sizes) == 0 {
		return wrong("sizes", "give the size of at least one step, as in sizes: [11, 25]", "sizes is empty")
	}
	if len(s.Repeats) != len(s.Sizes) {
		return wrong("repeats", "give one number of waves for each size", "repeats has %d numbers for %d sizes", len(s.Repeats), len(s.Sizes))
	}
	waves := 0
	for i := range s.Sizes {
		if err := s.checkStep(i, int64(l.Waves-waves), l.Requests); err != nil {
			return err
		}
		waves += s.Repeats[i]
	}
	if err := s.checkWarmUp(l); err != nil {
		return err
	}
	return first(within("gap", s.Gap, (l.Duration-s.Pause)/time.Duration(waves)))
}

func (s Steps) checkStep(i int, waves, requests int64) error {
	if p := between("sizes", int64(s.Sizes[i]), 1, requests); p != nil {
		p.Item = i
		p.What = fmt.Sprintf("step %d: ", i) + strings.Replace(p.What, "sizes", "size", 1)
		return p
	}
	if p := between("repeats", int64(s.Repeats[i]), 1, waves); p != nil {
		p.Item = i
		p.What = fmt.Sprintf("step %d: ", i) + p.What
		return p
	}
	return nil
}

func (s Steps) checkWarmUp(l Limits) error {
	switch {
	case s.WarmUp == 0 && s.Pause != 0:
		return wrong("pause", "add warm_up or leave pause out", "pause needs warm_up")
	case s.WarmUp == 0:
		return nil
	}
	return first(between("warm_up", int64(s.WarmUp), 1, l.Requests), within("pause", s.Pause, l.Duration/2))
}

// buildSteps reads the keys of the kind.
func buildSteps(f *fields) Pattern {
	s := Steps{Sizes: f.counts("sizes"), Repeats: f.counts("repeats"), Gap: f.duration("gap")}
	if f.has("warm_up") {
		s.WarmUp = f.count("warm_up")
		f.needs("warm_up", "pause")
		if f.problem == nil && s.WarmUp < 1 {
			f.note(between("warm_up", int64(s.WarmUp), 1, 1)) // in a pattern, 0 means that the key is not there
		}
	}
	if f.has("pause") {
		s.Pause = f.duration("pause")
		f.needs("pause", "warm_up")
	}
	return s
}
