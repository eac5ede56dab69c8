package reports

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"coldwave/internal/clock"
	"coldwave/record"
)

var twoLives = []record.Instance{
	{ID: 1, Cause: "run-0", First: "run-3", Started: 5, Ready: 2_000_000_005, Stopped: clock.Never, Served: 7, Busy: 11, Node: 4, Cached: true},
	{ID: 2, Started: 9, Ready: clock.Never, Stopped: 10, Failed: true},
}

func instancesCSV(t *testing.T, in []record.Instance) string {
	t.Helper()
	var b bytes.Buffer
	if err := InstancesCSV(&b, in); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestInstancesCSVRoundTrip(t *testing.T) {
	for _, in := range [][]record.Instance{nil, twoLives, fixtureSingle().Run.Instances} {
		got, err := ReadInstancesCSV(strings.NewReader(instancesCSV(t, in)))
		if diff := cmp.Diff(in, got); diff != "" || err != nil {
			t.Errorf("ReadInstancesCSV: %v (-want +got):\n%s", err, diff)
		}
	}
}

func TestReadInstancesCSVRefuses(t *testing.T) {
	good := instancesCSV(t, twoLives)
	for _, row := range []struct{ why, table, want string }{
		{"nothing", "", "line 1"},
		{"another table", "a,b\n1,2\n", "line 1"},
		{"a cell too few", strings.Replace(good, ",7,", ",", 1), "line 2"},
		{"a number that is none", strings.Replace(good, ",7,", ",seven,", 1), "2:41: served"},
		{"a truth that is none", strings.Replace(good, ",false,", ",maybe,", 1), "failed"},
		{"an id too large", strings.Replace(good, "\n2,", "\n4294967298,", 1), "3:1: instance"},
	} {
		if _, err := ReadInstancesCSV(strings.NewReader(row.table)); !errors.Is(err, ErrDocument) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want ErrDocument with %q", row.why, err, row.want)
		}
	}
}
