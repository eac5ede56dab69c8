package platform

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Bounds of Resources.
const (
	MaxMilliCPUs = 1 << 20 // of a container and of its sidecars, each
	MaxThreads   = 1 << 10
	MaxMemory    = 1 << 50 // bytes
	maxPeriod    = 366 * 24 * time.Hour
)

// Resources are what one instance runs on, and what takes of it. The zero Resources are no model: a body takes its
// execution time however many run beside it, and nothing reports a load.
type Resources struct {
	MilliCPUs int64 // CPUs of the function's container in thousandths; 0: as many as its bodies ask for
	Sidecar   int64 // CPUs of its sidecars in thousandths. They count as the instance's (CR-10), but no body runs on them
	Threads   int   // CPUs that one body uses at once; 0: 1
	Process   int   // CPUs that all bodies of the instance use at once, as of a runtime with one thread; 0: no limit

	Background Background
	Memory     Memory
}

// Background is CPU use outside requests. It goes before the bodies.
type Background struct {
	Milli int64         // at all times, thousandths of a CPU
	Peak  int64         // in addition during a peak
	Every time.Duration // from the start of one peak to that of the next; the first comes so long after the instance is ready
	For   time.Duration // length of a peak, ≤ Every; 0: there are none
}

// Memory is counted in bytes. With one request more than Limit allows the instance fails: ErrMemory.
type Memory struct {
	Limit   int64 // 0: none
	Base    int64 // of an instance without a request
	Request int64 // of each request in flight
}

// Modelled reports whether there is a model at all.
func (r Resources) Modelled() bool { return r != Resources{} }

// Total is the number of CPUs that the use of an instance is measured against, in thousandths; 0: no limit is known.
func (r Resources) Total() int64 {
	if r.MilliCPUs == 0 {
		return 0
	}
	return r.MilliCPUs + r.Sidecar
}

// rate is how fast one body works alone, in thousandths of a CPU.
func (r Resources) rate() int64 { return 1000 * int64(max(1, r.Threads)) }

// alone is how long a body computes that lacks no CPU, rounded up.
func (r Resources) alone(work time.Duration) time.Duration {
	threads := time.Duration(max(1, r.Threads))
	return (work + threads - 1) / threads
}

// capacity is how fast all bodies together work at most, in or out of a peak, in thousandths of a CPU.
func (r Resources) capacity(peak bool) int64 {
	most := int64(math.MaxInt64)
	if r.Process > 0 {
		most = 1000 * int64(r.Process)
	}
	if r.MilliCPUs > 0 {
		left := r.MilliCPUs - r.Background.Milli
		if peak {
			left -= r.Background.Peak
		}
		most = min(most, left)
	}
	return most
}

// Check reports every unusable setting at once; the error wraps ErrProfile.
func (r Resources) Check() error {
	var problems []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Errorf("%w: "+format, append([]any{ErrProfile}, args...)...))
		}
	}
	b, m := r.Background, r.Memory
	bad(outside(r.MilliCPUs, MaxMilliCPUs) || outside(r.Sidecar, MaxMilliCPUs),
		"%d and %d thousandths of a CPU: give 0 to %d", r.MilliCPUs, r.Sidecar, MaxMilliCPUs)
	bad(r.Sidecar > 0 && r.MilliCPUs == 0, "a sidecar's CPUs are added to those of the instance: give these too")
	bad(outside(int64(r.Threads), MaxThreads) || outside(int64(r.Process), MaxThreads),
		"%d threads of a body, %d of the process: give 0 to %d", r.Threads, r.Process, MaxThreads)
	bad(outside(b.Milli, MaxMilliCPUs) || outside(b.Peak, MaxMilliCPUs),
		"background of %d and peaks of %d thousandths of a CPU: give 0 to %d", b.Milli, b.Peak, MaxMilliCPUs)
	bad(b.Every < 0 || b.Every > maxPeriod || b.For < 0 || b.For > b.Every,
		"peaks of %v every %v: a peak must end before the next begins, and they come once a year at least", b.For, b.Every)
	bad((b.Peak > 0) != (b.For > 0), "peaks of %d thousandths of a CPU for %v: give both, or neither", b.Peak, b.For)
	bad(r.MilliCPUs > 0 && b.Milli+b.Peak >= r.MilliCPUs,
		"background of %d thousandths of a CPU at its peak: must leave requests a part of %d", b.Milli+b.Peak, r.MilliCPUs)
	bad(outside(m.Limit, MaxMemory) || outside(m.Base, MaxMemory) || outside(m.Request, MaxMemory),
		"memory limit %d, base %d, request %d bytes: give 0 to %d", m.Limit, m.Base, m.Request, int64(MaxMemory))
	bad(m.Limit > 0 && m.Base+m.Request > m.Limit,
		"memory base %d and request %d bytes: must fit below the limit of %d together", m.Base, m.Request, m.Limit)
	return errors.Join(problems...)
}

func outside(v, most int64) bool { return v < 0 || v > most }

// inPeaks is for how long there was a peak in the first x of an instance's life.
func (b Background) inPeaks(x time.Duration) time.Duration {
	if b.For == 0 || x < b.Every {
		return 0
	}
	return (x/b.Every-1)*b.For + min(x%b.Every, b.For)
}

// peak reports whether there is a peak at x, and when that changes.
func (b Background) peak(x time.Duration) (now bool, until time.Duration) {
	if b.For == 0 {
		return false, math.MaxInt64
	}
	begin := x / b.Every * b.Every
	if now = begin > 0 && x < begin+b.For; now {
		return true, begin + b.For
	}
	return false, begin + b.Every
}
