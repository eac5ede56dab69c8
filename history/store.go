// Package history is the index of runs and of the figures they are compared by, in SQLite or in PostgreSQL.
package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The errors of a store, wrapped by those of its methods.
var (
	ErrNotFound = errors.New("not in the history")
	ErrExists   = errors.New("in the history already")
	ErrNewer    = errors.New("written by a newer version of this program")
	ErrDamaged  = errors.New("damaged history")
	ErrAddress  = errors.New("bad address of a history")
)

// Store is one history. It is safe for concurrent use, also by several processes at once: each method is one
// transaction, a writer waits for the other, and a process that is killed leaves what it had not finished undone.
type Store struct {
	db   *sql.DB
	base dialect
	name string // for messages: without a password
}

// dialect is what the two databases do not have in common.
type dialect struct {
	numbered bool   // placeholders are $1, $2, … instead of ?
	lock     string // taken first by a migration; empty: transactions exclude each other anyway
	check    string // asks the database for its own findings; empty: it has no such question
}

// patience is how long a writer waits for the other writers.
const patience = 30 * time.Second

// Open opens the history at the address and brings its tables up to date: the path of a SQLite file, which is made if
// need be (mode 0600), or the URL of a PostgreSQL database ("postgres://…"). No error shows a password.
func Open(ctx context.Context, address string) (*Store, error) {
	s, err := open(address)
	if err != nil {
		return nil, err
	}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(s.wrap(err), s.db.Close())
	}
	return s, nil
}

func open(address string) (*Store, error) {
	switch {
	case address == "":
		return nil, fmt.Errorf("%w: it is empty", ErrAddress)
	case strings.HasPrefix(address, "postgres://"), strings.HasPrefix(address, "postgresql://"):
		return openPostgres(address)
	case strings.Contains(address, "://"):
		return nil, fmt.Errorf("%w: use the path of a file or postgres://…", ErrAddress)
	}
	return openSQLite(address)
}

// Name is the address without a password.
func (s *Store) Name() string { return s.name }

// Close lets go of the database.
func (s *Store) Close() error { return s.wrap(s.db.Close()) }

func (s *Store) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("history %s: %w", s.name, err)
}

// DefaultPath is where the history lies unless said otherwise: loadgen/history.db in $XDG_DATA_HOME, or in
// .local/share of the home directory.
func DefaultPath() (string, error) {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) { // others are to be ignored, says the specification
		return filepath.Join(dir, "loadgen", "history.db"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("%w: neither XDG_DATA_HOME nor a home directory is known: %w", ErrAddress, err)
	}
	return filepath.Join(home, ".local", "share", "loadgen", "history.db"), nil
}

// tx is one transaction in the dialect of its store.
type tx struct {
	*sql.Tx
	base dialect
}

// do runs f in a transaction, which takes effect as a whole or not at all.
func (s *Store) do(ctx context.Context, f func(t tx) error) error {
	inner, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap(err)
	}
	if err := f(tx{inner, s.base}); err != nil {
		return s.wrap(errors.Join(err, inner.Rollback()))
	}
	return s.wrap(inner.Commit())
}

// exec runs a statement whose placeholders are question marks.
func (t tx) exec(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	return t.ExecContext(ctx, t.base.text(statement), args...) //nolint:gosec // statements are constants of this package
}

// row asks for one row.
func (t tx) row(ctx context.Context, question string, args ...any) *sql.Row {
	return t.QueryRowContext(ctx, t.base.text(question), args...)
}

// each calls f at each row of the answer.
func (t tx) each(ctx context.Context, f func(scan func(...any) error) error, question string, args ...any) error {
	rows, err := t.QueryContext(ctx, t.base.text(question), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// text puts a statement into the dialect. No statement of this package holds a question mark of another meaning.
func (d dialect) text(statement string) string {
	if !d.numbered {
		return statement
	}
	var b strings.Builder
	n := 0
	for _, r := range statement {
		if r != '?' {
			b.WriteRune(r)
			continue
		}
		n++
		fmt.Fprintf(&b, "$%d", n)
	}
	return b.String()
}

// affected says whether a statement changed something.
func affected(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
}
