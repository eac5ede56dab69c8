package gateway

import (
	"context"
	"errors"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
)

// start makes an instance in the background and posts Ready or Failed.
func (s *service) start(c *call, a scheduler.Action) {
	r := StartRequest{
		Function: s.fn.Spec, Revision: s.fn.Revision, Instance: a.Inst, Decided: a.At,
		Node: nodeName(a.Status), Cached: a.Status != 0 && s.core.Cached(a.Inst),
	}
	if c != nil {
		r.Cause, r.Demand = c.name, c.demand
	}
	ctx, cancel := context.WithTimeout(s.base, s.limits.StartTime)
	reason := ""
	if s.fn.Why != nil {
		reason = s.fn.Why(a.Code)
	}
	in := s.lives.begin(a, r, reason, cancel)
	s.work.Go(func() {
		defer close(in.started)
		defer cancel()
		addr, err := s.fn.Provisioner.Start(ctx, r)
		switch {
		case err != nil && s.lives.stopping(a.Inst):
			return // it was given up; its end is told by Stopped
		case err != nil:
			s.log.Debug("start failed", "instance", a.Inst, "error", err)
			s.failed(a.Inst, scheduler.ByItself)
			return
		}
		s.loop.Post(Message{Event: scheduler.Event{Kind: scheduler.Ready, Inst: a.Inst},
			Admit: func(at clock.Instant, _ *scheduler.Event) bool { return s.lives.ready(a.Inst, addr, at) }})
	})
}

// failed posts that an instance has ended by itself, or never was. News of an instance that is gone is dropped.
func (s *service) failed(id scheduler.InstanceID, cause uint8) {
	failure := ""
	if cause == scheduler.OutOfMemory {
		failure = record.OutOfMemory
	}
	s.loop.Post(Message{Event: scheduler.Event{Kind: scheduler.Failed, Code: cause, Inst: id},
		Admit: func(at clock.Instant, _ *scheduler.Event) bool {
			known := s.lives.get(id) != nil
			s.lives.end(id, at, true, failure)
			return known
		}})
}

// stop ends an instance in the background and posts Stopped. A start that is under way is given up first.
func (s *service) stop(a scheduler.Action) {
	in := s.lives.get(a.Inst)
	if in == nil {
		return
	}
	s.lives.change(a.Inst, func(in *life) { in.state = scheduler.Stopping })
	in.cancel()
	s.work.Go(func() {
		<-in.started
		ctx, cancel := context.WithTimeout(s.base, 2*s.limits.StopTime)
		defer cancel()
		if err := s.fn.Provisioner.Stop(ctx, a.Inst, s.limits.StopTime); err != nil {
			s.log.Warn("stop failed", "instance", a.Inst, "error", err)
		}
		s.loop.Post(Message{Event: scheduler.Event{Kind: scheduler.Stopped, Inst: a.Inst},
			Admit: func(at clock.Instant, _ *scheduler.Event) bool {
				known := s.lives.get(a.Inst) != nil
				s.lives.end(a.Inst, at, false, "")
				return known
			}})
	})
}

// watch posts the instances that ended by themselves, until ctx is done.
func (s *service) watch(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case loss := <-s.fn.Provisioner.Lost():
			s.log.Warn("instance lost", "instance", loss.Instance, "error", loss.Err)
			cause := scheduler.ByItself
			if errors.Is(loss.Err, platform.ErrMemory) {
				cause = scheduler.OutOfMemory
			}
			s.failed(loss.Instance, cause)
		}
	}
}

// clear ends what is left when the loop has ended: starts are given up, instances are stopped side by side, each with
// drain for what it still does. It returns when all are gone, or the provisioner has had twice the stop time for each.
func (s *service) clear(drain time.Duration) {
	for _, id := range s.lives.left() {
		in := s.lives.get(id)
		in.cancel()
		s.work.Go(func() {
			<-in.started
			ctx, cancel := context.WithTimeout(context.Background(), 2*s.limits.StopTime)
			defer cancel()
			if err := s.fn.Provisioner.Stop(ctx, id, drain); err != nil {
				s.log.Warn("stop failed", "instance", id, "error", err)
			}
			s.lives.end(id, s.clock.Now(), false, "")
		})
	}
	s.work.Wait()
	s.stopAll()
}
