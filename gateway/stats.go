package gateway

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"coldwave/record"
	"coldwave/scheduler"
)

// stats counts what the data port did, as Prometheus metrics in a registry of their own. Labels come from the
// configuration and from closed lists only, so no client can make new series (4.5).
type stats struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec   // function, outcome
	response *prometheus.HistogramVec // function, start; seconds
	resent   atomic.Int64             // requests written again after a connection was found dead, nothing of them sent
	panics   atomic.Int64
	refused  atomic.Int64 // connections beyond the limit
}

// noFunction is the label of requests that belong to no function.
const noFunction = "none"

// responseBuckets reach from a warm answer of a millisecond to a queue time of a minute.
var responseBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .12, .15, .2, .25, .35, .5, .75, 1, 1.5, 2, 2.5, 3, 5, 10, 30, 60}

func newStats(services []*service) *stats {
	s := &stats{registry: prometheus.NewRegistry()}
	s.requests = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "coldwave_gateway_requests_total",
		Help: "Requests on the data port by how they ended."}, []string{"function", "outcome"})
	s.response = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "coldwave_gateway_response_seconds",
		Help: "Time from the first byte of a request's headers to the end of its answer.", Buckets: responseBuckets},
		[]string{"function", "start"})
	s.registry.MustRegister(s.requests, s.response,
		s.counter("coldwave_gateway_resent_total", "Requests written again on another connection, nothing of them had been sent.", &s.resent),
		s.counter("coldwave_gateway_panics_total", "Requests that met a bug.", &s.panics),
		s.counter("coldwave_gateway_connections_refused_total", "Connections closed because too many were open.", &s.refused))
	s.seed(noFunction)
	for _, svc := range services {
		s.seed(svc.fn.Spec.Name)
		s.registry.MustRegister(loadGauges(svc)...)
	}
	return s
}

// seed makes all series of a function, so that a rate over them has a first value.
func (s *stats) seed(function string) {
	for _, o := range outcomes {
		s.requests.WithLabelValues(function, string(o))
	}
}

func (s *stats) counter(name, help string, v *atomic.Int64) prometheus.Collector {
	return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(v.Load()) })
}

// loadGauges are the state of one function's core.
func loadGauges(svc *service) []prometheus.Collector {
	labels := prometheus.Labels{"function": svc.fn.Spec.Name}
	gauge := func(name, help string, read func(*scheduler.Load) int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "coldwave_gateway_" + name, Help: help, ConstLabels: labels},
			func() float64 { return float64(read(svc.load.Load())) })
	}
	return []prometheus.Collector{
		gauge("instances_alive", "Instances that are starting, idle or busy.", alive),
		gauge("instances_starting", "Instances that are starting.", func(l *scheduler.Load) int { return l.Starting }),
		gauge("instances_idle", "Instances with no request.", func(l *scheduler.Load) int { return l.Idle }),
		gauge("instances_busy", "Instances with requests.", func(l *scheduler.Load) int { return l.Busy }),
		gauge("nodes", "Nodes in use.", func(l *scheduler.Load) int { return l.Nodes }),
		gauge("requests_queued", "Requests that wait.", func(l *scheduler.Load) int { return l.Waiting }),
		gauge("requests_running", "Requests on instances.", func(l *scheduler.Load) int { return l.Running }),
	}
}

func alive(l *scheduler.Load) int { return l.Starting + l.Idle + l.Busy }

// count counts one request.
func (s *stats) count(x *exchange, took time.Duration) {
	if x.outcome == outcomeOwn {
		return
	}
	if x.outcome == outcomePanic {
		s.panics.Add(1)
	}
	function, start := noFunction, record.Edge
	if x.s != nil {
		function = x.s.fn.Spec.Name
	}
	if x.server.Start != record.StartUnknown {
		start = x.server.Start
	}
	s.requests.WithLabelValues(function, string(x.outcome)).Inc()
	s.response.WithLabelValues(function, start.String()).Observe(took.Seconds())
}
