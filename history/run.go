package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// State says what a run's figures are worth.
type State string

// The states of runs.
const (
	Complete State = "complete"
	Partial  State = "partial" // it was stopped or killed: figures over what was recorded
	Invalid  State = "invalid" // its times mean nothing, for a reason that its report names
)

// Run is one call of a verb that kept a run directory.
type Run struct {
	ID       string // also the directory's name
	Verb     string
	Began    time.Time // UTC
	Version  string    // of this program
	Commit   string
	Host     string // system, processor and kernel
	Command  string // without secrets
	Seed     uint64
	Dir      string // the run directory
	ExitCode int
	State    State
	Cells    []Cell // in order of name; empty in a list
}

// Cell is one schedule against one side.
type Cell struct {
	Name    string // unique in its run
	Pattern string
	Policy  string // empty: an external target
	Target  string // without user and password; empty: the bundled stack
	Driver  string // "wire" or "virtual"
	Hash    string // of the schedule
	Figures []Figure
}

// Figure is one number of a cell.
type Figure struct {
	Name  string // as in run.json
	Unit  string // "ns", "1" for shares and ratios, or what is counted
	Value float64
	N     int64
	Low   *float64 // of the 95 % interval within this run; nil: the sample allows none
	High  *float64
}

// Add keeps a run with its cells and figures, all or nothing. It returns ErrExists for an id that is there.
func (s *Store) Add(ctx context.Context, r Run) error {
	return s.do(ctx, func(t tx) error {
		figures := 0
		for _, c := range r.Cells {
			figures += len(c.Figures)
		}
		added, err := affected(t.exec(ctx, `INSERT INTO runs
			(id, verb, began_ns, version, commit_id, host, command, seed, dir, exit_code, state, cells, figures)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
			r.ID, r.Verb, r.Began.UnixNano(), r.Version, r.Commit, r.Host, r.Command, strconv.FormatUint(r.Seed, 10), r.Dir,
			r.ExitCode, string(r.State), len(r.Cells), figures))
		if err != nil {
			return err
		}
		if !added {
			return fmt.Errorf("run %s: %w", r.ID, ErrExists)
		}
		for _, c := range r.Cells {
			if err := addCell(ctx, t, r.ID, c); err != nil {
				return fmt.Errorf("run %s, cell %s: %w", r.ID, c.Name, err)
			}
		}
		return nil
	})
}

func addCell(ctx context.Context, t tx, run string, c Cell) error {
	if _, err := t.exec(ctx, `INSERT INTO cells (run_id, name, pattern, policy, target, driver, schedule_hash)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, run, c.Name, c.Pattern, c.Policy, c.Target, c.Driver, c.Hash); err != nil {
		return err
	}
	for _, f := range c.Figures {
		if _, err := t.exec(ctx, `INSERT INTO figures (run_id, cell, name, unit, value, n, low, high)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, run, c.Name, f.Name, f.Unit, f.Value, f.N, f.Low, f.High); err != nil {
			return fmt.Errorf("figure %s: %w", f.Name, err)
		}
	}
	return nil
}

// Filter chooses runs. The zero Filter chooses all.
type Filter struct {
	Verb    string
	Pattern string // some cell has it
	Policy  string // some cell has it
	Limit   int    // the newest so many; 0: all
}

// Runs lists runs without their cells, newest first.
func (s *Store) Runs(ctx context.Context, f Filter) ([]Run, error) {
	var out []Run
	err := s.do(ctx, func(t tx) error {
		question, args := f.question()
		return t.each(ctx, func(scan func(...any) error) error {
			r, err := scanRun(scan)
			out = append(out, r)
			return err
		}, question, args...)
	})
	return out, err
}

const runColumns = "id, verb, began_ns, version, commit_id, host, command, seed, dir, exit_code, state"

func (f Filter) question() (string, []any) {
	question, args := "SELECT "+runColumns+" FROM runs WHERE 1 = 1", []any(nil)
	if f.Verb != "" {
		question, args = question+" AND verb = ?", append(args, f.Verb)
	}
	for _, c := range []struct{ column, value string }{{"pattern", f.Pattern}, {"policy", f.Policy}} {
		if c.value != "" {
			question += " AND EXISTS (SELECT 1 FROM cells WHERE run_id = id AND " + c.column + " = ?)"
			args = append(args, c.value)
		}
	}
	question += " ORDER BY began_ns DESC, id DESC"
	if f.Limit > 0 {
		question, args = question+" LIMIT ?", append(args, f.Limit)
	}
	return question, args
}

func scanRun(scan func(...any) error) (Run, error) {
	var r Run
	var began int64
	var seed string
	if err := scan(&r.ID, &r.Verb, &began, &r.Version, &r.Commit, &r.Host, &r.Command, &seed, &r.Dir, &r.ExitCode, &r.State); err != nil {
		return r, err
	}
	r.Began = time.Unix(0, began).UTC()
	var err error
	if r.Seed, err = strconv.ParseUint(seed, 10, 64); err != nil {
		err = fmt.Errorf("run %s: %w: its seed is no number", r.ID, ErrDamaged)
	}
	return r, err
}

// Get returns the run whose id is id, or begins with it if no other's does, with its cells and figures.
func (s *Store) Get(ctx context.Context, id string) (Run, error) {
	var r Run
	err := s.do(ctx, func(t tx) error {
		full, err := idOf(ctx, t, id)
		if err != nil {
			return err
		}
		if r, err = scanRun(t.row(ctx, "SELECT "+runColumns+" FROM runs WHERE id = ?", full).Scan); err != nil {
			return err
		}
		r.Cells, err = cellsOf(ctx, t, full)
		return err
	})
	return r, err
}

// idOf completes the beginning of an id.
func idOf(ctx context.Context, t tx, id string) (string, error) {
	var found []string
	err := t.each(ctx, func(scan func(...any) error) error {
		var full string
		err := scan(&full)
		found = append(found, full)
		return err
	}, "SELECT id FROM runs WHERE substr(id, 1, ?) = ? ORDER BY id LIMIT 3", len(id), id)
	switch {
	case err != nil:
		return "", err
	case slices.Contains(found, id):
		return id, nil
	case len(found) == 0 || id == "":
		return "", fmt.Errorf("run %q: %w", id, ErrNotFound)
	case len(found) > 1:
		return "", fmt.Errorf("run %q: %w: more than one id begins so (%s, %s)", id, ErrNotFound, found[0], found[1])
	}
	return found[0], nil
}

func cellsOf(ctx context.Context, t tx, run string) ([]Cell, error) {
	var out []Cell
	place := map[string]int{}
	err := t.each(ctx, func(scan func(...any) error) error {
		var c Cell
		err := scan(&c.Name, &c.Pattern, &c.Policy, &c.Target, &c.Driver, &c.Hash)
		place[c.Name] = len(out)
		out = append(out, c)
		return err
	}, "SELECT name, pattern, policy, target, driver, schedule_hash FROM cells WHERE run_id = ? ORDER BY name", run)
	if err != nil {
		return nil, err
	}
	err = t.each(ctx, func(scan func(...any) error) error {
		var cell string
		var f Figure
		err := scan(&cell, &f.Name, &f.Unit, &f.Value, &f.N, &f.Low, &f.High)
		c := &out[place[cell]]
		c.Figures = append(c.Figures, f)
		return err
	}, "SELECT cell, name, unit, value, n, low, high FROM figures WHERE run_id = ? ORDER BY cell, name", run)
	return out, err
}

// Remove forgets a run, all or nothing; its directory stays.
func (s *Store) Remove(ctx context.Context, id string) error {
	return s.do(ctx, func(t tx) error {
		removed, err := affected(t.exec(ctx, "DELETE FROM runs WHERE id = ?", id))
		if err == nil && !removed {
			err = fmt.Errorf("run %q: %w", id, ErrNotFound)
		}
		return err
	})
}

// Value is one figure of one run, for a trend.
type Value struct {
	Run     string
	Began   time.Time
	Version string
	Commit  string
	State   State
	Figure
}

// Trend returns a figure of the cells of that name over all runs, oldest first: the last limit of them, or all for 0.
func (s *Store) Trend(ctx context.Context, cell, figure string, limit int) ([]Value, error) {
	var out []Value
	err := s.do(ctx, func(t tx) error {
		question := `SELECT id, began_ns, version, commit_id, state, name, unit, value, n, low, high
			FROM figures JOIN runs ON run_id = id WHERE cell = ? AND name = ? ORDER BY began_ns DESC, id DESC`
		args := []any{cell, figure}
		if limit > 0 {
			question, args = question+" LIMIT ?", append(args, limit)
		}
		return t.each(ctx, func(scan func(...any) error) error {
			var v Value
			var began int64
			err := scan(&v.Run, &began, &v.Version, &v.Commit, &v.State, &v.Name, &v.Unit, &v.Value, &v.N, &v.Low, &v.High)
			v.Began = time.Unix(0, began).UTC()
			out = append(out, v)
			return err
		}, question, args...)
	})
	slices.Reverse(out)
	return out, err
}

// isMissing says that an answer had no row.
func isMissing(err error) bool { return errors.Is(err, sql.ErrNoRows) }
