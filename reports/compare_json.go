package reports

import (
	"io"

	"coldwave/analysis"
)

// ComparisonJSON writes c as one JSON document of CompareSchema, with the units of VerificationJSON. It holds nothing of
// the host: equal seeds give equal bytes. Its only errors are those of w.
func ComparisonJSON(w io.Writer, c Comparison) error {
	d := compareDoc{Schema: CompareSchema, Tool: metaFor(c.Meta, virtualDriver), settingDoc: settingOf(&c.Setting),
		Method: "paired on common seeds: median of the differences, exact sign-test interval", Sides: []sideDoc{}, Pairs: []pairDoc{}, Standings: standingsOf(&c.Standings)}
	for _, s := range c.Sides {
		d.Sides = append(d.Sides, sideDoc{Name: s.Name, Policy: s.Policy, Requests: s.Requests, Log: known(s.Log)})
	}
	for i := range c.Pairs {
		p := pairDoc{A: c.Pairs[i].A, B: c.Pairs[i].B, Metrics: []pairedDoc{}}
		for k := range c.Pairs[i].Rows {
			p.Metrics = append(p.Metrics, pairedOf(&c.Pairs[i].Rows[k]))
		}
		d.Pairs = append(d.Pairs, p)
	}
	return encode(w, d)
}

type compareDoc struct {
	Schema string  `json:"schema"`
	Tool   metaDoc `json:"tool"`
	settingDoc
	Method string    `json:"method"`
	Sides  []sideDoc `json:"sides"`
	Pairs  []pairDoc `json:"pairs"`

	Standings standingsDoc `json:"standings"`
}

type sideDoc struct {
	Name     string  `json:"name"`
	Policy   string  `json:"policy"`
	Requests int64   `json:"requests"`
	Log      *string `json:"event_log_sha256"`
}

type pairDoc struct {
	A       string      `json:"a"`
	B       string      `json:"b"`
	Metrics []pairedDoc `json:"metrics"`
}

// pairedDoc is one metric of two sides; what cannot be given is null.
type pairedDoc struct {
	Name           string   `json:"name"`
	Unit           string   `json:"unit"`
	Doc            string   `json:"description"`
	N              int      `json:"n"`
	MedianA        *int64   `json:"median_a"`
	MedianB        *int64   `json:"median_b"`
	Difference     *float64 `json:"difference"`
	DifferenceLow  *float64 `json:"difference_low"`
	DifferenceHigh *float64 `json:"difference_high"`
	MeanDifference *float64 `json:"difference_mean"`
	Ratio          *float64 `json:"ratio"`
	RatioLow       *float64 `json:"ratio_low"`
	RatioHigh      *float64 `json:"ratio_high"`
	Less           int      `json:"seeds_b_less"`
	Equal          int      `json:"seeds_equal"`
	More           int      `json:"seeds_b_more"`
	Finding        string   `json:"b_is"`
}

func pairedOf(p *analysis.Paired) pairedDoc {
	d := pairedDoc{Name: p.Metric.Name, Unit: unitNames[p.Metric.Unit], Doc: p.Metric.Doc, N: p.N, Less: p.Less, Equal: p.Equal,
		More: p.More, Finding: string(p.Finding())}
	if p.N == 0 {
		return d
	}
	d.MedianA, d.MedianB, d.Difference, d.MeanDifference = &p.MedianA, &p.MedianB, finite(p.Difference), finite(p.MeanDifference)
	d.DifferenceLow, d.DifferenceHigh = ends(p.DifferenceIn)
	if p.RatioOK {
		d.Ratio = finite(p.Ratio)
		d.RatioLow, d.RatioHigh = ends(p.RatioIn)
	}
	return d
}
