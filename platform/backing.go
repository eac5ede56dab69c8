package platform

import (
	"errors"
	"fmt"
	"time"

	"coldwave/internal/clock"
)

// Backing is a service that all instances of a function call, such as a database: each request makes one call, at its
// beginning. Each ready instance holds connections to it. The zero Backing is none.
type Backing struct {
	Connections int  // that it has; 0: no limit
	PerInstance int  // that an instance holds from when it is ready until its end; 0: 1
	Quota       int  // calls in each full second; 0: no limit
	Waits       bool // a call beyond the quota waits for the next second with room, first come, first served; else it fails
}

// Why a call to a backing service fails: the body ends at once with an error.
var (
	ErrConnections = errors.New("backing_connections") // its instance found too few connections left
	ErrQuota       = errors.New("backing_quota")       // the calls of this second are used up
)

// MaxBacking is the largest number in a Backing.
const MaxBacking = 1 << 30

// On reports whether there is one.
func (b Backing) On() bool { return b.Connections > 0 || b.Quota > 0 }

// Check says what makes no sense; the error wraps ErrProfile.
func (b Backing) Check() error {
	for _, n := range []int{b.Connections, b.PerInstance, b.Quota} {
		if outside(int64(n), MaxBacking) {
			return fmt.Errorf("%w: backing service with %d connections, %d for an instance, %d calls a second: give 0 to %d",
				ErrProfile, b.Connections, b.PerInstance, b.Quota, MaxBacking)
		}
	}
	switch {
	case b.PerInstance > 0 && b.Connections == 0:
		return fmt.Errorf("%w: %d connections for an instance: of how many? give the connections of the backing service", ErrProfile, b.PerInstance)
	case b.PerInstance > b.Connections:
		return fmt.Errorf("%w: %d connections for an instance: the backing service has %d", ErrProfile, b.PerInstance, b.Connections)
	case b.Waits && b.Quota == 0:
		return fmt.Errorf("%w: calls that wait for a quota: give the quota of the backing service", ErrProfile)
	}
	return nil
}

// BackingState is what happens at a backing service. It owns no clock, and is for one goroutine.
type BackingState struct {
	b     Backing
	held  map[int64]bool // by instance; false: it found too few
	taken int            // connections

	second clock.Instant // in which calls are placed
	calls  int           // placed in it
}

// Open returns the service at its beginning: nobody is connected.
func (b Backing) Open() *BackingState {
	b.PerInstance = max(1, b.PerInstance)
	return &BackingState{b: b, held: map[int64]bool{}}
}

// Join connects an instance that is ready, if enough connections are left; else it goes without, and tries again with each
// call.
func (s *BackingState) Join(instance int64) {
	s.held[instance] = s.take()
}

func (s *BackingState) take() bool {
	if s.b.Connections > 0 && s.taken+s.b.PerInstance > s.b.Connections {
		return false
	}
	s.taken += s.b.PerInstance
	return true
}

// Leave takes back what an instance that has ended holds.
func (s *BackingState) Leave(instance int64) {
	if s.held[instance] {
		s.taken -= s.b.PerInstance
	}
	delete(s.held, instance)
}

// Call makes a call of an instance at an instant not before the last one. It returns for how long the call waits, or
// ErrConnections or ErrQuota.
func (s *BackingState) Call(at clock.Instant, instance int64) (wait time.Duration, err error) {
	if !s.held[instance] {
		if s.held[instance] = s.take(); !s.held[instance] {
			return 0, ErrConnections
		}
	}
	if s.b.Quota == 0 {
		return 0, nil
	}
	if now := floorSecond(at); now > s.second {
		s.second, s.calls = now, 0
	}
	if s.calls == s.b.Quota {
		if !s.b.Waits {
			return 0, ErrQuota
		}
		s.second, s.calls = s.second.Add(time.Second), 0
	}
	s.calls++
	return max(0, s.second.Sub(at)), nil
}

// Connections returns how many are taken.
func (s *BackingState) Connections() int { return s.taken }

// floorSecond is the last full second that does not lie after t.
func floorSecond(t clock.Instant) clock.Instant {
	const second = clock.Instant(time.Second)
	over := t % second
	if over < 0 {
		over += second
	}
	return t - over
}
