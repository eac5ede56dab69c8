package gateway

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coldwave/internal/clock"
	"coldwave/internal/realclock"
	"coldwave/scheduler"
)

// recorder is a policy that rejects every request and takes note of what it sees.
type recorder struct {
	seen  []string
	every clock.Instant
}

func (p *recorder) Handle(c *scheduler.Control, ev scheduler.Event) {
	p.seen = append(p.seen, fmt.Sprintf("%v %v", time.Duration(c.Now()), ev.Kind))
	switch ev.Kind {
	case scheduler.Configure:
		if p.every > 0 {
			c.Every(1, p.every)
		}
	case scheduler.Arrival:
		c.Queue(ev.Req, c.Now().Add(time.Second))
	case scheduler.Timer:
		c.Reject(ev.Req, 503)
	default:
	}
}

func runLoop(l *Loop) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	return func() error { cancel(); return <-done }
}

func arrival(next *scheduler.RequestID) Message {
	return Message{Event: scheduler.Event{Kind: scheduler.Arrival}, Admit: func(_ clock.Instant, ev *scheduler.Event) bool {
		*next++
		ev.Req = *next
		return true
	}}
}

// TestSimultaneousEvents: events of one instant are handled in order of kind and id, whatever order they were posted in
// (0.2).
func TestSimultaneousEvents(t *testing.T) {
	for _, c := range []struct {
		why  string
		post []scheduler.Event
		want []string
	}{
		{"an arrival after a cancel of it", []scheduler.Event{{Kind: scheduler.Cancel, Req: 1}, {Kind: scheduler.Arrival}}, []string{"1s arrival", "1s cancel"}},
		{"a deadline and an arrival", []scheduler.Event{{Kind: scheduler.Arrival}}, []string{"1s arrival", "2s timer"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &recorder{}
				clk := realclock.Timers(time.Now())
				l := NewLoop(clk, scheduler.New(p, scheduler.Config{Max: 1}, 1), func(scheduler.Action) {}, nil)
				l.Settle = synctest.Wait
				stop := runLoop(l)
				time.Sleep(time.Second)
				var next scheduler.RequestID
				for _, ev := range c.post {
					m := Message{Event: ev}
					if ev.Kind == scheduler.Arrival {
						m = arrival(&next)
					}
					l.Post(m)
				}
				time.Sleep(5 * time.Second)
				if err := stop(); err != nil {
					t.Fatal(err)
				}
				if got := p.seen[1:]; !slices.Equal(got, c.want) {
					t.Errorf("the policy saw %v, want %v", got, c.want)
				}
			})
		})
	}
}

// TestTicksComeOnTime: one timer wakes the loop for what falls due, with no event in between.
func TestTicksComeOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &recorder{every: clock.Instant(2 * time.Second)}
		l := NewLoop(realclock.Timers(time.Now()), scheduler.New(p, scheduler.Config{}, 1), func(scheduler.Action) {}, nil)
		stop := runLoop(l)
		time.Sleep(7 * time.Second)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if want := []string{"0s configure", "2s tick", "4s tick", "6s tick"}; !slices.Equal(p.seen, want) {
			t.Errorf("the policy saw %v, want %v", p.seen, want)
		}
	})
}

// backwards is a clock that is set back now and then.
type backwards struct {
	clock.Clock
	mu  sync.Mutex
	now clock.Instant
}

func (b *backwards) Now() clock.Instant {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *backwards) set(at clock.Instant) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = at
}

// TestStampsNeverGoBack: a clock that jumps back is clamped at the inbox, so the core never sees it (F24).
func TestStampsNeverGoBack(t *testing.T) {
	clk := &backwards{Clock: realclock.Timers(time.Now())}
	p := &recorder{}
	handled := make(chan struct{}, 100)
	l := NewLoop(clk, scheduler.New(p, scheduler.Config{}, 1), func(scheduler.Action) { handled <- struct{}{} }, nil)
	stop := runLoop(l)
	var next scheduler.RequestID
	for _, at := range []clock.Instant{5, 3, 9, -1, 10} {
		clk.set(at)
		l.Post(arrival(&next))
		<-handled
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	want := []string{"5ns arrival", "5ns arrival", "9ns arrival", "9ns arrival", "10ns arrival"}
	if got := p.seen[len(p.seen)-5:]; !slices.Equal(got, want) {
		t.Errorf("the policy saw %v, want %v", got, want)
	}
}

func TestPostAfterTheEnd(t *testing.T) {
	l := NewLoop(realclock.Timers(time.Now()), scheduler.New(&recorder{}, scheduler.Config{}, 1), func(scheduler.Action) {}, nil)
	if err := runLoop(l)(); err != nil {
		t.Fatal(err)
	}
	<-l.Ended()
	if l.Post(Message{}) {
		t.Error("Post after the end = true, want false")
	}
}

// TestManyPosters: no event is lost or handled twice, under the race detector too.
func TestManyPosters(t *testing.T) {
	const posters, each = 8, 500
	var next scheduler.RequestID
	var mu sync.Mutex
	queued := 0
	l := NewLoop(realclock.Timers(time.Now()), scheduler.New(&recorder{}, scheduler.Config{}, 1), func(a scheduler.Action) {
		mu.Lock()
		defer mu.Unlock()
		if a.Do == scheduler.Queue {
			queued++
		}
	}, nil)
	stop := runLoop(l)
	var all sync.WaitGroup
	for range posters {
		all.Go(func() {
			for range each {
				if !l.Post(arrival(&next)) {
					t.Error("Post = false")
				}
			}
		})
	}
	all.Wait()
	flushed := make(chan struct{})
	l.Post(Message{Admit: func(clock.Instant, *scheduler.Event) bool { close(flushed); return false }})
	<-flushed
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if queued != posters*each || next != posters*each {
		t.Errorf("%d queued, %d admitted, want %d", queued, next, posters*each)
	}
}
