package policies

import (
	"fmt"
	"strings"

	"coldwave/platform"
)

// Fact is something about an instance that a policy cannot see and a platform knows.
type Fact uint8

// The facts that parameters may be.
const (
	NoFact       Fact = iota
	CPUs              // of the function's container, in thousandths
	SidecarCPUs       // of its sidecars, in thousandths
	InstanceCPUs      // both
)

// Facts are what a platform knows; a missing one is not known.
type Facts map[Fact]int64

// FactsOf returns what instances with these resources are.
func FactsOf(r platform.Resources) Facts {
	if r.MilliCPUs == 0 {
		return nil
	}
	return Facts{CPUs: r.MilliCPUs, SidecarCPUs: r.Sidecar, InstanceCPUs: r.Total()}
}

// WithFacts returns the spec of the same policy with each fact that it has a parameter for and that spec does not state.
// Facts that are the default are left out. Errors are those of New.
func WithFacts(spec string, known Facts) (string, error) {
	e, v, err := parse(spec)
	if err != nil {
		return "", err
	}
	_, stated, _ := strings.Cut(spec, ":")
	for _, p := range e.Params {
		value, isKnown := known[p.Fact]
		if !isKnown || value == v[p.Name] || strings.Contains(","+stated, ","+p.Name+"=") {
			continue
		}
		if value < p.Min || value > p.Max {
			return "", fmt.Errorf("policy %q: %w %s: the instances have %d, which must lie in %s … %s", spec, ErrParam, p.Name,
				value, p.least(), p.Type.format(p.Max))
		}
		sep := ","
		if stated == "" {
			spec, sep = strings.TrimSuffix(spec, ":"), ":"
		}
		item := p.Name + "=" + p.Type.format(value)
		spec, stated = spec+sep+item, stated+sep+item
	}
	return spec, nil
}
