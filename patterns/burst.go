package patterns

import (
	"fmt"
	"math/rand/v2"
	"time"

	"coldwave/internal/clock"
	"coldwave/workload"
)

// Burst sends small waves of one size, one large wave, and small ones again (FC-14).
type Burst struct {
	Steady, Burst int           // requests of a small wave and of the large one, ≥ 1
	Before, After int           // number of small waves, ≥ 0
	Gap           time.Duration // between two waves, > 0
	// Shift delays all but the first ShiftAfter requests of the large wave, in [0, Gap). The published table shows such
	// a step of 42.2 ms between the first two requests, which likely had connections from the waves before, and the
	// others (FA-8). It is an effect of the client, so it belongs to the pattern.
	Shift      time.Duration
	ShiftAfter int
}

// Open ignores r: nothing is random.
func (b Burst) Open(*rand.Rand) func() (workload.Intent, bool) {
	wave, sent := 0, 0
	return func() (workload.Intent, bool) {
		if sent == b.size(wave) {
			wave, sent = wave+1, 0
		}
		if wave == b.waves() {
			return workload.Intent{}, false
		}
		at := clock.Instant(b.Gap) * clock.Instant(wave)
		if wave == b.Before && sent >= b.ShiftAfter {
			at = at.Add(b.Shift)
		}
		sent++
		return workload.Intent{At: at, Wave: int32(wave)}, true
	}
}

func (b Burst) waves() int { return b.Before + 1 + b.After }

func (b Burst) size(wave int) int {
	if wave == b.Before {
		return b.Burst
	}
	return b.Steady
}

// Length is the number of waves times the gap.
func (b Burst) Length() time.Duration { return time.Duration(b.waves()) * b.Gap }

// String is such as "{kind: burst, steady: 2, burst: 20, before: 3, after: 3, gap: 10s}", with the shift if there is one.
func (b Burst) String() string {
	shift := ""
	if b.Shift != 0 {
		shift = fmt.Sprintf(", shift: %s, shift_after: %d", span(b.Shift), b.ShiftAfter)
	}
	return fmt.Sprintf("{kind: burst, steady: %d, burst: %d, before: %d, after: %d, gap: %s%s}",
		b.Steady, b.Burst, b.Before, b.After, span(b.Gap), shift)
}

// Override takes a gap.
func (b Burst) Override(s Settings) (Pattern, error) {
	if err := first(s.only("burst", "gap")); err != nil {
		return nil, err
	}
	b.Gap = preset(s.Gap, b.Gap)
	return checked(b, s.Limits)
}

// Check wants waves of at least one request, a gap above 0 and a shift shorter than the gap.
func (b Burst) Check(l Limits) error {
	l = l.or()
	err := first(
		between("steady", int64(b.Steady), 1, l.Requests),
		between("burst", int64(b.Burst), 1, l.Requests),
		between("before", int64(b.Before), 0, int64(l.Waves)),
		between("after", int64(b.After), 0, int64(l.Waves-b.Before)),
	)
	if err != nil {
		return err
	}
	return first(
		within("gap", b.Gap, l.Duration/time.Duration(b.waves())),
		b.checkShift(),
	)
}

func (b Burst) checkShift() *Error {
	switch {
	case b.Shift < 0 || b.Shift >= b.Gap:
		return wrong("shift", fmt.Sprintf("give a duration from 0 to below the gap of %s", span(b.Gap)),
			"shift %s must lie between two waves", span(b.Shift))
	case b.ShiftAfter < 0 || b.ShiftAfter > b.Burst:
		return wrong("shift_after", fmt.Sprintf("give a number from 0 to the burst of %d", b.Burst),
			"shift_after %d is no part of the burst", b.ShiftAfter)
	}
	return nil
}

// buildBurst reads the keys of the kind. The requests that are not shifted are by default as many as a small wave has:
// those find connections left by it.
func buildBurst(f *fields) Pattern {
	b := Burst{
		Steady: f.count("steady"), Burst: f.count("burst"), Before: f.count("before"), After: f.count("after"),
		Gap: f.duration("gap"),
	}
	if f.has("shift") {
		b.Shift, b.ShiftAfter = f.duration("shift"), b.Steady
	}
	if f.has("shift_after") {
		b.ShiftAfter = f.count("shift_after")
		f.needs("shift_after", "shift")
	}
	return b
}
