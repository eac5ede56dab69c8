package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"coldwave/analysis"
	"coldwave/bundle"
	"coldwave/workload"
)

// Recover adds up what a killed run left. Records and arrivals are in the run if there are at most exact of them (0:
// analysis.DefaultExact). Arrivals of which nothing is known have the outcome unknown, and the run says so first: it
// judges nothing.
func Recover(left *bundle.Recovered, exact int) (analysis.Run, error) {
	run := left.Head.Run
	run.Instances = left.Instances
	schedule := workload.Schedule{}
	if run.Schedule != nil {
		schedule = *run.Schedule
	}
	run.Schedule = &schedule
	waves, hold := firsts{}, left.Arrivals <= cmp.Or(exact, analysis.DefaultExact)
	for r, err := range left.Records() {
		if err != nil {
			return run, err
		}
		waves.see(r.Wave, r.Intended)
		if hold {
			run.Records = append(run.Records, r)
			schedule.Arrivals = append(schedule.Arrivals, workload.Arrival{Seq: r.Seq, At: r.Intended, Wave: r.Wave})
		}
	}
	if hold {
		summarize(&run)
	} else if err := tallyLeft(&run, left, windowOf(waves.sorted())); err != nil {
		return run, err
	}
	if unknown := left.Arrivals - left.Known; unknown > 0 {
		text := fmt.Sprintf("the run was killed: of %d of %d arrivals nobody knows the outcome", unknown, left.Arrivals)
		run.Summary.Warnings = slices.Insert(run.Summary.Warnings, 0, analysis.Warning{Code: analysis.WarnRecovered, Text: text})
	}
	return run, nil
}

func tallyLeft(run *analysis.Run, left *bundle.Recovered, window time.Duration) error {
	tally := analysis.NewTally(window, left.Arrivals)
	for r, err := range left.Records() {
		if err != nil {
			return err
		}
		tally.Add(&r)
	}
	run.Summary = tally.Summary(left.Arrivals, inputOf(run))
	return nil
}
