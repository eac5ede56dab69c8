package experiment

import (
	"coldwave/platform"
	"coldwave/scheduler/policies"
)

// FitPolicy returns the spec of the policy with what it must know of the instances and does not state: how many CPUs they
// have. Errors are those of CheckPolicy.
func FitPolicy(spec string, p platform.Profile) (string, error) {
	if spec == Oracle {
		return spec, nil
	}
	return policies.WithFacts(spec, policies.FactsOf(p.Resources))
}
