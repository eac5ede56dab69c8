package experiment

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"coldwave/analysis"
	"coldwave/internal/realclock"
)

// play makes the runs that are due, in that order, and returns those that came about.
func (s Session) play(ctx context.Context, plan Plan, turns []turn, show func(Progress)) ([]Played, error) {
	if s.Virtual {
		return s.playVirtual(ctx, turns)
	}
	var all []Played
	done := 0
	for batch := range slices.Chunk(turns, plan.Lanes) {
		if done > 0 {
			if err := wait(ctx, s.Rest); err != nil {
				return all, err
			}
		}
		stage := fmt.Sprintf("run %d of %d", done+1, len(turns))
		if len(batch) > 1 {
			stage = fmt.Sprintf("runs %d to %d of %d", done+1, done+len(batch), len(turns))
		}
		played, err := s.batch(ctx, batch, func(p Progress) { p.Stage = stage + ": " + p.Stage; show(p) })
		all = append(all, played...)
		if err = errors.Join(err, s.keep(played)); err != nil {
			return all, err
		}
		done += len(batch)
	}
	return all, nil
}

func (s Session) keep(played []Played) error {
	if s.Keep == nil {
		return nil
	}
	for _, p := range played {
		if err := s.Keep(p); err != nil {
			return err
		}
	}
	return nil
}

// playVirtual makes the runs in virtual time, on all cores.
func (s Session) playVirtual(ctx context.Context, turns []turn) ([]Played, error) {
	out := make([]Played, len(turns))
	err := forEach(ctx, len(turns), runtime.GOMAXPROCS(0), func(k int) error {
		t := turns[k]
		run, err := Simulation{Cell: s.cell(t)}.Run(ctx)
		out[k] = Played{Side: t.side, Round: t.round, Run: run.Run}
		out[k].Run.ID = s.name(t)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, s.keep(out)
}

// cell is the cell of a run: its seed is that of the round.
func (s Session) cell(t turn) Cell {
	c := s.Sides[t.side].Cell
	c.Seed = s.first().Cell.Seed
	if !s.OneSeed {
		c.Seed += uint64(t.round)
	}
	return c
}

// name names a run within the session, such as "03-b": the round and the side.
func (s Session) name(t turn) string { return fmt.Sprintf("%02d-%c", t.round+1, 'a'+t.side) }

// batch makes runs side by side: on a calm host, staggered so that no two waves coincide.
func (s Session) batch(ctx context.Context, turns []turn, show func(Progress)) ([]Played, error) {
	host, err := s.calm(ctx, show)
	if err != nil {
		return nil, err
	}
	if host.Busy {
		return s.unsent(turns, "the host was too busy to begin: "+host.Reason), nil
	}
	replays, err := s.open(ctx, turns)
	if err != nil {
		return nil, errors.Join(err, closeAll(ctx, replays))
	}
	stopWatch := Watch(ctx, realclock.New(time.Now()))
	err = replayAll(ctx, replays, show)
	host.During = analysis.Of(stopWatch())
	judgeHost(&host)
	var out []Played
	for i, r := range replays {
		r.run.Host, r.run.ID = host, s.name(turns[i])
		out = append(out, Played{Side: turns[i].side, Round: turns[i].round, Run: r.run, Void: s.whyVoid(turns[i], &r.run)})
	}
	return out, errors.Join(err, closeAll(ctx, replays))
}

// patience is how often a session looks whether the host is calm before it gives up a batch: about two minutes.
const patience = 20

// calm checks the host until it is calm, at most so often.
func (s Session) calm(ctx context.Context, show func(Progress)) (analysis.Host, error) {
	for try := 1; ; try++ {
		show(Progress{Try: try, Stage: "checking that the host is calm"})
		host, err := Calibrate(ctx, realclock.New(time.Now()))
		if err != nil || !host.Busy || try == patience {
			return host, err
		}
		show(Progress{Try: try, Stage: "host busy, waiting: " + host.Reason})
		if err := wait(ctx, pause); err != nil {
			return host, err
		}
	}
}

// unsent are runs for which nothing was sent.
func (s Session) unsent(turns []turn, why string) []Played {
	var out []Played
	for _, t := range turns {
		out = append(out, Played{Side: t.side, Round: t.round, Void: why})
	}
	return out
}

// open puts the runs together. Those of one pattern are staggered over the gap between two waves, in the order of turns.
func (s Session) open(ctx context.Context, turns []turn) ([]*replay, error) {
	var cells []Cell
	for _, t := range turns {
		cells = append(cells, s.cell(t))
	}
	offsets, err := stagger(cells)
	if err != nil {
		return nil, err
	}
	start := time.Now().Add(setUp)
	var replays []*replay
	for i, t := range turns {
		u := s.setup(s.Sides[t.side])
		u.ID, u.Epoch = s.ID+"."+s.name(t), start.Add(offsets[i])
		r, err := u.open(ctx, cells[i])
		if err != nil {
			return replays, fmt.Errorf("%s: %w", s.Sides[t.side].Name, err)
		}
		r.name = s.name(t) + " " + s.Sides[t.side].Name
		replays = append(replays, r)
	}
	return replays, nil
}

// whyVoid is that of a run of the session. A busy host is no fault of one side.
func (s Session) whyVoid(t turn, run *analysis.Run) string {
	why := whyVoid(run)
	if why == "" || run.Host.Busy {
		return why
	}
	return s.Sides[t.side].Name + ": " + why
}

// whyVoid says why the numbers of a run mean nothing; empty: they do.
func whyVoid(run *analysis.Run) string {
	if run.Host.Busy {
		return "the host was too busy: " + run.Host.Reason
	}
	_, reasons := analysis.Valid(run.Summary)
	return strings.Join(reasons, "; ")
}
