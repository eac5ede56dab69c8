package fleet_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"coldwave/fleet"
	"coldwave/fleet/worker"
	"coldwave/internal/realclock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/workload"
)

// gone reports whether no process of that number runs; one that waits to be reaped does not run.
func gone(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	_, after, _ := strings.Cut(string(text), ") ")
	return strings.HasPrefix(after, "Z") || strings.HasPrefix(after, "X")
}

// reaped reports whether nothing is left of a process of ours.
func reaped(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// The worker process does as its function says, and counts its start-up from the decision.
func TestExecWorker(t *testing.T) {
	log := filepath.Join(t.TempDir(), "w.log")
	f := newExec(t, startUp, func(c *fleet.ExecConfig) { c.Binary, c.Log, c.FailRatio = program(t), log, 1 })
	r := req(5)
	r.Function = workload.Function{Name: "fc-test", Body: 2 * time.Millisecond}
	addr, err := f.Start(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	status, server := get(t.Context(), addr, "/")
	if status != 500 || server.Instance != "5" || server.Start != record.Cold || server.Exec < 2*time.Millisecond {
		t.Errorf("answer = %d %+v, want 500 (fail ratio 1) from instance 5, cold, at least 2ms", status, server)
	}
	i, _ := f.Instance(5)
	if i.PID <= 0 || i.PID == os.Getpid() {
		t.Errorf("PID = %d, want a process of its own", i.PID)
	}
	due := i.Decided
	for s, d := range startUp.Stages {
		if due = due.Add(d); i.StageEnd[s] < due {
			t.Errorf("stage %v ended at %v, want not before %v", platform.Stage(s), i.StageEnd[s], due)
		}
	}
	if err := f.Stop(t.Context(), 5, patience); err != nil {
		t.Errorf("Stop() = %v", err)
	}
	if !reaped(i.PID) {
		t.Errorf("process %d is still there after Stop()", i.PID)
	}
	text, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(text), `"function":"fc-test"`) || strings.Count(string(text), "\n") != 2 {
		t.Errorf("log = %q, %v; want a start and a finish of fc-test", text, err)
	}
}

// A program that is no good worker fails the start with what is wrong, and no process is left.
func TestExecBadPrograms(t *testing.T) {
	rows := []struct{ name, standIn, want string }{
		{"it says something else", "garbage", `first line is "hello"`},
		{"it says nothing", "silent", "said nothing for 200ms"},
		{"it ends at once", "quits", "exit status 3"},
		{"it listens on another host (R24)", "foreign", `"192.0.2.1:80": want a loopback address`},
		{"its line never ends", "endless", `first line is "xxx`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f := newExec(t, startUp, func(c *fleet.ExecConfig) { c.Binary, c.StartLimit = self(t), 200*time.Millisecond })
			_, err := f.Start(t.Context(), standIn(1, row.standIn))
			if !errors.Is(err, fleet.ErrNotReady) || !strings.Contains(err.Error(), row.want) {
				t.Errorf("Start() = %v, want ErrNotReady with %q", err, row.want)
			}
			if i, _ := f.Instance(1); i.State != fleet.Failed {
				t.Errorf("state = %v, want failed", i.State)
			}
			if left := children(t); len(left) > 0 {
				t.Errorf("processes %v are left", left)
			}
		})
	}
}

// children are the numbers of this process's children, zombies too.
func children(t *testing.T) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		for _, word := range strings.Fields(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				all = append(all, pid)
			}
		}
	}
	return all
}

// What workers print is passed on line by line, and nothing of this process's environment reaches them (R24).
func TestExecOutputAndEnvironment(t *testing.T) {
	t.Setenv("API_TOKEN", "secret")
	out := new(output)
	f := newExec(t, startUp, func(c *fleet.ExecConfig) { c.Binary, c.Stderr = self(t), out })
	if _, err := f.Start(t.Context(), standIn(4, "talker")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Start(t.Context(), standIn(5, "quits")); err == nil {
		t.Error("Start(quits) = none, want an error")
	}
	_ = f.Close()
	got := out.lines()
	for _, want := range []string{
		"instance 4: PORT=0", "instance 4: HOST=127.0.0.1", "instance 4: COLDWAVE_INSTANCE=4", "instance 4: COLDWAVE_CONCURRENCY=1",
		"instance 4: COLDWAVE_SERVICE=100ms", "instance 4: COLDWAVE_COLD_START=40ms", "instance 4: COLDWAVE_START_FAILS=0",
		"instance 4: ready for all", "instance 4: an unfinished line", "instance 5: out of?[31m memory",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("output lacks %q:\n%s", want, strings.Join(got, "\n"))
		}
	}
	if all := strings.Join(got, "\n"); strings.Contains(all, "secret") || strings.Contains(all, "PATH=") {
		t.Errorf("the worker got more of the environment than it needs:\n%s", all)
	}
}

