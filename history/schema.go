package history

import (
	"context"
	"fmt"
)

// migrations make the tables, one step after the other; a step that was released is never changed. Both databases
// understand all of it. Instants are nanoseconds since 1970 in UTC.
var migrations = []string{
	`CREATE TABLE runs (
		id         TEXT PRIMARY KEY,
		verb       TEXT NOT NULL,
		began_ns   BIGINT NOT NULL,
		version    TEXT NOT NULL,
		commit_id  TEXT NOT NULL,
		host       TEXT NOT NULL,
		command    TEXT NOT NULL,
		seed       TEXT NOT NULL, -- 64 bits without a sign
		dir        TEXT NOT NULL,
		exit_code  BIGINT NOT NULL,
		state      TEXT NOT NULL CHECK (state IN ('complete', 'partial', 'invalid')),
		cells      BIGINT NOT NULL, -- how many rows belong to it: a half-filled run would show
		figures    BIGINT NOT NULL
	);
	CREATE INDEX runs_by_time ON runs (began_ns);
	CREATE TABLE cells (
		run_id        TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
		name          TEXT NOT NULL,
		pattern       TEXT NOT NULL,
		policy        TEXT NOT NULL,
		target        TEXT NOT NULL,
		driver        TEXT NOT NULL,
		schedule_hash TEXT NOT NULL,
		PRIMARY KEY (run_id, name)
	);
	CREATE TABLE figures (
		run_id TEXT NOT NULL,
		cell   TEXT NOT NULL,
		name   TEXT NOT NULL,
		unit   TEXT NOT NULL,
		value  DOUBLE PRECISION NOT NULL,
		n      BIGINT NOT NULL,
		low    DOUBLE PRECISION, -- NULL: the sample allows no interval
		high   DOUBLE PRECISION,
		PRIMARY KEY (run_id, cell, name),
		FOREIGN KEY (run_id, cell) REFERENCES cells (run_id, name) ON DELETE CASCADE
	);
	CREATE INDEX figures_by_name ON figures (name, cell)`,

	`CREATE TABLE pins (
		name  TEXT PRIMARY KEY,
		side  TEXT NOT NULL,
		note  TEXT NOT NULL,
		at_ns BIGINT NOT NULL
	);
	CREATE TABLE points (
		series    TEXT NOT NULL,
		at_ns     BIGINT NOT NULL,
		same      BIGINT NOT NULL CHECK (same IN (0, 1)), -- 1: the baseline against itself
		run_id    TEXT NOT NULL,
		ratio     DOUBLE PRECISION NOT NULL CHECK (ratio > 0),
		low       DOUBLE PRECISION,
		high      DOUBLE PRECISION,
		verdict   TEXT NOT NULL,
		baseline  TEXT NOT NULL,
		candidate TEXT NOT NULL,
		PRIMARY KEY (series, at_ns, same)
	);
	CREATE TABLE alerts (
		id         TEXT PRIMARY KEY,
		series     TEXT NOT NULL,
		at_ns      BIGINT NOT NULL,
		before     DOUBLE PRECISION NOT NULL,
		after      DOUBLE PRECISION NOT NULL,
		p_value    DOUBLE PRECISION NOT NULL,
		from_build TEXT NOT NULL,
		to_build   TEXT NOT NULL,
		state      TEXT NOT NULL CHECK (state IN ('new', 'acknowledged', 'expected', 'fixed')),
		note       TEXT NOT NULL,
		opened_ns  BIGINT NOT NULL,
		changed_ns BIGINT NOT NULL
	);
	CREATE UNIQUE INDEX alerts_one_open ON alerts (series) WHERE state IN ('new', 'acknowledged')`,
}

// migrate runs the steps that this history has not seen, in one transaction.
func (s *Store) migrate(ctx context.Context) error {
	inner, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer inner.Rollback() //nolint:errcheck // after the commit it does nothing; before it, the first error counts
	t := tx{inner, s.base}
	if s.base.lock != "" {
		if _, err := t.exec(ctx, s.base.lock); err != nil {
			return err
		}
	}
	version, err := versionOf(ctx, t)
	if err != nil {
		return err
	}
	if version > len(migrations) {
		return fmt.Errorf("%w: its tables have version %d, this program knows %d", ErrNewer, version, len(migrations))
	}
	for _, step := range migrations[version:] {
		if _, err := t.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("make tables: %w", err)
		}
		if _, err := t.exec(ctx, "UPDATE history_version SET version = version + 1"); err != nil {
			return err
		}
	}
	return inner.Commit()
}

// versionOf returns how many steps the history has seen.
func versionOf(ctx context.Context, t tx) (int, error) {
	if _, err := t.exec(ctx, "CREATE TABLE IF NOT EXISTS history_version (version BIGINT NOT NULL)"); err != nil {
		return 0, err
	}
	if _, err := t.exec(ctx, "INSERT INTO history_version (version) SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM history_version)"); err != nil {
		return 0, err
	}
	var version int
	err := t.row(ctx, "SELECT version FROM history_version").Scan(&version)
	return version, err
}
