package policies_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
)

var update = flag.Bool("update", false, "rewrite the expected decisions in testdata")

// TestScripts plays each file of testdata: commands, a line "----", and the decisions that follow, up to a blank line.
//
//	new SPEC [max=N] [min=N] [limit=N] [nodes=NxN] [keep=TIME] [cache=true]
//	                            a fresh core; max is unlimited unless given; nodes and the room on each
//	TIME arrive [N]             N requests, which get the next ids
//	TIME cancel|done rN …
//	TIME ready|failed|stopped iN …
//	TIME sample iN=MILLICPUS …
//	TIME configure [max=N] [min=N] [limit=N]
//	TIME advance                what falls due until then
//	instances                   prints those that have not ended
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { playScript(t, file) })
	}
}

func playScript(t *testing.T, file string) {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	s := script{t: t}
	for block := range strings.SplitSeq(strings.TrimRight(string(src), "\n"), "\n\n") {
		commands, _, found := strings.Cut(block, "\n----")
		out.WriteString(commands)
		if found {
			out.WriteString("\n----\n" + s.play(commands))
		} else {
			out.WriteString("\n")
		}
		out.WriteString("\n")
	}
	got := strings.TrimRight(out.String(), "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != string(src) {
		t.Errorf("%s differs; read the difference, then run with -update:\n%s", file, firstDifference(string(src), got))
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for k := range min(len(w), len(g)) {
		if w[k] != g[k] {
			return fmt.Sprintf("line %d: got %q, want %q", k+1, g[k], w[k])
		}
	}
	return fmt.Sprintf("got %d lines, want %d", len(g), len(w))
}

// script is one core under commands.
type script struct {
	t       *testing.T
	core    *scheduler.Core
	arrived scheduler.RequestID
	cfg     scheduler.Config
	nodes   scheduler.Nodes
}

// play runs the commands of a block and returns what was decided.
func (s *script) play(commands string) string {
	var out strings.Builder
	for line := range strings.Lines(commands) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		if words := strings.Fields(line); len(words) > 0 {
			out.WriteString(s.command(words))
		}
	}
	if out.Len() == 0 {
		return "(nothing)\n"
	}
	return out.String()
}

func (s *script) command(words []string) string {
	switch words[0] {
	case "new":
		p, err := policies.New(words[1])
		if err != nil {
			s.t.Fatal(err)
		}
		s.limits(scheduler.Unlimited, words[2:])
		s.core, s.arrived = scheduler.NewOn(p, s.cfg, s.nodes, 1), 0
		return decisions(s.core.Configure(nil, 0, s.cfg))
	case "instances":
		return s.instances()
	}
	d, err := time.ParseDuration(words[0])
	if err != nil || len(words) < 2 {
		s.t.Fatalf("command %q: want a time and a verb", words)
	}
	return decisions(s.at(clock.Instant(d), words[1], words[2:]))
}

func (s *script) at(now clock.Instant, verb string, args []string) []scheduler.Action {
	var acts []scheduler.Action
	switch verb {
	case "advance":
		acts = s.core.Advance(acts, now)
	case "configure":
		s.limits(s.cfg.Max, args)
		acts = s.core.Configure(acts, now, s.cfg)
	case "arrive":
		n := 1
		if len(args) > 0 {
			n = s.number(args[0])
		}
		for range n {
			s.arrived++
			acts = s.core.Step(acts, now, scheduler.Event{Kind: scheduler.Arrival, Req: s.arrived})
		}
	default:
		for _, arg := range args {
			acts = s.core.Step(acts, now, s.event(verb, arg))
		}
	}
	s.core.Check()
	return acts
}

func (s *script) event(verb, arg string) scheduler.Event {
	kinds := map[string]scheduler.Kind{
		"cancel": scheduler.Cancel, "done": scheduler.Done,
		"ready": scheduler.Ready, "failed": scheduler.Failed, "stopped": scheduler.Stopped,
		"sample": scheduler.Sample,
	}
	kind, ok := kinds[verb]
	if !ok {
		s.t.Fatalf("unknown verb %q", verb)
	}
	id, value, given := strings.Cut(arg[1:], "=")
	n := s.number(id)
	if given {
		return scheduler.Event{Kind: kind, Inst: scheduler.InstanceID(n), Value: int64(s.number(value))}
	}
	if arg[0] == 'r' {
		return scheduler.Event{Kind: kind, Req: scheduler.RequestID(n)}
	}
	return scheduler.Event{Kind: kind, Inst: scheduler.InstanceID(n)}
}

func (s *script) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.t.Fatalf("number %q: %v", text, err)
	}
	return n
}

func (s *script) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// limits sets what is given; max is else as told, min 0.
func (s *script) limits(most int, args []string) {
	s.cfg, s.nodes = scheduler.Config{Max: most}, scheduler.Nodes{}
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		switch key {
		case "max":
			s.cfg.Max = s.number(value)
		case "limit":
			s.cfg.Limit = int32(s.number(value))
		case "min":
			s.cfg.Min = s.number(value)
		case "nodes":
			count, slots, _ := strings.Cut(value, "x")
			s.nodes.Count, s.nodes.Slots = s.number(count), s.number(slots)
		case "keep":
			s.nodes.Keep = s.duration(value)
		case "cache":
			s.nodes.Cache = value == "true"
		default:
			s.t.Fatalf("unknown limit %q", arg)
		}
	}
}

func (s *script) instances() string {
	var out strings.Builder
	for _, in := range s.core.Instances(nil) {
		fmt.Fprintf(&out, "i%d %v since %v, served %d\n", in.ID, in.State, in.Since, in.Served)
	}
	return out.String()
}

// decisions prints one action a line. The ends of requests that were served are left out: they follow from done.
func decisions(acts []scheduler.Action) string {
	var out strings.Builder
	for _, a := range acts {
		if a.Do == scheduler.End && a.Status == 200 {
			continue
		}
		fmt.Fprintf(&out, "%v %v", a.At, a)
		if a.Do == scheduler.Start {
			fmt.Fprintf(&out, " (%v)", policies.Why(a.Code))
		}
		if a.Do == scheduler.Mark && a.Code == policies.MarkPaused {
			out.WriteString(" (paused)")
		} else if a.Do == scheduler.Mark {
			fmt.Fprintf(&out, " (%v)", policies.CRMark(a.Code))
		}
		out.WriteString("\n")
	}
	return out.String()
}
