package sim_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/rng"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/scheduler/policies"
	"coldwave/sim"
	"coldwave/workload"
)

// rollout is what one seed does to a service: its policies, its commands, and what goes wrong.
type rollout struct {
	seed     uint64
	fail     float64 // share of starts that fail
	never    float64 // share of starts that take longer than a deployment waits
	crash    float64
	breaks   float64
	leave    float64
	lingers  time.Duration
	deadline time.Duration
}

func drawRollout(seed uint64) (*rollout, *rng.Draw) {
	d := rng.NewKey(seed, "rollout").Draw(0)
	pick := func(of ...float64) float64 { return of[d.Int64N(int64(len(of)))] }
	return &rollout{
		seed: seed, fail: pick(0, 0, 0.05, 0.3), never: pick(0, 0, 0.1), crash: pick(0, 0.2), breaks: pick(0, 0.02),
		leave: pick(0, 0.1), lingers: time.Duration(pick(0, 500)) * ms, deadline: time.Duration(pick(4, 30)) * time.Second,
	}, &d
}

func (w *rollout) happens(name string, id int64, share float64) (rng.Draw, bool) {
	d := rng.NewKey(w.seed, name).Draw(id)
	return d, d.Float64() < share
}

func (w *rollout) StartUp(instance int64, _ workload.Demand) platform.StartUp {
	d, fails := w.happens("rollout start", instance, w.fail)
	up := platform.StartUp{Total: time.Duration(1 + d.Int64N(int64(2*time.Second))), Fails: fails}
	if d.Float64() < w.never {
		up.Total += w.deadline
	}
	return up
}

func (w *rollout) RequestFails(int64) bool { return false }

// mishaps are the faults of a rollout.
type mishaps struct {
	sim.NoFaults
	*rollout
}

func (m mishaps) StartUp(_ int64, _ clock.Instant, up platform.StartUp) platform.StartUp { return up }

func (m mishaps) within(name string, id int64, share float64, at clock.Instant, span time.Duration) clock.Instant {
	d, yes := m.happens(name, id, share)
	if !yes {
		return clock.Never
	}
	return at.Add(time.Duration(d.Int64N(int64(span))))
}

func (m mishaps) Leaves(seq int64, at clock.Instant) clock.Instant {
	return m.within("rollout leave", seq, m.leave, at, 600*ms)
}

func (m mishaps) Crashes(id int64, at clock.Instant) clock.Instant {
	return m.within("rollout crash", id, m.crash, at, 10*time.Second)
}

func (m mishaps) Breaks(seq int64, at clock.Instant) clock.Instant {
	return m.within("rollout break", seq, m.breaks, at.Add(-10*ms), 50*ms)
}

func (m mishaps) Stopped(_ int64, at clock.Instant) clock.Instant { return at.Add(m.lingers) }

// config draws the run of a seed.
func (w *rollout) config(t testing.TB, d *rng.Draw) sim.Config {
	all := policies.All()
	some := func() scheduler.Policy { return policy(t, all[d.Int64N(int64(len(all)))].Name) }
	limits := func() scheduler.Config {
		return scheduler.Config{Min: int(d.Int64N(2)), Max: 1 + int(d.Int64N(12)), Limit: int32(1 + d.Int64N(3))}
	}
	s := &workload.Schedule{Function: workload.Function{Name: "f", Concurrency: 1}}
	at := time.Duration(0)
	for k := range int64(400) {
		at += time.Duration(d.Int64N(int64([]time.Duration{1, 20 * ms, 400 * ms}[d.Int64N(3)])))
		s.Arrivals = append(s.Arrivals, workload.Arrival{Seq: k, At: clock.Instant(at), Wave: -1,
			Demand: workload.Demand{Exec: time.Duration(1 + d.Int64N(int64(300*ms))), Pre: time.Duration(d.Int64N(2)) * 5 * ms}})
	}
	s.Length = at + 1
	cfg := sim.Config{Schedule: s, Policy: some(), Limits: limits(), Platform: w, Faults: mishaps{rollout: w}, Seed: w.seed,
		Trace: sim.Actions, Deadline: w.deadline, Patience: 30 * 24 * time.Hour}
	for k, n := 0, 3+int(d.Int64N(8)); k < n; k++ {
		c := w.command(d, k, func() *sim.Deployment { return &sim.Deployment{Policy: some(), Limits: limits()} })
		c.At = clock.Instant(at)*clock.Instant(k+1)/clock.Instant(n+1) + clock.Instant(d.Int64N(int64(300*ms)))
		cfg.Commands = append(cfg.Commands, c)
	}
	slices.SortFunc(cfg.Commands, func(a, b sim.Command) int { return cmp.Compare(a.At, b.At) })
	return cfg
}

// command draws the k-th command. Many cannot be done.
func (w *rollout) command(d *rng.Draw, k int, fresh func() *sim.Deployment) sim.Command {
	name := func() string { return fmt.Sprint("v", 1+d.Int64N(int64(k)+2)) }
	var split scheduler.Split
	switch p := int(d.Int64N(100)); d.Int64N(4) {
	case 0:
		split = scheduler.Split{{Revision: name(), Percent: p}, {Revision: scheduler.Latest, Percent: 100 - p}}
	case 1:
		split = scheduler.Split{{Revision: name(), Percent: p}, {Revision: fmt.Sprint("v", k+2), Percent: 100 - p}}
	case 2:
		split = scheduler.Split{{Revision: name(), Percent: 100}}
	default:
		split = scheduler.Split{{Revision: scheduler.Latest, Percent: 100}}
	}
	switch p := d.Int64N(10); {
	case p < 5:
		c := sim.Command{Deploy: fresh()}
		c.Deploy.Name = fmt.Sprint("v", k+2)
		if p < 3 {
			c.Deploy.Split = split
		}
		return c
	case p < 8:
		return sim.Command{Shift: split}
	default:
		return sim.Command{Remove: name()}
	}
}

