package sim_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/sim"
	"coldwave/workload"
)

// TestOneRevisionIsACore: a service in which nothing ever moves decides what its core alone decides, and its records and
// instances differ in the name of the revision only.
func TestOneRevisionIsACore(t *testing.T) {
	for _, e := range policies.All() {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s/seed=%d", e.Name, seed), func(t *testing.T) {
				p := platform.Default()
				p.FailRatio, p.ErrorRatio, p.Handover = 0.2, 0.1, time.Duration(seed)*ms
				d := p.Draws(seed)
				cfg := sim.Config{
					Schedule: poisson(d, 300, 40*ms), Policy: policy(t, e.Name), Platform: d, Handover: p.Handover,
					Limits: scheduler.Config{Max: 20}, Faults: leaving{}, Trace: sim.Actions,
				}
				want := run(t, cfg)
				cfg.Policy = policy(t, e.Name)
				cfg.Commands = []sim.Command{{At: clock.Instant(time.Second), Shift: scheduler.Split{{Revision: scheduler.Latest, Percent: 100}}}}
				got := run(t, cfg)
				var acts []scheduler.Action
				for _, a := range got.Decisions {
					acts = append(acts, a.Action)
				}
				if !slices.Equal(acts, want.Actions) {
					t.Errorf("decisions differ (-core +service):\n%s", gocmp.Diff(want.Actions, acts))
				}
				for k := range want.Records {
					if r := &want.Records[k]; r.Outcome != record.Canceled {
						r.Server.Revision = sim.FirstRevision
					}
				}
				for k := range want.Instances {
					want.Instances[k].Revision = sim.FirstRevision
				}
				if !slices.Equal(got.Records, want.Records) || !slices.Equal(got.Instances, want.Instances) || got.Events != want.Events {
					t.Errorf("records, instances or %d and %d events differ (-core +service):\n%s\n%s", want.Events, got.Events,
						gocmp.Diff(want.Records, got.Records), gocmp.Diff(want.Instances, got.Instances))
				}
			})
		}
	}
}

// TestDeploymentInARun: a hundred requests a second, and another revision in the middle: it serves when its instances are
// ready, nobody else's requests go to it, and none is lost.
func TestDeploymentInARun(t *testing.T) {
	at := func(s float64) clock.Instant { return clock.Instant(s * 1e9) }
	var instants []time.Duration
	for k := range 1000 {
		instants = append(instants, time.Duration(k)*10*ms)
	}
	s := schedule(workload.Demand{Exec: 50 * ms}, instants...)
	res := run(t, sim.Config{
		Schedule: s, Policy: policy(t, "fc-race"), Platform: simple{start: time.Second}, Limits: scheduler.Config{Max: 100},
		Commands: []sim.Command{
			{At: at(3), Deploy: &sim.Deployment{Name: "v2", Policy: policy(t, "fc-bound"), Limits: scheduler.Config{Max: 100}}},
			{At: at(3.5), Shift: scheduler.Split{{Revision: "v1", Percent: 100}}},
			{At: at(6), Shift: scheduler.Split{{Revision: "v1", Percent: 50}, {Revision: "v2", Percent: 50}}},
		},
		Trace: sim.Actions,
	})
	for k := range res.Records {
		r := &res.Records[k]
		want := "v1"
		if r.Intended >= at(4) && (r.Intended < at(6) || k%2 == 1) {
			want = "v2"
		}
		if r.Server.Revision != want || r.Outcome != record.OK {
			t.Fatalf("request %d at %v: %v by %q, want ok by %q", k, r.Intended, r.Outcome, r.Server.Revision, want)
		}
	}
	need := 0
	var notices []string
	for _, n := range res.Notices {
		need = max(need, n.Need)
		notices = append(notices, fmt.Sprintf("%v %v %s", n.At, n.What, n.Split))
	}
	want := []string{"0s deployed ", "3s deployed ", "3s prepared latest=100", "3.5s refused ", "4s shifted latest=100",
		"6s prepared v1=50,v2=50", "6s shifted v1=50,v2=50"}
	if !slices.Equal(notices, want) {
		t.Errorf("notices = %q, want %q", notices, want)
	}
	first := 0
	for _, in := range res.Instances {
		if in.Revision == "v2" && in.Started == at(3) {
			first++
		}
	}
	if first == 0 || first != need {
		t.Errorf("%d instances of the new revision started before the shift, want the %d that it needs", first, need)
	}
}

// TestRollouts: deployments, shifts and removals at any time under every policy, with starts that fail or take too long,
// crashes and clients that leave. $SEEDS sets how many.
func TestRollouts(t *testing.T) {
	seeds, err := strconv.ParseUint(os.Getenv("SEEDS"), 10, 64)
	if err != nil {
		seeds = 150
	}
	reached := map[string]int{}
	for seed := range seeds {
		res := playRollout(t, seed)
		if err := checkRollout(400, &res); err != nil {
			t.Fatalf("seed %d: %v\nrepeat it with: SEEDS=%d go test ./sim -run TestRollouts", seed, err, seed+1)
		}
		for _, n := range res.Notices {
			what := n.What.String()
			for _, why := range []string{"a start of", "not ready within"} {
				if strings.Contains(n.Why, why) {
					what += " " + why
				}
			}
			reached[what]++
		}
		for k := range res.Records {
			reached[res.Records[k].Outcome.String()]++
		}
		if again := playRollout(t, seed); again.Digest != res.Digest {
			t.Fatalf("seed %d: the second run differs from the first", seed)
		}
	}
	t.Logf("%d seeds: %v", seeds, reached)
	for _, what := range []string{"deployed", "shifted", "ready", "abandoned a start of", "abandoned not ready within", "refused", "retired",
		"gone", "ok", "rejected", "canceled", "http_error"} {
		if reached[what] == 0 && seeds >= 100 {
			t.Errorf("never in %d seeds: %s", seeds, what)
		}
	}
}

