package policies

import (
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/platform"
	"coldwave/scheduler"
	"coldwave/sim"
	"coldwave/workload"
)

// sleepless keeps the ticks of a policy going while they would rest.
type sleepless struct {
	scheduler.Policy
	ticks int
}

func (p *sleepless) Handle(c *scheduler.Control, ev scheduler.Event) {
	p.Policy.Handle(c, ev)
	if ev.Kind == scheduler.Tick {
		p.ticks++
	}
	switch inner := p.Policy.(type) {
	case *Knative:
		if !inner.awake {
			inner.awake = true
			c.Alarm(tickReport, nextMultiple(c.Now(), clock.Instant(kpaBucket)))
			c.Alarm(tickDecide, nextMultiple(c.Now(), clock.Instant(kpaTick)))
		}
	case *HPA:
		if !inner.awake {
			inner.awake = true
			c.Alarm(tickHPA, nextMultiple(c.Now(), clock.Instant(hpaPeriod)))
		}
	}
}

// counter counts the ticks of a policy.
type counter struct {
	scheduler.Policy
	ticks int
}

func (p *counter) Handle(c *scheduler.Control, ev scheduler.Event) {
	p.Policy.Handle(c, ev)
	if ev.Kind == scheduler.Tick {
		p.ticks++
	}
}

type steady struct{}

func (steady) StartUp(int64, workload.Demand) platform.StartUp {
	return platform.StartUp{Total: 1700 * time.Millisecond}
}

func (steady) RequestFails(int64) bool { return false }

// TestRestChangesNothing compares an autoscaler that rests with one whose ticks never stop: bursts with gaps of up to some
// minutes, during which one is at its minimum and the other looks each second. Their decisions are the same.
func TestRestChangesNothing(t *testing.T) {
	for _, spec := range []string{
		"knative", "knative:burst_capacity=0", "knative:weighted=true,rps=true", "knative:scale_down_delay=40s",
		"knative:scale_to_zero=false", "hpa", "hpa:up_window=60s", "hpa:behavior=false,down_window=30s",
	} {
		for _, least := range []int{0, 1, 3} {
			rests, never := &counter{Policy: made(t, spec)}, &sleepless{Policy: made(t, spec)}
			one, two := decided(t, rests, least), decided(t, never, least)
			if k := firstDiffers(one, two); k >= 0 {
				t.Errorf("%s, min %d: decision %d of %d and %d differs", spec, least, k, len(one), len(two))
			}
			if len(one) < 500 || rests.ticks >= never.ticks {
				t.Errorf("%s, min %d: %d decisions, %d ticks with rests and %d without, want many, and fewer", spec, least, len(one), rests.ticks, never.ticks)
			}
		}
	}
}

func made(t *testing.T, spec string) scheduler.Policy {
	t.Helper()
	p, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func firstDiffers(one, two []scheduler.Action) int {
	for k := range min(len(one), len(two)) {
		if one[k] != two[k] {
			return k
		}
	}
	if len(one) != len(two) {
		return min(len(one), len(two))
	}
	return -1
}

// decided plays bursts and returns the decisions.
func decided(t *testing.T, p scheduler.Policy, least int) []scheduler.Action {
	t.Helper()
	s := &workload.Schedule{Function: workload.Function{Name: "f", Concurrency: 2}}
	d := rng.NewKey(7, "rests").Draw(0)
	now := clock.Instant(0)
	for range 60 {
		now += clock.Instant(d.Int64N(int64(400 * time.Second)))
		for range 1 + d.Int64N(8) {
			now += clock.Instant(d.Int64N(int64(400 * time.Millisecond)))
			s.Arrivals = append(s.Arrivals, workload.Arrival{
				Seq: int64(len(s.Arrivals)), At: now, Wave: -1, Demand: workload.Demand{Exec: time.Duration(1 + d.Int64N(int64(5*time.Second)))},
			})
		}
	}
	s.Length = time.Duration(now) + time.Hour
	var log []scheduler.Action
	_, err := sim.Run(sim.Config{
		Schedule: s, Policy: p, Platform: steady{}, Limits: scheduler.Config{Min: least, Max: 40, Limit: 2},
		Watch: func(step *sim.Step) { log = append(log, step.Actions...) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return log
}
