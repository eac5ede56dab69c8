package history

import (
	"context"
	"errors"
	"fmt"
)

// Check looks for damage: what the database itself finds, and runs whose rows are not all there. It returns ErrDamaged
// with all findings, or nil.
func (s *Store) Check(ctx context.Context) error {
	var findings []error
	found := func(format string, args ...any) {
		findings = append(findings, fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...))
	}
	err := s.do(ctx, func(t tx) error {
		if err := s.ask(ctx, t, found); err != nil {
			return err
		}
		return t.each(ctx, func(scan func(...any) error) error {
			var id string
			var cells, cellRows, figures, figureRows int
			if err := scan(&id, &cells, &cellRows, &figures, &figureRows); err != nil {
				return err
			}
			if cells != cellRows || figures != figureRows {
				found("run %s has %d of %d cells and %d of %d figures", id, cellRows, cells, figureRows, figures)
			}
			return nil
		}, `SELECT id, cells, (SELECT COUNT(*) FROM cells WHERE run_id = id),
			figures, (SELECT COUNT(*) FROM figures WHERE run_id = id) FROM runs ORDER BY id`)
	})
	if err != nil {
		findings = append(findings, fmt.Errorf("%w: %w", ErrDamaged, err))
	}
	return errors.Join(findings...)
}

// ask asks the database for its own findings.
func (s *Store) ask(ctx context.Context, t tx, found func(string, ...any)) error {
	if s.base.check == "" {
		return nil
	}
	return t.each(ctx, func(scan func(...any) error) error {
		var finding string
		err := scan(&finding)
		if err == nil && finding != "ok" {
			found("%s", finding)
		}
		return err
	}, s.base.check)
}
