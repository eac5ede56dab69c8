package gateway

import (
	"context"
	"errors"
	"net"
	"net/http/httptrace"
	"sync"
	"time"
)

// errNoAnswer ends a request whose connection broke after a part of it was written and before any answer: the instance
// may have run it, so it is never sent again (R20).
var errNoAnswer = errors.New("the connection broke before an answer came")

// errEnded refuses a write to a connection that has ended. Nothing was written, so the transport may take another one.
var errEnded = errors.New("the connection has ended")

// leg is the part of a request's way between gateway and instance.
type leg struct {
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	conn  *workerConn
	wrote bool // a byte of the request may have left
	got   bool // a byte of the answer has come
	tries int
}

// trace binds the leg to the connection that the transport picks for it.
func (l *leg) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if c, ok := info.Conn.(*workerConn); ok {
			l.bind(c)
		}
	}})
}

func (l *leg) bind(c *workerConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = c
	l.tries++
	c.serve(l)
}

// resent is how often the request was written again; each time nothing of it had left before.
func (l *leg) resent() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, l.tries-1)
}

// release lets go of a connection that has done its work.
func (l *leg) release() {
	if c := l.taken(); c != nil {
		c.forget(l)
	}
}

func (l *leg) taken() *workerConn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn
}

// over is closed when the instance has certainly nothing more to do with the request; nil if it never got it.
func (l *leg) over() <-chan struct{} {
	c := l.taken()
	if c == nil {
		return nil
	}
	return c.over
}

// sending notes that bytes leave now.
func (l *leg) sending() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrote = true
}

// heard notes what a read brought.
func (l *leg) heard(n int, err error) {
	l.mu.Lock()
	l.got = l.got || n > 0
	cut := err != nil && l.wrote && !l.got
	l.mu.Unlock()
	if cut {
		l.cancel(errNoAnswer) // before the transport learns of it, which would send a GET once more
	}
}

// workerConn is a connection to an instance. Closing it while a request is on it only ends the writing side: the
// instance learns that its client has gone, and the end of its answer tells when it really is free (R15).
type workerConn struct {
	net.Conn
	linger time.Duration
	over   chan struct{}

	mu      sync.Mutex
	leg     *leg // whose request is on it; nil: none
	ended   bool // a read has failed
	closing bool
	once    sync.Once
}

func newWorkerConn(c net.Conn, linger time.Duration) *workerConn {
	return &workerConn{Conn: c, linger: linger, over: make(chan struct{})}
}

func (c *workerConn) serve(l *leg) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leg = l
}

func (c *workerConn) forget(l *leg) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.leg == l {
		c.leg = nil
	}
}

// Write sends a part of a request.
func (c *workerConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	if c.ended || c.closing {
		c.mu.Unlock()
		return 0, errEnded
	}
	if c.leg != nil {
		c.leg.sending()
	}
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// Read receives a part of an answer.
func (c *workerConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	c.ended = c.ended || err != nil
	leg, closing := c.leg, c.closing
	c.mu.Unlock()
	if leg != nil {
		leg.heard(n, err)
	}
	if closing {
		_ = c.finish() // nobody is left to be told
	}
	return n, err
}

// Close closes the connection, or begins to if a request is on it.
func (c *workerConn) Close() error {
	c.mu.Lock()
	again, busy := c.closing, c.leg != nil && !c.ended
	c.closing = true
	c.mu.Unlock()
	half, ok := c.Conn.(halfCloser)
	switch {
	case again:
		return nil
	case busy && ok && half.CloseWrite() == nil:
		go c.await()
		return nil
	default:
		return c.finish()
	}
}

// await waits until the instance answers or closes. An answer that still comes is not read to its end: a stream would
// go on for ever, and its next write tells the instance.
func (c *workerConn) await() {
	lingerWithin(c.Conn, c.linger)
	var b [1]byte
	_, _ = c.Conn.Read(b[:]) // any byte and any error mean the same
	_ = c.finish()           // nobody is left to be told
}

func (c *workerConn) finish() (err error) {
	c.once.Do(func() {
		err = c.Conn.Close()
		close(c.over)
	})
	return err
}