// A worker that will not go is killed at the drain limit.
func TestExecKillsAtTheLimit(t *testing.T) {
	f := newExec(t, startUp, func(c *fleet.ExecConfig) { c.Binary = self(t) })
	if _, err := f.Start(t.Context(), standIn(1, "stubborn")); err != nil {
		t.Fatal(err)
	}
	i, _ := f.Instance(1)
	if err := f.Stop(t.Context(), 1, 50*time.Millisecond); !errors.Is(err, worker.ErrDrain) {
		t.Errorf("Stop() = %v, want ErrDrain", err)
	}
	if !reaped(i.PID) {
		t.Errorf("process %d is still there", i.PID)
	}
}

// The end of a process is noticed, whoever ended it.
func TestExecNoticesAnEnd(t *testing.T) {
	f := newExec(t, startUp, func(c *fleet.ExecConfig) { c.Binary = program(t) })
	if _, err := f.Start(t.Context(), req(1)); err != nil {
		t.Fatal(err)
	}
	i, _ := f.Instance(1)
	if err := syscall.Kill(i.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if l := <-f.Lost(); l.Instance != 1 || !strings.Contains(l.Err.Error(), "signal: killed") {
		t.Errorf("Lost() = %+v, want instance 1 by a signal", l)
	}
	if !reaped(i.PID) {
		t.Errorf("process %d is a zombie", i.PID)
	}
}

// With a worker goes all that it has started, also when that holds the worker's pipes.
func TestExecEndsTheWholeGroup(t *testing.T) {
	out := new(output)
	f := newExec(t, startUp, func(c *fleet.ExecConfig) { c.Binary, c.Stderr = self(t), out })
	if _, err := f.Start(t.Context(), standIn(1, "family")); err != nil {
		t.Fatal(err)
	}
	var child int
	eventually(t, "the child's number", func() bool {
		_, err := fmt.Sscanf(out.lines()[0], "instance 1: child %d", &child)
		return err == nil
	})
	if gone(child) {
		t.Fatalf("child %d does not run", child)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end of the child", func() bool { return gone(child) })
}

// No worker outlives a program that was killed and could close nothing.
func TestExecWorkersDieWithTheirParent(t *testing.T) {
	parent := exec.Command(self(t))
	parent.Env = []string{fleet.EnvFunction + "=parent", "WORKER_PROGRAM=" + program(t)}
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	conn, err := net.Dial("tcp", strings.TrimSpace(line))
	if err != nil {
		_ = parent.Process.Kill()
		t.Fatalf("the parent said %q: %v", line, err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /sleep/600000 HTTP/1.1\r\nHost: w\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the worker's connection: %v, want it cut by the worker's end", err)
	}
}

// A worker dies with its parent's thread, and threads end: that of the caller of Start must not matter.
func TestExecOutlivesTheThreadOfItsCaller(t *testing.T) {
	f := newExec(t, startUp, func(c *fleet.ExecConfig) { c.Binary = program(t) })
	thread := make(chan int)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		if _, err := f.Start(t.Context(), req(1)); err != nil {
			t.Errorf("Start() = %v", err)
		}
		thread <- syscall.Gettid()
	}()
	tid := <-thread
	eventually(t, "the end of the caller's thread", func() bool {
		_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid))
		return os.IsNotExist(err) || tid == os.Getpid() // the main thread never ends
	})
	i, _ := f.Instance(1)
	if status, _ := get(t.Context(), i.Addr, "/sleep/1"); status != 200 || i.State != fleet.Ready {
		t.Errorf("worker is %v and answers %d, want ready and 200", i.State, status)
	}
}

