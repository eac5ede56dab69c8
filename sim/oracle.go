package sim

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

// OracleConfig is one computation of the oracle. All but Handover and Run is required.
type OracleConfig struct {
	Schedule *workload.Schedule
	Platform Platform
	Handover time.Duration // from the end of a body until its slot is free; ≥ 0
	Run      string        // prefix of the request ids in Instance.Cause and First; default "sim"
}

// Oracle is the clairvoyant bound for instances that serve one request at a time: it serves every request the instant it
// reaches the scheduler, with the fewest instance-seconds, counted from the decision to start an instance until its end.
// Over each idle gap it keeps the instance, or stops it and starts another one ahead, whichever is less; of two ways
// that cost the same it keeps. Its distance to a policy is what the policy pays for not knowing the future.
//
// It is no policy, since it acts on what has not happened yet, so there is no wire run of it. No quota binds it and no
// start fails. The start-up of an instance that is started for arrival seq is the platform's draw for instance seq + 1.
// Instances may start before the run's epoch. They are named in order of their starts, and each has the arrival that it
// was started for as Cause. A policy that lets requests wait may use less.
//
// The time is n·log n for n requests. An error wraps ErrConfig.
func Oracle(cfg OracleConfig) (Result, error) {
	if err := cfg.check(); err != nil {
		return Result{}, err
	}
	cfg.Run = cmp.Or(cfg.Run, "sim")
	o := newOracle(cfg)
	o.choose()
	o.name()
	return o.result(), nil
}

func (cfg *OracleConfig) check() error {
	var errs []error
	if cfg.Schedule == nil || cfg.Platform == nil {
		errs = append(errs, fmt.Errorf("%w: schedule and platform are required", ErrConfig))
	} else if n := cfg.Schedule.Function.Concurrency; n > 1 {
		errs = append(errs, fmt.Errorf("%w: concurrency %d: the oracle knows instances for one request at a time", ErrConfig, n))
	}
	if cfg.Handover < 0 {
		errs = append(errs, fmt.Errorf("%w: handover %v: must be ≥ 0", ErrConfig, cfg.Handover))
	}
	return errors.Join(errs...)
}

// oracle serves each request by a chain: an instance is started for its first request and serves the rest of it.
//
// To serve request k right after request p costs the gap between them, to start for it costs its start-up. So the best
// set of pairs (p, k) has the largest sum of start-up(k) − from(k) + till(p). That is a sum over single requests, and
// whoever comes later may follow all that an earlier one may: a greedy choice in order of time that can be taken back
// gives the best.
type oracle struct {
	cfg    OracleConfig
	served []served // in order of from
	chains int
	free   sources
}

// served is one request.
type served struct {
	arrival  *workload.Arrival
	from     clock.Instant // when it reaches the scheduler, and its body begins
	till     clock.Instant // when its slot is free
	start    time.Duration // what a start for it takes
	before   int           // index of the request before it on its instance; none: it is the first
	instance int           // index of the first request of its chain, later the id of the instance
}

const none = -1

func newOracle(cfg OracleConfig) *oracle {
	o := &oracle{cfg: cfg, served: make([]served, len(cfg.Schedule.Arrivals))}
	for k := range o.served {
		a := &cfg.Schedule.Arrivals[k]
		from := a.At.Add(a.Demand.Pre)
		o.served[k] = served{
			arrival: a, from: from, till: from.Add(max(1, a.Demand.Exec+cfg.Handover)),
			start: max(1, cfg.Platform.StartUp(a.Seq+1, a.Demand).Total), before: none,
		}
	}
	slices.SortStableFunc(o.served, func(a, b served) int { return cmp.Compare(a.from, b.from) })
	return o
}

// source is where an instance can come from: one that is free, or one that was given to another request before.
type source struct {
	worth clock.Instant // what it saves, up to what the request itself adds
	of    int           // request
	given bool          // the instance was given to it, and it would be started for instead; otherwise it is free after it
}

// choose decides for each request which one it follows.
func (o *oracle) choose() {
	ends := make([]int, len(o.served)) // in order of till
	for k := range ends {
		ends[k] = k
	}
	slices.SortStableFunc(ends, func(a, b int) int { return cmp.Compare(o.served[a].till, o.served[b].till) })
	for k := range o.served {
		r := &o.served[k]
		for len(ends) > 0 && o.served[ends[0]].till <= r.from {
			heap.Push(&o.free, source{worth: o.served[ends[0]].till, of: ends[0]})
			ends = ends[1:]
		}
		own := clock.Instant(r.start) - r.from
		if len(o.free) == 0 || own+o.free[0].worth < 0 {
			continue
		}
		s := heap.Pop(&o.free).(source)
		if r.before = s.of; s.given {
			r.before, o.served[s.of].before = o.served[s.of].before, none
		}
		heap.Push(&o.free, source{worth: -own, of: k, given: true})
	}
}

// name numbers the instances in order of their starts.
func (o *oracle) name() {
	var firsts []int
	for k := range o.served {
		if o.served[k].before == none {
			firsts = append(firsts, k)
		}
	}
	slices.SortStableFunc(firsts, func(a, b int) int { return cmp.Compare(o.served[a].began(), o.served[b].began()) })
	for id, k := range firsts {
		o.served[k].instance = id + 1
	}
	for k := range o.served { // what comes before a request was named before it
		if r := &o.served[k]; r.before != none {
			r.instance = o.served[r.before].instance
		}
	}
	o.chains = len(firsts)
}

// began is when an instance is started to be ready for the request.
func (r *served) began() clock.Instant { return r.from.Add(-r.start) }

func (o *oracle) result() Result {
	res := Result{
		Records: make([]record.Record, len(o.served)), Instances: make([]record.Instance, o.chains),
		Requests: int64(len(o.served)), Length: o.cfg.Schedule.Length,
	}
	for k := range o.served {
		r := &o.served[k]
		in := &res.Instances[r.instance-1]
		if r.before == none {
			name := o.cfg.Run + "-" + strconv.FormatInt(r.arrival.Seq, 10)
			*in = record.Instance{ID: int32(r.instance), Cause: name, First: name, Started: r.began(), Ready: r.from}
		}
		in.Served++
		in.Busy += r.till.Sub(r.from)
		in.Stopped = r.till
		res.Records[r.arrival.Seq] = o.record(r)
		res.End = max(res.End, r.till)
	}
	return res
}

func (o *oracle) record(r *served) record.Record {
	a := r.arrival
	done := r.from.Add(a.Demand.Exec + a.Demand.Post)
	rec := record.Record{
		Seq: a.Seq, Wave: a.Wave, Intended: a.At, Sent: a.At, FirstByte: done, Done: done, Outcome: record.OK, Status: statusOK,
		Attempt: 1, Server: record.Server{
			Exec: a.Demand.Exec, Instance: strconv.Itoa(r.instance), Start: record.Warm, StartBy: record.ByNone, Source: record.FromPlatform,
		},
	}
	if o.cfg.Platform.RequestFails(a.Seq) {
		rec.Outcome, rec.Status = record.HTTPError, statusBodyFailed
	}
	return rec
}

// sources is a heap, the one that is worth most first; among equals the free ones, and then the latest.
type sources []source

func (h sources) Len() int { return len(h) }

func (h sources) Less(i, j int) bool {
	a, b := h[i], h[j]
	switch {
	case a.worth != b.worth:
		return a.worth > b.worth
	case a.given != b.given:
		return b.given
	}
	return a.of > b.of
}

func (h sources) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push is of container/heap.
func (h *sources) Push(x any) { *h = append(*h, x.(source)) }

// Pop is of container/heap.
func (h *sources) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
