package history

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// openSQLite opens a file with one connection: SQLite has one writer at a time anyway, and the writers of other
// processes are waited for.
func openSQLite(path string) (*Store, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAddress, err)
	}
	if err := makePrivate(full); err != nil {
		return nil, fmt.Errorf("history %s: %w", path, err)
	}
	db, err := sql.Open("sqlite", sqliteName(full))
	if err != nil {
		return nil, fmt.Errorf("history %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	return &Store{db: db, name: path, base: dialect{check: "PRAGMA integrity_check"}}, nil
}

// makePrivate makes the file for its owner only, so that SQLite never makes it for everybody.
func makePrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil { //nolint:gosec // the user names the file
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) //nolint:gosec // the user names the file
	if err != nil {
		return err
	}
	return f.Close()
}

// sqliteName asks for write-ahead logging, for transactions that take the lock at once (one that asks for it half-way
// fails without waiting), for commits that survive a loss of power, and for no trust in what a foreign file's schema
// would have executed.
func sqliteName(path string) string {
	settings := url.Values{
		"_txlock": {"immediate"},
		"_pragma": {
			"busy_timeout(" + strconv.FormatInt(patience.Milliseconds(), 10) + ")", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "trusted_schema(0)",
		},
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: settings.Encode()}).String()
}
