package history

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Point is what one session of a gate found in one series: how much slower the candidate was than the pinned baseline.
// A night without a session has no point; none is ever filled in.
type Point struct {
	Series    string    // scenario and metric
	At        time.Time // when the session began, UTC
	Same      bool      // the baseline ran against itself, to see the noise
	Run       string    // id of the session
	Ratio     float64   // candidate ÷ baseline, > 0
	Low       *float64  // of the interval; nil: too few runs
	High      *float64
	Verdict   string
	Baseline  string // version or commit
	Candidate string
}

// AddPoints keeps the points of one session, all or nothing. It returns ErrExists for a series and instant that is there.
func (s *Store) AddPoints(ctx context.Context, points []Point) error {
	return s.do(ctx, func(t tx) error {
		for _, p := range points {
			added, err := affected(t.exec(ctx, `INSERT INTO points
				(series, at_ns, same, run_id, ratio, low, high, verdict, baseline, candidate) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT (series, at_ns, same) DO NOTHING`,
				p.Series, p.At.UnixNano(), bit(p.Same), p.Run, p.Ratio, p.Low, p.High, p.Verdict, p.Baseline, p.Candidate))
			if err == nil && !added {
				err = ErrExists
			}
			if err != nil {
				return fmt.Errorf("point of %s at %s: %w", p.Series, p.At.Format(time.RFC3339), err)
			}
		}
		return nil
	})
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Points returns the points of a series, oldest first: the last limit of them, or all for 0. Same chooses the sessions of
// the baseline against itself instead of the others.
func (s *Store) Points(ctx context.Context, series string, same bool, limit int) ([]Point, error) {
	var out []Point
	err := s.do(ctx, func(t tx) error {
		question := `SELECT series, at_ns, same, run_id, ratio, low, high, verdict, baseline, candidate
			FROM points WHERE series = ? AND same = ? ORDER BY at_ns DESC`
		args := []any{series, bit(same)}
		if limit > 0 {
			question, args = question+" LIMIT ?", append(args, limit)
		}
		return t.each(ctx, func(scan func(...any) error) error {
			var p Point
			var at int64
			var sameBit int
			err := scan(&p.Series, &at, &sameBit, &p.Run, &p.Ratio, &p.Low, &p.High, &p.Verdict, &p.Baseline, &p.Candidate)
			p.At, p.Same = time.Unix(0, at).UTC(), sameBit == 1
			out = append(out, p)
			return err
		}, question, args...)
	})
	slices.Reverse(out)
	return out, err
}

// Series lists the names of all series that have points, in order.
func (s *Store) Series(ctx context.Context) ([]string, error) {
	var out []string
	err := s.do(ctx, func(t tx) error {
		return t.each(ctx, func(scan func(...any) error) error {
			var name string
			err := scan(&name)
			out = append(out, name)
			return err
		}, "SELECT DISTINCT series FROM points ORDER BY series")
	})
	return out, err
}
