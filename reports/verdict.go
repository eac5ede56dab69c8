package reports

import (
	"fmt"
	"strings"

	"coldwave/references"
)

// verdicts lists the verdicts in the order in which a sentence names them.
var verdicts = []references.Verdict{
	references.Agrees, references.Disagrees, references.Inconclusive, references.NotComparable, references.Void,
}

// A tally counts the claims of each verdict.
type tally map[references.Verdict]int

func tallyOf(claims []references.Result) tally {
	t := tally{}
	for _, c := range claims {
		t[c.Verdict]++
	}
	return t
}

// sentence says how many claims agree and what became of the others, such as "27 of 28 claims agree, 1 not
// comparable." Claims that disagree are named: they are what the reader has to look at.
func sentence(claims []references.Result) string {
	if len(claims) == 0 {
		return "No claim was checked."
	}
	t := tallyOf(claims)
	parts := []string{fmt.Sprintf("%d of %d claims agree", t[references.Agrees], len(claims))}
	for _, v := range verdicts[1:] {
		if t[v] == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s", t[v], predicate(v, t[v]))
		if v == references.Disagrees {
			part += " (" + strings.Join(idsOf(claims, v), ", ") + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ") + "."
}

// predicate bends the verdict to the number of claims.
func predicate(v references.Verdict, n int) string {
	if n > 1 {
		switch v {
		case references.Agrees:
			return "agree"
		case references.Disagrees:
			return "disagree"
		case references.Inconclusive, references.NotComparable, references.Void:
		}
	}
	return string(v)
}

func idsOf(claims []references.Result, v references.Verdict) []string {
	var ids []string
	for _, c := range claims {
		if c.Verdict == v {
			ids = append(ids, c.Claim.ID)
		}
	}
	return ids
}

// overall is the tone of the whole verification.
func overall(claims []references.Result) tone {
	t := tallyOf(claims)
	switch {
	case t[references.Disagrees] > 0:
		return bad
	case t[references.Void]+t[references.Inconclusive] > 0 || t[references.Agrees] == 0:
		return doubt
	}
	return good
}
