package references

import (
	"fmt"
	"slices"
	"time"

	"coldwave/record"
)

// rowsAfter judges the burst after row by row: the first 18 rows, ascending inside pairs, lie within the tolerance of
// the documented ones (FA-8); the last pair, which no correct policy shows as documented, has an upper limit (FA-9).
func rowsAfter(in input) outcome {
	table, w, o := rowInput(in)
	if o.verdict != "" {
		return o
	}
	law := in.evidence.Law
	got := slices.Sorted(slices.Values(w.responses()))
	var wrong findings
	var worst time.Duration
	for i, want := range table.sortedAfter()[:assertedRows] {
		delta := got[i] - want
		worst = max(worst, delta, -delta)
		high := in.ms("residual_ms", law) + in.ms("wire_ms", law) + time.Duration(i/pairSize)*in.ms("slot_slack_ms", law)
		wrong.add(delta < -in.ms("residual_ms", law) || delta > high, "row %d: %s, documented %s", i+1, milli(got[i]), milli(want))
	}
	last := got[len(got)-1]
	wrong.add(last > in.ms("last_max_ms", law)+in.ms("wire_ms", law), "last row %s", milli(last))
	return wrong.outcome(fmt.Sprintf("rows 1 to %d differ by at most %s; rows %d and %d: %s and %s", assertedRows, milli(worst),
		assertedRows+1, len(got), milli(got[assertedRows]), milli(last)))
}

// lastPair judges FA-9: no correct policy shows rows 19 and 20 as documented, so they have an upper limit only.
func lastPair(in input) outcome {
	table, w, o := rowInput(in)
	if o.verdict != "" {
		return o
	}
	got := slices.Sorted(slices.Values(w.responses()))
	limit := in.ms("last_max_ms", in.evidence.Law)
	var wrong findings
	for i := assertedRows; i < len(got); i++ {
		wrong.add(got[i] > limit, "row %d: %s is above %s", i+1, milli(got[i]), milli(limit))
	}
	return wrong.outcome(fmt.Sprintf("%s and %s (documented %s and %s)", milli(got[assertedRows]), milli(got[len(got)-1]),
		milli(table.After[assertedRows]), milli(table.After[len(got)-1])))
}

// documentedRun judges FA-8: under the law of the published table, the means of the largest wave of each pattern before,
// and the burst after row by row.
func documentedRun(in input) outcome {
	return all(
		func(in input) outcome { return waveMean(in, 0, "ramp") },
		func(in input) outcome { return waveMean(in, 2, "burst") },
		func(in input) outcome { in.sides = in.sides[3:]; return rowsAfter(in) },
	)(in)
}

// waveMean judges the mean of the largest wave of one side by the limits of that name.
func waveMean(in input, side int, name string) outcome {
	law := in.evidence.Law
	got := in.sides[side].burst().stats().Mean
	low, high := in.ms(name+"_mean_min_ms", law), in.ms(name+"_mean_max_ms", law)
	var wrong findings
	wrong.add(got < low || got > high, "%s before: mean %s of the largest wave is outside %s to %s", name, milli(got), milli(low), milli(high))
	return wrong.outcome(fmt.Sprintf("%s before: mean %s", name, milli(got)))
}

// rowsBefore judges the burst before: warm rows lie near the documented ones, and each cold one took one of the
// documented cold times.
func rowsBefore(in input) outcome {
	table, w, o := rowInput(in)
	if o.verdict != "" {
		return o
	}
	law := in.evidence.Law
	var wrong findings
	warm, cold := w.of(record.Warm), w.of(record.Cold)
	wrong.add(len(warm) != pairSize, "%d warm rows, documented %d", len(warm), pairSize)
	for i, got := range slices.Sorted(slices.Values(warm.responses())) {
		delta := got - table.Before[min(i, pairSize-1)]
		wrong.add(delta < -in.ms("residual_ms", law) || delta > in.ms("residual_ms", law)+in.ms("wire_ms", law), "warm row %d: %s", i+1, milli(got))
	}
	for _, r := range cold {
		wrong.add(!isOneOf(r.Response(), table.cold(), in.ms("cold_slack_ms", law)), "request %d: %s is no documented cold time", r.Seq, milli(r.Response()))
	}
	return wrong.outcome(fmt.Sprintf("%d warm rows, %d cold rows, mean %s", len(warm), len(cold), milli(w.stats().Mean)))
}

