package record

import "time"

// Server is what a target said of one request in its answer's headers: where it ran and how its time was spent.
//
// The three durations are additive: queue + init is the waiting time at the gateway, exec the time inside the function.
type Server struct {
	Queue    time.Duration // waiting while the serving instance was not starting
	Init     time.Duration // waiting while the serving instance was starting
	Exec     time.Duration // inside the function
	Instance string        // the target's name of the instance; empty: not told
	Revision string        // the target's name of the revision; empty: not told
	Start    StartKind
	StartBy  StartBy
	Source   Source // where Start comes from
}

// Wait returns the waiting time: accepted by the gateway until dispatched.
func (s Server) Wait() time.Duration { return s.Queue + s.Init }

// Told says whether the target told anything of how the request's time was spent.
func (s Server) Told() bool { return s.Source != FromNowhere || s.Wait() != 0 || s.Exec != 0 }
