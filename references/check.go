package references

import (
	"fmt"
	"slices"
	"strings"

	"coldwave/analysis"
	"coldwave/record"
)

// check says what a claim needs and how it is judged.
type check struct {
	limits []string // names of the numbers that the claim must have
	may    []string // names of the numbers that it may have; 0 where it has not
	roles  []Role   // of the runs that it needs, for each of its patterns; none: it needs no run
	quota  bool     // it needs runs with the limit of instances named "quota"
	timing bool     // it judges times, which mean nothing on a busy host
	labels bool     // it judges start kinds
	judge  func(in input) outcome
}

// input is what one claim is judged by.
type input struct {
	Claim

	evidence Evidence
	sides    []side // by pattern, then by role, in the order of check.roles
}

// outcome is what a check says: the empty verdict stands for Agrees.
type outcome struct {
	measured string
	verdict  Verdict
	reason   string
}

// patterns that a claim without a pattern speaks of.
var allPatterns = [...]string{"fc-ramp", "fc-burst"}

// Check judges every claim by the evidence, in order.
func Check(claims []Claim, e Evidence) []Result {
	out := make([]Result, len(claims))
	table := checks()
	for i, c := range claims {
		o := judge(table, c, e)
		if o.verdict == "" {
			o.verdict = Agrees
		}
		out[i] = Result{Claim: c, Measured: o.measured, Verdict: o.verdict, Reason: o.reason}
	}
	return out
}

func judge(table map[string]check, c Claim, e Evidence) outcome {
	k, ok := table[c.Check]
	if !ok {
		return outcome{verdict: Inconclusive, reason: fmt.Sprintf("there is no check %q", c.Check)}
	}
	if len(c.Laws) > 0 && !slices.Contains(c.Laws, e.Law) {
		return outcome{verdict: NotComparable, reason: otherLaw(c, e.Law)}
	}
	in := input{Claim: c, evidence: e}
	k.timing = k.timing || c.times()
	if o := in.gather(k); o.verdict != "" {
		return o
	}
	if reason := in.otherDriver(); reason != "" {
		return outcome{verdict: NotComparable, reason: reason}
	}
	if reason := busy(in); reason != "" && k.timing {
		return outcome{verdict: Void, reason: reason}
	}
	if reason := in.gap(k); reason != "" {
		return outcome{verdict: Inconclusive, reason: reason}
	}
	return excuse(k.judge(in), in, k)
}

func otherLaw(c Claim, law string) string {
	reason := fmt.Sprintf("checked under the cold-start law %s only, and this run has %s", strings.Join(c.Laws, " or "), law)
	if c.WhyLaws != "" {
		reason += ": " + c.WhyLaws
	}
	return reason
}

// gather finds the runs that the check needs.
func (in *input) gather(k check) outcome {
	if len(in.Wants) > 0 {
		return in.gatherScenes()
	}
	for _, pattern := range in.Patterns() {
		for _, role := range k.roles {
			cell, ok := in.evidence.find(pattern, role, in.quota(k))
			switch {
			case !ok && in.Command != "":
				return outcome{verdict: NotComparable, reason: "it needs a run of its own: " + in.Command}
			case !ok:
				return outcome{verdict: Inconclusive, reason: fmt.Sprintf("there is no run of %s in the role %q", pattern, role)}
			}
			if o := in.take(cell, fmt.Sprintf("%s in the role %q", pattern, role)); o.verdict != "" {
				return o
			}
		}
	}
	return outcome{}
}

// take adds a run to the sides, if there is one.
func (in *input) take(cell Cell, name string) outcome {
	switch {
	case cell.Run == nil && in.evidence.Host.Busy: // so it was not begun
		return outcome{verdict: Void, reason: "the host was too busy: " + in.evidence.Host.Reason}
	case cell.Failed != "" || cell.Run == nil:
		return outcome{verdict: Inconclusive, reason: fmt.Sprintf("the run of %s failed: %s", name, cell.Failed)}
	}
	in.sides = append(in.sides, newSide(cell))
	return outcome{}
}

// otherDriver says why the claim cannot be checked on these runs; empty: it can.
func (in *input) otherDriver() string {
	for _, s := range in.sides {
		switch got := s.Run.Driver; {
		case in.Driver == "" || in.Driver == got:
		case in.Driver == driverVirtual:
			return "its limits leave nothing for timers and HTTP, so it needs virtual time: loadgen verify --virtual " + in.ID
		default:
			return "it is about runs on the wire, and this one is in virtual time: loadgen verify " + in.ID
		}
	}
	return ""
}

func (in *input) quota(k check) int {
	if !k.quota {
		return 0
	}
	n, _ := in.Quota()
	return n
}

// busy says why the times of the evidence mean nothing; empty: they do.
func busy(in input) string {
	if in.evidence.Host.Busy {
		return "the host was too busy: " + in.evidence.Host.Reason
	}
	for _, s := range in.sides {
		if s.Run.Host.Busy {
			return s.name() + ": the host was too busy: " + s.Run.Host.Reason
		}
		if ok, reasons := analysis.Valid(s.Run.Summary); !ok {
			return s.name() + ": " + strings.Join(reasons, "; ")
		}
	}
	return ""
}

// gap says what the records lack for this check; empty: nothing. Times are judged only where every request was answered:
// failing fast must not look like speed.
func (in *input) gap(k check) string {
	for _, s := range in.sides {
		n, ok, untold := len(s.Run.Records), 0, 0
		for i := range s.Run.Records {
			r := &s.Run.Records[i]
			if r.Outcome == record.OK {
				ok++
			}
			if r.Outcome == record.OK && r.Server.Start == record.StartUnknown {
				untold++
			}
		}
		switch {
		case n == 0:
			return s.name() + ": there are no records"
		case s.Scene != "": // what is not answered belongs to the example
		case len(s.waves) < 2:
			return s.name() + ": there are fewer than two waves"
		case k.timing && ok < n:
			return fmt.Sprintf("%s: %d of %d requests have no successful answer", s.name(), n-ok, n)
		case k.labels && untold > 0:
			return fmt.Sprintf("%s: %d of %d answers do not tell how they were served", s.name(), untold, n)
		}
	}
	return ""
}

// all joins checks into one, which agrees if all of them do.
func all(judges ...func(in input) outcome) func(in input) outcome {
	return func(in input) outcome {
		var total outcome
		var measured, reasons []string
		for _, judge := range judges {
			o := judge(in)
			if o.verdict != "" && total.verdict != Disagrees {
				total.verdict = o.verdict
			}
			measured = append(measured, o.measured)
			if o.reason != "" {
				reasons = append(reasons, o.reason)
			}
		}
		total.measured, total.reason = strings.Join(measured, "; "), strings.Join(reasons, "; ")
		return total
	}
}

// findings collects what is wrong; the first few are told.
type findings []string

const toldFindings = 3

func (f *findings) add(bad bool, format string, args ...any) {
	if bad {
		*f = append(*f, fmt.Sprintf(format, args...))
	}
}

func (f findings) outcome(measured string) outcome {
	if len(f) == 0 {
		return outcome{measured: measured}
	}
	reason := strings.Join(f[:min(len(f), toldFindings)], "; ")
	if more := len(f) - toldFindings; more > 0 {
		reason += fmt.Sprintf("; and %d more", more)
	}
	return outcome{measured, Disagrees, reason}
}
