package reports

import (
	"testing"

	"coldwave/references"
)

func resultsOf(verdicts ...references.Verdict) []references.Result {
	all := make([]references.Result, len(verdicts))
	for i, v := range verdicts {
		all[i] = references.Result{Claim: references.Claim{ID: "FR-" + count(i+1)}, Verdict: v}
	}
	return all
}

func TestSentenceCountsVerdicts(t *testing.T) {
	a, d, n := references.Agrees, references.Disagrees, references.NotComparable
	for _, row := range []struct {
		why  string
		in   []references.Result
		want string
		tone tone
	}{
		{"nothing checked is no success", nil, "No claim was checked.", doubt},
		{"all agree", resultsOf(a, a), "2 of 2 claims agree.", good},
		{"not comparable is no failure", resultsOf(a, n), "1 of 2 claims agree, 1 not comparable.", good},
		{"nothing but not comparable shows nothing", resultsOf(n), "0 of 1 claims agree, 1 not comparable.", doubt},
		{"who disagrees is named", resultsOf(a, d, d), "1 of 3 claims agree, 2 disagree (FR-2, FR-3).", bad},
		{"one disagrees", resultsOf(d), "0 of 1 claims agree, 1 disagrees (FR-1).", bad},
		{"a busy host", resultsOf(a, references.Void), "1 of 2 claims agree, 1 void.", doubt},
		{"undecided", resultsOf(references.Inconclusive, a), "1 of 2 claims agree, 1 inconclusive.", doubt},
	} {
		if got := sentence(row.in); got != row.want {
			t.Errorf("%s: sentence = %q, want %q", row.why, got, row.want)
		}
		if got := overall(row.in); got != row.tone {
			t.Errorf("%s: overall = %q, want %q", row.why, got, row.tone)
		}
	}
}
