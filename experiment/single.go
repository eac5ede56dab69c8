package experiment

import (
	"context"
	"errors"
	"time"

	"coldwave/analysis"
	"coldwave/internal/realclock"
)

// Single is one run of one cell, on the bundled stack, on a system that runs elsewhere, or in virtual time.
type Single struct {
	ID      string // of the run, also the prefix of the request ids
	Cell    Cell   // with Remote its policy and limits are not used
	Fleet   Fleet
	Remote  *Remote // nil: the bundled stack
	Sending Sending
}

// Run checks the host, sends the schedule and returns what was recorded, also with an error. A busy host does not stop
// it: the run says so.
func (s Single) Run(ctx context.Context, show func(Progress)) (analysis.Run, error) {
	u := setup{ID: s.ID, Fleet: s.Fleet, Remote: s.Remote, Sending: s.Sending}
	if err := u.check(ctx, s.Cell); err != nil {
		return analysis.Run{}, err
	}
	show(Progress{Try: 1, Stage: "checking that the host is calm"})
	host, err := Calibrate(ctx, realclock.New(time.Now()))
	if err != nil {
		return analysis.Run{}, err
	}
	u.Epoch = time.Now().Add(setUp)
	r, err := u.open(ctx, s.Cell)
	if err != nil {
		return analysis.Run{}, err
	}
	stopWatch := Watch(ctx, r.clock)
	err = replayAll(ctx, []*replay{r}, func(p Progress) { p.Try = 1; show(p) })
	host.During = analysis.Of(stopWatch())
	judgeHost(&host)
	r.run.ID, r.run.Host = s.ID, host
	return r.run, errors.Join(err, r.system.close(ctx))
}
