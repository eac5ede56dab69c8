package worker

import (
	"context"
	"crypto/sha256"
	"runtime"
	"sync"
	"time"

	"coldwave/internal/clock"
	"coldwave/platform"
	"coldwave/workload"
)

// burnSlice is for how long a body keeps a CPU before another one has its turn.
const burnSlice = 2 * time.Millisecond

// burner runs bodies whose CPU time this host really computes. Bodies take turns on as many CPUs as the instance has; a CPU
// that is less than one rests after each turn. What is measured is the time of the threads, so whatever else this host does
// makes bodies longer and no use larger.
type burner struct {
	clock clock.Clock
	cfg   *Config
	turns chan struct{} // one element for each CPU in use
	each  int64         // thousandths of a CPU that one of turns stands for

	mu       sync.Mutex
	used     time.Duration
	inFlight int
	most     int
}

func newBurner(cfg *Config) *burner {
	r := cfg.Resources
	milli := r.MilliCPUs
	if r.Process > 0 && (milli == 0 || milli > 1000*int64(r.Process)) {
		milli = 1000 * int64(r.Process)
	}
	if milli == 0 {
		milli = platform.MaxMilliCPUs
	}
	n := (milli + 999) / 1000
	return &burner{clock: cfg.Clock, cfg: cfg, turns: make(chan struct{}, n), each: milli / n}
}

func (b *burner) run(ctx context.Context, began clock.Instant, d workload.Demand) error {
	if !b.enter() {
		return platform.ErrMemory
	}
	defer b.leave()
	threads := time.Duration(max(1, b.cfg.Resources.Threads))
	part := (d.CPU + threads - 1) / threads
	if err := b.clock.WaitUntil(ctx, began.Add(max(0, d.Exec-part))); err != nil {
		return err
	}
	var all sync.WaitGroup
	for left := d.CPU; left > 0; left -= part {
		all.Go(func() { b.burn(ctx, min(part, left)) })
	}
	all.Wait()
	return ctx.Err()
}

func (b *burner) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m := b.cfg.Resources.Memory; m.Limit > 0 && m.Base+m.Request*int64(b.inFlight+1) > m.Limit {
		return false
	}
	b.inFlight++
	b.most = max(b.most, b.inFlight)
	return true
}

func (b *burner) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inFlight--
}

// burn computes for so long, in turns.
func (b *burner) burn(ctx context.Context, left time.Duration) {
	for left > 0 && ctx.Err() == nil {
		select {
		case b.turns <- struct{}{}:
		case <-ctx.Done():
			return
		}
		began := b.clock.Now()
		did := compute(b.clock, min(left, burnSlice))
		left -= did
		b.note(did)
		_ = b.clock.WaitUntil(ctx, began.Add(did/time.Duration(b.each)*1000+did%time.Duration(b.each)*1000/time.Duration(b.each)))
		<-b.turns
	}
}

func (b *burner) note(did time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used += did
}

// compute keeps this thread busy until it has used so much CPU time, and returns how much it has.
func compute(c clock.Clock, d time.Duration) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var block [1 << 10]byte
	for began := threadTime(c); ; {
		sum := sha256.Sum256(block[:])
		copy(block[:], sum[:])
		if did := threadTime(c) - began; did >= d {
			return did
		}
	}
}

func (b *burner) load() platform.Load {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.cfg.Resources.Memory
	return platform.Load{
		At: b.clock.Now(), CPU: b.used, InFlight: b.inFlight,
		Memory: m.Base + m.Request*int64(b.inFlight), Peak: m.Base + m.Request*int64(b.most),
	}
}
