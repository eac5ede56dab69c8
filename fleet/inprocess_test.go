package fleet_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"coldwave/fleet"
	"coldwave/fleet/worker"
	"coldwave/gateway"
	"coldwave/internal/clock"
	"coldwave/internal/realclock"
	"coldwave/platform"
	"coldwave/record"
	"coldwave/scheduler"
	"coldwave/workload"
)

const ms = clock.Instant(time.Millisecond)

// startUp is 40 ms: node 5, download 10, container 10, load 15.
var startUp = platform.StartUp{Total: 40 * time.Millisecond, Stages: [platform.Stages]time.Duration{
	5 * time.Millisecond, 10 * time.Millisecond, 10 * time.Millisecond, 15 * time.Millisecond}}

func fixed(s platform.StartUp) fleet.Draw {
	return func(gateway.StartRequest) platform.StartUp { return s }
}

// bubble is a fleet on virtual time.
type bubble struct {
	*fleet.InProcess
	t      *testing.T
	clock  *realclock.Clock
	memory []*memory // of the instances, in the order in which they opened
	opened []clock.Instant
}

func newBubble(t *testing.T, s platform.StartUp, change func(*fleet.Config)) *bubble {
	t.Helper()
	b := &bubble{t: t, clock: realclock.Timers(time.Now())}
	cfg := fleet.Config{Clock: b.clock, StartUp: fixed(s), Listen: func(context.Context) (net.Listener, error) {
		m := newMemory()
		b.memory, b.opened = append(b.memory, m), append(b.opened, b.clock.Now())
		return m, nil
	}}
	if change != nil {
		change(&cfg)
	}
	f, err := fleet.NewInProcess(cfg)
	if err != nil {
		t.Fatalf("NewInProcess error %v, want none", err)
	}
	b.InProcess = f
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("Close() = %v, want none", err)
		}
	})
	return b
}

func req(id scheduler.InstanceID) gateway.StartRequest {
	return gateway.StartRequest{Instance: id, Function: workload.Function{Name: "f", Body: 100 * time.Millisecond, Concurrency: 1}}
}

// get sends one request to the i-th instance that opened.
func (b *bubble) get(i int, path string) (*http.Response, error) {
	c := http.Client{Transport: &http.Transport{DialContext: b.memory[i].dial, DisableKeepAlives: true}}
	resp, err := c.Get("http://worker" + path)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp, err
}

// An instance is ready exactly at Decided + S, however late the start was asked for, and its stages end on the way.
func TestStartTakesTheStartUpTime(t *testing.T) {
	rows := []struct {
		name    string
		late    time.Duration // from the decision to the call
		startUp platform.StartUp
		ready   clock.Instant
		opened  clock.Instant
		stages  [platform.Stages]clock.Instant
	}{
		{"asked at once", 0, startUp, 40 * ms, 35 * ms, [4]clock.Instant{5 * ms, 15 * ms, 25 * ms, 40 * ms}},
		{"asked 12 ms after the decision: lateness does not add up", 12 * time.Millisecond, startUp, 40 * ms, 35 * ms, [4]clock.Instant{12 * ms, 15 * ms, 25 * ms, 40 * ms}},
		{"asked after the end: ready at once", 50 * time.Millisecond, startUp, 50 * ms, 50 * ms, [4]clock.Instant{50 * ms, 50 * ms, 50 * ms, 50 * ms}},
		{"a last stage shorter than the lead: opened before it", 0, platform.StartUp{Total: 10 * time.Millisecond,
			Stages: [4]time.Duration{2 * time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, time.Millisecond}},
			10 * ms, 5 * ms, [4]clock.Instant{2 * ms, 4 * ms, 9 * ms, 10 * ms}},
		{"the shortest start-up", 0, platform.StartUp{Total: 1}, 1, 0, [4]clock.Instant{0, 0, 0, 1}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, row.startUp, nil)
				time.Sleep(row.late)
				r := req(3)
				r.Revision, r.Node, r.Zone, r.Cause = "r1", "n1", "z1", "run-7"
				addr, err := b.Start(t.Context(), r)
				if err != nil || addr != "127.0.0.1:1" {
					t.Fatalf("Start() = %q, %v, want the listener's address", addr, err)
				}
				if got := b.clock.Now(); got != row.ready {
					t.Errorf("Start() returned at %v, want %v", got, row.ready)
				}
				if got := b.opened[0]; got != row.opened {
					t.Errorf("listener opened at %v, want %v", got, row.opened)
				}
				got, _ := b.Instance(3)
				want := fleet.Instance{
					ID: 3, Name: "3", Function: "f", Revision: "r1", Node: "n1", Zone: "z1", Cause: "run-7", State: fleet.Ready,
					Addr: addr, StartUp: row.startUp, StageEnd: row.stages, ReadyAt: row.ready, EndedAt: clock.Never,
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("Instance(3) (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Many starts at once do not wait for each other.
func TestStartsAreConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, startUp, func(c *fleet.Config) {
			c.Listen = func(context.Context) (net.Listener, error) { return newMemory(), nil }
		})
		for id := range scheduler.InstanceID(100) {
			go func() {
				if _, err := b.Start(t.Context(), req(id+1)); err != nil {
					t.Errorf("Start(%d) error %v, want none", id+1, err)
				}
			}()
		}
		time.Sleep(startUp.Total)
		synctest.Wait()
		for _, i := range b.Instances() {
			if i.ReadyAt != 40*ms {
				t.Errorf("instance %d ready at %v, want 40ms", i.ID, i.ReadyAt)
			}
		}
		if got := len(b.Instances()); got != 100 {
			t.Errorf("%d instances, want 100", got)
		}
	})
}