// rolloutBooks checks a run of several revisions: each request ended once, each revision got exactly its share of the
// arrivals while a split was in force, none that was retired got another one, and traffic moved only to instances that
// were ready.
type rolloutBooks struct {
	res     *sim.Result
	names   []string // by revision - 1
	latest  string
	percent map[string]int
	since   map[string]int // arrivals since the split came
	all     int
	needs   map[string]int
	retired map[string]clock.Instant
	failed  map[string]bool
}

func checkRollout(arrivals int, res *sim.Result) error {
	if len(res.Records) != arrivals {
		return fmt.Errorf("%d records of %d requests", len(res.Records), arrivals)
	}
	for k := range res.Records {
		if r := &res.Records[k]; r.Seq != int64(k) || r.Outcome == record.Unknown {
			return fmt.Errorf("request %d ended as %v of %d", k, r.Outcome, r.Seq)
		}
	}
	b := &rolloutBooks{res: res, needs: map[string]int{}, retired: map[string]clock.Instant{}, failed: map[string]bool{}}
	seen, ends := map[string]bool{}, map[string]int{}
	notices := res.Notices
	for _, a := range res.Decisions {
		for len(notices) > 0 && notices[0].At <= a.At {
			if err := b.notice(notices[0]); err != nil {
				return err
			}
			notices = notices[1:]
		}
		name, id := b.names[a.Rev-1], fmt.Sprint(a.Rev, "/", a.Req)
		if first := a.Do == scheduler.Assign || a.Do == scheduler.Queue || a.Do == scheduler.Reject; first && !seen[id] {
			seen[id] = true
			if err := b.arrival(a.At, name); err != nil {
				return err
			}
		}
		switch a.Do {
		case scheduler.Reject, scheduler.Lost, scheduler.End:
			ends[id]++
		case scheduler.Start:
			if at, gone := b.retired[name]; gone && a.At > at { // at that instant its policy may not know it yet
				return fmt.Errorf("%v: the retired revision %s starts an instance", a.At, name)
			}
		default:
		}
	}
	return b.close(seen, ends)
}

func (b *rolloutBooks) close(seen map[string]bool, ends map[string]int) error {
	for id := range seen {
		if ends[id] != 1 {
			return fmt.Errorf("request %s ended %d times", id, ends[id])
		}
	}
	if len(seen) != len(b.res.Records) || len(ends) != len(seen) {
		return fmt.Errorf("%d requests were decided on and %d ended, of %d", len(seen), len(ends), len(b.res.Records))
	}
	for _, n := range b.res.Notices {
		for _, in := range b.res.Instances {
			if n.What == record.Gone && in.Revision == n.Revision && in.Stopped > n.At {
				return fmt.Errorf("revision %s was gone at %v, and its instance %d stopped at %v", n.Revision, n.At, in.ID, in.Stopped)
			}
		}
	}
	return nil
}

// notice follows the service.
func (b *rolloutBooks) notice(n record.Notice) error {
	switch n.What {
	case record.Deployed:
		if b.names = append(b.names, n.Revision); len(b.names) == 1 {
			b.latest = n.Revision
			return b.split("latest=100")
		}
	case record.Prepared:
		b.needs[n.Revision] = n.Need
	case record.Shifted, record.Ready:
		b.latest = cmp.Or(n.Revision, b.latest)
		if err := b.ready(n); err != nil || n.What == record.Ready {
			return err
		}
		return b.split(n.Split)
	case record.Abandoned:
		clear(b.needs)
		b.failed[n.Revision] = true
	case record.Retired:
		b.retired[n.Revision] = n.At
	case record.Refused, record.Gone, record.NoticeKinds:
	}
	return nil
}

// ready checks that whoever gains by a shift has its instances.
func (b *rolloutBooks) ready(n record.Notice) error {
	for name, need := range b.needs {
		up := 0
		for _, in := range b.res.Instances {
			if in.Revision == name && in.Ready <= n.At && in.Stopped >= n.At {
				up++
			}
		}
		if up < need {
			return fmt.Errorf("%v %v: revision %s has %d instances of the %d that it needs", n.At, n.What, name, up, need)
		}
	}
	clear(b.needs)
	return nil
}

func (b *rolloutBooks) split(text string) error {
	split, err := scheduler.ParseSplit(text)
	b.percent, b.since, b.all = map[string]int{}, map[string]int{}, 0
	for _, s := range split {
		name := s.Revision
		if name == scheduler.Latest {
			name = b.latest
		}
		b.percent[name] += s.Percent
	}
	return err
}

func (b *rolloutBooks) arrival(at clock.Instant, name string) error {
	if _, gone := b.retired[name]; b.percent[name] == 0 || gone || b.failed[name] {
		return fmt.Errorf("%v: a request goes to %s, which has no traffic: %v", at, name, b.percent)
	}
	b.since[name]++
	b.all++
	for name, p := range b.percent {
		off := 100*b.since[name] - b.all*p
		if off >= 200 || off <= -200 || b.all%100 == 0 && off != 0 {
			return fmt.Errorf("%v: of %d arrivals at %v the revisions got %v", at, b.all, b.percent, b.since)
		}
	}
	return nil
}
