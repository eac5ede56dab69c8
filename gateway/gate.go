package gateway

import "sync"

// gate counts who is inside. It is safe for concurrent use.
type gate struct {
	mu     sync.Mutex
	inside int
	empty  chan struct{} // closed when nobody is inside; nil: nobody asked
}

func (g *gate) enter() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside++
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.inside == 0 && g.empty != nil {
		close(g.empty)
		g.empty = nil
	}
}

// emptied returns a channel that is closed as soon as nobody is inside.
func (g *gate) emptied() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside == 0 {
		now := make(chan struct{})
		close(now)
		return now
	}
	if g.empty == nil {
		g.empty = make(chan struct{})
	}
	return g.empty
}

// count is how many are inside.
func (g *gate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inside
}
