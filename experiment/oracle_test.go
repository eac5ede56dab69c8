package experiment

import (
	"context"
	"errors"
	"testing"
	"time"

	"coldwave/patterns"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
)

func documented(t *testing.T, pattern, policy string) Cell {
	t.Helper()
	process, err := patterns.Load(pattern, nil)
	if err != nil {
		t.Fatal(err)
	}
	return Cell{Pattern: pattern, Process: process, Policy: policy, Profile: platform.Default(), Max: scheduler.Unlimited, Seed: 1}
}

// The bound serves every request at once and needs no more instance-time than any policy that does not let requests wait.
func TestTheOracleIsABound(t *testing.T) {
	for _, pattern := range Documented() {
		best, err := Simulation{Cell: documented(t, pattern, Oracle)}.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		s := best.Run.Summary
		if s.Outcomes[record.OK] != s.Scheduled || s.OK.Max > 120*time.Millisecond || s.Waiting != 0 {
			t.Errorf("%s: oracle: %d of %d ok, max %v, waiting %v; want all at once", pattern, s.Outcomes[record.OK], s.Scheduled, s.OK.Max, s.Waiting)
		}
		for _, policy := range []string{"fc-bound", "fc-race"} {
			run, err := Virtual(documented(t, pattern, policy))
			if err != nil {
				t.Fatal(err)
			}
			if got, bound := run.Summary.Instances.Allocated, s.Instances.Allocated; got < bound {
				t.Errorf("%s under %s: %v of instance-time, below the bound %v", pattern, policy, got, bound)
			}
		}
	}
}

func TestTheOracleIsRefusedOnTheWireAndWithAQuota(t *testing.T) {
	_, err := Single{ID: "test", Cell: documented(t, "fc-burst", Oracle)}.Run(context.Background(), func(Progress) {})
	if !errors.Is(err, ErrVirtualOnly) {
		t.Errorf("oracle on the wire: %v, want ErrVirtualOnly", err)
	}
	limited := documented(t, "fc-burst", Oracle)
	limited.Max = 10
	if _, err := (Simulation{Cell: limited}).Run(context.Background()); err == nil {
		t.Error("oracle with a quota: no error, want one")
	}
	long := documented(t, "fc-burst", Oracle)
	if _, err := (Simulation{Cell: long, Exact: 10}).Run(context.Background()); err == nil {
		t.Error("oracle on a streamed schedule: no error, want one")
	}
}
