package scheduler

import (
	"fmt"
	"strings"

	"coldwave/internal/clock"
)

// Illegal is what a core panics with: its policy acted against the rules, or its host reported something that cannot
// have happened. A benchmark must stop there rather than print a number from an illegal schedule. Its text holds all
// that is needed to get there again.
type Illegal struct { //nolint:errname // read where it is used, scheduler.Illegal says what it is
	Seed  uint64
	Event int64 // number of the event that was being handled, from 1, timers and ticks included
	At    clock.Instant
	Kind  Kind       // of that event
	Do    string     // what was tried: "assign", "event"
	Inst  InstanceID // 0: none is concerned
	Req   RequestID  // 0: none is concerned
	Why   string
}

func (e Illegal) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "illegal %s", e.Do)
	if e.Req != 0 {
		fmt.Fprintf(&b, ", request %d", e.Req)
	}
	if e.Inst != 0 {
		fmt.Fprintf(&b, ", instance %d", e.Inst)
	}
	fmt.Fprintf(&b, ": %s (seed %d, event %d %v, at %v)", e.Why, e.Seed, e.Event, e.Kind, e.At)
	return b.String()
}

// illegal stops the run. In line it would make each act twice as long.
//
//go:noinline
func (c *Control) illegal(do string, r RequestID, i InstanceID, why string) {
	panic(Illegal{Seed: c.seed, Event: c.events, At: c.now, Kind: c.kind, Do: do, Inst: i, Req: r, Why: why})
}
