package policies

import "time"

// CloudRunOptions are the constants of the policy. Targets are in thousandths; what the sources leave open is chosen
// here (U-8 … U-20, U-37).
type CloudRunOptions struct {
	CPU, Concurrency, ACT bool // the drivers that are on (CR-6); ACT off: limits of instances do not move either

	CPUTarget         int64 // thousandths of an instance's CPUs (CR-2, CR-6)
	ConcurrencyTarget int64 // thousandths of its concurrency (CR-3, CR-4, CR-6)
	MilliCPUs         int64 // of an instance, its sidecars' included (CR-10), > 0

	ColdStart     time.Duration // predicted before the first one was seen (U-13)
	ServiceTime   time.Duration // predicted before the first one was seen; 0: unknown (U-37)
	ServiceWeight int64         // thousandths with which a new service time counts (U-37)
	CountPending  bool          // waiting requests count as concurrency (U-9)

	MetricTick     time.Duration // between two looks at the metrics, 5 s … 60 s (U-8)
	Reserve        int64         // thousandths of the deprioritised instances that form the second group (U-18)
	IdleTimeout    time.Duration // idle instances stop after it (CR-14, CR-15); 0: never
	GPU            bool          // they stop after ten minutes at the latest (CR-15)
	RequestTimeout time.Duration // a request that has waited so long gets 504 (CR-22); 0: no limit

	StartRate      int           // starts in any one second (CR-28); 0: no limit
	StartRetries   int           // starts in any one second that replace failed instances for those who wait
	OvershootSpike int           // starts above max, within 15 min of the first (CR-27); Config.Overshoot must be on
	Replace        int           // instances that maintenance replaces (CR-27)
	ReplaceAt      time.Duration // when the first one is, counted from the run's epoch
	ReplaceOver    time.Duration // over which they are spread evenly
}

func (o CloudRunOptions) idle() time.Duration {
	if o.GPU && (o.IdleTimeout == 0 || o.IdleTimeout > 10*time.Minute) {
		return 10 * time.Minute
	}
	return o.IdleTimeout
}

func cloudRunOptions(v values) CloudRunOptions {
	return CloudRunOptions{
		CPU: v.is("cpu"), Concurrency: v.is("concurrency"), ACT: v.is("act"),
		CPUTarget: v["cpu_target"], ConcurrencyTarget: v["concurrency_target"], MilliCPUs: v["milli_cpus"] + v["sidecar_milli_cpus"],
		ColdStart: v.duration("cold_start"), ServiceTime: v.duration("service_time"), ServiceWeight: v["service_weight"],
		CountPending: v.is("count_pending"),
		MetricTick:   v.duration("metric_tick"), Reserve: v["reserve"], IdleTimeout: v.duration("idle_timeout"), GPU: v.is("gpu"),
		RequestTimeout: v.duration("request_timeout"),
		StartRate:      int(v["start_rate"]), StartRetries: int(v["start_retries"]), OvershootSpike: int(v["overshoot_spike"]),
		Replace: int(v["replace"]), ReplaceAt: v.duration("replace_at"), ReplaceOver: v.duration("replace_over"),
	}
}

const defaultRequestTimeout = 5 * time.Minute

var cloudRunParams = []Param{
	{Name: "cpu", Type: Bool, Default: "true", Max: 1, Doc: "the CPU driver is on (CR-2, CR-6)"},
	{Name: "concurrency", Type: Bool, Default: "true", Max: 1, Doc: "the concurrency driver is on (CR-3, CR-6)"},
	{Name: "act", Type: Bool, Default: "true", Max: 1, Doc: "instances under CPU pressure take fewer requests, and that drives the scale (CR-4, CR-23, CR-24)"},
	{Name: "cpu_target", Type: Ratio, Default: "0.6", Min: 100, Max: 950, Doc: "share of an instance's CPUs to aim at (CR-6)"},
	{Name: "concurrency_target", Type: Ratio, Default: "0.6", Min: 100, Max: 950, Doc: "share of an instance's concurrency to aim at (CR-6)"},
	{Name: "milli_cpus", Type: Int, Default: "1000", Min: 1, Max: 1 << 20, Fact: CPUs, Doc: "CPUs of an instance in thousandths (CR-10)"},
	{Name: "sidecar_milli_cpus", Type: Int, Default: "0", Max: 1 << 20, Fact: SidecarCPUs, Doc: "CPUs of its sidecars in thousandths, which are added (CR-10)"},
	{Name: "cold_start", Type: Duration, Default: "2s", Max: int64(time.Hour), Doc: "predicted cold start until one was seen (U-13)"},
	{Name: "service_time", Type: Duration, Default: "0s", Max: int64(time.Hour), Doc: "predicted service time until one was seen; 0: unknown (U-37)"},
	{Name: "service_weight", Type: Ratio, Default: "0.1", Max: 1000, Doc: "weight of a new service time in the prediction (U-37)"},
	{Name: "count_pending", Type: Bool, Default: "true", Max: 1, Doc: "waiting requests count as concurrency (U-9)"},
	{Name: "metric_tick", Type: Duration, Default: "5s", Min: int64(5 * time.Second), Max: int64(time.Minute), Doc: "time between two looks at the metrics (CR-11, U-8)"},
	{Name: "reserve", Type: Ratio, Default: "0.5", Max: 1000, Doc: "share of the deprioritised instances that stays until idle_timeout (CR-14, U-18)"},
	{Name: "idle_timeout", Type: Duration, Default: "15m", Max: int64(month), Doc: "idle instances stop after it, at full seconds (CR-15); 0: never"},
	{Name: "gpu", Type: Bool, Default: "false", Max: 1, Doc: "idle instances stop after 10 minutes at the latest (CR-15)"},
	{Name: "request_timeout", Type: Duration, Default: defaultRequestTimeout.String(), Max: int64(month), Doc: "a request that has waited so long is answered with 504 (CR-22); 0: no limit"},
	{Name: "start_rate", Type: Int, Default: "0", Max: 1 << 20, Doc: "starts in any one second (CR-28); 0: no limit"},
	{Name: "start_retries", Type: Int, Default: "10", Min: 1, Max: 1 << 20, Doc: "starts in any one second in place of failed instances that requests wait for"},
	{Name: "overshoot_spike", Type: Int, Default: "0", Max: 1 << 20, Doc: "starts above max within 15 minutes of the first, where the core allows it (CR-27, U-20)"},
	{Name: "replace", Type: Int, Default: "0", Max: 1 << 20, Doc: "instances that maintenance replaces, one at a time (CR-27)"},
	{Name: "replace_at", Type: Duration, Default: "0s", Max: int64(month), Doc: "time of the first replacement"},
	{Name: "replace_over", Type: Duration, Default: "15m", Min: int64(time.Second), Max: int64(month), Doc: "time over which the replacements are spread"},
}
