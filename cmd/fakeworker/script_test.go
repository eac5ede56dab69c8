package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience bounds what a script waits for something that must happen. It never decides a result by being short.
const patience = 30 * time.Second

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"fakeworker": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			s := &stage{programs: map[string]*started{}, requests: map[string]chan string{}}
			e.Values[stageKey{}] = s
			e.Defer(s.clear)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serve":  func(ts *testscript.TestScript, _ bool, args []string) { stageOf(ts).serve(ts, args) },
			"signal": func(ts *testscript.TestScript, _ bool, args []string) { stageOf(ts).signal(ts, args) },
			"ended":  func(ts *testscript.TestScript, _ bool, args []string) { stageOf(ts).ended(ts, args) },
			"http":   func(ts *testscript.TestScript, neg bool, args []string) { ask(ts, neg, args) },
			"send":   func(ts *testscript.TestScript, _ bool, args []string) { stageOf(ts).send(ts, args) },
			"closed": func(ts *testscript.TestScript, _ bool, args []string) { closed(ts, args) },
			"answer": func(ts *testscript.TestScript, _ bool, args []string) { stageOf(ts).answer(ts, args) },
		},
	})
}

type stageKey struct{}

// stage is what a script has going on beside it.
type stage struct {
	programs map[string]*started
	requests map[string]chan string
}

type started struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	more   sync.WaitGroup // the rest of stdout is read
}

func stageOf(ts *testscript.TestScript) *stage { return ts.Value(stageKey{}).(*stage) }

func (s *stage) clear() {
	for _, p := range s.programs {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.more.Wait()
	}
}

// serve NAME ARG…: runs fakeworker in the background, waits until it says that it listens, and sets $NAME to its address.
func (s *stage) serve(ts *testscript.TestScript, args []string) {
	name := args[0]
	path, err := exec.LookPath("fakeworker")
	ts.Check(err)
	p := &started{cmd: exec.Command(path, args[1:]...)}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr = ts.Getenv("WORK"), environment(ts), &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(p.cmd.Start())
	s.programs[name] = p
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	p.more.Go(func() { _, _ = io.Copy(io.Discard, lines) })
	addr, found := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if err != nil || !found {
		_ = p.cmd.Wait()
		ts.Fatalf("%s said %q, %v and %s; want listening HOST:PORT", name, line, err, p.stderr.String())
	}
	_, port, err := net.SplitHostPort(addr)
	ts.Check(err)
	ts.Setenv(name, addr)
	ts.Setenv(name+"_PORT", port)
}

func environment(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "WORK", "PORT", "HOST", "COLDWAVE_SERVICE", "COLDWAVE_LOG", "COLDWAVE_INSTANCE", "GOCOVERDIR"} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// signal NAME: sends SIGTERM.
func (s *stage) signal(ts *testscript.TestScript, args []string) {
	ts.Check(s.programs[args[0]].cmd.Process.Signal(syscall.SIGTERM))
}

// ended NAME CODE: waits for the end, compares the exit code, and hands the program's stderr on.
func (s *stage) ended(ts *testscript.TestScript, args []string) {
	p := s.programs[args[0]]
	delete(s.programs, args[0])
	_ = p.cmd.Wait() // the code is looked at below
	p.more.Wait()
	_, _ = ts.Stderr().Write(p.stderr.Bytes())
	if got := strconv.Itoa(p.cmd.ProcessState.ExitCode()); got != args[1] {
		ts.Fatalf("%s exits %s (%v), want %s: %s", args[0], got, p.cmd.ProcessState, args[1], p.stderr.String())
	}
}

// closed HOST:PORT: waits until nobody takes connections there: what a signal does comes soon, but at no certain moment.
func closed(ts *testscript.TestScript, args []string) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); runtime.Gosched() {
		conn, err := net.Dial("tcp", args[0])
		if err != nil {
			return
		}
		_ = conn.Close()
	}
	ts.Fatalf("%s still takes connections", args[0])
}

