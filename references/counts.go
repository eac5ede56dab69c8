package references

import (
	"fmt"
	"strings"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
)

// expected is how the requests of one wave are served.
type expected struct {
	idle   int // by an instance that was idle
	freed  int // by an instance that another request had left
	unused int // by a new instance
	starts int
}

// expect says how a wave of n is served that finds pool idle instances (FC-5, FC-6, FC-7). Waves come long after all
// starts have ended, and the last request of a wave is served before the first new instance is ready.
func expect(role Role, n, pool int) expected {
	e := expected{idle: min(n, pool), starts: max(n-pool, 0)}
	if role == After && pool > 0 {
		e.freed = e.starts
	} else {
		e.unused = e.starts
	}
	return e
}

// served is how the requests of one wave were served. A request that waited and was not the first on its instance used a
// freed one, whatever it had waited for.
func served(w wave) expected {
	return expected{idle: len(w.of(record.Warm)), freed: len(w.of(record.Queued, record.ColdWait)), unused: len(w.of(record.Cold))}
}

// counts judges FR-1: starts, served and rejected requests, and served by idle, freed and new instances, wave by wave.
func counts(in input) outcome {
	var wrong findings
	var measured []string
	for _, s := range in.sides {
		starts := len(s.Run.Instances)
		want := int(in.Limits[strings.TrimPrefix(s.Pattern, "fc-")+"_starts"])
		wrong.add(starts != want, "%s: %d starts, want %d", s.name(), starts, want)
		ok := 0
		pool := 0
		for i, w := range s.waves {
			ok += w.count(record.OK)
			e := expect(s.Role, len(w), pool)
			wrong.add(w.count(record.OK) != len(w), "%s wave %d: %d of %d served, %d rejected", s.name(), i+1, w.count(record.OK), len(w), w.count(record.Rejected))
			wrong.add(!asExpected(s.Role, pool, served(w), e), "%s wave %d: %v, want %v", s.name(), i+1, served(w), e)
			pool = max(pool, len(w))
		}
		measured = append(measured, fmt.Sprintf("%s: %d starts, %d of %d served", s.name(), starts, ok, len(s.Run.Records)))
	}
	return wrong.outcome(strings.Join(measured, "; "))
}

// asExpected compares one wave. Two requests that start from nothing may share the first instance that is ready (10.2),
// so there only the sum is fixed.
func asExpected(role Role, pool int, got, want expected) bool {
	want.starts = 0
	if role == After && pool == 0 {
		return got.idle == 0 && got.unused >= 1 && got.freed+got.unused == want.unused
	}
	return got == want
}

func (e expected) String() string {
	return fmt.Sprintf("%d by idle, %d by freed, %d by new instances", e.idle, e.freed, e.unused)
}

// halves judges the statement on the ramp: half of each wave finds an instance, the other half waits for its own start
// (before) or takes a freed instance (after).
func halves(in input) outcome {
	var wrong findings
	waves := 0
	for _, s := range in.sides {
		for i, w := range s.later() {
			waves++
			idle, rest := len(w.of(record.Warm)), len(otherHalf(s.Role, w))
			wrong.add(2*idle != len(w) || 2*rest != len(w), "%s wave %d: %d of %d on idle instances, %d %s", s.name(), i+2, idle, len(w), rest, otherWay(s.Role))
		}
	}
	return wrong.outcome(fmt.Sprintf("%d of %d waves in halves", waves-len(wrong), waves))
}

func otherHalf(role Role, w wave) wave {
	if role == Before {
		return ownStart(w)
	}
	return w.of(record.Queued)
}

func otherWay(role Role) string {
	if role == Before {
		return "after their own cold start"
	}
	return "on freed instances"
}

// ownStart returns the requests that were served by the start that they caused.
func ownStart(w wave) wave {
	var out wave
	for _, r := range w.of(record.Cold) {
		if r.Server.StartBy == record.ByOwn {
			out = append(out, r)
		}
	}
	return out
}

