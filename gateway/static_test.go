package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// step is one event for a core and what it must decide.
type step struct {
	why  string
	at   clock.Instant
	ev   scheduler.Event
	want string
}

func TestFixed(t *testing.T) {
	core := scheduler.New(Fixed{Wait: 50}, scheduler.Config{Min: 2, Max: 2, Limit: 2}, 1)
	arrive := func(r scheduler.RequestID) scheduler.Event { return scheduler.Event{Kind: scheduler.Arrival, Req: r} }
	for _, c := range []step{
		{"Min instances are started at the beginning", 0, scheduler.Event{Kind: scheduler.Configure}, "start 1, start 2"},
		{"nothing is ready yet", 1, arrive(1), "queue 1"},
		{"what waits goes to the first that is ready", 2, scheduler.Event{Kind: scheduler.Ready, Inst: 1}, "assign 1 to 1"},
		{"one slot is left on it", 3, arrive(2), "assign 2 to 1"},
		{"both slots are taken", 4, arrive(3), "queue 3"},
		{"the second is ready", 5, scheduler.Event{Kind: scheduler.Ready, Inst: 2}, "assign 3 to 2"},
		{"the one with fewer requests", 6, arrive(4), "assign 4 to 2"},
		{"all slots are taken", 7, arrive(5), "queue 5"},
		{"first come, first served", 8, scheduler.Event{Kind: scheduler.Done, Req: 1}, "end 1, assign 5 to 1"},
		{"again full", 9, arrive(6), "queue 6"},
		{"the limit of waiting", 59, scheduler.Event{Kind: scheduler.Sample, Inst: 1}, "reject 6"},
		{"a lost instance takes its requests along", 60, scheduler.Event{Kind: scheduler.Failed, Inst: 2}, "lost 3, lost 4"},
		{"and is started again after a while", 60 + clock.Instant(refillTime) + 1, scheduler.Event{Kind: scheduler.Sample, Inst: 1}, "start 3"},
	} {
		var got []string
		for _, a := range core.Step(nil, c.at, c.ev) {
			text := a.Do.String()
			if a.Req != 0 {
				text += fmt.Sprintf(" %d", a.Req)
			}
			if a.Do == scheduler.Start {
				text += fmt.Sprintf(" %d", a.Inst)
			}
			if a.Do == scheduler.Assign {
				text += fmt.Sprintf(" to %d", a.Inst)
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: decided %q, want %q", c.why, text, c.want)
		}
		core.Check()
	}
}

func TestStaticAddresses(t *testing.T) {
	s := Static{Addrs: []string{"a:1", "b:1"}}
	for id, want := range map[scheduler.InstanceID]string{1: "a:1", 2: "b:1", 3: "a:1"} {
		if got, err := s.Start(context.Background(), StartRequest{Instance: id}); got != want || err != nil {
			t.Errorf("Start(instance %d) = %q, %v, want %q", id, got, err, want)
		}
	}
	if _, err := (Static{}).Start(context.Background(), StartRequest{Instance: 1}); !errors.Is(err, errNoAddress) {
		t.Errorf("Start without addresses = %v, want errNoAddress", err)
	}
}
