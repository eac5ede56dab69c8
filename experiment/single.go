package experiment

import (
	"cmp"
	"context"
	"errors"
	"time"

	"coldwave/analysis"
	"coldwave/bundle"
	"coldwave/internal/realclock"
	"coldwave/workload"
)

// Single is one run of one cell, on the bundled stack, on a system that runs elsewhere, or in virtual time.
type Single struct {
	ID      string // of the run, also the prefix of the request ids
	Cell    Cell   // with Remote its policy and limits are not used
	Fleet   Fleet
	Remote  *Remote // nil: the bundled stack
	Sending Sending

	// Keep is called with what is known of the run before its first request, and returns where the run keeps what it
	// records while it goes; nil: nowhere. Run seals the journal.
	Keep func(run analysis.Run) (*bundle.Journal, error)
	// Exact is the most requests whose records are held in memory; of a longer run they are in the journal only. 0:
	// analysis.DefaultExact.
	Exact int
}

// Run checks the host, sends the schedule and returns what was recorded, also with an error. A busy host does not stop
// it: the run says so. A journal that cannot be written does stop it, with the journal's error.
func (s Single) Run(ctx context.Context, show func(Progress)) (analysis.Run, error) {
	u := setup{ID: s.ID, Fleet: s.Fleet, Remote: s.Remote, Sending: s.Sending}
	schedule, err := u.check(ctx, s.Cell)
	if err != nil {
		return analysis.Run{}, err
	}
	show(Progress{Try: 1, Stage: "checking that the host is calm"})
	host, err := Calibrate(ctx, realclock.New(time.Now()))
	if err != nil {
		return analysis.Run{}, err
	}
	u.Epoch = time.Now().Add(s.setUp(schedule))
	r, err := u.openOn(ctx, s.Cell, schedule)
	if err != nil {
		return analysis.Run{}, err
	}
	r.run.ID, r.run.Host = s.ID, host
	if err := s.keep(r); err != nil {
		return analysis.Run{}, errors.Join(err, r.system.close(ctx))
	}
	stopWatch := Watch(ctx, r.clock)
	err = replayAll(ctx, []*replay{r}, func(p Progress) { p.Try = 1; show(p) })
	r.run.Host.During = analysis.Of(stopWatch())
	judgeHost(&r.run.Host)
	return r.run, errors.Join(err, r.system.close(ctx))
}

// setUp is the time until the first intended start: a journal of a long schedule takes its time to write.
func (s Single) setUp(schedule *workload.Schedule) time.Duration {
	if s.Keep == nil {
		return setUp
	}
	return setUp + time.Duration(len(schedule.Arrivals))*time.Microsecond
}

// keep opens the journal, and decides whether records are held.
func (s Single) keep(r *replay) (err error) {
	if s.Keep == nil {
		return nil
	}
	if r.journal, err = s.Keep(r.run); err != nil {
		return err
	}
	if n := len(r.run.Schedule.Arrivals); n > cmp.Or(s.Exact, analysis.DefaultExact) {
		r.tally = analysis.NewTally(windowOf(r.waves), n)
	}
	return nil
}
