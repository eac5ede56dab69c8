package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"coldwave/fleet/worker"
	"coldwave/platform"
)

// pipeDelay is how long the pipes of a process that has ended are read on, in case a child of its own holds them.
const pipeDelay = time.Second

// process is a worker in a process of its own.
type process struct {
	cmd   *exec.Cmd
	first chan string // the first line on stdout
	out   *lines
	errs  *lines
	gone  context.Context // done when the process is reaped and its pipes are closed
	end   context.CancelFunc
	err   error // how it ended; valid once gone is done

	mu     sync.Mutex
	exited bool // its number may go to another process soon
}

// newProcess prepares cmd, which is not started yet.
func newProcess(cmd *exec.Cmd, name string, stderr *prefixed) *process {
	p := &process{cmd: cmd, first: make(chan string, 1)}
	p.gone, p.end = context.WithCancel(context.Background())
	tell := func(line []byte) { stderr.line(name, line) }
	p.errs = &lines{each: tell}
	p.out = &lines{each: func(line []byte) {
		p.first <- string(line)
		p.out.each = tell
	}}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = p.out, p.errs, pipeDelay
	setAttributes(cmd)
	return p
}

// reap waits for the end of the process, so that no zombie stays.
func (p *process) reap() {
	defer p.end()
	if awaitExit(p.cmd.Process.Pid) {
		p.mu.Lock()
		p.exited = true
		p.mu.Unlock()
	}
	p.err = p.cmd.Wait()
	if !errors.Is(p.err, exec.ErrWaitDelay) { // then somebody else holds the pipes, and may be writing
		p.out.flush()
		p.errs.flush()
	}
}

// signal sends s to the process and to what it has started. To a process that has ended it sends nothing.
func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.exited {
		signalGroup(p.cmd.Process, s)
	}
}

// why is the error of a start that ended without an instance.
func (p *process) why(ctx context.Context, drawn bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	<-p.gone.Done()
	how := p.err
	if how == nil {
		how = errors.New("exit status 0")
	}
	if drawn {
		return fmt.Errorf("%w: %w", ErrStart, how)
	}
	return fmt.Errorf("%w: %w", ErrNotReady, how)
}

// drain asks the worker to finish, and kills it when ctx is done first.
func (p *process) drain(ctx context.Context) error {
	p.signal(syscall.SIGTERM)
	select {
	case <-p.gone.Done():
		return nil
	case <-ctx.Done():
	}
	p.kill()
	<-p.gone.Done()
	return fmt.Errorf("%w: the process was killed", worker.ErrDrain)
}

func (p *process) kill() { p.signal(syscall.SIGKILL) }

func (p *process) wait() error {
	<-p.gone.Done()
	if p.cmd.ProcessState.ExitCode() == ExitOutOfMemory {
		return fmt.Errorf("process %d ended by itself: %w", p.pid(), platform.ErrMemory)
	}
	return fmt.Errorf("process %d ended by itself: %s", p.pid(), p.cmd.ProcessState)
}

func (p *process) stats() worker.Stats { return worker.Stats{} }

func (p *process) pid() int { return p.cmd.Process.Pid }

// spawner starts processes, all from one operating system thread.
//
// A process that is set to die with its parent dies with the parent's thread that made it, and Go's threads may end
// while the program runs. So one goroutine keeps its thread for as long as the fleet lives.
type spawner struct{ jobs chan job }

type job struct {
	cmd *exec.Cmd
	err chan error
}

func newSpawner() *spawner {
	s := &spawner{jobs: make(chan job)}
	go s.run()
	return s
}

func (s *spawner) run() {
	runtime.LockOSThread() // never unlocked: the thread ends with this goroutine, and with it whatever is left
	for j := range s.jobs {
		j.err <- j.cmd.Start()
	}
}

// start starts cmd. It must not be called after close.
func (s *spawner) start(cmd *exec.Cmd) error {
	j := job{cmd, make(chan error, 1)}
	s.jobs <- j
	return <-j.err
}

func (s *spawner) close() { close(s.jobs) }

// outputMax is the length in bytes at which a line of a worker is cut in two.
const outputMax = 4096

// lines is a writer that hands on whole lines, without their ends. It keeps at most outputMax bytes.
type lines struct {
	each func(line []byte)
	part []byte
}

func (l *lines) Write(b []byte) (int, error) {
	for _, c := range b {
		if c != '\n' {
			l.part = append(l.part, c)
		}
		if c == '\n' || len(l.part) == outputMax {
			l.hand()
		}
	}
	return len(b), nil
}

// flush hands on a last line without an end.
func (l *lines) flush() {
	if len(l.part) > 0 {
		l.hand()
	}
}

func (l *lines) hand() {
	l.each(l.part)
	l.part = l.part[:0]
}

// prefixed writes lines of many instances to one writer, each with a single Write.
type prefixed struct {
	mu sync.Mutex
	w  io.Writer
}

// line writes one line. Control characters become '?': a worker must not steer the terminal (R11).
func (p *prefixed) line(name string, text []byte) {
	out := fmt.Appendf(nil, "%s: %s\n", name, text)
	for i, c := range out[:len(out)-1] {
		if c < ' ' && c != '\t' || c == 0x7f {
			out[i] = '?'
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.w.Write(out) // what a worker says is not worth ending it for
}
