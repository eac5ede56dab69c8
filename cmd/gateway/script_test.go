package main

import (
	"errors"
	"net"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){"gateway": main})
}

// leakChecked runs the tests and then looks for goroutines that are left.
type leakChecked struct{ *testing.M }

func (l leakChecked) Run() int {
	code := l.M.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		println(err.Error()) //nolint:forbidigo // there is no test left that could say it
		return 1
	}
	return code
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fails":  fails,
			"occupy": occupy,
		},
	})
}

// fails runs a program that must end with that exit code: fails CODE PROGRAM ARGS…
func fails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fails CODE PROGRAM ARGS…")
	}
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	code := 0
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if want, _ := strconv.Atoi(args[0]); code != want {
		ts.Fatalf("%v: exit %d, want %s", args[1:], code, args[0])
	}
}

// occupy listens on a port and puts its address into a variable: occupy NAME
func occupy(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	ts.Setenv(args[0], l.Addr().String())
}
