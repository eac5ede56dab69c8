package gateway

import (
	"net"
	"sync"
	"sync/atomic"
)

// frontDoor accepts the connections of clients: at most limit at once, more are closed at once (F18), and each is read
// along with for ambiguous framing.
type frontDoor struct {
	net.Listener
	limit   int64
	headMax int
	open    *atomic.Int64 // connections
	refused *atomic.Int64
}

// Accept returns the next connection that is within the limit.
func (d *frontDoor) Accept() (net.Conn, error) {
	for {
		c, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if d.open.Add(1) <= d.limit {
			return &clientConn{Conn: c, frames: framing{headMax: d.headMax}, closed: func() { d.open.Add(-1) }}, nil
		}
		d.open.Add(-1)
		d.refused.Add(1)
		_ = c.Close() // it is refused either way
	}
}

// clientConn is a client's connection.
type clientConn struct {
	net.Conn
	frames framing
	raw    atomic.Bool // another protocol from here on
	closed func()
	once   sync.Once
}

// Read gives what the client sent up to the point where its framing becomes ambiguous. net/http answers the error that
// follows with 400 and closes the connection.
func (c *clientConn) Read(p []byte) (int, error) {
	if c.raw.Load() {
		return c.Conn.Read(p)
	}
	if c.frames.err != nil {
		return 0, c.ambiguous(p)
	}
	n, err := c.Conn.Read(p)
	n = c.frames.scan(p[:n])
	switch {
	case c.frames.err == nil:
		return n, err
	case n == 0:
		return 0, c.frames.err
	default:
		return n, nil
	}
}

// ambiguous is the end of what is read. While net/http serves the request before, it watches the connection for its
// client's going with reads of one byte: those get no error, or that request would be cut for the fault of the next one.
func (c *clientConn) ambiguous(p []byte) error {
	if len(p) != 1 {
		return c.frames.err
	}
	for {
		if _, err := c.Conn.Read(p); err != nil {
			return err
		}
	}
}

// Close closes the connection.
func (c *clientConn) Close() error {
	c.once.Do(c.closed)
	return c.Conn.Close()
}

// CloseWrite ends the writing side, so that an early answer such as 413 is not lost in a reset.
func (c *clientConn) CloseWrite() error {
	if h, ok := c.Conn.(halfCloser); ok {
		return h.CloseWrite()
	}
	return c.Conn.Close()
}

// halfCloser is a connection whose two directions end separately.
type halfCloser interface{ CloseWrite() error }
