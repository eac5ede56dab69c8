package references

import (
	"testing"

	"coldwave/analysis"
	"coldwave/patterns"
	"coldwave/platform"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/sim"
	"coldwave/workload"
)

// simulate runs the project's own policies in virtual time, in place of the closed form.
func simulate(t *testing.T, law string, seed uint64, before, after string) Evidence {
	t.Helper()
	e := Evidence{Law: law}
	for role, policy := range map[Role]string{Before: before, After: after} {
		for _, cell := range []struct {
			pattern, law string
			quota        int
		}{{"fc-ramp", law, 0}, {"fc-burst", law, 0}, {"fc-burst", law, 10}, {Online25, fixedCold, 0}, {Online32, fixedCold, 0}} {
			run := simulateCell(t, cell.pattern, cell.law, policy, seed, cell.quota)
			e.Cells = append(e.Cells, Cell{Pattern: cell.pattern, Role: role, Quota: cell.quota, Run: run})
		}
	}
	return e
}

func simulateCell(t *testing.T, pattern, law, policy string, seed uint64, quota int) *analysis.Run {
	t.Helper()
	profile, err := platform.ProfileFor(law)
	if err != nil {
		t.Fatal(err)
	}
	name := pattern
	if law == "documented" && pattern == "fc-burst" {
		name = "fc-burst-shifted"
	}
	process, err := patterns.Load(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policies.New(policy)
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := workload.Build(workload.Source{Process: process, Demands: profile.Draws(seed), Function: profile.Function, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	limits := scheduler.Config{Max: scheduler.Unlimited, Limit: 1}
	if quota > 0 {
		limits.Max = quota
	}
	result, err := sim.Run(sim.Config{Schedule: schedule, Policy: p, Limits: limits, Platform: profile.Draws(seed), Handover: profile.Handover, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	run := &analysis.Run{Pattern: name, Policy: policy, Law: profile.Cold.Name(), Driver: "virtual", Seed: seed, Schedule: schedule, Records: result.Records, Instances: result.Instances}
	run.Summary = analysis.Summarize(analysis.Input{Schedule: schedule, Records: run.Records, Instances: run.Instances})
	return run
}

// The project's own policies agree with every claim that can be judged, under both laws. In virtual time there is no host
// to calibrate. Both readings of FC-8 give the same on simultaneous waves (1.4).
func TestOurPoliciesAgree(t *testing.T) {
	for _, law := range coldLaws {
		for seed := range uint64(25) {
			after := "fc-race"
			if seed%2 == 1 {
				after = "fc-race:start_per_request=true"
			}
			for _, r := range Check(load(t), simulate(t, law, seed, "fc-bound", after)) {
				want := Agrees
				if !canJudge(r.Claim, law) || r.Claim.ID == "FR-0" {
					want = NotComparable
				}
				if r.Verdict != want {
					t.Errorf("law %s, seed %d: %s = %s (%s; measured %s), want %s", law, seed, r.Claim.ID, r.Verdict, r.Reason, r.Measured, want)
				}
			}
		}
	}
}

// Another policy in the role after is judged by the claims of that role.
func TestTheOldPolicyInTheNewRole(t *testing.T) {
	results := Check(load(t), simulate(t, "uniform", 1, "fc-bound", "fc-bound"))
	for _, id := range []string{"fc-ramp-after-mean", "fc-burst-after", "fc-quota", "fc-online", "FR-1", "FR-2", "FR-6", "FR-7", "FR-11", "FR-12", "FA-3"} {
		if r := resultOf(t, results, id); r.Verdict != Disagrees {
			t.Errorf("%s = %s (%s), want disagrees", id, r.Verdict, r.Measured)
		}
	}
	for _, id := range []string{"fc-ramp-before-mean", "fc-burst-before", "FR-5", "FR-9", "FR-10"} {
		if r := resultOf(t, results, id); r.Verdict != Agrees {
			t.Errorf("%s = %s (%s), want agrees", id, r.Verdict, r.Reason)
		}
	}
}