// http METHOD URL [BODY] [NAME:VALUE…]: prints status, headers and body. With ! there must be no answer.
func ask(ts *testscript.TestScript, neg bool, args []string) {
	body := ""
	if len(args) > 2 {
		body = args[2]
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, args[0], args[1], strings.NewReader(body))
	ts.Check(err)
	for _, h := range args[min(3, len(args)):] {
		name, value, _ := strings.Cut(h, ":")
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if neg {
		if err == nil {
			resp.Body.Close()
			ts.Fatalf("%s answers %s, want no answer", args[1], resp.Status)
		}
		return
	}
	ts.Check(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	ts.Check(err)
	fmt.Fprintln(ts.Stdout(), resp.StatusCode)
	for _, name := range slices.Sorted(keys(resp.Header)) {
		fmt.Fprintf(ts.Stdout(), "%s: %s\n", name, resp.Header.Get(name))
	}
	fmt.Fprintf(ts.Stdout(), "\n%s", text)
}

func keys(h http.Header) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range h {
			if !yield(k) {
				return
			}
		}
	}
}

// send NAME HOST:PORT PATH: starts a request and returns when the worker runs it: it asks for the body then.
func (s *stage) send(ts *testscript.TestScript, args []string) {
	conn, err := net.Dial("tcp", args[1])
	ts.Check(err)
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: w\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n", args[2])
	ts.Check(err)
	answers := bufio.NewReader(conn)
	resp, err := http.ReadResponse(answers, nil)
	ts.Check(err)
	if resp.StatusCode != http.StatusContinue {
		ts.Fatalf("%s answers %s before it has the body", args[2], resp.Status)
	}
	_, err = io.WriteString(conn, "x")
	ts.Check(err)
	status := make(chan string, 1)
	s.requests[args[0]] = status
	go func() {
		defer conn.Close()
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			status <- "cut"
			return
		}
		defer resp.Body.Close()
		status <- strconv.Itoa(resp.StatusCode)
	}()
}

// answer NAME STATUS: waits for the answer to what send has sent; "cut" is none.
func (s *stage) answer(ts *testscript.TestScript, args []string) {
	if got := <-s.requests[args[0]]; got != args[1] {
		ts.Fatalf("%s: answer %s, want %s", args[0], got, args[1])
	}
}

// A worker that is stopped before it is ready has nothing to drain: it ends at once, exit 0.
func TestStoppedWhileItStartsUp(t *testing.T) {
	rows := []struct {
		name string
		env  map[string]string
	}{
		{"before the port is open", map[string]string{"COLDWAVE_COLD_START": "10m"}},
		{"in a start that would fail", map[string]string{"COLDWAVE_COLD_START": "1ms", "COLDWAVE_START_FAILS": "1"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			env := func(name string) string {
				if name == "PORT" {
					return "0"
				}
				return row.env[name]
			}
			var stdout, stderr bytes.Buffer
			code := run(ctx, []string{"fakeworker"}, env, strings.NewReader(""), &stdout, &stderr)
			if code != 0 || stdout.Len() > 0 || stderr.Len() > 0 {
				t.Errorf("run() = %d, stdout %q, stderr %q; want 0 and nothing", code, &stdout, &stderr)
			}
		})
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, os.ErrClosed }

// A worker that cannot say where it listens must not stay around unfound.
func TestStdoutThatCannotBeWritten(t *testing.T) {
	env := func(name string) string { return map[string]string{"PORT": "0"}[name] }
	var stderr bytes.Buffer
	code := run(t.Context(), []string{"fakeworker"}, env, strings.NewReader(""), closedPipe{}, &stderr)
	if code != 5 || !strings.Contains(stderr.String(), "write to stdout") {
		t.Errorf("run() = %d, stderr %q; want 5 and the reason", code, &stderr)
	}
}