// isOneOf says whether got is one of the values or at most slack later.
func isOneOf(got time.Duration, values []time.Duration, slack time.Duration) bool {
	return slices.ContainsFunc(values, func(v time.Duration) bool { return got >= v && got <= v+slack })
}

// rowInput returns the documented table and the burst to compare with it. Only a burst whose later requests arrive with
// the documented shift can be compared row by row.
func rowInput(in input) (Table, wave, outcome) {
	table, err := Documented()
	if err != nil {
		return Table{}, nil, outcome{verdict: Inconclusive, reason: err.Error()}
	}
	w := in.sides[0].burst()
	if len(w) != len(table.After) {
		return Table{}, nil, outcome{verdict: NotComparable, reason: fmt.Sprintf("the burst has %d requests, the table %d rows", len(w), len(table.After))}
	}
	shift := in.ms("shift_ms", in.evidence.Law)
	for i, r := range w {
		want := shift
		if i < pairSize {
			want = 0
		}
		if got := r.Intended.Sub(w.start()); got != want {
			return Table{}, nil, outcome{verdict: NotComparable, reason: fmt.Sprintf(
				"row %d arrives %v after the first, documented %v: use the pattern fc-burst-shifted", i+1, got, want)}
		}
	}
	return table, w, outcome{}
}

// LadderRow is one row of the burst: documented and measured response times. 0: there is none.
type LadderRow struct {
	Row              int           // from 1, in processing order
	Group            int           // from 1: requests of one group share a level
	DocumentedBefore time.Duration // as published, in processing order
	DocumentedAfter  time.Duration
	SortedBefore     time.Duration // the documented times ascending, the warm ones first
	SortedAfter      time.Duration // the documented times ascending inside pairs
	Before, After    time.Duration // measured, ascending
	Asserted         bool          // false: a correct policy cannot show the documented value after (FA-9)
}

// Measured says whether there is anything beside the documented values.
func (r LadderRow) Measured() bool { return r.Before > 0 || r.After > 0 }

// DeltaBefore returns measured − documented of equal rank; false if nothing was measured.
func (r LadderRow) DeltaBefore() (time.Duration, bool) {
	return r.Before - r.SortedBefore, r.Before > 0
}

// DeltaAfter returns measured − documented, ascending inside pairs; false if nothing was measured.
func (r LadderRow) DeltaAfter() (time.Duration, bool) { return r.After - r.SortedAfter, r.After > 0 }

// Ladder sets the documented burst beside the measured one, row by row. Rows of a run that is missing, or whose burst had
// fewer successful answers, have no measured value.
func Ladder(e Evidence) ([]LadderRow, error) {
	table, err := Documented()
	if err != nil {
		return nil, err
	}
	before, after := measuredBurst(e, Before), measuredBurst(e, After)
	sortedBefore, sortedAfter := table.sortedBefore(), table.sortedAfter()
	rows := make([]LadderRow, len(table.Before))
	for i := range rows {
		rows[i] = LadderRow{
			Row: i + 1, Group: i/pairSize + 1, DocumentedBefore: table.Before[i], DocumentedAfter: table.After[i],
			SortedBefore: sortedBefore[i], SortedAfter: sortedAfter[i], Before: at(before, i), After: at(after, i), Asserted: i < assertedRows,
		}
	}
	return rows, nil
}

func measuredBurst(e Evidence, role Role) []time.Duration {
	cell, ok := e.find("fc-burst", role, 0)
	if !ok || cell.Run == nil {
		return nil
	}
	return slices.Sorted(slices.Values(newSide(cell).burst().responses()))
}

func at(d []time.Duration, i int) time.Duration {
	if i >= len(d) {
		return 0
	}
	return d[i]
}
