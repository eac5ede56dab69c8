package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"
)

// ErrProgram is wrapped by the error of a program that did not come up.
var ErrProgram = errors.New("the program did not come up")

// Program is a server in a process of its own that says on the first line of stderr where it listens. On Linux it never
// outlives this process.
type Program struct {
	process *process
	spawner *spawner
	banner  string
}

// StartProgram starts a program and waits for its first line on stderr, at most limit. What it prints further goes to out,
// each line with its name in front.
func StartProgram(ctx context.Context, name string, cmd *exec.Cmd, limit time.Duration, out io.Writer) (*Program, error) {
	first, p := make(chan string, 1), newProcess(cmd, name, &prefixed{w: out})
	tell := p.errs.each
	p.out.each = tell
	p.errs.each = func(line []byte) {
		first <- string(line)
		p.errs.each = tell
	}
	g := &Program{process: p, spawner: newSpawner()}
	if err := g.spawner.start(cmd); err != nil {
		g.spawner.close()
		return nil, fmt.Errorf("%s: %w: %w", name, ErrProgram, err)
	}
	go p.reap()
	late, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var why error
	select {
	case g.banner = <-first:
		return g, nil
	case <-p.gone.Done():
		why = fmt.Errorf("it ended: %s", cmd.ProcessState)
	case <-late.Done():
		if why = context.Cause(ctx); why == nil {
			why = fmt.Errorf("it said nothing for %v", limit)
		}
	}
	return nil, errors.Join(fmt.Errorf("%s: %w: %w", name, ErrProgram, why), g.Stop(0))
}

// Banner is the first line that the program printed on stderr.
func (g *Program) Banner() string { return g.banner }

// Gone is done when the program has ended.
func (g *Program) Gone() <-chan struct{} { return g.process.gone.Done() }

// Stop asks the program to end, and kills it after that time. It may be called after it has ended.
func (g *Program) Stop(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	g.process.signal(syscall.SIGTERM)
	var err error
	select {
	case <-g.process.gone.Done():
	case <-ctx.Done():
		g.process.kill()
		<-g.process.gone.Done()
		if within > 0 {
			err = fmt.Errorf("the program did not end within %v and was killed", within)
		}
	}
	g.spawner.close()
	return err
}
