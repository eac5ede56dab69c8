package policytest

import (
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// treadmill keeps a core under a steady load with memory of its own that does not grow.
type treadmill struct {
	core    *scheduler.Core
	now     clock.Instant
	acts    []scheduler.Action
	running []scheduler.RequestID // in order of dispatch
	started []scheduler.InstanceID
	arrived scheduler.RequestID
	hold    int // requests that are kept running
}

// turn is one arrival, the end of the start-ups, and the end of what has run longest.
func (m *treadmill) turn() {
	m.arrived++
	m.step(scheduler.Event{Kind: scheduler.Arrival, Req: m.arrived})
	for len(m.started) > 0 {
		i := m.started[0]
		m.started = append(m.started[:0], m.started[1:]...)
		m.step(scheduler.Event{Kind: scheduler.Ready, Inst: i})
	}
	for len(m.running) > m.hold {
		r := m.running[0]
		m.running = append(m.running[:0], m.running[1:]...)
		m.step(scheduler.Event{Kind: scheduler.Done, Req: r})
	}
}

func (m *treadmill) step(ev scheduler.Event) {
	m.now = m.now.Add(time.Millisecond)
	m.acts = m.core.Step(m.acts[:0], m.now, ev)
	for _, a := range m.acts {
		switch a.Do {
		case scheduler.Assign:
			m.running = append(m.running, a.Req)
		case scheduler.Start:
			m.started = append(m.started, a.Inst)
		default:
		}
	}
}

// allocation: once a core has seen its peak, a step allocates nothing, neither with a free instance nor with a queue.
func allocation(newPolicy func() scheduler.Policy, o Options) error {
	for _, limit := range []int{scheduler.Unlimited, 4} {
		err := guard(0, func() {
			cfg := scheduler.Config{Max: limit, Limit: o.Limit}
			m := &treadmill{core: scheduler.NewOn(newPolicy(), cfg, o.Nodes, 0), hold: 5 * int(o.Limit)}
			if limit < m.hold {
				m.hold = limit*int(o.Limit) - 1
			}
			m.acts = m.core.Configure(nil, 0, cfg)
			for range 20_000 {
				m.turn()
			}
			if got := testing.AllocsPerRun(5000, m.turn); got != 0 {
				panic(Violation{NoAllocation, 0, m.now, "a turn of some steps allocates"})
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
