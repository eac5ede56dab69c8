package reports

import (
	"cmp"
	"slices"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
)

// A span is a stretch of a run's time.
type span struct{ from, to clock.Instant }

// A job is one execution on an instance, with the wait before it.
type job struct {
	span
	arrived clock.Instant // when the scheduler saw the request
	record  *record.Record
}

// A life is one instance with what ran on it.
type life struct {
	record.Instance
	jobs []job // in the order in which they began
}

// ready returns when the instance could serve, or when it ended if it never could.
func (l *life) ready(end clock.Instant) clock.Instant { return min(l.Ready, l.gone(end)) }

// gone returns when the instance had ended, at most end.
func (l *life) gone(end clock.Instant) clock.Instant { return min(l.Stopped, end) }

// livesOf puts the executions on their instances. A request whose instance is not in the run's table is left out.
func livesOf(r *analysis.Run) []life {
	lives := make([]life, len(r.Instances))
	byID := make(map[int32]*life, len(lives))
	for i, inst := range r.Instances {
		lives[i].Instance = inst
		byID[inst.ID] = &lives[i]
	}
	for i := range r.Records {
		rec := &r.Records[i]
		if l := byID[analysis.InstanceID(rec.Server.Instance)]; l != nil && ended(rec) {
			l.jobs = append(l.jobs, jobOf(r, rec))
		}
	}
	for i := range lives {
		slices.SortStableFunc(lives[i].jobs, func(a, b job) int { return cmp.Compare(a.from, b.from) })
	}
	slices.SortStableFunc(lives, func(a, b life) int { return cmp.Compare(a.Started, b.Started) })
	return lives
}

// jobOf places an execution in time.
func jobOf(r *analysis.Run, rec *record.Record) job {
	e := analysis.ExecutionOf(r.Schedule, rec)
	return job{span: span{e.From, e.To}, arrived: e.Arrived, record: rec}
}

// busy returns when the instance had at least one request, while it was ready. Neighbouring executions overlap by what
// the clocks of client and server differ; they are one stretch.
func (l *life) busy(end clock.Instant) []span {
	from, to := l.ready(end), l.gone(end)
	var merged []span
	for _, j := range l.jobs {
		s := span{max(j.from, from), min(j.to, to)}
		if k := len(merged) - 1; k >= 0 && s.from <= merged[k].to {
			merged[k].to = max(merged[k].to, s.to)
		} else if s.from < s.to {
			merged = append(merged, s)
		}
	}
	return merged
}

// A level is a number of instances or requests from an instant on.
type level struct {
	at clock.Instant
	n  int
}

// levels are the step lines of one run.
type levels struct {
	starting, busy, idle, waiting []level
}

// levelsOf counts instances by state, and waiting requests, up to end.
func levelsOf(lives []life, end clock.Instant) levels {
	var starting, ready, busy, waiting []level
	for i := range lives {
		l := &lives[i]
		starting = between(starting, span{l.Started, l.ready(end)})
		if l.Ready < l.gone(end) {
			ready = between(ready, span{l.Ready, l.gone(end)})
		}
		for _, s := range l.busy(end) {
			busy = between(busy, s)
		}
		for _, j := range l.jobs {
			waiting = between(waiting, span{j.arrived, j.from})
		}
	}
	return levels{starting: running(starting), busy: running(busy), waiting: running(waiting),
		idle: running(append(ready, negative(busy)...))}
}

// between adds one from the beginning of s to its end.
func between(changes []level, s span) []level {
	if s.from >= s.to {
		return changes
	}
	return append(changes, level{s.from, 1}, level{s.to, -1})
}

func negative(changes []level) []level {
	out := make([]level, len(changes))
	for i, c := range changes {
		out[i] = level{c.at, -c.n}
	}
	return out
}

// running adds changes up, with one level for each instant.
func running(changes []level) []level {
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b level) int { return cmp.Compare(a.at, b.at) })
	var sums []level
	n := 0
	for _, c := range changes {
		n += c.n
		if k := len(sums) - 1; k >= 0 && sums[k].at == c.at {
			sums[k].n = n
		} else {
			sums = append(sums, level{c.at, n})
		}
	}
	return sums
}

// peak returns the highest level.
func peak(sums []level) int {
	most := 0
	for _, s := range sums {
		most = max(most, s.n)
	}
	return most
}