func playRollout(t *testing.T, seed uint64) sim.Result {
	t.Helper()
	w, d := drawRollout(seed)
	res, err := sim.Run(w.config(t, d))
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return res
}

// TestRolloutBooksBite: a wrong run is found out.
func TestRolloutBooksBite(t *testing.T) {
	shifts := func(res *sim.Result) int {
		return slices.IndexFunc(res.Notices, func(n record.Notice) bool { return n.What == record.Shifted })
	}
	for _, row := range []struct {
		name string
		harm func(res *sim.Result)
		want string
	}{
		{"as it is", func(*sim.Result) {}, ""},
		{"a request without an end", func(r *sim.Result) { r.Records[7].Outcome = record.Unknown }, "request 7 ended as"},
		{"a record too few", func(r *sim.Result) { r.Records = r.Records[1:] }, "records of"},
		{"traffic moves before it is ready", func(r *sim.Result) { r.Notices[shifts(r)].At -= clock.Instant(ms) }, "that it needs"},
		{"a request goes astray", func(r *sim.Result) {
			for k := range r.Decisions {
				if d := &r.Decisions[k]; d.Rev == 2 && d.Req == 9 {
					d.Rev, d.Req = 1, 999
				}
			}
		}, "has no traffic"},
		{"an end too many", func(r *sim.Result) {
			k := slices.IndexFunc(r.Decisions, func(d sim.Decision) bool { return d.Do == scheduler.End })
			r.Decisions = append(r.Decisions, r.Decisions[k])
		}, "ended 2 times"},
	} {
		var instants []time.Duration
		for k := range 400 {
			instants = append(instants, time.Duration(k)*10*ms)
		}
		res := run(t, sim.Config{
			Schedule: schedule(workload.Demand{Exec: 20 * ms}, instants...), Policy: policy(t, "fc-race"), Platform: simple{start: time.Second},
			Limits: scheduler.Config{Max: 100}, Trace: sim.Actions,
			Commands: []sim.Command{{At: clock.Instant(time.Second), Deploy: &sim.Deployment{
				Name: "v2", Policy: policy(t, "fc-race"), Limits: scheduler.Config{Max: 100}}}},
		})
		row.harm(&res)
		err := checkRollout(400, &res)
		if got := fmt.Sprint(err); row.want == "" && err != nil || !strings.Contains(got, row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
}

// TestBadCommands: what cannot be told apart, or comes in no order, is refused before anything runs.
func TestBadCommands(t *testing.T) {
	at := clock.Instant(time.Second)
	split := scheduler.Split{{Revision: "v1", Percent: 100}}
	for _, row := range []struct {
		name     string
		commands []sim.Command
		change   func(*sim.Config)
	}{
		{"nothing", []sim.Command{{At: at}}, nil},
		{"two things", []sim.Command{{At: at, Shift: split, Remove: "v1"}}, nil},
		{"at the beginning", []sim.Command{{Shift: split}}, nil},
		{"out of order", []sim.Command{{At: at, Shift: split}, {At: at - 1, Shift: split}}, nil},
		{"no policy", []sim.Command{{At: at, Deploy: &sim.Deployment{Name: "v2"}}}, nil},
		{"bad limits", []sim.Command{{At: at, Deploy: &sim.Deployment{Policy: policy(t, "fc-race"), Limits: scheduler.Config{Min: 1}}}}, nil},
		{"changes of limits", []sim.Command{{At: at, Shift: split}}, func(c *sim.Config) { c.Changes = []sim.Change{{At: at}} }},
	} {
		cfg := sim.Config{Schedule: schedule(demand, 0), Policy: policy(t, "fc-race"), Platform: simple{}, Commands: row.commands}
		if row.change != nil {
			row.change(&cfg)
		}
		if _, err := sim.Run(cfg); !errors.Is(err, sim.ErrConfig) {
			t.Errorf("%s: Run = %v, want ErrConfig", row.name, err)
		}
	}
}

// TestRollingReplacement is AS-09: replaced over and over under one small load, a service asks for the same instances each
// time: those of the revision that goes do not count as need.
func TestRollingReplacement(t *testing.T) {
	for _, spec := range []string{"cloudrun", "fc-race", "fixed", "knative"} {
		var instants []time.Duration
		for k := range 6600 {
			instants = append(instants, time.Duration(k)*100*ms)
		}
		cfg := sim.Config{
			Schedule: schedule(workload.Demand{Exec: 250 * ms}, instants...), Policy: policy(t, spec), Platform: simple{start: time.Second},
			Limits: scheduler.Config{Max: 100},
		}
		for k := 2; k <= 6; k++ {
			cfg.Commands = append(cfg.Commands, sim.Command{At: clock.Instant(time.Duration(k-1) * 120 * time.Second), Deploy: &sim.Deployment{
				Name: fmt.Sprint("v", k), Policy: policy(t, spec), Limits: scheduler.Config{Max: 100}}})
		}
		res := run(t, cfg)
		var needs []int
		for _, n := range res.Notices {
			if n.What == record.Prepared {
				needs = append(needs, n.Need)
			}
		}
		if len(needs) != 5 || len(slices.Compact(needs)) != 1 {
			t.Errorf("AS-09 %s: five replacements under one load needed %v instances, want the same each time", spec, needs)
		}
	}
}