// burstBefore judges the statement on the burst before: the first requests use the idle instances, each other one waits
// for its own start.
func burstBefore(in input) outcome {
	s := in.sides[0]
	w := s.burst()
	idle, own := len(w.of(record.Warm)), len(ownStart(w))
	want := int(in.Limits["idle_count"])
	var wrong findings
	wrong.add(idle != want, "%d of %d used idle instances, want %d", idle, len(w), want)
	wrong.add(own != len(w)-want, "%d of %d waited for their own start, want %d", own, len(w), len(w)-want)
	return wrong.outcome(fmt.Sprintf("%d on idle instances, %d after their own cold start", idle, own))
}

// quota judges the burst under a limit of instances (FC-10): requests served and rejected, and starts of the burst.
func quota(in input) outcome {
	var wrong findings
	var measured []string
	for _, s := range in.sides {
		w := s.burst()
		ok, rejected, starts := w.count(record.OK), refused(w), startsDuring(s)
		role := string(s.Role)
		wrong.add(ok != int(in.Limits[role+"_served"]), "%s: %d served, want %v", role, ok, in.Limits[role+"_served"])
		wrong.add(rejected != int(in.Limits[role+"_rejected"]), "%s: %d times 503, want %v", role, rejected, in.Limits[role+"_rejected"])
		wrong.add(starts != int(in.Limits["burst_starts"]), "%s: %d starts, want %v", role, starts, in.Limits["burst_starts"])
		measured = append(measured, fmt.Sprintf("%s: %d served, %d times 503, %d starts", role, ok, rejected, starts))
	}
	return wrong.outcome(strings.Join(measured, "; "))
}

// refused counts the requests that were rejected with 503, the status of ServiceUnavailable.
func refused(w wave) (n int) {
	for _, r := range w {
		if r.Outcome == record.Rejected && r.Status == 503 {
			n++
		}
	}
	return n
}

// startsDuring counts the instances that were started from the burst's first arrival until the next wave.
func startsDuring(s side) (n int) {
	from := s.burst().start()
	to := clock.Never
	for _, w := range s.waves {
		if at := w.start(); at > from {
			to = min(to, at)
		}
	}
	for _, in := range s.Run.Instances {
		if in.Started >= from && in.Started < to {
			n++
		}
	}
	return n
}

// pattern judges whether the schedule is the documented one: sizes of the waves and the gap between them.
func pattern(in input) outcome {
	var wrong findings
	gap := in.ms("gap_ms", in.evidence.Law)
	if in.evidence.Quick {
		gap = in.ms("quick_gap_ms", in.evidence.Law)
	}
	var sizes []int
	for _, s := range in.sides {
		sizes = nil
		for i, w := range s.waves {
			sizes = append(sizes, len(w))
			at := time.Duration(w.start() - s.waves[0].start())
			wrong.add(at != time.Duration(i)*gap, "%s wave %d begins at %v, want %v", s.name(), i+1, at, time.Duration(i)*gap)
		}
		wrong = append(wrong, wrongSizes(in.Pattern, s, sizes)...)
	}
	return wrong.outcome(fmt.Sprintf("waves of %v, %v apart", sizes, gap))
}

// wrongSizes compares sizes with the statement: each wave of the ramp doubles from 1 to 32, the burst of 20 is ten times
// the steady waves of 2.
func wrongSizes(name string, s side, sizes []int) (wrong findings) {
	largest := len(s.burst())
	for i, n := range sizes {
		want := 1 << i
		if name == "fc-burst" {
			want = pairSize
		}
		wrong.add(n != want && (name == "fc-ramp" || n != largest), "%s wave %d has %d requests, want %d", s.name(), i+1, n, want)
	}
	want := map[string]int{"fc-ramp": 32, "fc-burst": 10 * pairSize}[name]
	wrong.add(largest != want, "%s: the largest wave has %d requests, want %d", s.name(), largest, want)
	return wrong
}
