package policies

import "coldwave/scheduler"

var keepAlive = Entry{
	Name:    "keepalive",
	Summary: "a fixed keep-alive after the last execution; a waiting request takes what comes first",
	Source:  "fixed keep-alive as measured by Shahrad et al.: AZ-1",
	Params: []Param{
		{
			Name: "idle_timeout", Type: Duration, Default: "20m", Max: int64(month),
			Doc: "keep-alive after the last execution: 20m as Azure Functions, 10m as Lambda (AZ-1); 0: for ever",
		},
		waitTimeout,
		raceRetries,
	},
	bill: azureTariff,
	make: func(v values) scheduler.Policy { return NewKeepAlive(fcOptions(v)) },
}

// raceRetries is how often a policy that shares FCRace's queue starts again.
var raceRetries = Param{
	Name: "start_retries", Type: Int, Default: "10", Max: 1 << 20,
	Doc: "restarts in any one second after failed starts; beyond it the longest waiting request is answered with 503",
}

// KeepAlive stops an instance a fixed time after its last execution (AZ-1). How a request waits is not part of the
// published rule: it takes what comes first, as under FCRace.
type KeepAlive struct{ FCRace }

// NewKeepAlive returns the policy of one core.
func NewKeepAlive(o FCOptions) *KeepAlive {
	p := &KeepAlive{FCRace: *NewFCRace(o)}
	p.reaper.exact = true
	return p
}

// Handle decides on one event. An arrival at the very instant at which the keep-alive ends comes too late: the end of a
// time is handled before an arrival (U-1), but the core's ticks come after it.
func (p *KeepAlive) Handle(c *scheduler.Control, ev scheduler.Event) {
	if ev.Kind == scheduler.Arrival && p.reaper.timeout > 0 {
		p.reaper.reap(c)
	}
	p.FCRace.Handle(c, ev)
}
