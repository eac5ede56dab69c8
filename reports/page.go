package reports

import (
	"fmt"
	"strings"

	"coldwave/analysis"
	"coldwave/references"
)

// A claimView is one line of the table of claims.
type claimView struct {
	references.Result
	Tone tone
	Laws string
}

type tallyView struct {
	Text string
	Tone tone
}

func verificationPage(v Verification, l Limits) (*page, error) {
	ps := pairs(v.Runs)
	p := &page{
		Title: "Verification " + v.ID, Verdict: sentence(v.Claims), Tone: overall(v.Claims), Claims: claimViews(v.Claims),
		Tally: tallyViews(v.Claims), Facts: verificationFacts(v, ps), Environment: environment(v.Meta, v.Runs), Method: method,
	}
	p.Environment = append([]fact{{"tries until the host was calm", count(v.Tries)}, {"elapsed", duration(v.Elapsed)}}, p.Environment...)
	if v.Suite != nil {
		p.Title, p.Facts = v.Suite.Title+" "+v.ID, suiteFacts(v)
		p.Sections = []section{suiteSection(v)}
		p.Environment = append(p.Environment[:2:2], environment(v.Meta, nil)...)
		if v.Driver == virtualDriver {
			return p, nil // a chart of each of many small scenes shows nothing that the claims do not say
		}
		ps = scenePairs(v.Runs)
	}
	for i := range v.Runs {
		p.warn(&v.Runs[i])
	}
	return p, p.charts(ps, v.Ladder, l)
}

func suiteFacts(v Verification) []string {
	facts := []string{"suite " + v.Suite.Name, fmt.Sprintf("%d scenes", len(v.Runs)), driver(v.Driver), fmt.Sprintf("seed %d", v.Meta.Seed)}
	if at := wallTime(v.Meta.Began); at != "" {
		facts = append(facts, at)
	}
	return facts
}

func singlePage(r Single, l Limits) (*page, error) {
	ps := pairs([]analysis.Run{r.Run})
	p := &page{
		Title: "Run " + r.Run.ID, Verdict: singleVerdict(&r.Run), Tone: singleTone(&r.Run), Method: method,
		Facts: []string{runSentence(&r)}, Environment: environment(r.Meta, []analysis.Run{r.Run}),
	}
	p.warn(&r.Run)
	p.judged(r.Gates)
	p.Sections = append(p.Sections, section{ID: "numbers", Title: "Response times", Figures: []*figure{
		{Tables: []grid{kindGrid(&r.Run)}, Open: true}, {Tables: []grid{singleWaveGrid(&r.Run)}, Open: true},
		{Tables: []grid{windowGrid(&r.Run)}, Open: true},
	}})
	return p, p.charts(ps, nil, l)
}

// charts adds the sections that both kinds of page have, in reading order.
func (p *page) charts(ps []pair, rows []references.LadderRow, l Limits) error {
	latency, err := latencySection(ps, l)
	if err != nil {
		return err
	}
	p.Sections = append(p.Sections, latency)
	if len(rows) > 0 {
		p.Sections = append(p.Sections, ladderSection(rows))
	}
	for _, s := range []section{windowSection(ps), waveSection(ps), instanceSection(ps), nodeSection(ps), percentileSection(ps), healthSection(ps)} {
		if len(s.Figures) > 0 || s.ID == "instances" {
			p.Sections = append(p.Sections, s)
		}
	}
	return nil
}

func (p *page) warn(r *analysis.Run) {
	for _, w := range r.Summary.Warnings {
		p.Warnings = append(p.Warnings, analysis.Warning{Code: w.Code, Text: r.Pattern + " " + subject(r) + ": " + w.Text})
	}
}

func claimViews(claims []references.Result) []claimView {
	views := make([]claimView, len(claims))
	for i, c := range claims {
		c.Reason = withCommand(c)
		views[i] = claimView{Result: c, Tone: toneOf(c.Verdict), Laws: strings.Join(c.Claim.Laws, ", ")}
	}
	return views
}

func tallyViews(claims []references.Result) []tallyView {
	t := tallyOf(claims)
	var views []tallyView
	for _, v := range verdicts {
		if t[v] > 0 {
			views = append(views, tallyView{fmt.Sprintf("%d %s", t[v], predicate(v, t[v])), toneOf(v)})
		}
	}
	return views
}

func verificationFacts(v Verification, ps []pair) []string {
	names := make([]string, len(ps))
	for i, p := range ps {
		names[i] = p.Pattern
	}
	facts := []string{strings.Join(names, " and "), sidesText(ps), driver(v.Driver), "cold-start law " + v.Law,
		fmt.Sprintf("seed %d", v.Meta.Seed)}
	if v.Quick {
		facts = append(facts, "shortened gap between waves")
	}
	if at := wallTime(v.Meta.Began); at != "" {
		facts = append(facts, at)
	}
	return facts
}

func sidesText(ps []pair) string {
	if len(ps) == 0 {
		return "no run"
	}
	names := make([]string, len(ps[0].Cells))
	for i, c := range ps[0].Cells {
		names[i] = c.Label()
	}
	return strings.Join(names, " against ")
}

// singleVerdict is the first sentence of a run's page: what came of its requests.
func singleVerdict(r *analysis.Run) string {
	s := &r.Summary
	if r.Host.Busy {
		return "The host was too busy for the times of this run to mean anything."
	}
	if s.OK.N == 0 {
		return outcomeSentence(s) + ": no request succeeded."
	}
	return fmt.Sprintf("%s; response time p50 %s, p99 %s.", outcomeSentence(s), duration(s.OK.P50), duration(s.OK.P99))
}

func singleTone(r *analysis.Run) tone {
	s := &r.Summary
	switch {
	case r.Host.Busy || len(s.Warnings) > 0:
		return doubt
	case s.OK.N < s.Scheduled || s.OK.N == 0:
		return bad
	}
	return good
}

// environment lists what a reader needs to repeat the result.
func environment(m Meta, runs []analysis.Run) []fact {
	facts := []fact{
		{"program", strings.TrimSpace(m.Tool + " " + m.Version)}, {"commit", m.Commit}, {"Go", m.Go}, {"system", m.OS},
		{"processors", count(m.CPUs)}, {"began", wallTime(m.Began)}, {"command", m.Command}, {"seed", fmt.Sprint(m.Seed)},
	}
	for i := range runs {
		r := &runs[i]
		facts = append(facts, fact{"run " + r.ID, fmt.Sprintf("%s, %s, schedule %s", r.Pattern, subject(r), r.Hash)})
	}
	return facts
}

// method says how the numbers were made, for a reader who has only this page.
var method = []string{
	"Open loop: the schedule is fixed before anything is sent, and no answer delays a request. Response time runs from " +
		"the intended start to the last byte of the answer, so time that the generator lost is in it.",
	"Percentiles are exact: the nearest rank of the sorted sample, never interpolated. A curve ends where the sample ends.",
	"Start kinds are told by the scheduler: warm went to an idle instance at once; queued waited and was served by an " +
		"instance that others had used; cold was the first request of a new instance; cold_wait waited for a starting " +
		"instance, but was not its first request.",
	"Tolerances of the claims were stated before the run and hold for any seed.",
}
