package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(endlessWriter); path != "" {
		writeForever(path)
	}
	code := m.Run()
	stopServer()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code) //nolint:forbidigo // this is main
}

// stores are the kinds of store: each passes the same tests.
var stores = []struct {
	name string
	make func(t *testing.T) string // an empty history's address
}{
	{"sqlite", func(t *testing.T) string { return filepath.Join(t.TempDir(), "new", "history.db") }},
	{"postgres", newDatabase},
}

// onEach runs a test on an empty store of each kind.
func onEach(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Helper()
	for _, kind := range stores {
		t.Run(kind.name, func(t *testing.T) { test(t, mustOpen(t, kind.make(t))) })
	}
}

func mustOpen(t *testing.T, address string) *Store {
	t.Helper()
	s, err := Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenAgain(t *testing.T) {
	for _, kind := range stores {
		t.Run(kind.name, func(t *testing.T) {
			address := kind.make(t)
			first := mustOpen(t, address)
			must(t, first.Add(t.Context(), aRun("r1", 0)))
			second := mustOpen(t, address)
			got, err := second.Get(t.Context(), "r1")
			must(t, err)
			if diff := cmp.Diff(aRun("r1", 0), got); diff != "" {
				t.Errorf("another process reads (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNewerSchema: a history of a later version is not touched.
func TestNewerSchema(t *testing.T) {
	for _, kind := range stores {
		t.Run(kind.name, func(t *testing.T) {
			address := kind.make(t)
			s := mustOpen(t, address)
			must(t, s.do(t.Context(), func(t tx) error {
				_, err := t.exec(context.Background(), "UPDATE history_version SET version = version + 1")
				return err
			}))
			if _, err := Open(t.Context(), address); !errors.Is(err, ErrNewer) {
				t.Errorf("Open of a later version: %v, want ErrNewer", err)
			}
		})
	}
}

// TestMigrationIsWhole: a step that fails leaves the tables as they were.
func TestMigrationIsWhole(t *testing.T) {
	for _, kind := range stores {
		t.Run(kind.name, func(t *testing.T) {
			s := mustOpen(t, kind.make(t))
			must(t, s.Add(t.Context(), aRun("r1", 0)))
			released := migrations
			defer func() { migrations = released }()
			migrations = append(released[:len(released):len(released)], "CREATE TABLE later (id TEXT)", "CREATE TABLE broken (")
			if err := s.migrate(t.Context()); err == nil {
				t.Fatal("the broken step was taken")
			}
			migrations = append(released[:len(released):len(released)], "CREATE TABLE later (id TEXT)")
			must(t, s.migrate(t.Context()))
			_, err := s.Get(t.Context(), "r1")
			must(t, err)
		})
	}
}

// TestManyWriters: 20 processes' worth of stores write at once (R23).
func TestManyWriters(t *testing.T) {
	writers, rows := 20, 20
	if os.Getenv("SEEDS") != "" { // make soak
		rows = 100
	}
	for _, kind := range stores {
		t.Run(kind.name, func(t *testing.T) {
			address := kind.make(t)
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					s, err := Open(t.Context(), address)
					if err != nil {
						t.Error(err)
						return
					}
					defer s.Close()
					for row := range rows {
						r := Run{ID: fmt.Sprintf("w%02d-%03d", w, row), Verb: "run", Began: time.Unix(int64(row), 0), State: Complete}
						if err := s.Add(t.Context(), r); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			s := mustOpen(t, address)
			runs, err := s.Runs(t.Context(), Filter{})
			must(t, err)
			if len(runs) != writers*rows {
				t.Errorf("%d runs, want %d", len(runs), writers*rows)
			}
			must(t, s.Check(t.Context()))
		})
	}
}

// TestCheckFinds: a run with a row missing is damage; in SQLite so are bytes that changed.
func TestCheckFinds(t *testing.T) {
	onEach(t, func(t *testing.T, s *Store) {
		must(t, s.Add(t.Context(), aRun("r1", 0)))
		must(t, s.Check(t.Context()))
		must(t, s.do(t.Context(), func(t tx) error {
			_, err := t.exec(context.Background(), "DELETE FROM figures WHERE name = 'response_p99'")
			return err
		}))
		if err := s.Check(t.Context()); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "run r1 has 2 of 2 cells and 2 of 3 figures") {
			t.Errorf("Check of a half-filled run: %v", err)
		}
	})
}

func TestCheckFindsBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	s, err := Open(t.Context(), path)
	must(t, err)
	for k := range 60 {
		must(t, s.Add(t.Context(), aRun(fmt.Sprintf("r%03d", k), k)))
	}
	must(t, s.Close())
	data, err := os.ReadFile(path)
	must(t, err)
	for at := len(data) / 2; at < len(data)/2+4096; at++ {
		data[at] ^= 0x5a
	}
	must(t, os.WriteFile(path, data, 0o600))
	s, err = Open(t.Context(), path)
	if err != nil {
		return // found at once
	}
	defer s.Close()
	if err := s.Check(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("Check of a page that was written over: %v, want ErrDamaged", err)
	}
}

func TestSQLiteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "er", "history.db")
	s := mustOpen(t, path)
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		info, err := os.Stat(name)
		must(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %v, want %v", name, got, want)
		}
	}
	for pragma, want := range map[string]string{"journal_mode": "wal", "foreign_keys": "1", "trusted_schema": "0", "synchronous": "2", "busy_timeout": "30000"} {
		var got string
		must(t, s.db.QueryRow("PRAGMA "+pragma).Scan(&got))
		if got != want {
			t.Errorf("%s is %s, want %s", pragma, got, want)
		}
	}
}

// TestAddresses: what is no address says so, and no error shows a password.
func TestAddresses(t *testing.T) {
	for _, address := range []string{
		"", "mysql://root:hunter2@127.0.0.1/x", "postgres://u:hunter2@127.0.0.1:1/x", "postgres://u:hunter2@[::1/x",
		"postgres://u:hunter2@127.0.0.1:notaport/x", "postgres://u@127.0.0.1:1/x?password=hunter2", "postgres://u:hunter2@127.0.0.1/x?sslmode=maybe",
	} {
		s, err := Open(t.Context(), address)
		if err == nil {
			t.Errorf("Open(%q) worked", address)
			must(t, s.Close())
			continue
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}

// TestServerMustProve: away from this machine the server's certificate is verified unless the URL says otherwise.
func TestServerMustProve(t *testing.T) {
	for address, want := range map[string]bool{
		"postgres://u@db.example.net/x":                   true,
		"postgres://u@192.0.2.7:5432/x":                   true,
		"postgres://u@db.example.net/x?sslmode=disable":   false,
		"postgres://u@127.0.0.1/x":                        false,
		"postgres://u@[::1]/x":                            false,
		"postgres://u@localhost/x":                        false,
		"postgres:///x?host=/var/run/postgresql":          false,
		"postgres://u@localhost/x?host=db.example.net":    true,
		"postgresql://u@db.example.net/x?sslmode=require": false,
	} {
		config, err := parsePostgres(address)
		must(t, err)
		verified := config.TLSConfig != nil && !config.TLSConfig.InsecureSkipVerify && config.TLSConfig.ServerName != ""
		if verified != want {
			t.Errorf("%s: server verified %v, want %v", address, verified, want)
		}
	}
}

func TestDefaultPath(t *testing.T) {
	for _, c := range []struct{ xdg, home, want string }{
		{"/data", "/home/me", "/data/loadgen/history.db"},
		{"", "/home/me", "/home/me/.local/share/loadgen/history.db"},
		{"relative", "/home/me", "/home/me/.local/share/loadgen/history.db"},
		{"", "", ""},
	} {
		t.Setenv("XDG_DATA_HOME", c.xdg)
		t.Setenv("HOME", c.home)
		got, err := DefaultPath()
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("XDG_DATA_HOME=%q HOME=%q: %q, %v, want %q", c.xdg, c.home, got, err, c.want)
		}
	}
}
