package fleet_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"coldwave/fleet"
	"coldwave/gateway"
	"coldwave/internal/realclock"
	"coldwave/platform"
	"coldwave/scheduler"
)

// builtDir is where the real worker program was built, if it was.
var builtDir string

var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "fakeworker")
	if err != nil {
		return "", err
	}
	builtDir = dir
	path := filepath.Join(dir, "fakeworker")
	out, err := exec.Command("go", "build", "-o", path, "coldwave/cmd/fakeworker").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// program builds the real worker program once.
func program(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// standIns are what this program does instead of testing, by the function that a worker is started for.
var standIns = map[string]func() int{
	"garbage": func() int { fmt.Fprintln(os.Stdout, "hello"); return block() },
	"silent":  block,
	"quits":   func() int { fmt.Fprintln(os.Stderr, "out of\x1b[31m memory"); return 3 },
	"foreign": func() int { fmt.Fprintln(os.Stdout, "listening 192.0.2.1:80"); return block() },
	"endless": func() int { fmt.Fprint(os.Stdout, strings.Repeat("x", 1<<20)); return block() },
	"stubborn": func() int {
		signal.Ignore(syscall.SIGTERM)
		fmt.Fprintln(os.Stdout, "listening", listenAnywhere())
		return block()
	},
	"talker": talk,
	"family": raiseFamily,
	"parent": beParent,
}

// block waits until it is killed.
func block() int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		_, err = l.Accept()
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func listenAnywhere() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err.Error()
	}
	return l.Addr().String()
}

// talk tells its whole environment.
func talk() int {
	for _, e := range os.Environ() {
		fmt.Fprintln(os.Stderr, e)
	}
	fmt.Fprintln(os.Stdout, "listening", listenAnywhere())
	fmt.Fprintln(os.Stdout, "ready for all")
	fmt.Fprint(os.Stderr, "an unfinished line")
	return block()
}

// raiseFamily starts a process of its own, which holds this one's pipes.
func raiseFamily() int {
	child := exec.Command(os.Args[0]) //nolint:gosec // this program itself
	child.Env = []string{fleet.EnvFunction + "=silent"}
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintln(os.Stderr, "child", child.Process.Pid)
	fmt.Fprintln(os.Stdout, "listening", listenAnywhere())
	return block()
}

// beParent is a program with a fleet of one real worker. It tells its address and then waits to be killed.
func beParent() int {
	f, err := fleet.NewExec(fleet.ExecConfig{Clock: realclock.New(time.Now()), Binary: os.Getenv("WORKER_PROGRAM"),
		StartUp: func(gateway.StartRequest) platform.StartUp { return platform.StartUp{Total: 1} }})
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	addr, err := f.Start(context.Background(), req(1))
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	fmt.Fprintln(os.Stdout, addr)
	return block()
}

// output collects what workers print.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) lines() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Split(strings.TrimSuffix(o.buf.String(), "\n"), "\n")
}

func newExec(t *testing.T, s platform.StartUp, change func(*fleet.ExecConfig)) *fleet.Exec {
	t.Helper()
	cfg := fleet.ExecConfig{StartUp: fixed(s)}
	if change != nil {
		change(&cfg)
	}
	if cfg.Clock == nil { // each holds a descriptor until the garbage collector comes
		cfg.Clock = realclock.New(time.Now())
	}
	f, err := fleet.NewExec(cfg)
	if err != nil {
		t.Fatalf("NewExec error %v, want none", err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("Close() = %v, want none", err)
		}
	})
	return f
}

// standIn is a request for a worker that behaves as the stand-in of that name.
func standIn(id scheduler.InstanceID, name string) gateway.StartRequest {
	r := req(id)
	r.Function.Name = name
	return r
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// eventually waits for what must happen soon, but at no certain moment.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, patience)
		}
		runtime.Gosched()
	}
}

func TestExecConforms(t *testing.T) {
	binary := program(t)
	conform(t, func(t *testing.T, s platform.StartUp) provisioner {
		return newExec(t, s, func(c *fleet.ExecConfig) { c.Binary = binary })
	})
}
