package sim_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/sim"
	"coldwave/workload"
)

// TestConnectionsAreExhausted: more instances than the backing service has connections for only fail requests; a maximum
// of instances protects it.
func TestConnectionsAreExhausted(t *testing.T) {
	failures := func(most int) (bad int, cause string) {
		var at []time.Duration
		for k := range 40 {
			at = append(at, 2*time.Second+time.Duration(k)*ms)
		}
		res := run(t, sim.Config{
			Schedule: crowd(5, workload.Demand{Exec: 200 * ms}, at...), Policy: policy(t, "fixed"), Platform: simple{start: 500 * ms},
			Limits: wide(most), Backing: platform.Backing{Connections: 20, PerInstance: 5},
		})
		for _, rec := range res.Records {
			if rec.Outcome == record.HTTPError {
				bad, cause = bad+1, rec.Cause
				if rec.Status != 500 || rec.Server.Exec != 0 {
					t.Errorf("request %d: %d after %v in the body, want 500 at once", rec.Seq, rec.Status, rec.Server.Exec)
				}
			} else if rec.Outcome != record.OK || rec.Cause != "" {
				t.Errorf("request %d: %v %q, want ok", rec.Seq, rec.Outcome, rec.Cause)
			}
		}
		return bad, cause
	}
	if bad, _ := failures(4); bad != 0 {
		t.Errorf("4 instances of 5 connections: %d requests failed, want none", bad)
	}
	if bad, cause := failures(8); bad == 0 || cause != platform.ErrConnections.Error() {
		t.Errorf("8 instances: %d failed with %q, want some without connections", bad, cause)
	}
}

// TestConnectionsComeBack: those of an instance that has ended serve another one.
func TestConnectionsComeBack(t *testing.T) {
	res := run(t, sim.Config{
		Schedule: schedule(workload.Demand{Exec: 10 * ms}, 0, 0, 5*time.Second), Policy: policy(t, "fc-race:idle_timeout=1s"),
		Platform: simple{start: 500 * ms}, Limits: scheduler.Config{Max: 5}, Backing: platform.Backing{Connections: 1},
	})
	var got []record.Outcome
	for _, rec := range res.Records {
		got = append(got, rec.Outcome)
	}
	if want := []record.Outcome{record.OK, record.HTTPError, record.OK}; !slices.Equal(got, want) {
		t.Errorf("outcomes %v, want %v: the second instance finds no connection, the third has that of the first", got, want)
	}
}

// TestQuotaOfCalls: beyond the quota of a second calls fail at once, or wait for the next one; CPU is shared as ever.
func TestQuotaOfCalls(t *testing.T) {
	for _, tt := range []struct {
		waits bool
		want  []time.Duration // responses; -1: it fails
	}{
		{false, []time.Duration{100 * ms, 100 * ms, -1, -1, -1}},
		{true, []time.Duration{100 * ms, 100 * ms, 650 * ms, 650 * ms, 1650 * ms}},
	} {
		res := run(t, sim.Config{
			Schedule: crowd(10, workload.Demand{Exec: 100 * ms, CPU: 50 * ms}, slices.Repeat([]time.Duration{1450 * ms}, 5)...), Policy: policy(t, "fixed"),
			Platform: simple{start: 500 * ms}, Limits: wide(1), Resources: platform.Resources{MilliCPUs: 2000},
			Backing: platform.Backing{Quota: 2, Waits: tt.waits},
		})
		for k, rec := range res.Records {
			got := rec.Response()
			if rec.Outcome == record.HTTPError {
				if got = -1; rec.Cause != platform.ErrQuota.Error() {
					t.Errorf("waits %v, request %d failed for %q", tt.waits, k, rec.Cause)
				}
			}
			if got != tt.want[k] {
				t.Errorf("waits %v, request %d: %v, want %v", tt.waits, k, got, tt.want[k])
			}
		}
	}
}

func TestBadBacking(t *testing.T) {
	for _, cfg := range []sim.Config{
		{Backing: platform.Backing{Quota: -1}},
		{Backing: platform.Backing{Quota: 1}, Commands: []sim.Command{{At: 1, Remove: "v1"}}},
	} {
		cfg.Schedule, cfg.Policy, cfg.Platform = schedule(demand, 0), deaf{}, simple{}
		if _, err := sim.Run(cfg); !errors.Is(err, sim.ErrConfig) {
			t.Errorf("%+v: Run = %v, want ErrConfig", cfg.Backing, err)
		}
	}
}
