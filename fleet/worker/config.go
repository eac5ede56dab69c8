package worker

import (
	"errors"
	"fmt"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
)

// The defaults and bounds of Config.
const (
	DefaultConcurrency = 1
	MaxConcurrency     = 1 << 16
	DefaultBodyMax     = 1 << 20               // bytes
	DefaultSleepMax    = 10 * time.Minute      // of /sleep/<ms>
	DefaultGrace       = 50 * time.Millisecond // see Config.Grace
)

// Config is what one fake worker is. The zero value of a limit means its default.
type Config struct {
	Name        string        // of the instance, told in X-Coldwave-Instance; 1 to record.MaxInstanceName bytes
	Function    string        // label in the log; may be empty
	Clock       clock.Clock   // waits for the execution time
	Body        time.Duration // execution time of a request that asks for none, ≥ 0
	Concurrency int           // limit of requests in flight, 1 to MaxConcurrency; 0: DefaultConcurrency
	FailRatio   float64       // share of requests that answer 500 after their execution time, in [0, 1]
	Seed        uint64        // decides which arrivals fail: the same ones on every worker and in virtual time
	BodyMax     int64         // limit of a request's body in bytes; 0: DefaultBodyMax
	SleepMax    time.Duration // limit of /sleep/<ms>; 0: DefaultSleepMax
	// Grace is how long a request beyond the limit may wait for a slot before it is refused; 0: DefaultGrace. A
	// gateway gives a slot to the next request as soon as it has dropped a client's; the worker learns of the dropped
	// one by its connection, which may be later. Such waits are counted in Stats.Overlapped.
	Grace time.Duration
	Log   *Log // one line for each start and finish; nil: none

	// With Resources bodies share CPUs and memory, by the model or on this host.
	Resources platform.Resources
	CPU       platform.Cost                 // CPU time of a body whose request states none
	Mode      CPUMode                       // default Sleep
	Ready     clock.Instant                 // when the instance is ready: its life begins then
	Call      func() (time.Duration, error) // the call of each request to a backing service, see platform.BackingState.Call; nil: there is none
	Die       func(error)                   // ends the worker that is out of memory, with an error that wraps platform.ErrMemory; nil: it lives on
}

// Validate reports every problem of the configuration at once.
func (c *Config) Validate() error {
	var errs []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("worker: "+format, args...))
		}
	}
	check(c.Name != "" && len(c.Name) <= record.MaxInstanceName && printable(c.Name),
		"name %q: must be 1 to %d printable ASCII characters", c.Name, record.MaxInstanceName)
	check(c.Clock != nil, "no clock: set one")
	check(c.Body >= 0, "body %v: must be ≥ 0", c.Body)
	check(c.Concurrency >= 0 && c.Concurrency <= MaxConcurrency,
		"concurrency %d: must be 1 to %d", c.Concurrency, MaxConcurrency)
	check(c.FailRatio >= 0 && c.FailRatio <= 1, "fail ratio %v: must be in [0, 1]", c.FailRatio)
	check(c.BodyMax >= 0, "body limit %d bytes: must be ≥ 1, or 0 for %d", c.BodyMax, DefaultBodyMax)
	check(c.SleepMax >= 0, "sleep limit %v: must be > 0, or 0 for %v", c.SleepMax, DefaultSleepMax)
	check(c.CPU.Check() == nil, "%v", c.CPU.Check())
	check(c.Resources.Check() == nil, "%v", c.Resources.Check())
	_, badMode := ParseCPUMode(string(c.Mode))
	check(badMode == nil, "%v", badMode)
	check(c.Mode != Burn || CheckBurn(c.Resources) == nil, "%v", CheckBurn(c.Resources))
	check(c.Grace >= 0, "grace %v: must be > 0, or 0 for %v", c.Grace, DefaultGrace)
	return errors.Join(errs...)
}

func (c *Config) setDefaults() {
	setDefault(&c.Concurrency, DefaultConcurrency)
	setDefault(&c.BodyMax, DefaultBodyMax)
	setDefault(&c.SleepMax, DefaultSleepMax)
	setDefault(&c.Grace, DefaultGrace)
	setDefault(&c.Mode, Sleep)
}

func setDefault[T comparable](v *T, preset T) {
	var zero T
	if *v == zero {
		*v = preset
	}
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
