package policies

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/scheduler"
	"coldwave/sim"
	"coldwave/workload"
)

// TestBillOfRecordsIsWhatWasDecided plays policies on random arrivals and sets two meters beside each other that share no
// line: one computes from records and instances after the run, the other follows each event of the core (CR-31, CR-17).
func TestBillOfRecordsIsWhatWasDecided(t *testing.T) {
	for seed := range uint64(40) {
		for _, spec := range []string{"cloudrun:idle_timeout=40s", "fc-bound:idle_timeout=20s", "fc-race:idle_timeout=20s", "knative", "lambda:idle_timeout=30s", "keepalive:idle_timeout=15s"} {
			for _, round := range []time.Duration{0, time.Millisecond, 100 * time.Millisecond} {
				compareBills(t, spec, seed, round)
			}
		}
	}
}

func compareBills(t *testing.T, spec string, seed uint64, round time.Duration) {
	t.Helper()
	const length = 300 * time.Second
	rng := rand.New(rand.NewPCG(seed, 7))
	limits := scheduler.Config{Min: int(seed % 3), Max: 50, Limit: 1 + int32(seed%2)*4}
	if spec[:2] == "fc" || spec[:2] == "la" || spec[:2] == "ke" {
		limits.Limit = 1 // FC-1, LA-1
	}
	schedule := randomSchedule(rng, length)
	byRequest, byInstance := newWatchedBill(watchTariff{Round: round}), newWatchedBill(watchTariff{ByInstance: true, Round: round})
	policy, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	profile := platform.Default()
	res, err := sim.Run(sim.Config{Policy: policy, Limits: limits, Platform: profile.Draws(seed), Seed: seed, Schedule: schedule,
		Watch: func(s *sim.Step) {
			byRequest.Watch(&s.Core.Control, s.At, !s.Advance, s.Event, s.Actions)
			byInstance.Watch(&s.Core.Control, s.At, !s.Advance, s.Event, s.Actions)
		}})
	if err != nil {
		t.Fatal(err)
	}
	got := analysis.BillOf(&analysis.Tariff{
		ByRequest:  &analysis.Meter{Basis: analysis.Stretches, StartUps: true, Round: round},
		ByInstance: &analysis.Meter{Basis: analysis.Lives, Round: round}, Kept: limits.Min,
	}, analysis.Input{Schedule: schedule, Records: res.Records, Instances: res.Instances})
	full, idle := byRequest.Total(clock.Instant(length))
	lives, _ := byInstance.Total(clock.Instant(length))
	want := analysis.Bill{ByRequest: analysis.Charge{OK: true, Full: full, Apart: idle}, ByInstance: analysis.Charge{OK: true, Full: lives}}
	if got != want {
		t.Errorf("%s, seed %d, rounded to %v: the records say %+v, the events %+v", spec, seed, round, got, want)
	}
	if got.ByRequest.Full > got.ByInstance.Full+time.Duration(10*len(schedule.Arrivals))*round {
		t.Errorf("%s, seed %d: by request %v, by instance only %v", spec, seed, got.ByRequest.Full, got.ByInstance.Full)
	}
}

// randomSchedule has bursts and pauses, and ends long before the run does, so that all requests are over in time.
func randomSchedule(rng *rand.Rand, length time.Duration) *workload.Schedule {
	s := &workload.Schedule{Pattern: "test", Function: platform.Default().Function, Length: length}
	at := time.Duration(0)
	for len(s.Arrivals) < 60 && at < length/2 {
		if rng.IntN(3) > 0 {
			at += time.Duration(rng.ExpFloat64() * float64([]time.Duration{10 * time.Millisecond, time.Second, 20 * time.Second}[rng.IntN(3)]))
		}
		exec := time.Duration(1 + rng.Int64N(int64([]time.Duration{time.Millisecond, 150 * time.Millisecond, 4 * time.Second}[rng.IntN(3)])))
		s.Arrivals = append(s.Arrivals, workload.Arrival{Seq: int64(len(s.Arrivals)), At: clock.Instant(at), Wave: -1,
			Demand: workload.Demand{Exec: exec, Pre: time.Duration(rng.Int64N(int64(10 * time.Millisecond))), Post: time.Millisecond}})
	}
	return s
}

// TestWrongBillIsSeen is the check of the check: a bill that forgets a start-up, or the rounding, is not the other one.
func TestWrongBillIsSeen(t *testing.T) {
	schedule := randomSchedule(rand.New(rand.NewPCG(1, 7)), 300*time.Second)
	policy, err := New("fc-race")
	if err != nil {
		t.Fatal(err)
	}
	profile := platform.Default()
	res, err := sim.Run(sim.Config{Policy: policy, Limits: scheduler.Config{Max: 50}, Platform: profile.Draws(1), Schedule: schedule})
	if err != nil {
		t.Fatal(err)
	}
	in := analysis.Input{Schedule: schedule, Records: res.Records, Instances: res.Instances}
	seen := map[time.Duration]string{}
	for _, m := range []analysis.Meter{
		{Basis: analysis.Stretches, StartUps: true, Round: 100 * time.Millisecond}, {Basis: analysis.Stretches, StartUps: true},
		{Basis: analysis.Stretches}, {Basis: analysis.Stretches, Round: time.Second}, {Basis: analysis.Lives},
		{Basis: analysis.Executions, Least: 100 * time.Millisecond},
	} {
		full := analysis.BillOf(&analysis.Tariff{ByRequest: &m}, in).ByRequest.Full
		if other, ok := seen[full]; ok {
			t.Errorf("%+v and %s both bill %v", m, other, full)
		}
		seen[full] = fmt.Sprintf("%+v", m)
	}
}
