package policies_test

import (
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/scheduler"
)

// invoker is one core on nodes under a policy, told what a test wants.
type invoker struct {
	t    *testing.T
	core *scheduler.Core
	last scheduler.RequestID
}

func newInvoker(t *testing.T, spec string, cfg scheduler.Config, on scheduler.Nodes) *invoker {
	t.Helper()
	v := &invoker{t: t, core: scheduler.NewOn(fresh(t, spec), cfg, on, 1)}
	v.core.Configure(nil, 0, cfg)
	return v
}

// at tells the core of an event and returns what was decided.
func (v *invoker) at(at time.Duration, ev scheduler.Event) []string {
	v.t.Helper()
	if ev.Kind == scheduler.Arrival {
		v.last++
		ev.Req = v.last
	}
	acts := v.core.Step(nil, clock.Instant(at), ev)
	v.core.Check()
	var out []string
	for _, a := range acts {
		out = append(out, a.At.String()+" "+a.String())
	}
	return out
}

func (v *invoker) want(what string, got []string, want ...string) {
	v.t.Helper()
	if !slices.Equal(got, want) {
		v.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func ready(i scheduler.InstanceID) scheduler.Event {
	return scheduler.Event{Kind: scheduler.Ready, Inst: i}
}

func done(r scheduler.RequestID, how record.Outcome) scheduler.Event {
	return scheduler.Event{Kind: scheduler.Done, Req: r, Code: uint8(how)}
}

var arrival = scheduler.Event{Kind: scheduler.Arrival}

// TestOpenWhiskExamples are the worked examples of the container pool.
func TestOpenWhiskExamples(t *testing.T) {
	t.Run("OW-h: paused 10 s after the last use, removed 610 s after it", func(t *testing.T) {
		v := newInvoker(t, "openwhisk", scheduler.Config{Max: scheduler.Unlimited}, scheduler.Nodes{Count: 1, Slots: 4, Keep: time.Hour})
		v.at(0, arrival)
		v.at(time.Second, ready(1))
		v.at(2*time.Second, done(1, record.OK))
		var got []string
		for at := v.core.Next(); at < clock.Instant(time.Hour); at = v.core.Next() {
			for _, a := range v.core.Advance(nil, at) {
				got = append(got, a.At.String()+" "+a.String())
			}
		}
		v.want("from 2 s on", got, "12s mark i1 64", "10m12s stop i1")
	})
	t.Run("OW-i: of five actions on an invoker for four the fifth waits, and the first idle container is evicted for it", func(t *testing.T) {
		v := newInvoker(t, "openwhisk:actions=5", scheduler.Config{Max: scheduler.Unlimited}, scheduler.Nodes{Count: 1, Slots: 4, Keep: time.Hour})
		for range 4 {
			v.at(0, arrival)
		}
		v.want("the fifth", v.at(0, arrival), "0s queue r5")
		for i := scheduler.InstanceID(1); i <= 4; i++ {
			v.at(time.Second, ready(i))
		}
		v.want("the first idle one", v.at(2*time.Second, done(3, record.OK)), "2s end r3 200", "2s stop i3")
		v.want("the second", v.at(3*time.Second, done(1, record.OK)), "3s end r1 200")
		v.want("when it has gone", v.at(4*time.Second, scheduler.Event{Kind: scheduler.Stopped, Inst: 3}), "4s start i5 for r5 on n1")
	})
}

// TestOpenWhiskFailedRun is OW-7: a run that ends with an error ends its container; what else runs on it finishes first.
func TestOpenWhiskFailedRun(t *testing.T) {
	for _, tt := range []struct {
		spec string
		want []string
	}{
		{"openwhisk", []string{"3s end r2 200", "3s stop i1"}},
		{"openwhisk:failed_run=false", []string{"3s end r2 200"}},
		{"openwhisk:fpc=true", []string{"3s end r2 200", "3s stop i1"}},
	} {
		v := newInvoker(t, tt.spec, scheduler.Config{Max: scheduler.Unlimited, Limit: 2}, scheduler.Nodes{Count: 1, Slots: 4})
		v.at(0, arrival)
		v.at(0, arrival)
		v.at(time.Second, ready(1))
		v.want(tt.spec+", the failed one", v.at(2*time.Second, done(1, record.HTTPError)), "2s end r1 200")
		v.want(tt.spec+", the other one", v.at(3*time.Second, done(2, record.OK)), tt.want...)
	}
}
