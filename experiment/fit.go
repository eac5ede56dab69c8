package experiment

import (
	"coldwave/platform"
	"coldwave/scheduler/policies"
)

// FitPolicy returns the spec of the policy with what it must know of the instances and does not state: how many CPUs they
// have. Errors are those of CheckPolicy.
func FitPolicy(spec string, p platform.Profile) (string, error) {
	r := p.Resources
	if spec == Oracle || r.MilliCPUs == 0 {
		return spec, CheckPolicy(spec, true)
	}
	return policies.WithFacts(spec, policies.Facts{
		policies.CPUs: r.MilliCPUs, policies.SidecarCPUs: r.Sidecar, policies.InstanceCPUs: r.Total(),
	})
}
