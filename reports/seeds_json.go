package reports

import (
	"io"

	"coldwave/analysis"
	"coldwave/workload"
)

// SeedsSchema and CompareSchema are the schema ids of runs over seeds.
const (
	SeedsSchema   = "loadgen.seeds/1"
	CompareSchema = "loadgen.compare/1"
)

// SeedsJSON writes s as one JSON document of SeedsSchema, with the units of VerificationJSON. It holds nothing of the
// host: equal seeds give equal bytes. Its only errors are those of w.
func SeedsJSON(w io.Writer, s Seeds) error {
	d := seedsDoc{
		Schema: SeedsSchema, Tool: metaFor(s.Meta, virtualDriver), settingDoc: settingOf(&s.Setting), Policy: s.Policy,
		Requests: s.Requests, Waves: s.Waves, Log: known(s.Log), Metrics: []spreadDoc{}, Trials: []trialDoc{},
		Gates: gateDocs(s.Gates),
	}
	for i := range s.Spreads {
		d.Metrics = append(d.Metrics, spreadOf(&s.Spreads[i]))
	}
	for i := range s.Trials {
		d.Trials = append(d.Trials, trialOf(&s.Trials[i], s.Spreads))
	}
	return encode(w, d)
}

type seedsDoc struct {
	Schema string  `json:"schema"`
	Tool   metaDoc `json:"tool"`
	settingDoc
	Policy   string      `json:"policy"`
	Requests int64       `json:"requests"`
	Waves    int         `json:"waves"`
	Log      *string     `json:"event_log_sha256"`
	Metrics  []spreadDoc `json:"metrics"`
	Trials   []trialDoc  `json:"trials"`
	Gates    []gateDoc   `json:"gates"`
}

type settingDoc struct {
	Driver     string            `json:"driver"`
	Pattern    string            `json:"pattern"`
	Canonical  string            `json:"canonical"`
	Law        string            `json:"law"`
	Function   workload.Function `json:"function"`
	Quota      *int              `json:"quota"`
	Seed       uint64            `json:"seed"`
	Runs       int               `json:"runs"`
	Confidence float64           `json:"confidence"`
	Schedules  string            `json:"schedules_sha256"`
	Quantiles  string            `json:"quantiles"`
}

func settingOf(s *Setting) settingDoc {
	return settingDoc{
		Driver: virtualDriver, Pattern: s.Pattern, Canonical: s.Canonical, Law: s.Law, Function: s.Function, Quota: quotaOf(s.Quota),
		Seed: s.Seed, Runs: s.Runs, Confidence: s.Level, Schedules: s.Schedules, Quantiles: quantiles(s.Buckets),
	}
}

// unitNames are the units of metrics in files.
var unitNames = map[analysis.Unit]string{
	analysis.Requests: "requests", analysis.Instances: "instances", analysis.Latency: "ns", analysis.InstanceTime: "instance_ns",
	analysis.RequestTime: "request_ns", analysis.Nodes: "nodes", analysis.NodeTime: "node_ns",
}

// spreadDoc is one metric over the runs; what cannot be given is null.
type spreadDoc struct {
	Name       string   `json:"name"`
	Unit       string   `json:"unit"`
	Doc        string   `json:"description"`
	N          int      `json:"n"`
	Mean       *float64 `json:"mean"`
	MeanLow    *float64 `json:"mean_low"`
	MeanHigh   *float64 `json:"mean_high"`
	Deviation  *float64 `json:"standard_deviation"`
	Min        *int64   `json:"min"`
	P5         *int64   `json:"p5"`
	Median     *int64   `json:"median"`
	MedianLow  *float64 `json:"median_low"`
	MedianHigh *float64 `json:"median_high"`
	P95        *int64   `json:"p95"`
	Max        *int64   `json:"max"`
}

func spreadOf(s *analysis.Spread) spreadDoc {
	d := spreadDoc{Name: s.Metric.Name, Unit: unitNames[s.Metric.Unit], Doc: s.Metric.Doc, N: s.N}
	if s.N == 0 {
		return d
	}
	d.Mean, d.Min, d.P5, d.Median, d.P95, d.Max = finite(s.Mean), &s.Min, &s.P5, &s.Median, &s.P95, &s.Max
	d.MeanLow, d.MeanHigh = ends(s.MeanSpan)
	d.MedianLow, d.MedianHigh = ends(s.MedianIn)
	if s.N > 1 {
		d.Deviation = finite(s.Deviation)
	}
	return d
}

// ends returns the ends of an interval; nil if there is none.
func ends(s analysis.Span) (low, high *float64) {
	if !s.OK {
		return nil, nil
	}
	return finite(s.Low), finite(s.High)
}

type trialDoc struct {
	Seed     uint64            `json:"seed"`
	Schedule string            `json:"schedule_hash"`
	Log      *string           `json:"event_log_sha256"`
	Values   map[string]*int64 `json:"values"`
}

func trialOf(t *Trial, metrics []analysis.Spread) trialDoc {
	d := trialDoc{Seed: t.Seed, Schedule: t.Schedule, Log: known(t.Log), Values: map[string]*int64{}}
	for i := range t.Values {
		d.Values[metrics[i].Metric.Name] = nil
		if t.Values[i] != analysis.Missing {
			d.Values[metrics[i].Metric.Name] = &t.Values[i]
		}
	}
	return d
}
