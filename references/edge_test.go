package references

import (
	"testing"
	"time"

	"coldwave/record"
)

// edges moves one request of a correct run to an instant exactly on a limit, or a nanosecond beyond. Limits are inclusive
// but for "below", so a claim that compared the wrong way round would show here.
var edges = []struct {
	what     string
	id       string
	pattern  string
	role     Role
	pick     func(s side) *record.Record
	response time.Duration
	want     Verdict
}{
	{"a warm request at the lower limit", "FR-9", "fc-ramp", After, firstOf(record.Warm), 105 * ms, Agrees},
	{"a warm request that is too fast", "FR-9", "fc-ramp", After, firstOf(record.Warm), 105*ms - 1, Disagrees},
	{"a warm request at the upper limit", "FR-9", "fc-burst", Before, firstOf(record.Warm), 135 * ms, Agrees},
	{"a warm request that is too slow", "FR-9", "fc-burst", Before, firstOf(record.Warm), 135*ms + 1, Disagrees},
	{"the shortest cold request", "FR-5", "fc-ramp", Before, firstOf(record.Cold), 1700 * ms, Agrees},
	{"a cold request that is too fast", "FR-5", "fc-ramp", Before, firstOf(record.Cold), 1700*ms - 1, Disagrees},
	{"the longest cold request, 30 ms late", "FR-5", "fc-burst", Before, firstOf(record.Cold), 3030 * ms, Agrees},
	{"a cold request that is too slow", "FR-5", "fc-burst", Before, firstOf(record.Cold), 3030*ms + 1, Disagrees},
	{"cold requests after are not judged by the range before", "FR-5", "fc-burst", After, firstOf(record.Cold), 9 * time.Second, Agrees},
	{"p99 after just below 245 ms", "fc-ramp-after-p99", "fc-ramp", After, lastOf(record.Queued), 245*ms - 1, Agrees},
	{"p99 after at 245 ms is not below it", "fc-ramp-after-p99", "fc-ramp", After, lastOf(record.Queued), 245 * ms, Disagrees},
	{"the last row on the ladder's upper limit", "FR-2", "fc-burst", After, slowestOfBurst, 1062 * ms, Agrees},
	{"the last row above it", "FR-2", "fc-burst", After, slowestOfBurst, 1062*ms + 1, Disagrees},
	{"one pair may fall apart", "FR-4", "fc-burst", After, slowestOfBurst, 1060 * ms, Agrees},
	{"p99 before just at the longest allowed is not below it", "fc-ramp-before-p99", "fc-ramp", Before, lastOf(record.Cold), 3030 * ms, Disagrees},
}

func firstOf(kind record.StartKind) func(s side) *record.Record {
	return func(s side) *record.Record {
		for _, w := range s.waves {
			if found := w.of(kind); len(found) > 0 {
				return found[0]
			}
		}
		return nil
	}
}

func lastOf(kind record.StartKind) func(s side) *record.Record {
	return func(s side) *record.Record {
		found := s.waves[len(s.waves)-1].of(kind)
		return found[len(found)-1]
	}
}

func slowestOfBurst(s side) *record.Record {
	w := s.burst()
	slowest := w[0]
	for _, r := range w {
		if r.Response() > slowest.Response() {
			slowest = r
		}
	}
	return slowest
}

func TestLimitsAtTheirEdges(t *testing.T) {
	claims := load(t)
	for _, c := range edges {
		e := evidence(t, "uniform", 11, false, false, nil)
		cell, _ := e.find(c.pattern, c.role, 0)
		r := c.pick(newSide(cell))
		r.Done = r.Intended.Add(c.response)
		if got := resultOf(t, Check(claims, e), c.id); got.Verdict != c.want {
			t.Errorf("%s: %s = %s (%s), want %s", c.what, c.id, got.Verdict, got.Reason, c.want)
		}
	}
}

// The rows of the published table have a tolerance on each side: −8 ms and +8 + 15 + 1 ms for each hand-over.
func TestRowsAtTheirEdges(t *testing.T) {
	table, err := Documented()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what  string
		delta time.Duration
		want  Verdict
	}{
		{"8 ms early", -8 * ms, Agrees},
		{"more than 8 ms early", -8*ms - 1, Disagrees},
		{"31 ms late in group 9", 31 * ms, Agrees},
		{"more than 31 ms late in group 9", 31*ms + 1, Disagrees},
	} {
		e := evidence(t, "documented", 1, false, false, nil)
		cell, _ := e.find("fc-burst", After, 0)
		w := newSide(cell).burst()
		sorted := table.sortedAfter()
		for i, r := range w[:assertedRows] { // a run that is the published table itself, but for its two last rows
			r.Done = r.Intended.Add(sorted[i])
		}
		w[17].Done = w[17].Intended.Add(sorted[17] + c.delta)
		if got := resultOf(t, Check(load(t), e), "fc-burst-table-after"); got.Verdict != c.want {
			t.Errorf("%s: %s (%s; measured %s), want %s", c.what, got.Verdict, got.Reason, got.Measured, c.want)
		}
	}
}

// What is measured is told with its number of requests, in units that people read.
func TestMeasuredText(t *testing.T) {
	results := Check(load(t), evidence(t, "uniform", 1, false, true, nil))
	for id, want := range map[string]string{
		"fc-ramp-pattern": "waves of [1 2 4 8 16 32], 10s apart",
		"fc-ramp-halves":  "10 of 10 waves in halves",
		"fc-burst-before": "2 on idle instances, 18 after their own cold start",
		"fc-quota":        "before: 10 served, 10 times 503, 8 starts; after: 20 served, 0 times 503, 8 starts",
		"FR-0":            "sleep overshoot p95 0.5 ms (n=2), loopback p95 1.0 ms (n=1)",
		"FR-1": "fc-ramp before: 32 starts, 63 of 63 served; fc-ramp after: 32 starts, 63 of 63 served; " +
			"fc-burst before: 20 starts, 32 of 32 served; fc-burst after: 20 starts, 32 of 32 served",
	} {
		if got := resultOf(t, results, id).Measured; got != want {
			t.Errorf("%s measured = %q, want %q", id, got, want)
		}
	}
}

// A long list of findings is cut, and says so.
func TestManyFindingsAreCut(t *testing.T) {
	var f findings
	for i := range 5 {
		f.add(true, "row %d", i+1)
	}
	if got, want := f.outcome("m").reason, "row 1; row 2; row 3; and 2 more"; got != want {
		t.Errorf("reason = %q, want %q", got, want)
	}
}
