package history

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// server is a PostgreSQL server of the tests' own, from the distribution's package, on a socket in a temporary folder.
type server struct {
	dir     string
	who     *syscall.SysProcAttr // runs the server's programs
	control string               // pg_ctl, once there is a server to stop
	err     error
}

var (
	theServer   server
	startServer sync.Once
	databases   atomic.Int32
)

var errNoServer = errors.New("PostgreSQL's server is not installed")

// newDatabase makes an empty schema, which is cheaper than a database. Without the server's package its tests are skipped, but not in CI, which
// installs it.
func newDatabase(t *testing.T) string {
	t.Helper()
	startServer.Do(func() { theServer.err = theServer.start() })
	if errors.Is(theServer.err, errNoServer) && os.Getenv("CI") == "" {
		t.Skip(theServer.err)
	}
	must(t, theServer.err)
	name := "history" + strconv.Itoa(int(databases.Add(1)))
	must(t, theServer.exec("CREATE SCHEMA "+name))
	return theServer.url() + "&search_path=" + name
}

func (s *server) url() string { return "postgres:///postgres?user=tester&host=" + s.dir }

func (s *server) exec(statement string) error {
	db, err := sql.Open("pgx", s.url())
	if err != nil {
		return err
	}
	_, err = db.Exec(statement)
	return errors.Join(err, db.Close())
}

// start makes a cluster and serves it. PostgreSQL refuses to run as root, so then it runs as the package's own user.
func (s *server) start() error {
	initdb, control := findServer("initdb"), findServer("pg_ctl")
	if initdb == "" || control == "" {
		return errNoServer
	}
	var err error
	if s.dir, err = os.MkdirTemp("", "pg"); err != nil {
		return err
	}
	if s.who, err = unprivileged(s.dir); err != nil {
		return err
	}
	// --no-sync and fsync=off: what a loss of power would do is no subject of these tests.
	if err := s.run(initdb, "-D", s.data(), "-U", "tester", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"); err != nil {
		return err
	}
	s.control = control
	return s.run(control, "-D", s.data(), "-l", filepath.Join(s.dir, "log"), "-w", "-t", "120",
		"-o", "-k "+s.dir+" -h '' -c fsync=off -c max_connections=120", "start")
}

func (s *server) data() string { return filepath.Join(s.dir, "data") }

// run runs a program of the server's package to its end.
func (s *server) run(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.SysProcAttr, cmd.Dir = s.who, s.dir
	var log, err = os.CreateTemp(s.dir, "out") // a file: the server inherits it, and a pipe would stay open
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(log.Name())
		return fmt.Errorf("%s: %w\n%s", name, err, said)
	}
	return nil
}

// stopServer ends the server, if one was started.
func stopServer() {
	if theServer.control != "" {
		_ = theServer.run(theServer.control, "-D", theServer.data(), "-m", "fast", "-w", "stop")
	}
	if theServer.dir != "" {
		_ = os.RemoveAll(theServer.dir)
	}
}

// findServer finds a program of the server's package, which Debian keeps off the PATH.
func findServer(name string) string {
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	slices.Sort(found)
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1]
}

// unprivileged gives the folder to a user who is not root, if we are.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // no attributes: run as ourselves
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, uidErr := strconv.Atoi(u.Uid)
	gid, gidErr := strconv.Atoi(u.Gid)
	if err := errors.Join(uidErr, gidErr, os.Chown(dir, uid, gid)); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}
