package experiment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"coldwave/analysis"
	"coldwave/reports"
)

// ErrSides is wrapped by the error for a comparison that is none.
var ErrSides = errors.New("bad comparison")

// Compare runs all cells on every seed and pairs each with the first, seed by seed. Names are those of the cells in
// reports, such as "policy:fc-race". Equal seeds give equal results on any number of cores; only Wall differs.
func (s Seeds) Compare(ctx context.Context, names []string, show func(Progress)) (reports.Comparison, error) {
	began := time.Now()
	if len(s.Cells) < 2 || len(names) != len(s.Cells) {
		return reports.Comparison{}, fmt.Errorf("%w: %d sides: give at least two", ErrSides, len(s.Cells))
	}
	if err := errors.Join(s.check(), s.Judging.check()); err != nil {
		return reports.Comparison{}, err
	}
	if err := s.alike(ctx); err != nil {
		return reports.Comparison{}, err
	}
	metrics, _, err := s.metrics(ctx)
	if err != nil {
		return reports.Comparison{}, err
	}
	lots, err := s.lots(ctx, metrics, s.progress(show))
	if err != nil {
		return reports.Comparison{}, err
	}
	out := reports.Comparison{Setting: s.setting(lots), Wall: time.Since(began)}
	for i := range s.Cells {
		out.Sides = append(out.Sides, reports.Side{Name: names[i], Policy: s.Cells[i].Policy, Requests: requests(lots, i), Log: s.log(lots, i)})
		if i > 0 {
			out.Pairs = append(out.Pairs, reports.SidePair{A: names[0], B: names[i], Rows: pairUp(lots, metrics, i, out.Setting.Level)})
		}
	}
	out.Standings = s.standings(lots, metrics, out.Setting.Level, func(cell int) []string {
		return []string{strings.TrimPrefix(names[cell], "policy:")}
	})
	out.Standings.Columns = []string{"policy"}
	return out, nil
}

// pairUp compares one cell with the first, metric by metric.
func pairUp(lots []lot, metrics []analysis.Metric, cell int, level float64) []analysis.Paired {
	var rows []analysis.Paired
	for i, m := range metrics {
		rows = append(rows, analysis.Pair(m, sampleOf(lots, 0, i), sampleOf(lots, cell, i), level))
	}
	return rows
}
