// Package platform models what instances do: how long a start-up takes and of which stages it consists, how long a body
// runs, what the platform adds around it, and what fails.
package platform

import (
	"errors"
	"fmt"
	"time"

	"coldwave/workload"
)

// ErrProfile is wrapped by the error of Profile.Check.
var ErrProfile = errors.New("unusable platform profile")

// DefaultBandwidth is how fast a cold start downloads code, in bytes per second: 50 MB take half a second (ours; the
// source only says that the length depends on code size and network, FC-3).
const DefaultBandwidth int64 = 100_000_000

// Profile says what instances do. All laws are drawn per arrival or per instance under a seed; see Draws.
type Profile struct {
	Function   workload.Function
	Cold       Law           // C: end to end of a request that waits for its own start
	Start      Law           // S: from the decision until an instance can serve, whatever caused it; nil: what Cold leaves
	Overhead   Law           // h: what the platform adds around the body of each request, half before and half after
	Body       Law           // execution time inside the function
	Handover   time.Duration // d: after each answer the instance takes this long until it can serve the next request
	Bandwidth  int64         // of the code download, bytes per second; 0: DefaultBandwidth
	FailRatio  float64       // share of starts that fail, in [0, 1]
	ErrorRatio float64       // share of requests whose body fails, in [0, 1]
	CPU        Cost          // CPU time of a body
	Resources  Resources     // of an instance; the zero Resources: bodies take their execution time, whatever runs beside them
	Backing    Backing       // service that all instances call
}

// TestFunction is the documented test function: 100 ms of work, a 50 MB package, python2.7, 3 GB, one request at a time
// on an instance (FC-1, FC-12).
func TestFunction() workload.Function {
	return workload.Function{
		Name: "fc-test", Runtime: "python2.7", MemoryBytes: 3_000_000_000, PackageBytes: 50_000_000,
		Body: 100 * time.Millisecond, Concurrency: 1,
	}
}

// Default is the documented test function with C uniform in 1.7–3 s and h uniform in 5–20 ms, so that a warm request
// takes 105–120 ms (FC-12).
func Default() Profile {
	f := TestFunction()
	return Profile{
		Function: f, Cold: EndToEnd(), Body: Constant(f.Body), Bandwidth: DefaultBandwidth,
		Overhead: Uniform{Min: 5 * time.Millisecond, Max: 20 * time.Millisecond},
	}
}

// DocumentedRun is the profile for the comparison with the published table row by row: C resampled from its 18 cold
// values, h fixed at 14.565 ms and a handover of 2.8 ms, both fitted on that table (FA-8).
func DocumentedRun() Profile {
	p := Default()
	p.Cold, p.Overhead, p.Handover = Documented(), Constant(14565*time.Microsecond), 2800*time.Microsecond
	return p
}

// ProfileFor is the profile for a cold-start law: DocumentedRun for "documented", else Default with that law of C.
// Errors are those of ParseLaw.
func ProfileFor(law string) (Profile, error) {
	cold, err := ParseLaw(law)
	if err != nil {
		return Profile{}, err
	}
	return ProfileWith(cold), nil
}

// ProfileWith is ProfileFor for a law that was read already.
func ProfileWith(cold Law) Profile {
	if cold.Name() == Documented().Label {
		return DocumentedRun()
	}
	p := Default()
	p.Cold = cold
	return p
}

// Check reports every unusable setting at once; the error wraps ErrProfile. Draws needs a profile that passes.
func (p Profile) Check() error {
	var problems []error
	bad := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("%w: "+format, append([]any{ErrProfile}, args...)...))
	}
	for _, l := range []struct {
		name string
		law  Law
	}{{"cold", p.Cold}, {"overhead", p.Overhead}, {"body", p.Body}} {
		if l.law == nil {
			bad("%s law is missing: give one", l.name)
		} else if err := l.law.Check(); err != nil {
			bad("%s law: %w", l.name, err)
		}
	}
	if p.Start != nil {
		if err := p.Start.Check(); err != nil {
			bad("start law: %w", err)
		}
	}
	if !(p.FailRatio >= 0 && p.FailRatio <= 1 && p.ErrorRatio >= 0 && p.ErrorRatio <= 1) { // also true for NaN
		bad("fail ratio %v, error ratio %v: give 0 to 1", p.FailRatio, p.ErrorRatio)
	}
	if p.Handover < 0 || p.Bandwidth < 0 || p.Function.PackageBytes < 0 {
		bad("handover %v, bandwidth %d B/s, package %d B: none may be negative", p.Handover, p.Bandwidth, p.Function.PackageBytes)
	}
	if p.Function.Concurrency < 1 {
		bad("concurrency %d: give 1 or more", p.Function.Concurrency)
	}
	if !p.CPU.none() && p.Resources.MilliCPUs == 0 {
		bad("CPU time of a body: means nothing without the CPUs of an instance: give them too")
	}
	return errors.Join(append(problems, p.CPU.Check(), p.Resources.Check(), p.Backing.Check())...)
}