// A start-up is drawn by instance and demand, so S + exec + h is the drawn C (10.1, FA-4).
func TestStartUpDependsOnTheCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		draws := platform.Default().Draws(1)
		b := newBubble(t, platform.StartUp{}, func(c *fleet.Config) { c.StartUp = fleet.FromDraws(draws) })
		r := req(5)
		r.Demand = draws.Demand(9)
		if _, err := b.Start(t.Context(), r); err != nil {
			t.Fatalf("Start error %v", err)
		}
		got := b.clock.Now().Sub(0) + r.Demand.Exec + r.Demand.Overhead()
		if want := draws.Cold(5); got != want {
			t.Errorf("S + exec + h = %v, want C = %v", got, want)
		}
	})
}

// A start on a node that holds the code takes as long without its download (FC-3, PL-5).
func TestStartUpSkipsTheDownload(t *testing.T) {
	draw := fleet.FromDraws(platform.Default().Draws(1))
	r := req(5)
	r.Node = "n1"
	whole := draw(r)
	r.Cached = true
	if got := draw(r); got.Total != whole.Total-whole.Stages[platform.StageDownload] || got.Stages[platform.StageDownload] != 0 || whole.Stages[platform.StageDownload] == 0 {
		t.Errorf("with the code %+v, without it %+v, want the same less its download", got, whole)
	}
}

// A start that fails takes its time, opens nothing and leaves nothing.
func TestFailedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startUp
		s.Fails = true
		b := newBubble(t, s, func(c *fleet.Config) { c.Max = 1 })
		for id := scheduler.InstanceID(1); id <= 2; id++ { // the second finds room: a failed one does not count
			began := b.clock.Now()
			r := req(id)
			r.Decided = began
			_, err := b.Start(t.Context(), r)
			if !errors.Is(err, fleet.ErrStart) || !strings.Contains(err.Error(), "instance "+string('0'+rune(id))) {
				t.Errorf("Start(%d) error %v, want ErrStart that names it", id, err)
			}
			if got := b.clock.Now().Sub(began); got != s.Total {
				t.Errorf("failed after %v, want %v", got, s.Total)
			}
		}
		if len(b.memory) != 0 {
			t.Errorf("%d listeners were opened, want none", len(b.memory))
		}
		if i, _ := b.Instance(1); i.State != fleet.Failed || i.ReadyAt != clock.Never || i.EndedAt != 40*ms || i.Err == nil {
			t.Errorf("Instance(1) = %+v, want failed at 40ms with an error", i)
		}
	})
}

// Whoever gives a start up ends it at once: the caller, Stop, or Close.
func TestStartIsGivenUp(t *testing.T) {
	rows := []struct {
		name   string
		at     time.Duration
		giveUp func(b *bubble, cancel context.CancelFunc)
		want   error
		state  fleet.State
	}{
		{"by its context, early", 7 * time.Millisecond, func(_ *bubble, cancel context.CancelFunc) { cancel() }, context.Canceled, fleet.Failed},
		{"by its context, when the listener is open", 37 * time.Millisecond, func(_ *bubble, cancel context.CancelFunc) { cancel() }, context.Canceled, fleet.Failed},
		{"by Stop", 7 * time.Millisecond, func(b *bubble, _ context.CancelFunc) {
			if err := b.Stop(b.t.Context(), 1, time.Hour); err != nil {
				b.t.Errorf("Stop() = %v, want none", err)
			}
		}, fleet.ErrStopped, fleet.Stopped},
		{"by Close", 37 * time.Millisecond, func(b *bubble, _ context.CancelFunc) { _ = b.Close() }, fleet.ErrStopped, fleet.Stopped},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, startUp, nil)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				time.AfterFunc(row.at, func() { row.giveUp(b, cancel) })
				_, err := b.Start(ctx, req(1))
				if !errors.Is(err, row.want) {
					t.Errorf("Start() error %v, want %v", err, row.want)
				}
				if got := b.clock.Now().Sub(0); got != row.at {
					t.Errorf("Start() returned after %v, want %v", got, row.at)
				}
				if i, _ := b.Instance(1); i.State != row.state {
					t.Errorf("state = %v, want %v", i.State, row.state)
				}
			})
		})
	}
}

