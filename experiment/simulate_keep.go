package experiment

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"coldwave/analysis"
	"coldwave/bundle"
	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/workload"
)

// MostKept is the most requests of a run in virtual time that a journal keeps: as many as a run on the wire may have.
const MostKept = workload.DefaultLimit

// destination is where the records of a run go that does not hold them: into histograms, or into a journal and columns.
type destination struct {
	histograms *analysis.Stream // nil: columns
	columns    *analysis.Tally
	journal    *bundle.Journal
}

// destination chooses by whether the run is to be kept and may be.
func (s Simulation) destination(ctx context.Context, run analysis.Run) (*destination, error) {
	if s.Keep == nil {
		return &destination{histograms: analysis.NewStream()}, nil
	}
	n, waves, err := s.survey(ctx)
	if errors.Is(err, workload.ErrTooMany) {
		return &destination{histograms: analysis.NewStream()}, nil
	}
	if err != nil {
		return nil, err
	}
	run.Summary.Scheduled = n
	journal, err := s.Keep(run, s.arrivals(ctx))
	if err != nil {
		return nil, err
	}
	return &destination{columns: analysis.NewTally(windowOf(waves), n), journal: journal}, nil
}

// survey counts the arrivals and finds the first of each wave.
func (s Simulation) survey(ctx context.Context) (n int, waves []workload.Wave, err error) {
	src := s.Cell.source(ctx)
	src.Limit = MostKept
	seen := firsts{}
	stream := src.Open()
	for a, ok := stream.Next(); ok; a, ok = stream.Next() {
		n++
		seen.see(a.Wave, a.At)
	}
	return n, seen.sorted(), errors.Join(stream.Err(), context.Cause(ctx))
}

// firsts are the first arrivals of the waves, by number.
type firsts map[int32]clock.Instant

func (f firsts) see(wave int32, at clock.Instant) {
	if _, seen := f[wave]; !seen && wave >= 0 {
		f[wave] = at
	}
}

// sorted returns the waves by number, with their first arrivals only.
func (f firsts) sorted() []workload.Wave {
	waves := make([]workload.Wave, 0, len(f))
	for wave, at := range f {
		waves = append(waves, workload.Wave{Number: wave, First: at})
	}
	slices.SortFunc(waves, func(a, b workload.Wave) int { return cmp.Compare(a.Number, b.Number) })
	return waves
}

// arrivals draws the arrivals once more.
func (s Simulation) arrivals(ctx context.Context) iter.Seq2[workload.Arrival, error] {
	return func(yield func(workload.Arrival, error) bool) {
		stream := s.Cell.source(ctx).Open()
		for a, ok := stream.Next(); ok; a, ok = stream.Next() {
			if !yield(a, nil) {
				return
			}
		}
		if err := errors.Join(stream.Err(), context.Cause(ctx)); err != nil {
			yield(workload.Arrival{}, err)
		}
	}
}

func (d *destination) add(r *record.Record) {
	if d.histograms != nil {
		d.histograms.Add(r)
		return
	}
	d.columns.Add(r)
	d.journal.Add(r)
}

// watch stops the run when the journal fails; its context ends with the run.
func (d *destination) watch(ctx context.Context, stop context.CancelCauseFunc) {
	if d.journal == nil {
		return
	}
	go func() {
		select {
		case <-d.journal.Failed():
			stop(d.journal.Err())
		case <-ctx.Done():
		}
	}()
}

func (d *destination) seal() error {
	if d.journal == nil {
		return nil
	}
	return d.journal.Seal()
}

func (d *destination) summary(requests int, run *analysis.Run) (s analysis.Summary, err error) {
	if d.columns != nil {
		return d.columns.Summary(requests, inputOf(run)), nil
	}
	s, err = d.histograms.Summary(requests, run.Schedule.Length, run.Instances, run.Tariff)
	if run.Placement != nil {
		t := analysis.TotalNodes(run.Nodes, run.Instances, clock.Instant(run.Schedule.Length))
		s.Nodes = &t
	}
	return s, err
}
