package analysis

import (
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

// on is a request that ran on an instance.
func on(instance string, from, to time.Duration) record.Record {
	return record.Record{Intended: clock.Instant(from), Sent: clock.Instant(from), Outcome: record.OK,
		Server: record.Server{Instance: instance, Exec: to - from}}
}

// instance is one that is started at 0, ready at 2 s, and stopped at the given time; Never: it lives on.
func instance(id int32, stopped clock.Instant, busy time.Duration) record.Instance {
	return record.Instance{ID: id, Ready: 2 * second, Stopped: stopped, Busy: busy}
}

func TestBillOf(t *testing.T) {
	const ms = time.Millisecond
	const s = time.Second
	byRequest := Meter{Basis: Stretches, StartUps: true, Round: 100 * ms} // BI-1, BI-3
	lambda := Meter{Basis: Executions, StartUps: true, Round: ms}         // BI-4, BI-5
	azure := Meter{Basis: Executions, Round: ms, Least: 100 * ms}         // BI-8
	lives := Meter{Basis: Lives, Round: 100 * ms}                         // BI-2, BI-3
	one := instance(1, clock.Never, 1050*ms)
	tests := []struct {
		why       string
		meter     Meter
		kept      int
		instances []record.Instance
		records   []record.Record
		full      time.Duration
		apart     time.Duration
	}{
		{"BI-1 a start-up and the request that follows at once are one stretch", byRequest, 0, []record.Instance{one}, []record.Record{on("1", 2*s, 3050*ms)}, 3100 * ms, 0},
		{"BI-1 a request that comes later is another", byRequest, 0, []record.Instance{one}, []record.Record{on("1", 5*s, 6050*ms)}, 2*s + 1100*ms, 0},
		{"BI-1 requests at once share the instance", byRequest, 0, []record.Instance{one}, []record.Record{on("1", 5*s, 6*s), on("1", 5500*ms, 6050*ms)}, 2*s + 1100*ms, 0},
		{"BI-1 one inside another adds nothing", byRequest, 0, []record.Instance{one}, []record.Record{on("1", 5*s, 6050*ms), on("1", 5500*ms, 6*s)}, 2*s + 1100*ms, 0},
		{"BI-1 one that follows at once goes on", byRequest, 0, []record.Instance{one}, []record.Record{on("1", 5*s, 6*s), on("1", 6*s, 6050*ms)}, 2*s + 1100*ms, 0},
		{"BI-1 each instance by itself", byRequest, 0, []record.Instance{one, instance(2, clock.Never, 0)}, []record.Record{on("1", 5*s, 6050*ms)}, 4*s + 1100*ms, 0},
		{"BI-1 an instance that was never used costs its start-up", byRequest, 0, []record.Instance{instance(1, clock.Never, 0)}, nil, 2 * s, 0},
		{"BI-1 a start that failed costs until then", byRequest, 0, []record.Instance{{ID: 1, Ready: clock.Never, Stopped: second, Failed: true}}, nil, s, 0},
		{"BI-2 an instance costs while it lives", lives, 0, []record.Instance{instance(1, 50*second+1, 0)}, nil, 50*s + 100*ms, 0},
		{"BI-2 until the end of the schedule", lives, 0, []record.Instance{one}, nil, 100 * s, 0},
		{"BI-2 or of its last request", lives, 0, []record.Instance{one}, []record.Record{on("1", 99*s, 101*s)}, 101 * s, 0},
		{"BI-4 each execution is rounded up", lambda, 0, []record.Instance{one}, []record.Record{on("1", 5*s, 6*s+1), on("1", 7*s, 7*s+1)}, 2*s + 1001*ms + ms + 50*ms - 2, 0},
		{"BI-5 with the initialization before it", lambda, 0, []record.Instance{instance(1, clock.Never, 0)}, []record.Record{on("1", 2*s, 3*s+1)}, 3*s + ms, 0},
		{"BI-8 a short execution costs a tenth of a second", azure, 0, []record.Instance{instance(1, clock.Never, 0)}, []record.Record{on("1", 5*s, 5*s+3*ms), on("1", 6*s, 6*s+150*ms)}, 250 * ms, 0},
		{"BI-8 requests at once cost one by one", azure, 0, []record.Instance{instance(1, clock.Never, 0)}, []record.Record{on("1", 5*s, 6*s), on("1", 5*s, 6*s)}, 2 * s, 0},
		{"time in flight that no record tells is added as it is", byRequest, 0, []record.Instance{one}, nil, 2*s + 1050*ms, 0},
		{"a request of another target's instance counts nowhere", azure, 0, []record.Instance{instance(1, clock.Never, 0)}, []record.Record{on("7", 5*s, 6*s)}, 0, 0},
		{"CR-17 two kept, none active", byRequest, 2, []record.Instance{instance(1, clock.Never, 0), instance(2, clock.Never, 0)}, nil, 4 * s, 2 * 98 * s},
		{"CR-17 one of them active for a while", byRequest, 2, []record.Instance{one, instance(2, clock.Never, 0)}, []record.Record{on("1", 5*s, 6050*ms)}, 4*s + 1100*ms, 2*98*s - 1050*ms},
		{"CR-17 no more than there are", byRequest, 9, []record.Instance{instance(1, 10*second, 0)}, nil, 2 * s, 8 * s},
		{"CR-17 two active ones of three leave none to keep", byRequest, 2, []record.Instance{one, instance(2, clock.Never, 1050*ms), instance(3, clock.Never, 0)},
			[]record.Record{on("1", 5*s, 6050*ms), on("2", 5*s, 6050*ms)}, 6*s + 2200*ms, 2*98*s - 2*1050*ms},
	}
	for _, tt := range tests {
		in := Input{Schedule: &workload.Schedule{Length: 100 * s}, Instances: tt.instances, Records: tt.records}
		got := BillOf(&Tariff{ByRequest: &tt.meter, Kept: tt.kept}, in)
		if want := (Bill{ByRequest: Charge{OK: true, Full: tt.full, Apart: tt.apart}}); got != want {
			t.Errorf("%s: %+v, want %+v", tt.why, got, want)
		}
		got = BillOf(&Tariff{ByInstance: &tt.meter, Kept: tt.kept}, in)
		if want := (Bill{ByInstance: Charge{OK: true, Full: tt.full}}); got != want {
			t.Errorf("%s, by instance: %+v, want %+v", tt.why, got, want)
		}
	}
}

// BI-6: reserved instances cost over the whole run, rounded up, used or not.
func TestReservedInstancesCostAllTheTime(t *testing.T) {
	in := Input{Schedule: &workload.Schedule{Length: 11 * time.Minute}}
	got := BillOf(&Tariff{ByRequest: &Meter{}, Reserved: 3, ReservedRound: 5 * time.Minute}, in).ByRequest
	if want := (Charge{OK: true, Apart: 45 * time.Minute}); got != want {
		t.Errorf("three reserved instances for 11 minutes: %+v, want %+v", got, want)
	}
}

func TestNoTariffIsNoBill(t *testing.T) {
	if got := BillOf(nil, Input{}); got != (Bill{}) {
		t.Errorf("BillOf(nil) = %+v, want nothing", got)
	}
	if got := BillOf(&Tariff{Platform: "p"}, Input{Schedule: &workload.Schedule{}}); got != (Bill{}) {
		t.Errorf("BillOf of a platform without meters = %+v, want nothing", got)
	}
}
