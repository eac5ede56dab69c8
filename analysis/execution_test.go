package analysis

import (
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

func TestInstanceIDIsTheEndOfItsName(t *testing.T) {
	for name, want := range map[string]int32{"7": 7, "fc-hello-12": 12, "": 0, "worker": 0, "i99999999999": 0} {
		if got := InstanceID(name); got != want {
			t.Errorf("InstanceID(%q) = %d, want %d", name, got, want)
		}
	}
}

func TestExecutionBeginsWhenTheWaitIsOver(t *testing.T) {
	s := &workload.Schedule{Arrivals: []workload.Arrival{{Demand: workload.Demand{Pre: 5}}}}
	waited := record.Server{Queue: 20, Init: 10, Exec: 100 * time.Nanosecond}
	for _, row := range []struct {
		why  string
		s    *workload.Schedule
		r    record.Record
		want Execution
	}{
		{"sent late, with overhead before", s, record.Record{Intended: 1000, Sent: 1003, Server: waited}, Execution{1008, 1038, 1138}},
		{"never sent", s, record.Record{Intended: 1000, Sent: clock.Never}, Execution{1005, 1005, 1005}},
		{"no schedule", nil, record.Record{Intended: 1000, Sent: 1003, Server: waited}, Execution{1003, 1033, 1133}},
		{"not of the schedule", s, record.Record{Seq: 1, Intended: 1000, Sent: 1003, Server: waited}, Execution{1003, 1033, 1133}},
	} {
		if got := ExecutionOf(row.s, &row.r); got != row.want {
			t.Errorf("%s: ExecutionOf = %+v, want %+v", row.why, got, row.want)
		}
	}
}
