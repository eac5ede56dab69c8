package references

import (
	"slices"
	"testing"
	"time"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/workload"
)

const ms = time.Millisecond

// model is the two policies of 10.1 in closed form, wave by wave, with knobs that make it wrong. It shares no code with
// the scheduler, so that the claims are tested on their own.
type model struct {
	pattern string
	role    Role
	law     string
	seed    uint64
	quota   int
	quick   bool

	// Knobs: what a wrong policy, platform or harness would do.
	sizes         []int         // other waves than documented
	shift         time.Duration // of all but the first two requests of the burst; the law documented sets it
	noShift       bool          // leaves it out
	actAs         Role          // the role that it really plays
	coldLaw       string        // the law that it really draws from
	coldTimes     float64       // factor on each cold start
	extraSlot     time.Duration // added to each hand-over
	extraResponse time.Duration // added to each answer
	everyOther    time.Duration // added to every other answer
	extraStarts   int           // instances that nobody asked for
	reject        bool          // the last request is rejected
	otherStart    bool          // cold requests were served by another's start
}

// documentedWaves are the sizes of the patterns.
func documentedWaves(pattern string) []int {
	switch pattern {
	case "fc-ramp":
		return []int{1, 2, 4, 8, 16, 32}
	case Online25:
		return onlineWaves(25)
	case Online32:
		return onlineWaves(32)
	}
	return []int{2, 2, 2, 20, 2, 2, 2}
}

func onlineWaves(size int) []int {
	return slices.Concat(slices.Repeat([]int{11}, 11), slices.Repeat([]int{size}, 30))
}

// begin is when a wave begins.
func (m model) begin(wave int) clock.Instant {
	switch {
	case m.pattern == Online25 || m.pattern == Online32:
		return clock.Instant(min(wave, 1))*clock.Instant(5*time.Second) + clock.Instant(max(wave-1, 0))*clock.Instant(time.Second)
	case m.quick:
		return clock.Instant(wave) * clock.Instant(4*time.Second)
	}
	return clock.Instant(wave) * clock.Instant(10*time.Second)
}

// modelRun is the state of one run of the model.
type modelRun struct {
	model

	draws     platform.Draws
	profile   platform.Profile
	schedule  *workload.Schedule
	free      []clock.Instant // by instance: when it is free next
	used      []bool          // by instance
	instances []record.Instance
	records   []record.Record
}

func (m model) run(t testing.TB) *analysis.Run {
	t.Helper()
	if m.actAs == "" {
		m.actAs = m.role
	}
	law := m.law
	if m.coldLaw != "" {
		law = m.coldLaw
	}
	profile, err := platform.ProfileFor(m.law)
	other, err2 := platform.ProfileFor(law)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	name := profile.Cold.Name()
	profile.Cold = other.Cold
	profile.Handover += m.extraSlot
	r := &modelRun{model: m, profile: profile, draws: profile.Draws(m.seed)}
	r.arrive()
	for _, w := range r.byWave() {
		r.wave(w)
	}
	r.spoil()
	run := &analysis.Run{Pattern: m.pattern, Law: name, Driver: "virtual", Seed: m.seed, Schedule: r.schedule, Records: r.records, Instances: r.instances}
	run.Summary = analysis.Summarize(analysis.Input{Schedule: r.schedule, Records: r.records, Instances: r.instances})
	return run
}

func (r *modelRun) arrive() {
	sizes, shift := r.sizes, r.shift
	if sizes == nil {
		sizes = documentedWaves(r.pattern)
	}
	if r.law == "documented" && !r.noShift {
		shift += 42200 * time.Microsecond
	}
	r.schedule = &workload.Schedule{Length: time.Duration(r.begin(len(sizes)))}
	for w, n := range sizes {
		for k := range n {
			a := workload.Arrival{Seq: int64(len(r.schedule.Arrivals)), At: r.begin(w), Wave: int32(w)}
			if k >= 2 && r.pattern == "fc-burst" {
				a.At = a.At.Add(shift)
			}
			a.Demand = r.draws.Demand(a.Seq)
			r.schedule.Arrivals = append(r.schedule.Arrivals, a)
		}
	}
	r.records = make([]record.Record, len(r.schedule.Arrivals))
}

// byWave returns the arrivals of each wave in the order in which they reach the scheduler.
func (r *modelRun) byWave() [][]workload.Arrival {
	var out [][]workload.Arrival
	for _, a := range r.schedule.Arrivals {
		if int(a.Wave) == len(out) {
			out = append(out, nil)
		}
		out[a.Wave] = append(out[a.Wave], a)
	}
	for _, w := range out {
		slices.SortStableFunc(w, func(a, b workload.Arrival) int {
			return int(a.At.Add(a.Demand.Pre).Sub(b.At.Add(b.Demand.Pre)))
		})
	}
	return out
}

