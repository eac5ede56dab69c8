package reports

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/analysis"
	"coldwave/internal/clock"
	"coldwave/record"
)

// The documented ramp: before, each of the 32 starts is used by its requester; after, one is, 15 by others in later
// waves, and the 16 of the last wave by nobody (FC-6, FC-8). The burst after: 2, 4 and 14.
func TestUsesOfTheDocumentedPatterns(t *testing.T) {
	want := [][]string{
		{"fc-ramp", "fc-bound", "32", "32", "0", "0"}, {"fc-ramp", "fc-race", "32", "1", "15", "16"},
		{"fc-burst", "fc-bound", "20", "20", "0", "0"}, {"fc-burst", "fc-race", "20", "2", "4", "14"},
	}
	var got [][]string
	for _, l := range useGrid(pairs(fixtureVerification().Runs)).Lines {
		got = append(got, l.Cells[:6])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("uses of starts (-want +got):\n%s", diff)
	}
}

func TestAttributionInEveryFormat(t *testing.T) {
	for _, f := range Formats() {
		var b bytes.Buffer
		if err := f.Verification(&b, fixtureVerification()); err != nil {
			t.Fatal(err)
		}
		if err := f.Single(&b, fixtureSingle()); err != nil {
			t.Fatal(err)
		}
		parts := []string{"What the starts were good for", "Whose starts the requests used"}
		if f.Name == "json" {
			parts = []string{`"attribution"`, `"never": {`, `"request_waiting_ns"`}
		}
		for _, part := range parts {
			if n := strings.Count(b.String(), part); n < 2 {
				t.Errorf("%s has %q %d times, want it in both kinds of report", f.Name, part, n)
			}
		}
	}
}

func TestNoAttributionWithoutInstances(t *testing.T) {
	silent := []analysis.Run{{Pattern: "p", Target: "http://127.0.0.1:1/", Driver: "wire"}}
	if got := attributionGrids(pairs(silent)); len(got) != 0 {
		t.Errorf("attribution of a target that tells nothing: %v, want no table", got)
	}
}

func TestAttributionJSON(t *testing.T) {
	a := analysis.Attribution{Starts: [analysis.Uses]int{1, 2, 3}, Spent: [analysis.Uses]time.Duration{4, 5, 6}}
	a.Requests[record.Cold] = [record.StartBys]int{record.ByUnknown: 7, record.ByOwn: 8, record.ByOther: 9, record.ByNone: 10}
	a.Waiting[record.Queued] = 11
	got := attributionOf(&a)
	if want := (causeDoc{Own: 8, Other: 9, None: 10, Unknown: 7}); got.Requests["cold"] != want || got.Waiting["queued"] != 11 {
		t.Errorf("requests %+v, waiting %v, want cold %+v and queued 11", got.Requests, got.Waiting, want)
	}
	if want := map[string]useDoc{"own": {1, 4}, "other": {2, 5}, "never": {3, 6}}; !cmp.Equal(got.Starts, want) {
		t.Errorf("starts by use = %v, want %v", got.Starts, want)
	}
}

func TestInstancesCSV(t *testing.T) {
	var b bytes.Buffer
	err := InstancesCSV(&b, []record.Instance{
		{ID: 1, Cause: "r-0", First: "r-0", Started: 5, Ready: 9, Stopped: clock.Never, Served: 2, Busy: 7, Node: 3, Cached: true},
		{ID: 2, Cause: "r-1", Started: 5, Ready: clock.Never, Stopped: 8, Failed: true, Reason: "cpu", Failure: record.OutOfMemory, CPU: 3, Memory: 4},
	})
	want := "instance,cause,first,used_by,started_ns,ready_ns,stopped_ns,failed,served,busy_ns,node,cached,reason,failure,cpu_ns,memory_peak_bytes\n" +
		"1,r-0,r-0,own,5,9,,false,2,7,3,true,,,0,0\n2,r-1,,never,5,,8,true,0,0,,false,cpu,memory_limit,3,4\n"
	if err != nil || b.String() != want {
		t.Errorf("InstancesCSV = %q, %v, want %q", b.String(), err, want)
	}
	if err := InstancesCSV(fullDisk{}, nil); !errors.Is(err, errFull) {
		t.Errorf("InstancesCSV on a full disk = %v, want %v", err, errFull)
	}
}

var errFull = errors.New("no space left")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }
