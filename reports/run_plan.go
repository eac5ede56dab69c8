package reports

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"coldwave/analysis"
)

// RunPlan says how many runs a comparison needs.
type RunPlan struct {
	Meta     Meta
	Source   string // where the noise comes from, as a sentence
	Pattern  string
	Requests int     // of one run
	Runs     int     // a side, that were thought of
	Effect   float64 // change that is to be found, such as 0.05
	Rows     []PlanRow
}

// PlanRow is the plan of one metric.
type PlanRow struct {
	analysis.Yardstick
	N        int     // runs from which the noise was taken; 0: it was given
	Median   float64 // meaningless if N is 0
	Noise    float64 // standard deviation from run to run, on the scale of changes
	Half     float64 // half of the interval of Runs a side
	Shows    float64 // smallest change that Runs a side would likely show
	Needed   int     // runs a side that would likely show Effect
	Requests int     // of a run, from which the metric has limits of its own; 0: any number
}

// RunPlanText writes p as a table. Its only errors are those of w.
func RunPlanText(w io.Writer, p RunPlan, s Style) error {
	out := &printer{w: w, style: s}
	out.sentence(neededSentence(&p))
	out.grid(neededGrid(&p))
	for _, text := range neededMethod(&p) {
		out.sentence(text)
	}
	return out.err
}

// RunPlanMarkdown writes p as a table. Its only errors are those of w.
func RunPlanMarkdown(w io.Writer, p RunPlan) error {
	m := &markdown{}
	m.paragraph("## " + inMarkdown(neededSentence(&p)))
	m.table(neededGrid(&p))
	for _, text := range neededMethod(&p) {
		m.paragraph(inMarkdown(text))
	}
	_, err := io.WriteString(w, m.text.String())
	return err
}

// RunPlanHTML writes p as one self-contained page. Its errors are those of w.
func RunPlanHTML(w io.Writer, p RunPlan) error {
	page := &page{Title: "Plan of a comparison on " + p.Pattern, Verdict: neededSentence(&p), Tone: good, Method: neededMethod(&p), Environment: toolFacts(p.Meta)}
	page.Sections = []section{{ID: "plan", Title: "Runs needed", Figures: tableFigures([]grid{neededGrid(&p)})}}
	return page.write(w)
}

// RunPlanJSON writes p as one JSON document. Its only errors are those of w.
func RunPlanJSON(w io.Writer, p RunPlan) error {
	d := runPlanDoc{Schema: PlanSchema, Tool: metaFor(p.Meta, virtualDriver), Source: p.Source, Pattern: p.Pattern, Requests: p.Requests, Runs: p.Runs,
		Effect: p.Effect, Metrics: []planRowDoc{}}
	for _, r := range p.Rows {
		one := planRowDoc{Name: r.Name, N: r.N, Noise: finite(r.Noise), Half: finite(r.Half), Shows: finite(r.Shows), Needed: r.Needed, Requests: quotaOf(r.Requests)}
		if r.Needed > analysis.MaxNeeded {
			one.Needed = 0
		}
		if r.N > 0 {
			one.Median = finite(r.Median)
		}
		d.Metrics = append(d.Metrics, one)
	}
	return encode(w, d)
}

// PlanSchema is the schema id of a plan of runs.
const PlanSchema = "loadgen.compare-plan/1"

type runPlanDoc struct {
	Schema   string       `json:"schema"`
	Tool     metaDoc      `json:"tool"`
	Source   string       `json:"noise_from"`
	Pattern  string       `json:"pattern"`
	Requests int          `json:"requests_per_run"`
	Runs     int          `json:"runs"`
	Effect   float64      `json:"effect"`
	Metrics  []planRowDoc `json:"metrics"`
}

type planRowDoc struct {
	Name     string   `json:"name"`
	N        int      `json:"n"`
	Median   *float64 `json:"median"`
	Noise    *float64 `json:"noise"`
	Half     *float64 `json:"half_width"`
	Shows    *float64 `json:"detectable"`
	Needed   int      `json:"needed_runs"` // 0: more than can be made
	Requests *int     `json:"requests_per_run_for_limits"`
}

func neededSentence(p *RunPlan) string {
	return fmt.Sprintf("Runs a side that would likely (80 %%) show a change of %s on %s. %s", percent(p.Effect), p.Pattern, p.Source)
}

func neededGrid(p *RunPlan) grid {
	g := grid{Caption: "Plan", Columns: []column{
		{Name: "metric"}, {Name: "runs", Number: true}, {Name: "median", Number: true}, {Name: "noise", Number: true},
		{Name: fmt.Sprintf("95 %% of %d runs", p.Runs), Number: true}, {Name: fmt.Sprintf("%d runs show", p.Runs), Number: true},
		{Name: "runs for " + percent(p.Effect), Number: true}, {Name: "requests a run", Number: true},
	}}
	for i := range p.Rows {
		r := &p.Rows[i]
		c := &analysis.Comparison{Yardstick: r.Yardstick}
		median, needed, requests := "n/a", strconv.Itoa(r.Needed), "any"
		if r.N > 0 {
			median = metricText(c, r.Median)
		}
		if r.Needed > analysis.MaxNeeded {
			needed = "> " + thousands(analysis.MaxNeeded)
		}
		if r.Requests > 0 {
			requests = "≥ " + thousands(r.Requests)
		}
		g.add(r.Name, count(r.N), median, changeText(c, r.Noise, false), "± "+changeText(c, r.Half, false), changeText(c, r.Shows, false), needed, requests)
	}
	return g
}

func neededMethod(p *RunPlan) []string {
	return []string{
		"Noise: standard deviation from run to run. Half of the 95 % interval is about 2.1 · noise · sqrt(2 ÷ runs); a change further than 2.94 · noise " +
			"· sqrt(2 ÷ runs) from a limit is found in 80 % of the cases. A verdict needs that distance from its margin, not from 0.",
		fmt.Sprintf("A run of %s sends %s requests, so %d runs a side are %s. \"requests a run\": from how many on one run alone has an upper limit of the "+
			"quantile; across runs any number is compared.", p.Pattern, thousands(p.Requests), p.Runs, thousands(p.Requests*p.Runs)),
	}
}

// PlanRowOf plans one metric at that noise, which is on the scale of changes.
func PlanRowOf(y analysis.Yardstick, noise, effect float64, runs int) PlanRow {
	scaled, wanted, back := noise, effect, func(x float64) float64 { return x }
	if y.Scale == analysis.Ratio {
		scaled, wanted, back = math.Log1p(noise), math.Log1p(effect), math.Expm1
	}
	r := PlanRow{Yardstick: y, Noise: noise, Half: back(analysis.HalfWidth(scaled, runs)), Shows: back(analysis.Detectable(scaled, runs)),
		Needed: analysis.RunsFor(wanted, scaled)}
	if s, err := analysis.ParseSelector(y.Name); err == nil && s.Stat == analysis.QuantileStat {
		r.Requests = analysis.LeastRequests(s.Q)
	}
	return r
}
