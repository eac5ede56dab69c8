package policytest

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// absorb makes happen what the core decided, and checks each decision against the books.
func (w *world) absorb(acts []scheduler.Action) {
	for _, a := range acts {
		w.keep(a)
		switch a.Do {
		case scheduler.Assign:
			w.assigned(a)
		case scheduler.Queue:
			w.open(a).waits = true
			w.waiting++
		case scheduler.Start:
			w.started(a)
		case scheduler.Stop:
			w.stopped(a)
		case scheduler.Reject, scheduler.Lost, scheduler.End:
			w.endOf(a)
		case scheduler.Mark:
		}
	}
}

// keep logs a decision with ids and instants that count from the start of the play.
func (w *world) keep(a scheduler.Action) {
	if a.Req != 0 {
		a.Req -= scheduler.RequestID(w.requestN)
	}
	if a.Inst != 0 {
		a.Inst -= scheduler.InstanceID(w.instN)
	}
	a.At -= w.start
	w.log = append(w.log, a)
}

// open returns the request of a decision, which must not have ended.
func (w *world) open(a scheduler.Action) *request {
	r := &w.requests[a.Req]
	if r.ended {
		w.broken(EndsOnce, "%v, but it has ended", a)
	}
	return r
}

func (w *world) unqueue(r *request) {
	if r.waits {
		r.waits = false
		w.waiting--
	}
}

func (w *world) assigned(a scheduler.Action) {
	r, in := w.open(a), &w.instances[a.Inst]
	if !in.ready || in.stopping || in.gone || r.inst != 0 {
		w.broken(ToReady, "%v", a)
	}
	if in.inFlight++; in.inFlight > int(w.o.Limit) {
		w.broken(WithinLimit, "%v makes %d in flight", a, in.inFlight)
	}
	w.unqueue(r)
	r.inst = a.Inst
	d := w.s.within(serviceTime, int64(a.Req)-int64(w.requestN), 400*w.s.slow*time.Millisecond)
	w.plan(a.At.Add(d), scheduler.Event{Kind: scheduler.Done, Req: a.Req})
}

func (w *world) started(a scheduler.Action) {
	w.instances = append(w.instances, instance{})
	id := int64(a.Inst) - int64(w.instN)
	at := a.At.Add(w.s.within(startTime, id, 3*w.s.slow*time.Second))
	if w.s.happens(startTime, id, w.s.fail) {
		w.plan(at, scheduler.Event{Kind: scheduler.Failed, Inst: a.Inst})
		return
	}
	w.plan(at, scheduler.Event{Kind: scheduler.Ready, Inst: a.Inst})
	if w.s.happens(crashTime, id, w.s.crash) {
		at = at.Add(w.s.within(crashTime, id, 3*time.Second))
		w.plan(at, scheduler.Event{Kind: scheduler.Failed, Inst: a.Inst})
	}
}

func (w *world) stopped(a scheduler.Action) {
	in := &w.instances[a.Inst]
	if in.inFlight > 0 || in.stopping || in.gone {
		w.broken(Legal, "%v with %d in flight", a, in.inFlight)
	}
	in.stopping = true
	d := w.s.within(stopTime, int64(a.Inst)-int64(w.instN), 500*time.Millisecond)
	w.plan(a.At.Add(d), scheduler.Event{Kind: scheduler.Stopped, Inst: a.Inst})
}

func (w *world) endOf(a scheduler.Action) {
	r := w.open(a)
	r.ended = true
	w.unqueue(r)
	if a.Do == scheduler.Lost && !w.instances[r.inst].gone {
		w.broken(KillsNone, "%v, but its instance lives", a)
	}
}

// judge checks the state after a step.
func (w *world) judge() {
	w.core.Check()
	if w.core.Waiting() != w.waiting {
		w.broken(EndsOnce, "%d requests wait, the core says %d", w.waiting, w.core.Waiting())
	}
	alive := 0
	for w.past < len(w.instances)-1 && (w.past == 0 || w.instances[w.past].gone) {
		w.past++
	}
	for k := w.past; k < len(w.instances); k++ {
		i := scheduler.InstanceID(k)
		in := &w.instances[k]
		if s := w.core.State(i); s == scheduler.Starting || w.core.Up(i) {
			alive++
		}
		if w.waiting > 0 && !w.o.Bound && in.ready && w.core.Up(i) && in.inFlight < int(w.o.Limit) {
			w.broken(NoIdleWait, "%d wait while instance %d has a free slot", w.waiting, i)
		}
	}
	if alive > w.cfg.Max {
		w.broken(WithinMax, "%d alive, max %d", alive, w.cfg.Max)
	}
	w.fed(alive)
}

// fed checks that something lives, or soon does, while requests wait.
func (w *world) fed(alive int) {
	switch {
	case w.waiting == 0 || alive > 0 || w.cfg.Max == 0:
		w.hungry = clock.Never
	case w.hungry == clock.Never:
		w.hungry = w.now
	case w.now.Sub(w.hungry) > w.o.Hang:
		w.broken(NoHang, "%d wait since %v", w.waiting, w.hungry)
	}
}

// over checks what must hold when everything is over.
func (w *world) over() {
	for k := 1; k < len(w.requests); k++ {
		if !w.requests[k].ended {
			w.broken(Drains, "request %d never ended", k)
		}
	}
	if w.core.Running() != 0 || w.core.Waiting() != 0 {
		w.broken(Drains, "%d run and %d wait", w.core.Running(), w.core.Waiting())
	}
	if got := w.core.Alive(); got > w.cfg.Min {
		w.broken(ToZero, "%d are alive, min %d", got, w.cfg.Min)
	}
}
