package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"coldwave/internal/clock"
)

// Servers close a connection on which no request came within their header time limit (5 s is usual), and one that
// idles after a request within their idle limit (60 s is usual). A connection is not used so near to those.
const (
	freshLimit = 4500 * time.Millisecond // since it was opened, without a request
	idleLimit  = 55 * time.Second        // since its last answer
	maxIdle    = 4096                    // idle connections that are kept; more are closed
	dialLimit  = 10 * time.Second        // of one dial, TLS included
	dialAtOnce = 64                      // of the dials ahead of a wave
	maxHeader  = 256 << 10               // bytes of an answer's header
)

// httpConn is the part of http.ClientConn that is used.
type httpConn interface {
	http.RoundTripper
	Err() error
	Available() int
	Close() error
}

// link is one HTTP/1.1 connection. At most one request uses it.
//
// It is an http.ClientConn and no http.Transport's own: a transport silently sends a request again when the connection
// that it took from its pool turns out to be dead (R4), and has no way to open connections ahead.
type link struct {
	conn  httpConn
	wire  *wire
	since clock.Instant // it was opened, or its last answer ended
	used  bool
}

func (l *link) stale(at clock.Instant) bool {
	limit := freshLimit
	if l.used {
		limit = idleLimit
	}
	return l.conn.Err() != nil || at.Sub(l.since) > limit
}

// close drops an error on purpose: the connection is given up whatever it says.
func (l *link) close() { _ = l.conn.Close() }

// pool keeps the idle connections, per target, last used first.
type pool struct {
	now       func() clock.Instant
	transport *http.Transport
	ahead     atomic.Int64 // connections opened ahead of their use
	atSend    atomic.Int64 // connections opened because a request needed one

	mu     sync.Mutex
	idle   map[string][]*link
	count  int
	closed bool
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// dialing is what a dial needs to know and its result: http.Transport hands neither through.
type dialing struct {
	target *Target
	wire   *wire
}

type dialingKey struct{}

// newPool returns an empty pool; dial nil means TCP under the target's guard.
func newPool(now func() clock.Instant, dial dialFunc) *pool {
	p := &pool{now: now, idle: map[string][]*link{}}
	p.transport = &http.Transport{
		Proxy:                  nil, // the environment's proxies would see the load (R24)
		DialContext:            p.dialer(dial),
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    dialLimit,
		DisableCompression:     true, // bytes are counted as they come
		MaxResponseHeaderBytes: maxHeader,
	}
	return p
}

func (p *pool) dialer(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		d, ok := ctx.Value(dialingKey{}).(*dialing)
		if !ok {
			return nil, errors.New("a connection was asked for outside of the pool")
		}
		open := dial
		if open == nil {
			open = (&net.Dialer{Timeout: dialLimit, Control: d.target.control}).DialContext
		}
		c, err := open(ctx, network, address)
		if err != nil {
			return nil, fmt.Errorf("dial %s: %w", address, err)
		}
		d.wire = &wire{Conn: c, now: p.now}
		return d.wire, nil
	}
}

func (p *pool) open(ctx context.Context, t *Target) (*link, error) {
	d := &dialing{target: t}
	c, err := p.transport.NewClientConn(context.WithValue(ctx, dialingKey{}, d), t.url.Scheme, t.address)
	if err != nil {
		return nil, err
	}
	return &link{conn: c, wire: d.wire, since: p.now()}, nil
}

func key(t *Target) string { return t.url.Scheme + "://" + t.address }

// take returns an idle connection, or opens one.
func (p *pool) take(ctx context.Context, t *Target) (l *link, idle bool, err error) {
	for l := p.pop(key(t)); l != nil; l = p.pop(key(t)) {
		if !l.stale(p.now()) {
			return l, true, nil
		}
		l.close()
	}
	p.atSend.Add(1)
	l, err = p.open(ctx, t)
	return l, false, err
}

func (p *pool) pop(key string) *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	stack := p.idle[key]
	if len(stack) == 0 {
		return nil
	}
	last := stack[len(stack)-1]
	stack[len(stack)-1] = nil
	p.idle[key] = stack[:len(stack)-1]
	p.count--
	return last
}

// put keeps a connection whose answer was read to its end. One that cannot be used again is closed.
func (p *pool) put(t *Target, l *link) {
	l.since, l.used = p.now(), true
	l.wire.trip.Store(nil)
	if l.conn.Available() == 0 || !p.push(key(t), l) {
		l.close()
	}
}

func (p *pool) push(key string, l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.count >= maxIdle {
		return false
	}
	p.idle[key] = append(p.idle[key], l)
	p.count++
	return true
}

// fill makes sure that at least n idle connections to t can be used at the instant at: stale ones are closed, missing
// ones opened, some at once. The first error is returned when all have been tried.
func (p *pool) fill(ctx context.Context, t *Target, n int, at clock.Instant) error {
	missing := min(n, maxIdle) - p.prune(key(t), at)
	var all sync.WaitGroup
	var first error
	var once sync.Once
	slots := make(chan struct{}, dialAtOnce)
	for range missing {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := p.add(ctx, t); err != nil {
				once.Do(func() { first = err })
			}
		})
	}
	all.Wait()
	return first
}

func (p *pool) add(ctx context.Context, t *Target) error {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	l, err := p.open(ctx, t)
	if err != nil {
		return err
	}
	p.ahead.Add(1)
	if !p.push(key(t), l) {
		l.close()
	}
	return nil
}

// prune closes the connections that will be stale at the instant and returns how many are left.
func (p *pool) prune(key string, at clock.Instant) int {
	p.mu.Lock()
	var dead, alive []*link
	for _, l := range p.idle[key] {
		if l.stale(at) {
			dead = append(dead, l)
		} else {
			alive = append(alive, l)
		}
	}
	p.idle[key] = alive
	p.count -= len(dead)
	p.mu.Unlock()
	for _, l := range dead {
		l.close()
	}
	return len(alive)
}

// close closes the idle connections; those in use are closed when they come back.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for key, stack := range p.idle {
		for _, l := range stack {
			l.close()
		}
		delete(p.idle, key)
	}
	p.count = 0
}
