package reports

// standingsDoc is several candidates and their Pareto front; what cannot be given is null.
type standingsDoc struct {
	Latency    string        `json:"latency"`
	Cost       string        `json:"cost"`
	Allowed    float64       `json:"allowed_not_ok"`
	Best       *string       `json:"best"` // null: the best of each number
	Candidates []standingDoc `json:"candidates"`
	Notes      []string      `json:"notes"`
}

type standingDoc struct {
	Labels   map[string]string    `json:"labels"`
	Policy   string               `json:"policy"`
	Requests int64                `json:"requests"`
	NotOK    int64                `json:"not_ok"`
	Platform *string              `json:"billed_as"` // null: not documented
	Oracle   bool                 `json:"oracle"`    // it is the best possible, and no candidate
	Log      *string              `json:"event_log_sha256"`
	Place    placeDoc             `json:"place"`
	Metrics  map[string]medianDoc `json:"metrics"`
}

type placeDoc struct {
	TakesPart    bool     `json:"takes_part"`
	Front        bool     `json:"front"`
	FrontSeeds   int      `json:"front_seeds"`
	Behind       *float64 `json:"behind"`
	LatencyRatio *float64 `json:"latency_ratio_to_best"`
	CostRatio    *float64 `json:"cost_ratio_to_best"`
}

// medianDoc is a metric over the seeds.
type medianDoc struct {
	Unit   string   `json:"unit"`
	N      int      `json:"n"`
	Median *int64   `json:"median"`
	Low    *float64 `json:"median_low"`
	High   *float64 `json:"median_high"`
}

func standingsOf(s *Standings) standingsDoc {
	d := standingsDoc{Latency: s.Latency.Name, Cost: s.Cost.Name, Allowed: s.Allowed, Candidates: []standingDoc{}, Notes: append([]string{}, s.Notes...)}
	if s.Oracle != NoOracle && s.Oracle < len(s.All) {
		d.Best = &s.All[s.Oracle].Policy
	}
	for i := range s.All {
		d.Candidates = append(d.Candidates, standingOf(&s.All[i], s.Columns))
		d.Candidates[i].Oracle = i == s.Oracle
	}
	return d
}

func standingOf(s *Standing, columns []string) standingDoc {
	d := standingDoc{Labels: map[string]string{}, Policy: s.Policy, Requests: s.Requests, NotOK: s.NotOK, Metrics: map[string]medianDoc{}, Log: known(s.Log),
		Place: placeDoc{TakesPart: s.Place.OK, Front: s.Place.Front, FrontSeeds: s.FrontSeeds}}
	if s.Place.OK {
		d.Place.Behind, d.Place.LatencyRatio, d.Place.CostRatio = finite(s.Place.Behind), finite(s.Place.Latency), finite(s.Place.Cost)
	}
	if s.Tariff != nil {
		d.Platform = &s.Tariff.Platform
	}
	for k, v := range s.Labels {
		d.Labels[columns[k]] = v
	}
	for i := range s.Spreads {
		m := &s.Spreads[i]
		one := medianDoc{Unit: unitNames[m.Metric.Unit], N: m.N}
		if m.N > 0 {
			one.Median = &m.Median
			one.Low, one.High = ends(m.MedianIn)
		}
		d.Metrics[m.Metric.Name] = one
	}
	return d
}
