package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/workload"
)

// CPUMode says what becomes of the CPU time of a body.
type CPUMode string

// The modes.
const (
	Sleep CPUMode = "sleep" // it passes, as fast as the model of the instance says
	Burn  CPUMode = "burn"  // this host computes for so long, on as many CPUs as the instance has
)

// CPUModes lists them, the default first.
func CPUModes() []CPUMode { return []CPUMode{Sleep, Burn} }

// ParseCPUMode reads a mode; empty is the default.
func ParseCPUMode(text string) (CPUMode, error) {
	if text == "" {
		return Sleep, nil
	}
	if !slices.Contains(CPUModes(), CPUMode(text)) {
		return "", fmt.Errorf("CPU mode %q: want %s", text, strings.Join([]string{string(Sleep), string(Burn)}, " or "))
	}
	return CPUMode(text), nil
}

// CheckBurn says what of the resources cannot be burned.
func CheckBurn(r platform.Resources) error {
	if r.Background != (platform.Background{}) {
		return errors.New("burn: only the CPU time of requests is burned: leave out the background, or use sleep")
	}
	return nil
}

// bodies is what runs bodies. It is safe for concurrent use.
type bodies interface {
	// run lets a body pass that began at an instant, and returns when it is over. An error is that of ctx, or wraps
	// platform.ErrMemory: then the instance has failed.
	run(ctx context.Context, began clock.Instant, d workload.Demand) error
	// load is what the instance uses.
	load() platform.Load
}

func newBodies(cfg *Config) bodies {
	switch {
	case !cfg.Resources.Modelled():
		return alone{cfg.Clock}
	case cfg.Mode == Burn:
		return newBurner(cfg)
	default:
		return &shared{clock: cfg.Clock, on: cfg.Resources.Instance(cfg.Ready), over: map[int64]chan struct{}{}, changed: make(chan struct{}, 1)}
	}
}

// alone runs bodies that share nothing.
type alone struct{ clock clock.Clock }

func (b alone) run(ctx context.Context, began clock.Instant, d workload.Demand) error {
	return b.clock.WaitUntil(ctx, began.Add(d.Exec))
}

func (alone) load() platform.Load { return platform.Load{} }

// shared runs bodies that share CPUs and memory, by the model: the one that a simulation has too.
type shared struct {
	clock clock.Clock

	mu      sync.Mutex
	on      *platform.Instance
	over    map[int64]chan struct{} // closed when a body is
	last    int64
	turning bool          // somebody waits for what happens next
	changed chan struct{} // wakes them: it may happen earlier
}

func (s *shared) run(ctx context.Context, _ clock.Instant, d workload.Demand) error {
	id, over, err := s.begin(d)
	if err != nil {
		return err
	}
	select {
	case <-over:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on.Leave(s.clock.Now(), id)
	delete(s.over, id)
	s.settle()
	s.hurry()
	return ctx.Err()
}

// hurry makes turn look again: what happens next may happen earlier.
func (s *shared) hurry() {
	select {
	case s.changed <- struct{}{}:
	default: // it was told already
	}
}

func (s *shared) begin(d workload.Demand) (id int64, over chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	over = make(chan struct{})
	s.over[s.last] = over
	err = s.on.Arrive(s.clock.Now(), s.last, d)
	s.settle()
	if err != nil {
		delete(s.over, s.last)
		return 0, nil, err
	}
	if !s.turning {
		s.turning = true
		go s.turn()
	} else {
		s.hurry()
	}
	return s.last, over, nil
}

// settle tells the bodies that are over. The lock is held.
func (s *shared) settle() {
	for _, e := range s.on.Take() {
		if over := s.over[e.ID]; over != nil { // one that has left may have ended at this very instant
			close(over)
			delete(s.over, e.ID)
		}
	}
}

// turn lets things happen at their instants, for as long as there is a body.
func (s *shared) turn() {
	timer := s.clock.NewTimer()
	defer timer.Reset(clock.Never)
	for next := s.next(); next != clock.Never; next = s.next() {
		timer.Reset(next)
		select {
		case <-timer.C():
		case <-s.changed:
		}
	}
}

// next lets happen what is due, and returns when more will; Never: there is no body left.
func (s *shared) next() clock.Instant {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on.Advance(s.clock.Now())
	s.settle()
	if s.on.InFlight() == 0 {
		s.turning = false
		return clock.Never
	}
	return s.on.Next()
}

func (s *shared) load() platform.Load {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.on.Advance(s.clock.Now())
	s.settle()
	return s.on.Load()
}
