package references

import (
	"slices"
	"strings"
	"testing"

	"coldwave/analysis"
	"coldwave/record"
)

var coldLaws = []string{"uniform", "documented"}

func load(t testing.TB) []Claim {
	t.Helper()
	claims, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

func resultOf(t testing.TB, results []Result, id string) Result {
	t.Helper()
	i := slices.IndexFunc(results, func(r Result) bool { return r.Claim.ID == id })
	if i < 0 {
		t.Fatalf("there is no claim %q", id)
	}
	return results[i]
}

// canJudge says whether a run in virtual time under that law can be judged by the claim.
func canJudge(c Claim, law string) bool {
	return c.Check != "stated" && c.Driver != "wire" && (len(c.Laws) == 0 || slices.Contains(c.Laws, law))
}

// A correct model agrees with every claim, for any seed, at both gaps: 200 seeds under each law.
func TestEveryClaimAgreesWithTheModel(t *testing.T) {
	claims := load(t)
	for _, law := range coldLaws {
		for seed := range uint64(200) {
			for _, r := range Check(claims, evidence(t, law, seed, seed%2 == 1, true, nil)) {
				want := Agrees
				if !canJudge(r.Claim, law) {
					want = NotComparable
				}
				if r.Verdict != want || (r.Reason == "") != (want == Agrees) {
					t.Errorf("law %s, seed %d: %s = %s (%s; measured %s), want %s", law, seed, r.Claim.ID, r.Verdict, r.Reason, r.Measured, want)
				}
			}
		}
	}
}

// Mutations that must make a claim disagree: what it measures, done wrong. Each row names the defect.
var planted = []struct {
	defect string
	law    string // the run's label; empty: uniform
	turn   func(m *model)
	claims string // ids that must disagree
}{
	{"a freed instance does not look at waiters", "", on(After, func(m *model) { m.actAs = Before }),
		"fc-ramp-after-mean fc-ramp-after-p99 fc-ramp-p99-change fc-ramp-halves fc-burst-after fc-burst-p99-change fc-quota fc-online FR-1 FR-2 FR-3 FR-6 FR-7 FR-11 FR-12 FA-3 FA-6 FA-7"},
	{"a request takes a freed instance where it must wait for its own start", "", on(Before, func(m *model) { m.actAs = After }),
		"fc-ramp-before-mean fc-ramp-before-p99 fc-ramp-p99-change fc-ramp-halves fc-burst-before fc-burst-p99-change fc-quota fc-online FR-1 FR-7 FR-10 FR-11 FR-12 FA-7 FA-11"},
	{"cold starts take a third of the law", "", on(Before, func(m *model) { m.coldTimes = 0.33 }),
		"fc-ramp-before-p99 fc-burst-p99-change FR-5 FR-7 FR-10 FR-11 fc-ramp-p99-change"},
	{"cold starts take a quarter longer", "", on(Before, func(m *model) { m.coldTimes = 1.25 }), "fc-ramp-before-mean FR-5 FR-10"},
	{"a hand-over takes 1 ms, and virtual time has none", "", on(After, func(m *model) { m.extraSlot = ms }), "FA-3"},
	{"a hand-over takes 20 ms", "", on(After, func(m *model) { m.extraSlot = 20 * ms }), "FA-3 FA-6"},
	{"each answer before is 1.3 s late", "", on(Before, func(m *model) { m.extraResponse = 1300 * ms }), "FA-11"},
	{"cold starts are half as long again, under the published law", "documented", on(Before, func(m *model) { m.coldTimes = 1.5 }), "FA-8 FA-11"},
	{"cold starts are a third shorter, under the published law", "documented", on(Before, func(m *model) { m.coldTimes = 0.66 }), "FA-8 FA-11"},
	{"rows are 3 ms late", "documented", on(After, func(m *model) { m.extraResponse = 3 * ms }), "FA-8"},
	{"a hand-over takes 10 ms longer than published", "documented", on(After, func(m *model) { m.extraSlot = 10 * ms }), "FA-3 FA-8 FA-9"},
	{"a hand-over takes 15 ms", "", on(After, func(m *model) { m.extraSlot = 15 * ms }), "FR-2 FR-3 fc-burst-after"},
	{"a hand-over takes 60 ms", "", on(After, func(m *model) { m.extraSlot = 60 * ms }), "fc-ramp-after-p99 FR-2 FR-3 FR-6"},
	{"each answer is 50 ms late", "", func(m *model) { m.extraResponse = 50 * ms }, "FR-2 FR-6 FR-9 fc-ramp-after-mean fc-ramp-after-p99"},
	{"every other answer is 40 ms late: pairs fall apart", "", on(After, func(m *model) { m.everyOther = 40 * ms }), "FR-4 fc-burst-after"},
	{"one instance too many is started", "", func(m *model) { m.extraStarts = 1 }, "FR-1 fc-quota"},
	{"a request is rejected", "", func(m *model) { m.reject = true }, "FR-1"},
	{"a cold request is served by another's start", "", on(Before, func(m *model) { m.otherStart = true }), "fc-ramp-halves fc-burst-before"},
	{"the limit of instances is not enforced", "", func(m *model) { m.quota = 0 }, "fc-quota"},
	{"the ramp has other waves", "", sized("fc-ramp", 1, 2, 4, 8, 16, 31), "fc-ramp-pattern FR-1 fc-ramp-halves"},
	{"the burst is five times the steady wave", "", sized("fc-burst", 2, 2, 2, 10, 2, 2, 2), "fc-burst-pattern FR-1"},
	{"the steady waves have three requests", "", sized("fc-burst", 3, 3, 3, 20, 3, 3, 3), "fc-burst-pattern fc-burst-before"},
	{"a quick run that is not marked as one", "", func(m *model) { m.quick = true }, "fc-ramp-pattern fc-burst-pattern"},
	{"cold starts of the uniform law under the label documented", "documented", on(Before, func(m *model) { m.coldLaw = "uniform" }), "fc-burst-table-before"},
	{"each answer is 50 ms late, row by row", "documented", func(m *model) { m.extraResponse = 50 * ms }, "fc-burst-table-before fc-burst-table-after"},
	{"waiters are not served by freed instances, row by row", "documented", on(After, func(m *model) { m.actAs = Before }), "fc-burst-table-after"},
}

func on(role Role, turn func(m *model)) func(m *model) {
	return func(m *model) {
		if m.role == role {
			turn(m)
		}
	}
}

func sized(pattern string, sizes ...int) func(m *model) {
	return func(m *model) {
		if m.pattern == pattern {
			m.sizes = sizes
		}
	}
}

func TestPlantedDefectsAreFound(t *testing.T) {
	claims := load(t)
	// A busy host is void, never a disagreement (TestBusyHost), and there is no twin of virtual time (TestTwin).
	found := map[string]bool{"FR-0": true, "FR-8": true}
	for _, p := range planted {
		law := p.law
		if law == "" {
			law = "uniform"
		}
		results := Check(claims, evidence(t, law, 7, false, true, p.turn))
		for _, id := range strings.Fields(p.claims) {
			found[id] = true
			if r := resultOf(t, results, id); r.Verdict != Disagrees || r.Reason == "" {
				t.Errorf("%s: %s = %s (%s; measured %s), want disagrees with a reason", p.defect, id, r.Verdict, r.Reason, r.Measured)
			}
		}
	}
	for _, c := range claims {
		if !found[c.ID] && c.Check != "stated" {
			t.Errorf("no planted defect makes %s disagree", c.ID)
		}
	}
}

// On a busy host times are void and counts are still judged (FR-0): by the calibration, by the run's own host, and by a
// generator that was late.
func TestBusyHost(t *testing.T) {
	for name, spoil := range map[string]func(e *Evidence){
		"calibration":  func(e *Evidence) { e.Host.Busy, e.Host.Reason = true, "p95 7 ms" },
		"during a run": func(e *Evidence) { eachRun(e, func(r *analysis.Run) { r.Host.Busy, r.Host.Reason = true, "p95 7 ms" }) },
		"late generator": func(e *Evidence) {
			eachRun(e, func(r *analysis.Run) {
				r.Summary.Warnings = append(r.Summary.Warnings, analysis.Warning{Code: analysis.WarnSendLag, Text: "p95 7 ms"})
			})
		},
	} {
		e := evidence(t, "uniform", 1, false, true, on(Before, func(m *model) { m.extraStarts = 1 }))
		spoil(&e)
		for _, r := range Check(load(t), e) {
			want := Agrees
			switch {
			case !canJudge(r.Claim, "uniform"):
				want = NotComparable
			case checks()[r.Claim.Check].timing, r.Claim.ID == "FR-0" && name == "calibration":
				want = Void
			case r.Claim.ID == "FR-1", r.Claim.ID == "fc-quota":
				want = Disagrees // the extra start is a count
			}
			if r.Verdict != want || want == Void && !strings.Contains(r.Reason, "p95 7 ms") {
				t.Errorf("%s: %s = %s (%s), want %s", name, r.Claim.ID, r.Verdict, r.Reason, want)
			}
		}
	}
}

func eachRun(e *Evidence, f func(r *analysis.Run)) {
	for _, c := range e.Cells {
		f(c.Run)
	}
}

// A run that was not begun because the host was too busy is void, also for counts: it must be repeated.
func TestHostTooBusyToBegin(t *testing.T) {
	e := evidence(t, "uniform", 1, false, true, nil)
	e.Host.Busy, e.Host.Reason = true, "p95 7 ms"
	for i := range e.Cells {
		e.Cells[i].Run, e.Cells[i].Failed = nil, "the host was too busy to begin"
	}
	for _, id := range []string{"FR-1", "FR-2", "fc-quota", "fc-online"} {
		if r := resultOf(t, Check(load(t), e), id); r.Verdict != Void || !strings.Contains(r.Reason, "p95 7 ms") {
			t.Errorf("%s = %s (%s), want void, p95 7 ms", id, r.Verdict, r.Reason)
		}
	}
}

// A calibration above the limit is void even if nobody marked the host as busy.
func TestHostLimit(t *testing.T) {
	e := evidence(t, "uniform", 1, false, false, nil)
	e.Host.Overshoot = analysis.Stats{N: 50, P95: 5*ms + 1}
	if r := resultOf(t, Check(load(t), e), "FR-0"); r.Verdict != Void {
		t.Errorf("FR-0 at 5.000001 ms = %s (%s), want void", r.Verdict, r.Reason)
	}
	e.Host = analysis.Host{}
	if r := resultOf(t, Check(load(t), e), "FR-0"); r.Verdict != NotComparable {
		t.Errorf("FR-0 in virtual time = %s (%s), want not comparable", r.Verdict, r.Reason)
	}
}

// What is missing leaves a claim undecided and says so; it never lets it pass.
func TestMissingEvidence(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(e *Evidence)
		ids   string
		want  Verdict
		text  string
	}{
		"no cell":              {func(e *Evidence) { e.Cells = nil }, "FR-1 FR-2 fc-ramp-after-mean fc-ramp-pattern", Inconclusive, "there is no run of fc-"},
		"a failed cell":        {func(e *Evidence) { e.Cells[0].Failed = "port in use" }, "FR-1 FR-10", Inconclusive, "failed: port in use"},
		"a cell without a run": {func(e *Evidence) { e.Cells[0].Run = nil }, "FR-1 FR-10", Inconclusive, "the run of fc-ramp in the role \"before\" failed"},
		"no records":           {func(e *Evidence) { eachRun(e, func(r *analysis.Run) { r.Records = nil }) }, "FR-1 FR-2 FR-6 fc-ramp-halves fc-burst-before", Inconclusive, "there are no records"},
		"one wave":             {func(e *Evidence) { eachRun(e, func(r *analysis.Run) { r.Records = r.Records[:1] }) }, "FR-1 FR-2 FR-6 fc-ramp-halves", Inconclusive, "fewer than two waves"},
		"a failed request":     {func(e *Evidence) { eachRun(e, func(r *analysis.Run) { r.Records[5].Outcome = record.Timeout }) }, "FR-2 FR-3 FR-4 FR-5 FR-6 FR-7 FR-9 FR-10 FR-11", Inconclusive, "1 of "},
		"no start kinds": {func(e *Evidence) {
			eachRun(e, func(r *analysis.Run) { r.Records[0].Server = record.Server{} })
		}, "FR-1 FR-5 FR-9 fc-ramp-halves fc-burst-before", Inconclusive, "do not tell how they were served"},
		"no cell with a limit of instances": {func(*Evidence) {}, "fc-quota", NotComparable, "loadgen verify fc-quota"},
		"another law":                       {func(e *Evidence) { e.Law = "constant:2350ms" }, "FR-1 FR-10 fc-quota", NotComparable, "under the cold-start law uniform or documented only, and this run has constant:2350ms"},
	} {
		e := evidence(t, "uniform", 3, false, false, nil)
		c.spoil(&e)
		results := Check(load(t), e)
		for _, id := range strings.Fields(c.ids) {
			if r := resultOf(t, results, id); r.Verdict != c.want || !strings.Contains(r.Reason, c.text) {
				t.Errorf("%s: %s = %s (%s), want %s with %q", name, id, r.Verdict, r.Reason, c.want, c.text)
			}
		}
	}
}

