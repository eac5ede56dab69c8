package analysis

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/internal/clock"
	"coldwave/record"
)

func TestUseOfAStart(t *testing.T) {
	for _, row := range []struct {
		why  string
		in   record.Instance
		want Use
	}{
		{"its requester was first (FC-6)", record.Instance{Cause: "r-3", First: "r-3", Served: 2}, UsedByOwn},
		{"its requester was first and lost with it", record.Instance{Cause: "r-3", First: "r-3", Failed: true}, UsedByOwn},
		{"another was first (FC-8)", record.Instance{Cause: "r-3", First: "r-9", Served: 1}, UsedByOther},
		{"ids are compared whole", record.Instance{Cause: "r-3", First: "r-33", Served: 1}, UsedByOther},
		{"no arrival caused it", record.Instance{First: "r-1", Served: 1}, UsedByOther},
		{"it served, and the target does not tell whom", record.Instance{Cause: "r-3", Served: 1}, UsedByOther},
		{"nobody came", record.Instance{Cause: "r-3"}, NeverUsed},
		{"nobody came and nobody caused it", record.Instance{}, NeverUsed},
		{"its start failed", record.Instance{Cause: "r-3", Failed: true}, NeverUsed},
	} {
		if got := UseOf(&row.in); got != row.want {
			t.Errorf("%s: UseOf(%+v) = %v, want %v", row.why, row.in, got, row.want)
		}
	}
}

func TestUsesHaveNames(t *testing.T) {
	for u, want := range map[Use]string{UsedByOwn: "own", UsedByOther: "other", NeverUsed: "never", Uses: "invalid"} {
		if got := u.String(); got != want {
			t.Errorf("Use(%d) = %q, want %q", u, got, want)
		}
	}
}

// A worked example: two arrivals at 0 start two instances; the first start, ready after 2 s, serves its own request, and
// 1 s later the other's; the second start, ready after 4 s, is never used and stopped after 6 s. The run lasts 10 s.
func TestAttributeWorkedExample(t *testing.T) {
	served := func(seq int64, kind record.StartKind, by record.StartBy, queue, init time.Duration) record.Record {
		return record.Record{Seq: seq, Outcome: record.OK, Server: record.Server{Start: kind, StartBy: by, Queue: queue, Init: init}}
	}
	records := []record.Record{
		served(0, record.Cold, record.ByOwn, 0, 2*time.Second),
		served(1, record.Queued, record.ByNone, 3*time.Second, 0),
		{Seq: 2, Outcome: record.Rejected, Server: record.Server{Start: record.Edge, StartBy: record.ByNone, Queue: time.Second}},
		served(3, record.StartKinds, record.StartBys, 0, 0), // names that do not exist
	}
	instances := []record.Instance{
		{ID: 1, Cause: "r-0", First: "r-0", Started: 0, Ready: 2 * second, Stopped: clock.Never, Served: 2, Busy: 2 * time.Second},
		{ID: 2, Cause: "r-1", Started: 0, Ready: 4 * second, Stopped: 6 * second},
	}
	got := Attribute(records, instances, 10*second)
	want := Attribution{
		Starts: [Uses]int{UsedByOwn: 1, NeverUsed: 1},
		Spent:  [Uses]time.Duration{UsedByOwn: 10 * time.Second, NeverUsed: 6 * time.Second},
		Waiting: [record.StartKinds]time.Duration{
			record.Cold: 2 * time.Second, record.Queued: 3 * time.Second, record.Edge: time.Second,
		},
	}
	want.Requests[record.Cold][record.ByOwn] = 1
	want.Requests[record.Queued][record.ByNone] = 1
	want.Requests[record.StartUnknown][record.ByUnknown] = 1 // the rejected one is not counted
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Attribute (-want +got):\n%s", diff)
	}
	total := Total(instances, 10*second)
	if total.Idle != 8*time.Second || total.Ready-total.Busy != total.Idle {
		t.Errorf("Total = %+v, want 8 s idle: 6 s of the first, 2 s of the second", total)
	}
	if sum := got.Spent[UsedByOwn] + got.Spent[UsedByOther] + got.Spent[NeverUsed]; sum != total.Allocated {
		t.Errorf("instance-time by use adds up to %v, want all of %v", sum, total.Allocated)
	}
}

// An instance that is still busy when the run ends has no negative idle time that hides another's.
func TestIdleIsNeverNegative(t *testing.T) {
	got := Total([]record.Instance{
		{ID: 1, Ready: 9 * second, Stopped: clock.Never, Busy: 5 * time.Second},
		{ID: 2, Ready: 9 * second, Stopped: clock.Never},
	}, 10*second)
	if got.Idle != time.Second {
		t.Errorf("idle = %v, want 1 s, the second's", got.Idle)
	}
}

func TestSummarizeAttributes(t *testing.T) {
	in := example()
	in.Instances = []record.Instance{{ID: 1, Cause: "r-0", First: "r-0", Started: second, Ready: 2 * second, Stopped: clock.Never, Served: 4}}
	s := Summarize(in)
	if s.Uses.Starts != [Uses]int{UsedByOwn: 1} || s.Uses.Spent[UsedByOwn] != 19*time.Second {
		t.Errorf("starts by use %v, spent %v, want one used by its own for 19 s", s.Uses.Starts, s.Uses.Spent)
	}
	var waited time.Duration
	for _, w := range s.Uses.Waiting {
		waited += w
	}
	if waited != s.Waiting {
		t.Errorf("waiting by start kind adds up to %v, want %v", waited, s.Waiting)
	}
}
