package experiment

import (
	"fmt"

	"coldwave/analysis"
	"coldwave/sim"
	"coldwave/workload"
)

// Virtual runs the cell in virtual time: the same core, policy, platform and schedule without a socket.
func Virtual(cell Cell) (analysis.Run, error) {
	if err := cell.check(); err != nil {
		return analysis.Run{}, err
	}
	schedule, err := cell.Schedule()
	if err != nil {
		return analysis.Run{}, err
	}
	policy, err := cell.policy()
	if err != nil {
		return analysis.Run{}, err
	}
	result, err := sim.Run(sim.Config{
		Schedule: schedule, Policy: policy, Limits: cell.config(), Platform: cell.Profile.Draws(cell.Seed),
		Handover: cell.Profile.Handover, Seed: cell.Seed,
	})
	if err != nil {
		return analysis.Run{}, fmt.Errorf("cell %s: %w", cell.Name(), err)
	}
	run := cell.newRun("virtual", schedule)
	run.Records, run.Instances = result.Records, result.Instances
	summarize(&run)
	return run, nil
}

// newRun returns the run of the cell before anything was measured.
func (c Cell) newRun(driver string, schedule *workload.Schedule) analysis.Run {
	return analysis.Run{
		ID: c.Name(), Pattern: c.Pattern, Policy: c.Policy, Law: c.Profile.Cold.Name(), Driver: driver, Seed: c.Seed, Quota: c.quota(),
		Hash: schedule.Hash(), Schedule: schedule,
	}
}

// summarize adds the run up. Windows are as long as the gap between two waves where that is shorter than the documented
// 10 s, so that each wave keeps a window of its own in quick runs.
func summarize(run *analysis.Run) {
	window := analysis.DefaultWindow
	if gap := shortestGap(run.Schedule.Waves()); gap > 0 {
		window = min(window, gap)
	}
	run.Summary = analysis.Summarize(analysis.Input{
		Schedule: run.Schedule, Records: run.Records, Instances: run.Instances, Window: window,
	})
}
