package policies

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"coldwave/internal/clock"
	"coldwave/scheduler"
)

// stage plays a Cloud Run core with start-ups and bodies of fixed length.
type stage struct {
	t       *testing.T
	p       *CloudRun
	core    *scheduler.Core
	cold    time.Duration
	service func(r scheduler.RequestID) time.Duration
	cpu     func(i scheduler.InstanceID, inFlight int) int64 // milli-CPUs in each second; nil: no samples

	watch    func(c *scheduler.Control, at clock.Instant, told bool, ev scheduler.Event, acts []scheduler.Action) // nil: nobody does
	agenda   []cue
	arrived  scheduler.RequestID
	sampling clock.Instant // when the next samples come
	log      []scheduler.Action
	tallest  int // most alive, and most alive and draining
	widest   int
}

type cue struct {
	at clock.Instant
	ev scheduler.Event
}

// drivers off: what on-demand scaling does alone.
const onDemandOnly = "cloudrun:cpu=false,concurrency=false,act=false"

func newStage(t *testing.T, spec string, cfg scheduler.Config, cold, service time.Duration) *stage {
	t.Helper()
	policy, err := New(spec)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, p: policy.(*CloudRun), cold: cold, core: scheduler.New(policy, cfg, 1)}
	s.service = func(scheduler.RequestID) time.Duration { return service }
	s.did(s.core.Configure(nil, 0, cfg))
	return s
}

// arrive lets n requests come at once.
func (s *stage) arrive(at time.Duration, n int) {
	for range n {
		s.arrived++
		s.agenda = append(s.agenda, cue{clock.Instant(at), scheduler.Event{Kind: scheduler.Arrival, Req: s.arrived}})
	}
}

func (s *stage) fail(at time.Duration, i scheduler.InstanceID) {
	s.agenda = append(s.agenda, cue{clock.Instant(at), scheduler.Event{Kind: scheduler.Failed, Inst: i}})
}

// run plays up to and including a time.
func (s *stage) run(until time.Duration) {
	for {
		k, at, sample := s.soonest(), clock.Never, clock.Never
		if k >= 0 {
			at = s.agenda[k].at
		}
		if s.cpu != nil {
			if s.sampling < s.core.Now() {
				s.sampling = floorSecond(s.core.Now()) + second
			}
			sample = s.sampling
		}
		next := min(at, sample, s.core.Next())
		if next > clock.Instant(until) {
			return
		}
		s.play(k, next, at, sample)
	}
}

// play plays what is next: an event, the samples of a second, or what falls due.
func (s *stage) play(k int, next, at, sample clock.Instant) {
	switch next {
	case at:
		ev := s.agenda[k].ev
		s.agenda = slices.Delete(s.agenda, k, k+1)
		s.see(next, true, ev, s.core.Step(nil, next, ev))
	case sample:
		s.sampling += second
		for _, in := range s.core.Instances(nil) {
			if s.core.Up(in.ID) && in.Ready < next {
				ev := scheduler.Event{Kind: scheduler.Sample, Inst: in.ID, Value: s.cpu(in.ID, in.InFlight)}
				s.see(next, true, ev, s.core.Step(nil, next, ev))
			}
		}
	default:
		s.see(next, false, scheduler.Event{}, s.core.Advance(nil, next))
	}
}

func (s *stage) see(at clock.Instant, told bool, ev scheduler.Event, acts []scheduler.Action) {
	s.did(acts)
	if s.watch != nil {
		s.watch(&s.core.Control, at, told, ev, acts)
	}
}

func (s *stage) soonest() int {
	best := -1
	for k := range s.agenda {
		if best < 0 || order(s.agenda[k], s.agenda[best]) < 0 {
			best = k
		}
	}
	return best
}

func order(a, b cue) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.ev.Kind, b.ev.Kind), cmp.Compare(a.ev.Req, b.ev.Req), cmp.Compare(a.ev.Inst, b.ev.Inst))
}

// did carries decisions out.
func (s *stage) did(acts []scheduler.Action) {
	for _, a := range acts {
		s.log = append(s.log, a)
		switch a.Do {
		case scheduler.Start:
			s.agenda = append(s.agenda, cue{a.At.Add(s.cold), scheduler.Event{Kind: scheduler.Ready, Inst: a.Inst}})
		case scheduler.Assign:
			s.agenda = append(s.agenda, cue{a.At.Add(s.service(a.Req)), scheduler.Event{Kind: scheduler.Done, Req: a.Req}})
		case scheduler.Stop:
			s.agenda = append(s.agenda, cue{a.At + 1, scheduler.Event{Kind: scheduler.Stopped, Inst: a.Inst}})
		default:
		}
	}
	s.core.Check()
	s.tallest = max(s.tallest, s.core.Alive())
	s.widest = max(s.widest, s.core.Alive()+s.core.Draining())
}

// times returns when such decisions were made.
func (s *stage) times(do scheduler.Do) []time.Duration {
	var out []time.Duration
	for _, a := range s.log {
		if a.Do == do {
			out = append(out, time.Duration(a.At))
		}
	}
	return out
}

// rejected returns when requests were turned away with that status.
func (s *stage) rejected(status int16) []time.Duration {
	var out []time.Duration
	for _, a := range s.log {
		if a.Do == scheduler.Reject && a.Status == status {
			out = append(out, time.Duration(a.At))
		}
	}
	return out
}

func (s *stage) startsFor(why Why) int {
	n := 0
	for _, a := range s.log {
		if a.Do == scheduler.Start && Why(a.Code) == why {
			n++
		}
	}
	return n
}

// nowOf returns at as an instant, or the core's own if that is later.
func (s *stage) nowOf(at time.Duration) clock.Instant { return max(clock.Instant(at), s.core.Now()) }

func seconds(of ...float64) []time.Duration {
	var out []time.Duration
	for _, s := range of {
		out = append(out, time.Duration(s*1e9))
	}
	return out
}

func same(t *testing.T, what string, got, want []time.Duration) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

const (
	one  = time.Second
	unli = scheduler.Unlimited
)
