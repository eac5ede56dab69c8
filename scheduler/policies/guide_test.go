package policies_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/scheduler/policytest"
	"coldwave/sim"
)

// guidePage returns the scheduler author's page.
func guidePage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/WRITE_A_POLICY.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// fenced returns the blocks of a Markdown page that are fenced with that language.
func fenced(page, language string) []string {
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// TestGuideShowsThePolicy: the page's policy is the file that the other tests run. Here it has a longer name, so that a
// reader who copies it as mine.go declares nothing twice.
func TestGuideShowsThePolicy(t *testing.T) {
	src, err := os.ReadFile("guide_mine_test.go")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("guideMine", "mine", "GuideMine", "Mine").Replace(string(src))
	blocks := fenced(guidePage(t), "go")
	if len(blocks) != 1 {
		t.Fatalf("the page has %d Go blocks, want 1", len(blocks))
	}
	if blocks[0] != want {
		t.Errorf("the page's policy differs from guide_mine_test.go: %s", firstDifference(want, blocks[0]))
	}
}

// TestGuideNamesTheHelpers: a copy of fcrace.go compiles only without the functions that the page names.
func TestGuideNamesTheHelpers(t *testing.T) {
	src, err := os.ReadFile("fcrace.go")
	if err != nil {
		t.Fatal(err)
	}
	var helpers []string
	for _, m := range regexp.MustCompile(`(?m)^func (\w+)`).FindAllStringSubmatch(string(src), -1) {
		if m[1] != "NewFCRace" {
			helpers = append(helpers, "`"+m[1]+"`")
		}
	}
	if want := "(" + strings.Join(helpers, ", ") + ")"; !strings.Contains(guidePage(t), want) {
		t.Errorf("the page does not name the helpers %s", want)
	}
}

// TestGuidePolicyConforms runs the suite on it as it does on the policies of the table.
func TestGuidePolicyConforms(t *testing.T) {
	entry, fresh := policies.Guide()
	if err := policytest.Find(fresh, policytest.OptionsOf(entry)); err != nil {
		t.Errorf("policytest.Find(mine) = %v, want nil", err)
	}
}

// TestGuideScript plays the page's script and wants the decisions that the page shows.
func TestGuideScript(t *testing.T) {
	_, fresh := policies.Guide()
	scripts := fenced(guidePage(t), "text")
	if len(scripts) == 0 {
		t.Fatal("the page has no script")
	}
	s := &script{t: t, cfg: scheduler.Config{Max: scheduler.Unlimited}}
	s.core = scheduler.New(fresh(), s.cfg, 1)
	s.core.Configure(nil, 0, s.cfg)
	body, found := strings.CutPrefix(scripts[0], "new mine\n")
	if !found {
		t.Fatalf("the script begins with %.20q, want new mine", scripts[0])
	}
	for block := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		commands, want, _ := strings.Cut(block, "\n----\n")
		if got := strings.TrimSpace(s.play(commands)); got != want {
			t.Errorf("%s\ngave\n%s\nwant\n%s", commands, got, want)
		}
	}
}

// sums are what the page's table has of one policy: medians over seeds.
type sums struct{ mean, p95, starts, never []float64 }

func (s *sums) add(res sim.Result, last int32) {
	all := ofWaves(res, 0, last)
	never := 0
	for _, in := range res.Instances {
		if in.First == "" {
			never++
		}
	}
	s.mean = append(s.mean, float64(mean(all))/1e6)
	s.p95 = append(s.p95, float64(quantile(all, 950))/1e6)
	s.starts = append(s.starts, float64(len(res.Instances)))
	s.never = append(s.never, float64(never))
}

// middle is the median, as a comparison prints it: the nearest rank.
func middle(x []float64) float64 {
	return slices.Sorted(slices.Values(x))[(len(x)-1)/2]
}

func guideSums(t *testing.T, length time.Duration, waves []wave, fresh func() scheduler.Policy) sums {
	t.Helper()
	var out sums
	profile := platform.Default()
	for seed := uint64(1); seed <= 200; seed++ {
		d := profile.Draws(seed)
		res, err := sim.Run(sim.Config{
			Schedule: scheduleOf(d, length, waves), Policy: fresh(), Platform: d, Handover: profile.Handover,
			Limits: scheduler.Config{Max: scheduler.Unlimited},
		})
		if err != nil {
			t.Fatal(err)
		}
		out.add(res, int32(len(waves)-1))
	}
	return out
}

// TestGuideNumbers: the page's table has what the simulator gives, to the digit.
func TestGuideNumbers(t *testing.T) {
	page := guidePage(t)
	_, mine := policies.Guide()
	race := func() scheduler.Policy { return fresh(t, "fc-race") }
	for _, tt := range []struct {
		pattern string
		length  time.Duration
		waves   []wave
	}{
		{"fc-burst", 70 * time.Second, burst},
		{"fc-ramp", 60 * time.Second, ramp},
	} {
		a, b := guideSums(t, tt.length, tt.waves, race), guideSums(t, tt.length, tt.waves, mine)
		for name, of := range map[string]sums{"fc-race": a, "mine": b} {
			line := fmt.Sprintf("| %s | %s | %.1f | %.1f | %.0f | %.0f |\n", tt.pattern, name,
				middle(of.mean), middle(of.p95), middle(of.starts), middle(of.never))
			if !strings.Contains(page, line) {
				t.Errorf("the page's table lacks the line %s", line)
			}
		}
	}
}

// mistake is a policy that does something illegal at each arrival.
type mistake func(c *scheduler.Control, r scheduler.RequestID)

func (m mistake) Handle(c *scheduler.Control, ev scheduler.Event) {
	if ev.Kind == scheduler.Arrival {
		m(c, ev.Req)
	}
}

// TestGuideMistakes: the page quotes what the core says to each.
func TestGuideMistakes(t *testing.T) {
	page := guidePage(t)
	for _, tt := range []struct {
		name string
		make mistake
	}{
		{"an arrival is forgotten", func(*scheduler.Control, scheduler.RequestID) {}},
		{"a request is sent to an instance that still starts", func(c *scheduler.Control, r scheduler.RequestID) {
			c.Assign(r, c.Start(uint8(policies.ForRequest), r))
		}},
		{"more is started than max allows", func(c *scheduler.Control, r scheduler.RequestID) {
			c.Start(uint8(policies.ForRequest), r)
			c.Start(uint8(policies.ForRequest), r)
		}},
		{"the same request is queued twice", func(c *scheduler.Control, r scheduler.RequestID) {
			c.Queue(r, clock.Never)
			c.Queue(r, clock.Never)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			said := whatTheCoreSays(t, tt.make)
			short, _, _ := strings.Cut(said.Error(), " (seed")
			if !strings.Contains(page, "`"+short+"`") {
				t.Errorf("the page does not quote `%s`", short)
			}
		})
	}
}

// whatTheCoreSays gives one arrival to the policy, where one instance may live.
func whatTheCoreSays(t *testing.T, p scheduler.Policy) (said scheduler.Illegal) {
	t.Helper()
	defer func() {
		var ok bool
		if said, ok = recover().(scheduler.Illegal); !ok {
			t.Fatal("the core said nothing to an illegal act")
		}
	}()
	limits := scheduler.Config{Max: 1}
	core := scheduler.New(p, limits, 1)
	acts := core.Configure(nil, 0, limits)
	core.Step(acts, 0, scheduler.Event{Kind: scheduler.Arrival, Req: 1})
	return said
}
