package policies_test

import (
	"fmt"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
)

// Two requests find nothing. The second start is ready first, and its instance is soon free again: what happens then is
// the whole difference between the two policies.
func ExampleNew() {
	ms := func(n int64) clock.Instant { return clock.Instant(time.Duration(n) * time.Millisecond) }
	for _, name := range []string{"fc-bound", "fc-race"} {
		policy, err := policies.New(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		limits := scheduler.Config{Max: 10}
		core := scheduler.New(policy, limits, 1)
		acts := core.Configure(nil, 0, limits)
		acts = core.Step(acts, 0, scheduler.Event{Kind: scheduler.Arrival, Req: 1})
		acts = core.Step(acts, 0, scheduler.Event{Kind: scheduler.Arrival, Req: 2})
		acts = core.Step(acts, ms(1700), scheduler.Event{Kind: scheduler.Ready, Inst: 2})
		acts = core.Step(acts, ms(1800), scheduler.Event{Kind: scheduler.Done, Req: acts[len(acts)-1].Req})
		acts = core.Step(acts, ms(2900), scheduler.Event{Kind: scheduler.Ready, Inst: 1})
		fmt.Println(name)
		for _, a := range acts {
			if a.Do == scheduler.Assign {
				fmt.Println(" ", a.At, a)
			}
		}
	}
	// Output:
	// fc-bound
	//   1.7s assign r2 i2 cold
	//   2.9s assign r1 i1 cold
	// fc-race
	//   1.7s assign r1 i2 cold
	//   1.8s assign r2 i2 queued
}