// Starts, stops, crashes and failures leave no descriptor and no process behind.
func TestExecLeaksNothing(t *testing.T) {
	clk := realclock.New(time.Now())
	round := func() {
		f := newExec(t, startUp, func(c *fleet.ExecConfig) { c.Binary, c.Clock = program(t), clk })
		for id := range scheduler.InstanceID(3) {
			if _, err := f.Start(t.Context(), req(id+1)); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Stop(t.Context(), 1, patience); err != nil {
			t.Error(err)
		}
		if err := f.Crash(2); err != nil {
			t.Error(err)
		}
		<-f.Lost()
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	descriptors := func() []string {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, n := range names {
			to, _ := os.Readlink("/proc/self/fd/" + n.Name())
			all = append(all, n.Name()+"="+to)
		}
		return all
	}
	round() // what stays open once: the poller and the clock's timer
	before := descriptors()
	for range 3 {
		round()
	}
	if after := descriptors(); len(after) > len(before) {
		t.Errorf("descriptors after three rounds %v, before %v", after, before)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
}

func TestFindBinary(t *testing.T) {
	empty, full := t.TempDir(), t.TempDir()
	worker := filepath.Join(full, "fakeworker")
	if err := os.WriteFile(worker, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	rows := []struct{ name, path, onPath, want, err string }{
		{"a named file", worker, empty, worker, ""},
		{"a named file that is not there", filepath.Join(empty, "w"), full, "", "make build"},
		{"a named directory", empty, full, "", "make build"},
		{"on PATH", "", full, worker, ""},
		{"nowhere", "", empty, "", `neither in ` + filepath.Dir(self(t)) + ` nor on PATH`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv("PATH", row.onPath)
			got, err := fleet.FindBinary(row.path)
			if got != row.want || (err != nil) != (row.err != "") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Errorf("FindBinary(%q) = %q, %v; want %q, error %q", row.path, got, err, row.want, row.err)
			}
		})
	}
}

// The program beside the running one goes before PATH: the two were built together.
func TestFindBinaryBeside(t *testing.T) {
	beside := filepath.Join(filepath.Dir(self(t)), "fakeworker")
	if _, err := os.Stat(beside); err == nil {
		t.Skipf("%s exists", beside)
	}
	if err := os.WriteFile(beside, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(beside)
	if got, err := fleet.FindBinary(""); got != beside || err != nil {
		t.Errorf("FindBinary() = %q, %v; want %q", got, err, beside)
	}
}

func TestNewExecChecks(t *testing.T) {
	c := realclock.Timers(time.Now())
	rows := []struct {
		name string
		cfg  fleet.ExecConfig
		want string
	}{
		{"no clock", fleet.ExecConfig{StartUp: fixed(startUp), Binary: self(t)}, "clock"},
		{"no start-up times", fleet.ExecConfig{Clock: c, Binary: self(t)}, "StartUp"},
		{"no program", fleet.ExecConfig{Clock: c, StartUp: fixed(startUp), Binary: "/nowhere/w"}, `"/nowhere/w"`},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if _, err := fleet.NewExec(row.cfg); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("NewExec() = %v, want an error that names %q", err, row.want)
			}
		})
	}
}

// A program that cannot be run at all fails the start.
func TestExecProgramThatCannotRun(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "fakeworker")
	if err := os.WriteFile(broken, []byte("\x7fELF"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := newExec(t, startUp, func(c *fleet.ExecConfig) { c.Binary = broken })
	if _, err := f.Start(t.Context(), req(1)); err == nil || !strings.Contains(err.Error(), broken) {
		t.Errorf("Start() = %v, want an error that names %s", err, broken)
	}
}

// A worker process knows what its instance has, and one that runs out of memory is a loss that says so.
func TestExecResources(t *testing.T) {
	f := newExec(t, startUp, func(c *fleet.ExecConfig) {
		c.Binary = program(t)
		c.Resources = platform.Resources{MilliCPUs: 500, Memory: platform.Memory{Limit: 100, Base: 50, Request: 30}}
		c.CPU = platform.Cost{Law: platform.Constant(2 * time.Millisecond)}
	})
	r := req(5)
	r.Function = workload.Function{Name: "fc-test", Body: 2 * time.Millisecond, Concurrency: 2}
	addr, err := f.Start(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	status, server := get(t.Context(), addr, "/")
	if status != 200 || server.Exec < 4*time.Millisecond {
		t.Errorf("answer = %d %+v, want 200 after 4ms at least: 2ms of CPU on a half", status, server)
	}
	first := inFlight(t, addr, "/sleep/600000")
	second := inFlight(t, addr, "/sleep/600000")
	loss := <-f.Lost()
	if loss.Instance != 5 || !errors.Is(loss.Err, platform.ErrMemory) {
		t.Errorf("loss %+v, want instance 5 for its memory", loss)
	}
	if a, b := <-first, <-second; a != 0 && b != 0 { // one of them was too many and may have its 503, the other was cut
		t.Errorf("answers %d and %d, want one at most", a, b)
	}
}
