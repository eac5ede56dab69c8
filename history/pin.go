package history

import (
	"context"
	"fmt"
	"time"
)

// Pin is the baseline of a suite: what candidates are measured against. It moves only by hand, on a release or an
// accepted change: a baseline that follows by itself lets small regressions in one after the other.
type Pin struct {
	Name string // of the suite
	Side string // as on the command line: build:PATH, policy:NAME, run:DIR
	Note string
	At   time.Time // when it was pinned, UTC
}

// SetPin pins a baseline, in place of the one that had the name.
func (s *Store) SetPin(ctx context.Context, p Pin) error {
	return s.do(ctx, func(t tx) error {
		_, err := t.exec(ctx, `INSERT INTO pins (name, side, note, at_ns) VALUES (?, ?, ?, ?)
			ON CONFLICT (name) DO UPDATE SET side = excluded.side, note = excluded.note, at_ns = excluded.at_ns`,
			p.Name, p.Side, p.Note, p.At.UnixNano())
		return err
	})
}

// Pins lists all pins in order of name.
func (s *Store) Pins(ctx context.Context) ([]Pin, error) {
	var out []Pin
	err := s.do(ctx, func(t tx) error {
		return t.each(ctx, func(scan func(...any) error) error {
			p, err := scanPin(scan)
			out = append(out, p)
			return err
		}, "SELECT name, side, note, at_ns FROM pins ORDER BY name")
	})
	return out, err
}

// Pin returns the pin of that name, or ErrNotFound.
func (s *Store) Pin(ctx context.Context, name string) (Pin, error) {
	var p Pin
	err := s.do(ctx, func(t tx) error {
		var err error
		p, err = scanPin(t.row(ctx, "SELECT name, side, note, at_ns FROM pins WHERE name = ?", name).Scan)
		if isMissing(err) {
			err = fmt.Errorf("pin %q: %w", name, ErrNotFound)
		}
		return err
	})
	return p, err
}

// Unpin takes a pin away, or returns ErrNotFound.
func (s *Store) Unpin(ctx context.Context, name string) error {
	return s.do(ctx, func(t tx) error {
		removed, err := affected(t.exec(ctx, "DELETE FROM pins WHERE name = ?", name))
		if err == nil && !removed {
			err = fmt.Errorf("pin %q: %w", name, ErrNotFound)
		}
		return err
	})
}

func scanPin(scan func(...any) error) (Pin, error) {
	var p Pin
	var at int64
	err := scan(&p.Name, &p.Side, &p.Note, &at)
	p.At = time.Unix(0, at).UTC()
	return p, err
}
