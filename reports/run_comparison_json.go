package reports

import (
	"io"

	"coldwave/analysis"
)

// RunsSchema is the schema id of a comparison of runs.
const RunsSchema = "loadgen.compare-runs/1"

// RunComparisonJSON writes c as one JSON document of RunsSchema: durations in nanoseconds, shares from 0 to 1, changes as
// B ÷ A − 1 or as differences of shares. What cannot be given is null. Its only errors are those of w.
func RunComparisonJSON(w io.Writer, c RunComparison) error {
	d := sessionDoc{
		Schema: RunsSchema, Tool: metaFor(c.Meta, c.Driver), ID: known(idFor(c.ID, c.Driver)), Driver: c.Driver, Pattern: c.Pattern, Canonical: c.Canonical,
		Law: known(c.Law), Seed: c.Seed, Confidence: c.Level, Method: "hodges-lehmann, exact mann-whitney interval, holm over the metrics",
		AA: c.AA, Wanted: c.Wanted, Valid: c.Valid(), Lanes: c.Lanes, Elapsed: elapsedFor(int64(c.Elapsed), c.Driver), Verdict: changeSentence(&c),
		Sides: []sessionSideDoc{}, Pairs: []sessionPairDoc{}, Void: []voidDoc{}, Differing: append([]string{}, c.Differing...),
		Notes: append([]string{}, c.Notes...),
	}
	if c.Paired {
		d.Method = "hodges-lehmann of walsh averages, exact wilcoxon signed-rank interval, holm over the metrics"
	}
	for i := range c.Sides {
		d.Sides = append(d.Sides, sessionSideOf(&c.Sides[i]))
	}
	for i := range c.Pairs {
		d.Pairs = append(d.Pairs, sessionPairOf(&c.Pairs[i]))
	}
	for _, v := range c.Void {
		d.Void = append(d.Void, voidDoc(v))
	}
	return encode(w, d)
}

type sessionDoc struct {
	Schema     string           `json:"schema"`
	Tool       metaDoc          `json:"tool"`
	ID         *string          `json:"id"`
	Driver     string           `json:"driver"`
	Pattern    string           `json:"pattern"`
	Canonical  string           `json:"canonical"`
	Law        *string          `json:"law"`
	Seed       uint64           `json:"seed"`
	Confidence float64          `json:"confidence"`
	Method     string           `json:"method"`
	AA         bool             `json:"a_a"`
	Wanted     int              `json:"wanted_runs"`
	Valid      bool             `json:"valid"`
	Lanes      int              `json:"runs_at_once"`
	Elapsed    *int64           `json:"elapsed_ns"`
	Verdict    string           `json:"verdict"`
	Sides      []sessionSideDoc `json:"sides"`
	Pairs      []sessionPairDoc `json:"pairs"`
	Void       []voidDoc        `json:"void_rounds"`
	Differing  []string         `json:"differing_facts"`
	Notes      []string         `json:"notes"`
}

type sessionSideDoc struct {
	Name     string    `json:"name"`
	Labels   []string  `json:"start_sources"`
	Requests int64     `json:"requests"`
	Runs     []tookDoc `json:"runs"`
}

// tookDoc is one run: its numbers by metric.
type tookDoc struct {
	ID    string                    `json:"id"`
	Seed  uint64                    `json:"seed"`
	Stats map[string]analysis.Value `json:"stats"`
}

type sessionPairDoc struct {
	A       string      `json:"a"`
	B       string      `json:"b"`
	Metrics []changeDoc `json:"metrics"`
	Deciles []decileDoc `json:"deciles"`
}

type changeDoc struct {
	Name      string   `json:"name"`
	Doc       string   `json:"description"`
	Scale     string   `json:"scale"`
	Better    string   `json:"better"`
	Primary   bool     `json:"primary"`
	Margin    float64  `json:"margin"`
	RunsA     int      `json:"runs_a"`
	RunsB     int      `json:"runs_b"`
	CensoredA int      `json:"timed_out_a"`
	CensoredB int      `json:"timed_out_b"`
	MedianA   *float64 `json:"median_a"`
	MedianB   *float64 `json:"median_b"`
	Change    *float64 `json:"change"`
	Low       *float64 `json:"change_low"`
	High      *float64 `json:"change_high"`
	P         *float64 `json:"p"`
	Adjusted  *float64 `json:"p_beyond_margin_holm"`
	Noise     *float64 `json:"noise"`
	Verdict   string   `json:"verdict"`
	Reason    *string  `json:"reason"`
	Needed    *int     `json:"needed_runs"`
}

type decileDoc struct {
	Q     float64  `json:"q"`
	Ratio *float64 `json:"ratio"`
	Low   *float64 `json:"ratio_low"`
	High  *float64 `json:"ratio_high"`
}

type voidDoc struct {
	Round  int    `json:"round"`
	Reason string `json:"reason"`
}

func sessionSideOf(s *RunSide) sessionSideDoc {
	d := sessionSideDoc{Name: s.Name, Labels: append([]string{}, s.Labels...), Requests: s.Requests, Runs: []tookDoc{}}
	for _, r := range s.Runs {
		d.Runs = append(d.Runs, tookDoc{ID: r.ID, Seed: r.Seed, Stats: r.Stats})
	}
	return d
}

func sessionPairOf(p *RunPair) sessionPairDoc {
	d := sessionPairDoc{A: p.A, B: p.B, Metrics: []changeDoc{}, Deciles: []decileDoc{}}
	for i := range p.Rows {
		d.Metrics = append(d.Metrics, changeOfRow(&p.Rows[i]))
	}
	for _, q := range p.Deciles {
		one := decileDoc{Q: q.Q}
		if q.OK {
			one.Ratio = finite(q.Ratio)
		}
		if q.OK && q.In.OK {
			one.Low, one.High = finite(q.In.Low), finite(q.In.High)
		}
		d.Deciles = append(d.Deciles, one)
	}
	return d
}

func changeOfRow(r *analysis.Comparison) changeDoc {
	d := changeDoc{
		Name: r.Name, Doc: r.Doc, Scale: "ratio", Better: "lower", Primary: r.Primary, Margin: r.Margin, RunsA: r.RunsA, RunsB: r.RunsB,
		CensoredA: r.CensoredA, CensoredB: r.CensoredB, Verdict: string(r.Change), Reason: known(r.Reason), Needed: quotaOf(r.Needed),
	}
	if r.Scale == analysis.Difference {
		d.Scale = "difference"
	}
	if r.Better == analysis.HigherIsBetter {
		d.Better = "higher"
	}
	if r.RunsA > 0 {
		d.MedianA = finite(r.MedianA)
	}
	if r.RunsB > 0 {
		d.MedianB = finite(r.MedianB)
	}
	if r.RunsA == 0 || r.RunsB == 0 {
		return d
	}
	d.Change, d.P, d.Adjusted, d.Noise = finite(r.Effect), finite(r.P), finite(r.Adjusted), finite(r.Noise)
	d.Low, d.High = ends(r.In)
	return d
}
