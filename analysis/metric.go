package analysis

import (
	"fmt"
	"time"

	"coldwave/record"
)

// Unit says what the numbers of a metric count.
type Unit uint8

// The units of metrics.
const (
	Requests     Unit = iota // a number of requests
	Instances                // a number of instances
	Nodes                    // a number of nodes
	Latency                  // response time, in nanoseconds
	InstanceTime             // time summed over instances, in nanoseconds
	RequestTime              // time summed over requests, in nanoseconds
	NodeTime                 // time summed over nodes, in nanoseconds
)

// IsTime says whether the unit is nanoseconds.
func (u Unit) IsTime() bool { return u >= Latency }

// Metric is one number of a run: what runs are compared by.
type Metric struct {
	Name string // in files and reports; the unit is not part of it
	Unit Unit
	Doc  string // one phrase
	of   func(*Summary) (int64, bool)
}

// Of returns the metric of a run; false if the run has none, as for the response time of no request.
func (m Metric) Of(s *Summary) (int64, bool) { return m.of(s) }

// Metrics lists all metrics in the order of reports.
func Metrics() []Metric {
	return []Metric{
		{"response_mean", Latency, "mean response time of the successful requests", ofOK(func(s Stats) time.Duration { return s.Mean })},
		{"response_p50", Latency, "median response time", ofOK(func(s Stats) time.Duration { return s.P50 })},
		{"response_p90", Latency, "0.90 quantile of the response time", ofOK(func(s Stats) time.Duration { return s.P90 })},
		{"response_p95", Latency, "0.95 quantile of the response time", ofOK(func(s Stats) time.Duration { return s.P95 })},
		{"response_p99", Latency, "0.99 quantile of the response time", ofOK(func(s Stats) time.Duration { return s.P99 })},
		{"response_max", Latency, "longest response time", ofOK(func(s Stats) time.Duration { return s.Max })},
		{"ok", Requests, "successful requests", count(func(s *Summary) int { return s.Outcomes[record.OK] })},
		{"not_ok", Requests, "all other requests", count(func(s *Summary) int { return s.Scheduled - s.Outcomes[record.OK] })},
		{"rejected", Requests, "turned away by the platform", count(func(s *Summary) int { return s.Outcomes[record.Rejected] })},
		{"warm", Requests, "served by an idle instance at once", count(func(s *Summary) int { return s.ByStart[record.Warm].N })},
		{"queued", Requests, "waited for a used instance", count(func(s *Summary) int { return s.ByStart[record.Queued].N })},
		{"cold", Requests, "first on a new instance", count(func(s *Summary) int { return s.ByStart[record.Cold].N })},
		{"starts", Instances, "instances started", count(func(s *Summary) int { return s.Instances.Starts })},
		{"starts_own", Instances, "starts used first by the request that caused them", count(func(s *Summary) int { return s.Uses.Starts[UsedByOwn] })},
		{"starts_other", Instances, "starts used first by another request", count(func(s *Summary) int { return s.Uses.Starts[UsedByOther] })},
		{"starts_never", Instances, "starts never used", count(func(s *Summary) int { return s.Uses.Starts[NeverUsed] })},
		{"peak", Instances, "most instances alive at once", count(func(s *Summary) int { return s.Instances.Peak })},
		{"allocated", InstanceTime, "from the decision to start", total(func(s *Summary) time.Duration { return s.Instances.Allocated })},
		{"ready", InstanceTime, "from ready", total(func(s *Summary) time.Duration { return s.Instances.Ready })},
		{"busy", InstanceTime, "with a request in flight", total(func(s *Summary) time.Duration { return s.Instances.Busy })},
		{"idle", InstanceTime, "ready, without a request", total(func(s *Summary) time.Duration { return s.Instances.Idle })},
		{"never_used", InstanceTime, "of starts that were never used", total(func(s *Summary) time.Duration { return s.Uses.Spent[NeverUsed] })},
		{"billed_by_request", InstanceTime, "that the platform bills by request", billed(func(b *Bill) (Charge, time.Duration) { return b.ByRequest, b.ByRequest.Full })},
		{"billed_apart", InstanceTime, "that it bills at a rate of its own", billed(func(b *Bill) (Charge, time.Duration) { return b.ByRequest, b.ByRequest.Apart })},
		{"billed_by_instance", InstanceTime, "that it bills by instance", billed(func(b *Bill) (Charge, time.Duration) { return b.ByInstance, b.ByInstance.Full })},
		{"nodes_peak", Nodes, "most nodes in use at once", placed(func(t *NodeTotals) int64 { return int64(t.Peak) })},
		{"node_time", NodeTime, "from the start that took the node until it was reclaimed", placed(func(t *NodeTotals) int64 { return int64(t.InUse) })},
		{"downloads_skipped", Instances, "starts on a node that held the code", placed(func(t *NodeTotals) int64 { return int64(t.Cached) })},
		{"waiting", RequestTime, "from accepted until dispatched", total(func(s *Summary) time.Duration { return s.Waiting })},
	}
}

func ofOK(f func(Stats) time.Duration) func(*Summary) (int64, bool) {
	return func(s *Summary) (int64, bool) { return int64(f(s.OK)), s.OK.N > 0 }
}

func count(f func(*Summary) int) func(*Summary) (int64, bool) {
	return func(s *Summary) (int64, bool) { return int64(f(s)), true }
}

func total(f func(*Summary) time.Duration) func(*Summary) (int64, bool) {
	return func(s *Summary) (int64, bool) { return int64(f(s)), true }
}

func billed(f func(*Bill) (Charge, time.Duration)) func(*Summary) (int64, bool) {
	return func(s *Summary) (int64, bool) {
		c, d := f(&s.Bill)
		return int64(d), c.OK
	}
}

func placed(f func(*NodeTotals) int64) func(*Summary) (int64, bool) {
	return func(s *Summary) (int64, bool) {
		if s.Nodes == nil {
			return 0, false
		}
		return f(s.Nodes), true
	}
}

// WaveMetrics lists the metrics of the first waves of a pattern with that many: mean, median and 0.99 quantile of each.
// They are not part of Metrics, because patterns differ in them.
func WaveMetrics(waves int) []Metric {
	var out []Metric
	for w := range waves {
		for _, s := range []struct {
			name, doc string
			of        func(Stats) time.Duration
		}{
			{"mean", "mean response time", func(s Stats) time.Duration { return s.Mean }},
			{"p50", "median response time", func(s Stats) time.Duration { return s.P50 }},
			{"p99", "0.99 quantile of the response time", func(s Stats) time.Duration { return s.P99 }},
		} {
			out = append(out, waveMetric(w, s.name, s.doc, s.of))
		}
	}
	return out
}

func waveMetric(wave int, name, doc string, of func(Stats) time.Duration) Metric {
	label := fmt.Sprintf("wave %d", wave+1)
	return Metric{
		Name: fmt.Sprintf("wave_%d_%s", wave+1, name), Unit: Latency, Doc: doc + " of " + label,
		of: func(s *Summary) (int64, bool) {
			if wave >= len(s.Waves) || s.Waves[wave].Response.N == 0 {
				return 0, false
			}
			return int64(of(s.Waves[wave].Response)), true
		},
	}
}
