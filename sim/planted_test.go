package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"coldwave/scheduler"
	"coldwave/scheduler/policytest"
)

// plantedSeeds is within how many seeds a planted bug must be found.
const plantedSeeds = 2000

// deafTo is a policy that does not hear of one kind of event, under one name.
type deafTo struct {
	scheduler.Policy
	kind scheduler.Kind
}

func (p deafTo) Samples() bool { return scheduler.WantsSamples(p.Policy) }

func (p deafTo) Handle(c *scheduler.Control, ev scheduler.Event) {
	if ev.Kind != p.kind {
		p.Policy.Handle(c, ev)
	}
}

// TestPlantedPolicies: what a policy forgets is found, by the rule that it breaks.
func TestPlantedPolicies(t *testing.T) {
	tests := []struct {
		name  string
		kind  scheduler.Kind
		rules []policytest.Rule
	}{
		{"a Done that forgets who waits", scheduler.Done, []policytest.Rule{policytest.NoIdleWait}},
		{"a Ready that forgets who waits", scheduler.Ready, []policytest.Rule{policytest.NoIdleWait, policytest.Drains}},
		{"a failed start that nobody replaces", scheduler.Failed, []policytest.Rule{policytest.NoHang, policytest.Drains}},
		{"a deadline that passes", scheduler.Timer, []policytest.Rule{policytest.Legal}},
		{"a lowered max that is ignored", scheduler.Configure, []policytest.Rule{policytest.Legal}},
		{"idle instances that are never reclaimed", scheduler.Tick, []policytest.Rule{policytest.ToZero}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, seed, err := soak(t, 1, plantedSeeds, func(p scheduler.Policy) scheduler.Policy { return deafTo{p, tt.kind} })
			var v policytest.Violation
			if !errors.As(err, &v) || !slices.Contains(tt.rules, v.Rule) {
				t.Fatalf("soak = %v, want a violation of one of %q", err, tt.rules)
			}
			if _, _, again := soak(t, seed, 1, func(p scheduler.Policy) scheduler.Policy { return deafTo{p, tt.kind} }); again == nil {
				t.Errorf("seed %d alone finds nothing", seed)
			}
			if _, _, right := soak(t, seed, 1, asIs); right != nil {
				t.Errorf("without the bug: %v", right)
			}
		})
	}
}

// mutant is a bug in the core: one text of a file replaced by another.
type mutant struct {
	name, file, was, is string
}

var mutants = []mutant{
	{"a slot that is not returned when its client has left", "handle.go",
		"	in.on.remove(req)\n", "	if gone {\n		return\n	}\n	in.on.remove(req)\n"},
	{"a canceled request stays in the queue", "handle.go",
		"	case waiting:\n		c.leave(req)\n", "	case waiting:\n"},
	{"a request that is lost with its instance never ends", "handle.go",
		"		if !gone {\n			c.act(Lost,", "		if !gone && req.id < 0 {\n			c.act(Lost,"},
	{"a deadline is forgotten when another request leaves", "deadline.go",
		"!c.holds(q.ring[q.head&uint64(len(q.ring)-1)]) {\n		q.head++", "!c.holds(q.ring[q.head&uint64(len(q.ring)-1)]) {\n		q.head = q.tail"},
	{"an instance that crashes is still counted", "instance.go",
		"	if in.isAlive() {\n		c.quit(in)\n	}\n	c.move(in, Gone)", "	c.move(in, Gone)"},
}

// TestPlantedInTheCore builds the soak with a bug in the core, and follows the command that it prints.
func TestPlantedInTheCore(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the soak once for each bug")
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			overlay := m.plant(t)
			out, err := goTest(t, overlay, "-seeds=2000")
			command := regexp.MustCompile(`repeat it with: go test \./sim (.*)`).FindStringSubmatch(out)
			if err == nil || command == nil {
				t.Fatalf("the soak ends with %v and prints\n%s\nwant a failure and how to repeat it", err, out)
			}
			again, err := goTest(t, overlay, strings.Fields(strings.ReplaceAll(command[1], "'", ""))...)
			if err == nil || !strings.Contains(again, command[0]) {
				t.Errorf("%s\nends with %v and prints\n%s", command[0], err, again)
			}
		})
	}
}

// plant writes the spoiled file and returns the overlay that puts it in the place of the right one.
func (m mutant) plant(t *testing.T) string {
	t.Helper()
	right, err := filepath.Abs(filepath.Join("..", "scheduler", m.file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(right)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), m.was); n != 1 {
		t.Fatalf("%s has %d places %q, want one", m.file, n, m.was)
	}
	dir := t.TempDir()
	spoiled := filepath.Join(dir, m.file)
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {right: spoiled}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, "overlay.json")
	for name, content := range map[string]string{spoiled: strings.Replace(string(text), m.was, m.is, 1), list: string(overlay)} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// goTest runs the tests of this package with the overlay.
func goTest(t *testing.T, overlay string, flags ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	args := append([]string{"test", "-vet=off", "-count=1", "-overlay", overlay, "-run", "TestFaults$", "."}, flags...)
	out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	return string(out), err
}
