package analysis

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/record"
)

func TestUsageOf(t *testing.T) {
	got := UsageOf([]record.Instance{
		{Reason: "on-demand", CPU: 3 * time.Second, Memory: 10},
		{Reason: "cpu", CPU: time.Second, Memory: 30, Failed: true, Failure: record.OutOfMemory},
		{Reason: "cpu", Failed: true}, {Reason: "act"}, {},
	})
	want := Usage{
		Reasons: []Reason{{"cpu", 2}, {"act", 1}, {"on-demand", 1}}, CPU: 4 * time.Second, Memory: 30, OutOfMemory: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("UsageOf (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Usage{}, UsageOf(nil)); diff != "" {
		t.Errorf("UsageOf(nil) (-want +got):\n%s", diff)
	}
}
