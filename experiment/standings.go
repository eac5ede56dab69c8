package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"coldwave/analysis"
	"coldwave/reports"
	"coldwave/scheduler"
	"coldwave/workload"
)

// ErrJudging is wrapped by the error for a Judging that is none.
var ErrJudging = errors.New("bad rule of the Pareto front")

// Judging says which of several candidates are on the Pareto front. The zero value weighs the 0.99 quantile of the response
// time against instance-time, among those that served every request.
type Judging struct {
	Latency string  // name of a metric of response time; empty: DefaultLatency
	NotOK   float64 // largest share of requests that may end otherwise than ok, in [0, 1)
}

// DefaultLatency is the metric of the first axis, costMetric that of the second: what the oracle has the least of.
const (
	DefaultLatency = "response_p99"
	costMetric     = "allocated"
)

// check returns an error that wraps ErrJudging.
func (j Judging) check() error {
	if !(j.NotOK >= 0 && j.NotOK < 1) {
		return fmt.Errorf("%w: share of requests that are not ok %v: must be at least 0 and below 1", ErrJudging, j.NotOK)
	}
	if k := find(analysis.Metrics(), j.latency()); k < 0 || analysis.Metrics()[k].Unit != analysis.Latency {
		return fmt.Errorf("%w: %q is no metric of response time", ErrJudging, j.Latency)
	}
	return nil
}

func (j Judging) latency() string {
	if j.Latency == "" {
		return DefaultLatency
	}
	return j.Latency
}

func find(metrics []analysis.Metric, name string) int {
	return slices.IndexFunc(metrics, func(m analysis.Metric) bool { return m.Name == name })
}

// OracleReason says why Oracle cannot serve the cell's requests within its limits, if a run keeps that many of them; empty:
// it can. The error is that of the context or of the pattern.
func OracleReason(ctx context.Context, c Cell, exact int) (string, error) {
	switch n := c.Profile.Function.Concurrency; {
	case c.Max != scheduler.Unlimited:
		return fmt.Sprintf("no quota binds the oracle, and there is one of %d instances", c.Max), nil
	case n > 1:
		return fmt.Sprintf("the oracle knows instances for one request at a time, and these take %d", n), nil
	}
	_, err := Simulation{Cell: c, Exact: exact}.schedule(ctx)
	if errors.Is(err, workload.ErrTooMany) {
		return "it needs the whole schedule in memory, and that has more requests than --exact keeps", nil
	}
	return "", err
}

// judged are the indices of the metrics that decide.
type judged struct{ latency, cost, notOK int }

// standings compares all cells with each other. Label returns how a cell is called in tables.
func (s Seeds) standings(lots []lot, metrics []analysis.Metric, level float64, label func(cell int) []string) reports.Standings {
	at := judged{find(metrics, s.Judging.latency()), find(metrics, costMetric), find(metrics, "not_ok")}
	out := reports.Standings{
		Latency: metrics[at.latency], Cost: metrics[at.cost], Allowed: s.Judging.NotOK, Oracle: reports.NoOracle,
		All: make([]reports.Standing, len(s.Cells)),
	}
	medians := make([]analysis.Candidate, len(s.Cells))
	for i := range s.Cells {
		one := &out.All[i]
		*one = reports.Standing{
			Labels: label(i), Policy: s.Cells[i].Policy, Requests: requests(lots, i), Tariff: s.Cells[i].tariff(), Log: s.log(lots, i),
		}
		for k, m := range metrics[:len(analysis.Metrics())] { // not those of waves
			one.Spreads = append(one.Spreads, analysis.SpreadOf(m, sampleOf(lots, i, k), level))
		}
		for k := range lots {
			one.NotOK += lots[k].trials[i].values[at.notOK]
		}
		medians[i] = s.Judging.candidate(one.Spreads[at.latency].N > 0, one.Spreads[at.latency].Median, one.Spreads[at.cost].Median, one.NotOK, one.Requests)
		if s.Cells[i].isOracle() && out.Oracle == reports.NoOracle {
			out.Oracle = i
		}
	}
	var best analysis.Candidate
	if out.Oracle != reports.NoOracle { // it knows the future: it is what the others are measured by, and none of them
		best, medians[out.Oracle].OK = medians[out.Oracle], false
	}
	for i, p := range analysis.Pareto(medians, best) {
		out.All[i].Place = p
	}
	if best.OK {
		out.All[out.Oracle].Place = analysis.Place{OK: true, Behind: 1, Latency: 1, Cost: 1}
	}
	s.countFronts(lots, at, &out)
	return out
}

// candidate takes part if it served the requests.
func (j Judging) candidate(answered bool, latency, cost, notOK, requests int64) analysis.Candidate {
	return analysis.Candidate{OK: answered && float64(notOK) <= j.NotOK*float64(requests), Latency: latency, Cost: cost}.Coarse()
}

// countFronts counts on how many seeds each cell is on the front.
func (s Seeds) countFronts(lots []lot, at judged, out *reports.Standings) {
	seed := make([]analysis.Candidate, len(s.Cells))
	for k := range lots {
		for i := range s.Cells {
			t := &lots[k].trials[i]
			latency := t.values[at.latency]
			seed[i] = s.Judging.candidate(latency != analysis.Missing, latency, t.values[at.cost], t.values[at.notOK], t.requests)
		}
		if out.Oracle != reports.NoOracle {
			seed[out.Oracle].OK = false
		}
		for i, p := range analysis.Pareto(seed, analysis.Candidate{}) {
			if p.Front {
				out.All[i].FrontSeeds++
			}
		}
	}
}
