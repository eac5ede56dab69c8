package policies

import (
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

var hybridHistogram = Entry{
	Name:    "hybrid-histogram",
	Summary: "unloads and loads ahead by a histogram of the idle times; a waiting request takes what comes first",
	Source:  "hybrid histogram policy of Shahrad et al. (Azure): AZ-2 … AZ-6, U-34",
	Learns:  true,
	Holds:   5 * time.Hour, // 4 h, or 1.1 times the longest time that the histogram holds
	Params: []Param{
		{
			Name: "standard_keep_alive", Type: Duration, Default: "4h", Max: int64(month),
			Doc: "keep-alive while the histogram is not representative (AZ-4)",
		},
		{
			Name: "cv", Type: Ratio, Default: "2", Max: 1000 * 1000,
			Doc: "the histogram is representative above this coefficient of variation of its bins (AZ-4)",
		},
		{Name: "out_of_bounds", Type: Ratio, Default: "0.5", Max: 1000, Doc: "share of idle times out of bounds from which on they are predicted (AZ-5)"},
		{
			Name: "predict_last", Type: Int, Default: "10", Max: 1 << 16,
			Doc: "idle times out of bounds whose mean is the prediction (U-34, in place of ARIMA); 0: none is predicted",
		},
		{Name: "cv_first", Type: Bool, Default: "false", Max: 1, Doc: "asks if the histogram is representative before it counts what is out of bounds (U-34)"},
		{Name: "sample_cv", Type: Bool, Default: "false", Max: 1, Doc: "the coefficient of variation divides by n − 1 instead of n (U-34)"},
		{
			Name: "end_after_load", Type: Bool, Default: "false", Max: 1,
			Doc: "the keep-alive is counted from the loading on, not from the last execution (U-34)",
		},
		waitTimeout,
		raceRetries,
	},
	bill: azureTariff,
	make: func(v values) scheduler.Policy { return NewHybrid(hybridOptions(v)) },
}

// HybridOptions are the constants of the hybrid histogram policy.
type HybridOptions struct {
	Standard     time.Duration // AZ-4; 0: unloads at once
	CV           int64         // in thousandths (AZ-4)
	OutOfBounds  int64         // in thousandths (AZ-5)
	PredictLast  int           // U-34; 0: no prediction
	CVFirst      bool          // U-34
	SampleCV     bool          // U-34
	EndAfterLoad bool          // U-34
	WaitTimeout  time.Duration // as FCOptions
	StartRetries int           // as FCRace
}

func hybridOptions(v values) HybridOptions {
	return HybridOptions{
		Standard:     v.duration("standard_keep_alive"),
		CV:           v["cv"],
		OutOfBounds:  v["out_of_bounds"],
		PredictLast:  int(v["predict_last"]),
		CVFirst:      v.is("cv_first"),
		SampleCV:     v.is("sample_cv"),
		EndAfterLoad: v.is("end_after_load"),
		WaitTimeout:  v.duration("wait_timeout"),
		StartRetries: int(v["start_retries"]),
	}
}

// Hybrid decides at the end of the last execution how long the application stays loaded, from the idle times that it
// has seen (AZ-2 … AZ-5). The core is the application (AZ-6). How a request waits is not part of the published rule: it
// takes what comes first, as under FCRace.
//
// An application that is busy keeps an idle instance as long as it would keep all of them.
type Hybrid struct {
	FCRace
	o     HybridOptions
	times idleTimes

	quiet  bool          // no request waits or runs
	ended  clock.Instant // when it became quiet; Never: no request has ended yet
	load   clock.Instant // when an instance is started ahead; Never: none is
	unload clock.Instant // when all go; Never: they do not
}

// NewHybrid returns the policy of one core.
func NewHybrid(o HybridOptions) *Hybrid {
	p := &Hybrid{
		FCRace: *NewFCRace(FCOptions{WaitTimeout: o.WaitTimeout, StartRetries: o.StartRetries}), o: o, times: newIdleTimes(o.PredictLast),
		quiet: true, ended: clock.Never, load: clock.Never, unload: clock.Never,
	}
	p.reaper.exact = true
	p.reaper.timeout = max(o.Standard, 1)
	return p
}

// The ticks of the hybrid histogram policy, beside those of FCRace.
const (
	tickLoad uint8 = iota + 16
	tickUnload
)

// Handle decides on one event. What falls due at the instant of an arrival comes before it (U-1).
func (p *Hybrid) Handle(c *scheduler.Control, ev scheduler.Event) {
	switch {
	case ev.Kind == scheduler.Arrival:
		p.due(c)
		p.reaper.reap(c)
	case ev.Kind == scheduler.Tick && (ev.Code == tickLoad || ev.Code == tickUnload):
		p.due(c)
	}
	p.FCRace.Handle(c, ev)
	quiet := c.Running() == 0 && c.Waiting() == 0
	switch {
	case p.quiet && !quiet:
		p.resume(c)
	case quiet && !p.quiet:
		p.rest(c)
	}
	p.quiet = quiet
}

// due loads and unloads what is due.
func (p *Hybrid) due(c *scheduler.Control) {
	if p.load <= c.Now() {
		p.load = clock.Never
		if c.Alive() == 0 && c.Config().Max > 0 {
			c.Start(uint8(Ahead), 0)
		}
	}
	if p.unload <= c.Now() {
		p.unload = clock.Never
		p.stopAll(c)
	}
}

// stopAll stops what is above Min, the youngest first: those that are starting go before those that are up.
func (p *Hybrid) stopAll(c *scheduler.Control) {
	for c.Alive() > c.Config().Min {
		c.Stop(c.LastAlive())
	}
}

// resume ends an idle time. A request that was turned away at its arrival ends none.
func (p *Hybrid) resume(c *scheduler.Control) {
	if p.ended == clock.Never {
		return
	}
	p.times.add(c.Now().Sub(p.ended))
	p.set(c, clock.Never, clock.Never)
}

// rest begins an idle time: how long it will be is unknown, so both windows count from here (AZ-3).
func (p *Hybrid) rest(c *scheduler.Control) {
	load, end := p.windows()
	p.ended, p.reaper.timeout, p.reaper.armed = c.Now(), max(end, 1), false
	if load > 0 || end == 0 {
		p.stopAll(c)
	}
	switch now := c.Now(); {
	case end == 0:
		p.set(c, clock.Never, clock.Never)
	case load > 0:
		p.set(c, now.Add(load), now.Add(end))
	default:
		p.set(c, clock.Never, now.Add(end))
	}
	p.reaper.arm(c)
}

func (p *Hybrid) set(c *scheduler.Control, load, unload clock.Instant) {
	p.load, p.unload = load, unload
	c.Alarm(tickLoad, load)
	c.Alarm(tickUnload, unload)
}

// windows returns how long after the last execution an instance is loaded and all are unloaded; load 0: they stay
// loaded until then.
func (p *Hybrid) windows() (load, end time.Duration) {
	t := &p.times
	out := p.o.PredictLast > 0 && t.out > 0 && t.out*1000 >= p.o.OutOfBounds*(t.total+t.out)
	switch {
	case out && (!p.o.CVFirst || !t.representative(p.o.CV, p.o.SampleCV)):
		mean := t.prediction()
		return mean * 85 / 100, mean * 115 / 100 // AZ-5
	case !t.representative(p.o.CV, p.o.SampleCV):
		return 0, p.o.Standard // AZ-4
	}
	load = time.Duration(t.percentile(5)) * idleBin * 9 / 10
	end = time.Duration(t.percentile(99)+1) * idleBin * 11 / 10 // AZ-3
	if p.o.EndAfterLoad {
		end += load
	}
	return load, end
}