// Without the arrival shift of the published table its rows cannot be compared, and the reason says what to use.
func TestTableNeedsTheShift(t *testing.T) {
	results := Check(load(t), evidence(t, "documented", 1, false, false, func(m *model) { m.noShift = true }))
	for _, id := range []string{"fc-burst-table-before", "fc-burst-table-after"} {
		if r := resultOf(t, results, id); r.Verdict != NotComparable || !strings.Contains(r.Reason, "fc-burst-shifted") {
			t.Errorf("%s = %s (%s), want not comparable, use fc-burst-shifted", id, r.Verdict, r.Reason)
		}
	}
	for _, id := range []string{"FR-1", "FR-2", "FR-3", "FR-4", "fc-burst-after"} { // these hold with and without it
		if r := resultOf(t, results, id); r.Verdict != Agrees {
			t.Errorf("%s = %s (%s), want agrees", id, r.Verdict, r.Reason)
		}
	}
}

// A claim whose check has gone does not pass.
func TestUnknownCheckDoesNotAgree(t *testing.T) {
	if r := Check([]Claim{{ID: "x", Check: "no such check"}}, Evidence{})[0]; r.Verdict != Inconclusive {
		t.Errorf("Check = %s (%s), want inconclusive", r.Verdict, r.Reason)
	}
}
