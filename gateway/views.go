package gateway

import (
	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/scheduler"
)

// The JSON of the admin port. Instants are nanoseconds on the run's clock, null where there is none; durations are
// nanoseconds.

type statsView struct {
	Now         clock.Instant  `json:"now_ns"`
	Uptime      int64          `json:"uptime_ns"`
	Draining    bool           `json:"draining"`
	Broken      *string        `json:"broken"` // the error that stopped a loop
	Inside      int            `json:"requests_inside"`
	Connections int64          `json:"connections"`
	Refused     int64          `json:"connections_refused"`
	HeldBytes   int64          `json:"held_bytes"`
	Resent      int64          `json:"resent"`
	Panics      int64          `json:"panics"`
	Functions   []functionView `json:"functions"`
}

type functionView struct {
	Name      string `json:"name"`
	Alive     int    `json:"alive"`
	Starting  int    `json:"starting"`
	Idle      int    `json:"idle"`
	Busy      int    `json:"busy"`
	Draining  int    `json:"draining"`
	Nodes     int    `json:"nodes"` // in use
	Queued    int    `json:"queued"`
	Running   int    `json:"running"`
	QueueFull int64  `json:"queue_full"` // requests turned away for that
	Arrived   int64  `json:"arrived"`
	Started   int64  `json:"started"` // instances
	Events    int64  `json:"events"`
	Stale     int64  `json:"stale_events"` // lost a legal race
	Decisions int64  `json:"decisions"`
}

func (g *Gateway) statsView() statsView {
	now := g.cfg.Clock.Now()
	v := statsView{
		Now: now, Uptime: int64(now.Sub(g.born)), Draining: g.draining.Load(), Inside: g.gate.count(),
		Connections: g.open.Load(), Refused: g.stats.refused.Load(), HeldBytes: g.heldBytes.used.Load(),
		Resent: g.stats.resent.Load(), Panics: g.stats.panics.Load(), Functions: []functionView{},
	}
	if err := g.Err(); err != nil {
		text := err.Error()
		v.Broken = &text
	}
	for _, s := range g.services {
		v.Functions = append(v.Functions, s.view())
	}
	return v
}

func (s *service) view() functionView {
	l := s.load.Load()
	_, made := s.made.last(0)
	return functionView{
		Name: s.fn.Spec.Name, Alive: alive(l), Starting: l.Starting, Idle: l.Idle, Busy: l.Busy, Draining: l.Draining, Nodes: l.Nodes,
		Queued: l.Waiting, Running: l.Running, QueueFull: s.full.Load(), Arrived: l.Arrived, Started: l.Started,
		Events: l.Events, Stale: l.Stale, Decisions: made,
	}
}

type instanceView struct {
	Function string         `json:"function"`
	ID       int32          `json:"id"`
	State    string         `json:"state"`
	Address  *string        `json:"address"`
	Cause    *string        `json:"cause"`  // request id of the arrival that caused the start
	First    *string        `json:"first"`  // request id of the first request that was sent to it
	Node     *int32         `json:"node"`   // null: it is placed nowhere in particular
	Cached   bool           `json:"cached"` // its start skipped the download
	Started  clock.Instant  `json:"started_ns"`
	Ready    *clock.Instant `json:"ready_ns"`
	Stopped  *clock.Instant `json:"stopped_ns"`
	Failed   bool           `json:"failed"`
	Served   int            `json:"served"`
	InFlight int            `json:"in_flight"`
	Busy     int64          `json:"busy_ns"`
}

func (g *Gateway) instancesView() []instanceView {
	out := []instanceView{}
	for _, s := range g.services {
		for _, in := range s.lives.all(g.cfg.Clock.Now()) {
			out = append(out, instanceView{
				Function: s.fn.Spec.Name, ID: in.ID, State: in.state.String(), Address: known(in.addr), Cause: known(in.Cause), First: known(in.First),
				Node: placed(in.Node), Cached: in.Cached,
				Started: in.Started, Ready: instant(in.Ready), Stopped: instant(in.Stopped), Failed: in.Failed,
				Served: in.Served, InFlight: in.inFlight, Busy: int64(in.Busy),
			})
		}
	}
	return out
}

// known is nil for what is not told.
func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// instant is nil for what never came.
func instant(at clock.Instant) *clock.Instant {
	if at == clock.Never {
		return nil
	}
	return &at
}

type decisionsView struct {
	Function  string         `json:"function"`
	Total     int64          `json:"total"` // made so far, those no longer kept included
	Decisions []decisionView `json:"decisions"`
}

type decisionView struct {
	At       clock.Instant `json:"at_ns"`
	Action   string        `json:"action"`
	Request  int64         `json:"request"` // serial of the core; 0: none
	Name     *string       `json:"request_id"`
	Instance int32         `json:"instance"` // 0: none
	Status   int16         `json:"status"`   // 0: none
	Start    *string       `json:"start"`    // start kind of an assign
	Why      *string       `json:"why"`      // the policy's reason for a start
	Node     *int32        `json:"node"`     // of a start, a take or a reclaim
}

func (g *Gateway) decisionsView(n int) []decisionsView {
	out := []decisionsView{}
	for _, s := range g.services {
		last, total := s.made.last(n)
		v := decisionsView{Function: s.fn.Spec.Name, Total: total, Decisions: make([]decisionView, 0, len(last))}
		for _, d := range last {
			v.Decisions = append(v.Decisions, s.decisionView(d))
		}
		out = append(out, v)
	}
	return out
}

func (s *service) decisionView(d decision) decisionView {
	v := decisionView{At: d.At, Action: d.Do.String(), Request: int64(d.Req), Name: known(d.Name), Instance: int32(d.Inst), Status: d.Status, Node: nodeOf(d.Action)}
	switch d.Do {
	case scheduler.Assign:
		v.Start = known(record.StartKind(d.Code).String())
	case scheduler.Take, scheduler.Reclaim:
		v.Status = 0
	case scheduler.Start:
		v.Status = 0
		if s.fn.Why != nil {
			v.Why = known(s.fn.Why(d.Code))
		}
	default:
	}
	return v
}

type scaleView struct {
	Function    string `json:"function"`
	Policy      string `json:"policy"`
	Min         int    `json:"min"`
	Max         *int   `json:"max"` // null: unlimited
	Concurrency int    `json:"concurrency"`
	QueueLimit  int    `json:"queue_limit"`
	Alive       int    `json:"alive"`
	Starting    int    `json:"starting"`
	Queued      int    `json:"queued"`
	Running     int    `json:"running"`
}

func (g *Gateway) scaleView() []scaleView {
	out := []scaleView{}
	for _, s := range g.services {
		l, cfg := s.load.Load(), s.fn.Core
		v := scaleView{Function: s.fn.Spec.Name, Policy: s.fn.PolicyName, Min: cfg.Min, Concurrency: max(1, int(cfg.Limit)),
			QueueLimit: s.queue, Alive: alive(l), Starting: l.Starting, Queued: l.Waiting, Running: l.Running}
		if cfg.Max != scheduler.Unlimited {
			v.Max = &cfg.Max
		}
		out = append(out, v)
	}
	return out
}
