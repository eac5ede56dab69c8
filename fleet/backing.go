package fleet

import (
	"sync"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/scheduler"
)

// backing is the service that all instances of a fleet call. It is safe for concurrent use; nil is none.
type backing struct {
	clock clock.Clock
	mu    sync.Mutex
	state *platform.BackingState
}

func newBacking(c clock.Clock, b platform.Backing) *backing {
	if !b.On() {
		return nil
	}
	return &backing{clock: c, state: b.Open()}
}

// join connects an instance that is ready.
func (b *backing) join(id scheduler.InstanceID) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state.Join(int64(id))
}

// leave takes back what an instance holds that has ended.
func (b *backing) leave(id scheduler.InstanceID) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state.Leave(int64(id))
}

// callOf returns what an instance calls; nil if there is nothing.
func (b *backing) callOf(id scheduler.InstanceID) func() (time.Duration, error) {
	if b == nil {
		return nil
	}
	return func() (time.Duration, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.state.Call(b.clock.Now(), int64(id)) // read under the lock, so that calls come in order
	}
}