func (r *modelRun) wave(w []workload.Arrival) {
	for _, a := range w {
		at := a.At.Add(a.Demand.Pre)
		i, own := r.freeAt(at), false
		if i < 0 {
			full := r.quota > 0 && len(r.instances) >= r.quota
			if full && r.actAs == Before {
				r.records[a.Seq] = refusal(a, at)
				continue
			}
			if !full {
				i, own = r.startFor(a, at), true
			}
			if r.actAs == After {
				i = r.earliest()
			}
		}
		r.serve(a, at, i, own)
	}
}

func (r *modelRun) freeAt(at clock.Instant) int {
	return slices.IndexFunc(r.free, func(f clock.Instant) bool { return f <= at })
}

// earliest returns the instance that is free first: a waiter takes whichever comes first.
func (r *modelRun) earliest() int { return slices.Index(r.free, slices.Min(r.free)) }

func (r *modelRun) startFor(a workload.Arrival, at clock.Instant) int {
	up := r.draws.StartUp(int64(len(r.instances)+1), a.Demand)
	total := up.Total
	if r.coldTimes > 0 {
		total = time.Duration(float64(total) * r.coldTimes)
	}
	ready := at.Add(total)
	r.instances = append(r.instances, record.Instance{ID: int32(len(r.instances) + 1), Started: at, Ready: ready, Stopped: clock.Never})
	r.free, r.used = append(r.free, ready), append(r.used, false)
	return len(r.instances) - 1
}

func (r *modelRun) serve(a workload.Arrival, at clock.Instant, i int, own bool) {
	begin := max(at, r.free[i])
	s := record.Server{Queue: begin.Sub(at), Exec: a.Demand.Exec, Start: record.Warm, StartBy: record.ByNone, Source: record.FromPlatform}
	switch {
	case begin > at && r.used[i]:
		s.Start = record.Queued
	case begin > at:
		s.Start, s.StartBy = record.Cold, record.ByOther
		if own && i == len(r.instances)-1 {
			s.StartBy = record.ByOwn
		}
	}
	done := begin.Add(a.Demand.Exec + a.Demand.Post)
	r.free[i], r.used[i] = begin.Add(a.Demand.Exec+r.profile.Handover), true
	r.instances[i].Served++
	r.instances[i].Busy += a.Demand.Exec
	r.records[a.Seq] = record.Record{Seq: a.Seq, Wave: a.Wave, Intended: a.At, Sent: a.At, FirstByte: done, Done: done, Outcome: record.OK, Status: 200, Attempt: 1, Server: s}
}

func refusal(a workload.Arrival, at clock.Instant) record.Record {
	return record.Record{Seq: a.Seq, Wave: a.Wave, Intended: a.At, Sent: a.At, FirstByte: at, Done: at, Outcome: record.Rejected, Status: 503,
		Attempt: 1, Server: record.Server{Start: record.Edge, Source: record.FromPlatform}}
}

// spoil turns the knobs that change what was recorded.
func (r *modelRun) spoil() {
	for i := range r.records {
		rec := &r.records[i]
		rec.Done = rec.Done.Add(r.extraResponse)
		if i%2 == 1 {
			rec.Done = rec.Done.Add(r.everyOther)
		}
		if r.otherStart && rec.Server.StartBy == record.ByOwn {
			rec.Server.StartBy = record.ByOther
		}
	}
	for range r.extraStarts {
		at := r.schedule.Arrivals[len(r.schedule.Arrivals)/2].At // in the burst, where it counts for the quota too
		r.instances = append(r.instances, record.Instance{Started: at, Ready: at.Add(ms), Stopped: clock.Never})
	}
	if last := len(r.records) - 1; r.reject {
		a := r.schedule.Arrivals[last]
		r.records[last] = refusal(a, a.At)
	}
}

// evidence runs the four cells of the main job and, with own, those that only some claims need: with a limit of
// instances, and with one cold start for the online user. Each cell is changed by turn, which may be nil.
func evidence(t testing.TB, law string, seed uint64, quick, own bool, turn func(m *model)) Evidence {
	t.Helper()
	e := Evidence{Law: law, Quick: quick, Host: calmHost()}
	add := func(pattern, law string, role Role, limit int) {
		m := model{pattern: pattern, role: role, law: law, seed: seed, quota: limit, quick: quick}
		if turn != nil {
			turn(&m)
		}
		e.Cells = append(e.Cells, Cell{Pattern: pattern, Role: role, Quota: limit, Run: m.run(t)})
	}
	for _, role := range []Role{Before, After} {
		add("fc-ramp", law, role, 0)
		add("fc-burst", law, role, 0)
		if own {
			add("fc-burst", law, role, 10)
			add(Online25, fixedCold, role, 0)
			add(Online32, fixedCold, role, 0)
		}
	}
	return e
}

// fixedCold is the law of the online user (FR-12).
const fixedCold = "constant:2350ms"

func calmHost() analysis.Host {
	return analysis.Host{Overshoot: analysis.Of([]time.Duration{100 * time.Microsecond, ms / 2}), Loopback: analysis.Of([]time.Duration{ms})}
}
