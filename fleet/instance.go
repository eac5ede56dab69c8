package fleet

import (
	"coldwave/fleet/worker"
	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/scheduler"
)

// State is where an instance is in its life.
type State uint8

// The states. Those from Stopped on are final.
const (
	Starting State = iota
	Ready
	Stopping // told to stop: requests in flight are finishing
	Stopped
	Failed // its start failed
	Lost   // it ended by itself
)

func (s State) String() string {
	switch s {
	case Starting:
		return "starting"
	case Ready:
		return "ready"
	case Stopping:
		return "stopping"
	case Stopped:
		return "stopped"
	case Failed:
		return "failed"
	case Lost:
		return "lost"
	}
	return "invalid"
}

// final reports whether the instance is gone.
func (s State) final() bool { return s >= Stopped }

// Instance is what a fleet knows of one instance.
type Instance struct {
	ID       scheduler.InstanceID
	Name     string // what it calls itself in X-Coldwave-Instance
	Function string
	Revision string
	Node     string
	Zone     string
	Cause    string // X-Request-Id of the arrival that caused the start; empty: none
	State    State
	Addr     string // "host:port"; empty until it is ready
	PID      int    // of its process; 0: none of its own
	StartUp  platform.StartUp
	Decided  clock.Instant                  // the start-up time counts from here
	StageEnd [platform.Stages]clock.Instant // when each stage was seen to end; Never: it was not
	ReadyAt  clock.Instant                  // Never: it never was
	EndedAt  clock.Instant                  // Never: it lives
	Worker   worker.Stats                   // what it did; zero for a process of its own
	Err      error                          // why it failed or was lost
}

// Due is the instant at which its start-up ends.
func (i *Instance) Due() clock.Instant { return i.Decided.Add(i.StartUp.Total) }
