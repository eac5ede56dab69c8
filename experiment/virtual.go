package experiment

import (
	"time"

	"coldwave/analysis"
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
	out, err := cell.simulate(schedule, schedule.Hash())
	return out.Run, err
}

// newRun returns the run of the cell before anything was measured. Hash is that of the schedule.
func (c Cell) newRun(driver string, schedule *workload.Schedule, hash string) analysis.Run {
	return analysis.Run{
		ID: c.Name(), Pattern: c.Pattern, Policy: c.Policy, Law: c.Profile.Cold.Name(), Driver: driver, Seed: c.Seed, Quota: c.quota(),
		Hash: hash, Schedule: schedule, Tariff: c.tariff(), Placement: c.placement(),
	}
}

// summarize adds the run up.
func summarize(run *analysis.Run) {
	summarizeBy(run, windowOf(run.Schedule.Waves()))
}

// sceneWindows is how many windows a scene has at most: it may last for days, and nobody looks at all of them.
const sceneWindows = 100

// summarizeScene adds up the run of a worked example.
func summarizeScene(run *analysis.Run) {
	summarizeBy(run, max(analysis.DefaultWindow, run.Schedule.Length/sceneWindows))
}

func summarizeBy(run *analysis.Run, window time.Duration) {
	in := inputOf(run)
	in.Window = window
	run.Summary = analysis.Summarize(in)
}

// inputOf is what a run left behind.
func inputOf(run *analysis.Run) analysis.Input {
	return analysis.Input{
		Schedule: run.Schedule, Records: run.Records, Instances: run.Instances, Tariff: run.Tariff, Placed: run.Placement != nil, Nodes: run.Nodes,
	}
}

// windowOf is the length of a run's windows: as long as the gap between two waves where that is shorter than the
// documented 10 s, so that each wave keeps a window of its own in quick runs.
func windowOf(waves []workload.Wave) time.Duration {
	if gap := shortestGap(waves); gap > 0 {
		return min(analysis.DefaultWindow, gap)
	}
	return analysis.DefaultWindow
}
