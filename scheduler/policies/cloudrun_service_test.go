package policies

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/record"
	"coldwave/scheduler"
)

// street is a service of Cloud Run revisions, each on a stage of its own.
type street struct {
	t       *testing.T
	s       *scheduler.Service
	stages  []*stage
	notices []string
}

func (h *street) deploy(at time.Duration, spec string, cfg scheduler.Config, cold time.Duration) *stage {
	h.t.Helper()
	policy, err := New(spec)
	if err != nil {
		h.t.Fatal(err)
	}
	n := &stage{t: h.t, p: policy.(*CloudRun), cold: cold, core: scheduler.New(policy, cfg, 1)}
	n.service = func(scheduler.RequestID) time.Duration { return 600 * one }
	h.stages = append(h.stages, n)
	d := scheduler.Deployment{Name: fmt.Sprint("v", len(h.stages)), Core: n.core, Limits: cfg}
	orders, rev, err := h.s.Deploy(nil, clock.Instant(at), d)
	if err != nil {
		h.t.Fatal(err)
	}
	n.watch = func(_ *scheduler.Control, at clock.Instant, told bool, ev scheduler.Event, _ []scheduler.Action) {
		if told {
			h.obey(at, h.s.Saw(nil, at, rev, ev))
		}
	}
	h.obey(clock.Instant(at), orders)
	return n
}

func (h *street) obey(at clock.Instant, orders []scheduler.Order) {
	h.s.Obey(orders, at, func(o scheduler.Order) {
		n := h.stages[o.Rev-1]
		n.did(n.core.Configure(nil, at, o.Limits))
	})
	for _, n := range h.s.Notices(nil) {
		if n.What == record.Prepared || n.What == record.Shifted {
			h.notices = append(h.notices, fmt.Sprintf("%v %v %d", n.At, n.What, n.Need))
		}
	}
}

// TestCloudRunDeployment is CR-ae: while the mean concurrency is 200, a new revision with a concurrency of 80 gets five
// instances before it gets the traffic, and both together may exceed the maximum of one (CR-26, CR-29).
func TestCloudRunDeployment(t *testing.T) {
	for _, row := range []struct {
		name   string
		params string
		limit  int32
		need   int
	}{
		{"CR-ae 200 at once, concurrency 80: 4.17", "", 80, 5},
		{"a concurrency of 100: 3.33", "", 100, 4},
		{"target 95 %: 2.63", ",concurrency_target=0.95", 80, 3},
		{"at most max", "", 10, 6},
		{"without drivers a slot for each", ",concurrency=false,act=false", 80, 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := &street{t: t, s: scheduler.NewService(scheduler.ServiceConfig{})}
			old := h.deploy(0, "cloudrun:cpu=false", scheduler.Config{Max: 6, Limit: 80}, 2*one)
			old.arrive(0, 200)
			old.run(120 * one)
			fresh := h.deploy(120*one, "cloudrun:cpu=false"+row.params, scheduler.Config{Max: 6, Limit: row.limit}, 2*one)
			equal(t, "starts of the new revision", len(fresh.times(scheduler.Start)), row.need)
			fresh.run(122 * one)
			want := []string{fmt.Sprintf("2m0s prepared %d", row.need), "2m2s shifted 0"}
			if !slices.Equal(h.notices, want) {
				t.Errorf("notices = %q, want %q", h.notices, want)
			}
			if row.limit == 80 && row.params == "" {
				equal(t, "instances of both, of at most 6 each", old.core.Alive()+fresh.core.Alive(), 10)
			}
		})
	}
}

// TestCloudRunDeploymentNeedsAll: four of five instances are not enough for the traffic (CR-29).
func TestCloudRunDeploymentNeedsAll(t *testing.T) {
	h := &street{t: t, s: scheduler.NewService(scheduler.ServiceConfig{})}
	old := h.deploy(0, "cloudrun:cpu=false", scheduler.Config{Max: 6, Limit: 80}, 2*one)
	old.arrive(0, 200)
	old.run(120 * one)
	fresh := h.deploy(120*one, "cloudrun:cpu=false", scheduler.Config{Max: 6, Limit: 80}, time.Hour)
	for i := range 5 {
		if got := h.s.Route(""); got != 1 {
			t.Fatalf("with %d instances ready an arrival goes to revision %d, want the old one", i, got)
		}
		ev := scheduler.Event{Kind: scheduler.Ready, Inst: scheduler.InstanceID(i + 1)}
		at := clock.Instant(121 * one).Add(time.Duration(i))
		fresh.see(at, true, ev, fresh.core.Step(nil, at, ev))
	}
	if got := h.s.Route(""); got != 2 {
		t.Errorf("with five instances ready an arrival goes to revision %d, want the new one", got)
	}
}

// TestCloudRunRevisionsRelate: ACT values and the service time belong to one deployment (CR-25), the predicted cold start to
// the service (CR-21).
func TestCloudRunRevisionsRelate(t *testing.T) {
	h := &street{t: t, s: scheduler.NewService(scheduler.ServiceConfig{})}
	old := h.deploy(0, "cloudrun", scheduler.Config{Max: 6, Limit: 80}, 6*one)
	old.service = func(scheduler.RequestID) time.Duration { return 10 * one }
	old.cpu = func(scheduler.InstanceID, int) int64 { return 1000 }
	old.arrive(0, 1)
	old.run(18 * one)
	if got := old.core.Limit(1); got >= 80 {
		t.Fatalf("the old instance takes %d requests, want fewer than 80: ACT has seen nothing", got)
	}
	fresh := h.deploy(20*one, "cloudrun", scheduler.Config{Max: 6, Limit: 80}, 4*one)
	equal(t, "limit of a new instance", fresh.core.Limit(1), 80)
	equal(t, "cold start before the first one of its own", fresh.p.coldStart(), int64(6*one))
	equal(t, "service time", fresh.p.service, int64(0))
	fresh.run(30 * one)
	equal(t, "cold start after 6 s and 4 s", fresh.p.coldStart(), int64(5*one))
	equal(t, "the old revision's", old.p.coldStart(), int64(5*one))
}

// TestCloudRunUse: what a deployment asks changes nothing, and is what the meters hold.
func TestCloudRunUse(t *testing.T) {
	s := newStage(t, "cloudrun", scheduler.Config{Max: 6, Limit: 80}, 2*one, 30*one)
	s.cpu = func(_ scheduler.InstanceID, n int) int64 { return int64(n) * 100 }
	s.arrive(one/2, 4)
	equal(t, "before all", s.p.Use(&s.core.Control), scheduler.Use{})
	s.run(one / 2)
	equal(t, "below a second the present level", s.p.Use(&s.core.Control), scheduler.Use{Minute: 4e6, TenMinutes: 4e6})
	s.run(22 * one)
	before := *s.p
	got := s.p.Use(&s.core.Control)
	if !reflect.DeepEqual(before, *s.p) {
		t.Error("Use changed the policy")
	}
	// Four waited or ran in 21.5 of 21.5 s; the samples of 19 full seconds after the start told 400.
	equal(t, "mean", got, scheduler.Use{Minute: 4e6, TenMinutes: 4e6, MilliCPUs: 400e6})
}