// The body is exact, and the instance calls itself by its number.
func TestWorkerOfAnInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, startUp, nil)
		if _, err := b.Start(t.Context(), req(12)); err != nil {
			t.Fatal(err)
		}
		began := b.clock.Now()
		resp, err := b.get(0, "/")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := b.clock.Now().Sub(began), 100*time.Millisecond; got != want {
			t.Errorf("body took %v, want %v", got, want)
		}
		got := record.ServerFrom(resp.Header.Get)
		want := record.Server{Exec: 100 * time.Millisecond, Instance: "12", Start: record.Cold, Source: record.FromHeader}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		i, _ := b.Instance(12)
		if got, want := i.Worker, (worker.Stats{Started: 1, Finished: 1}); got != want {
			t.Errorf("Worker = %+v, want %+v", got, want)
		}
	})
}

// Stop returns with the last answer, and takes no new request meanwhile (R18).
func TestStopDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, startUp, nil)
		if _, err := b.Start(t.Context(), req(1)); err != nil {
			t.Fatal(err)
		}
		inFlight := make(chan error, 1)
		go func() {
			_, err := b.get(0, "/sleep/500")
			inFlight <- err
		}()
		synctest.Wait()
		began := b.clock.Now()
		second := make(chan error, 1)
		time.AfterFunc(time.Millisecond, func() { second <- b.Stop(t.Context(), 1, time.Minute) })
		time.AfterFunc(2*time.Millisecond, func() {
			if _, err := b.get(0, "/"); err == nil {
				t.Error("a request during the drain was answered, want no connection")
			}
			if i, _ := b.Instance(1); i.State != fleet.Stopping || i.EndedAt != clock.Never {
				t.Errorf("during the drain: %v, ended at %v; want stopping", i.State, i.EndedAt)
			}
		})
		if err := b.Stop(t.Context(), 1, time.Minute); err != nil {
			t.Errorf("Stop() = %v, want none", err)
		}
		if got, want := b.clock.Now().Sub(began), 500*time.Millisecond; got != want {
			t.Errorf("Stop() took %v, want %v", got, want)
		}
		if err := <-inFlight; err != nil {
			t.Errorf("request in flight: %v, want an answer", err)
		}
		if err := <-second; err != nil {
			t.Errorf("second Stop() = %v, want none", err)
		}
		if err := b.Stop(t.Context(), 1, time.Minute); err != nil {
			t.Errorf("Stop() of an instance that is gone = %v, want none", err)
		}
		i, _ := b.Instance(1)
		if got, want := i.Worker, (worker.Stats{Started: 1, Finished: 1}); i.State != fleet.Stopped || got != want {
			t.Errorf("at the end %v %+v, want stopped %+v", i.State, got, want)
		}
	})
}

// A drain has two limits: its own time and the caller's context.
func TestStopCuts(t *testing.T) {
	rows := []struct {
		name         string
		drain, limit time.Duration
		want         time.Duration
	}{
		{"at the drain limit", 200 * time.Millisecond, time.Hour, 200 * time.Millisecond},
		{"when the context ends", time.Hour, 300 * time.Millisecond, 300 * time.Millisecond},
		{"at once, without a drain", 0, time.Hour, 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, startUp, nil)
				if _, err := b.Start(t.Context(), req(1)); err != nil {
					t.Fatal(err)
				}
				cut := make(chan error, 1)
				go func() { _, err := b.get(0, "/sleep/10000"); cut <- err }()
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), row.limit)
				defer cancel()
				began := b.clock.Now()
				if err := b.Stop(ctx, 1, row.drain); !errors.Is(err, worker.ErrDrain) {
					t.Errorf("Stop() = %v, want ErrDrain", err)
				}
				if got := b.clock.Now().Sub(began); got != row.want {
					t.Errorf("Stop() took %v, want %v", got, row.want)
				}
				if err := <-cut; err == nil {
					t.Error("the cut request was answered, want an error")
				}
				if i, _ := b.Instance(1); i.State != fleet.Stopped {
					t.Errorf("state = %v, want stopped", i.State)
				}
			})
		})
	}
}

// Bounds: the fleet refuses by name, and forgets the oldest ends (R25).
func TestFleetLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, startUp, func(c *fleet.Config) { c.Max, c.Keep = 2, 3 })
		start := func(id scheduler.InstanceID) error { _, err := b.Start(t.Context(), req(id)); return err }
		if err := errors.Join(start(1), start(2)); err != nil {
			t.Fatal(err)
		}
		if err := start(2); !errors.Is(err, fleet.ErrTwice) {
			t.Errorf("second Start(2) = %v, want ErrTwice", err)
		}
		if err := start(3); !errors.Is(err, fleet.ErrFull) {
			t.Errorf("Start(3) = %v, want ErrFull", err)
		}
		for _, step := range []struct{ stop, start scheduler.InstanceID }{{1, 4}, {2, 5}, {4, 6}, {5, 7}, {6, 8}} {
			if err := b.Stop(t.Context(), step.stop, 0); err != nil {
				t.Errorf("Stop(%d) = %v, want none", step.stop, err)
			}
			if err := start(step.start); err != nil {
				t.Errorf("Start(%d) after Stop(%d) = %v, want none", step.start, step.stop, err)
			}
		}
		var ids []scheduler.InstanceID
		for _, i := range b.Instances() {
			ids = append(ids, i.ID)
		}
		if diff := cmp.Diff([]scheduler.InstanceID{4, 5, 6, 7, 8}, ids); diff != "" {
			t.Errorf("remembered instances (-want +got):\n%s", diff)
		}
		_ = b.Close()
		if err := start(9); !errors.Is(err, fleet.ErrClosed) {
			t.Errorf("Start() after Close() = %v, want ErrClosed", err)
		}
	})
}

// Close does not wait for a reader of Lost.
func TestCloseWithUnreadLosses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, startUp, nil)
		if _, err := b.Start(t.Context(), req(1)); err != nil {
			t.Fatal(err)
		}
		if err := b.Crash(1); err != nil {
			t.Fatalf("Crash(1) = %v", err)
		}
		synctest.Wait()
		if i, _ := b.Instance(1); i.State != fleet.Lost || !errors.Is(i.Err, fleet.ErrCrash) {
			t.Errorf("Instance(1) = %v %v, want lost by ErrCrash", i.State, i.Err)
		}
		if err := b.Crash(1); !errors.Is(err, fleet.ErrUnknown) {
			t.Errorf("second Crash(1) = %v, want ErrUnknown", err)
		}
	})
}

// A listener that breaks is a lost instance, and its connections go with it.
func TestBrokenListenerIsALoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, startUp, nil)
		if _, err := b.Start(t.Context(), req(1)); err != nil {
			t.Fatal(err)
		}
		cut := make(chan error, 1)
		go func() { _, err := b.get(0, "/sleep/10000"); cut <- err }()
		synctest.Wait()
		_ = b.memory[0].Close() // behind the fleet's back
		l := <-b.Lost()
		if l.Instance != 1 || !errors.Is(l.Err, net.ErrClosed) {
			t.Errorf("Lost() = %+v, want instance 1 with the listener's error", l)
		}
		if err := <-cut; err == nil {
			t.Error("the request on it was answered, want an error")
		}
	})
}

func TestNoPortIsAFailedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("no descriptors left")
		b := newBubble(t, startUp, func(c *fleet.Config) {
			c.Listen = func(context.Context) (net.Listener, error) { return nil, broken }
		})
		if _, err := b.Start(t.Context(), req(1)); !errors.Is(err, broken) {
			t.Errorf("Start() = %v, want the listener's error", err)
		}
	})
}

// A function that makes no worker fails the start and says why.
func TestUnusableFunctionIsAFailedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, startUp, nil)
		r := req(1)
		r.Function.Concurrency = -1
		if _, err := b.Start(t.Context(), r); err == nil || !strings.Contains(err.Error(), "concurrency -1") {
			t.Errorf("Start() = %v, want an error that names the concurrency", err)
		}
	})
}

func TestNewInProcessChecks(t *testing.T) {
	c := realclock.Timers(time.Now())
	rows := []struct {
		name string
		cfg  fleet.Config
		want string
	}{
		{"no clock", fleet.Config{StartUp: fixed(startUp)}, "clock"},
		{"no start-up times", fleet.Config{Clock: c}, "StartUp"},
		{"a negative limit", fleet.Config{Clock: c, StartUp: fixed(startUp), Max: -1}, "max -1"},
		{"a negative memory", fleet.Config{Clock: c, StartUp: fixed(startUp), Keep: -1}, "keep -1"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if _, err := fleet.NewInProcess(row.cfg); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("NewInProcess() = %v, want an error that names %q", err, row.want)
			}
		})
	}
}
